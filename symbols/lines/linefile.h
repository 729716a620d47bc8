/* SPDX-License-Identifier: MIT */
/*
 * linefile: which file has this number in the table of a unit's line program?
 *
 * libdw would run the whole program for it, and keep each of its lines.
 */
#ifndef SYMBOLS_LINEFILE_H
#define SYMBOLS_LINEFILE_H

#include <libelf.h>

#include "base/base.h"

/* Sections of debug information; any may be NULL. */
struct line_sections {
	const Elf_Data *line, *line_str, *str;
};

/* The last component of its name, in a section; NULL if there is none. `unit` is the
 * program's offset. */
const char *linefile_name(const struct line_sections *, uint64_t unit, uint64_t number);

/* Has the table an entry whose last component is that? */
bool linefile_has(const struct line_sections *, uint64_t unit, const char *base);

#endif
