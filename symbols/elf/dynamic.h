/* SPDX-License-Identifier: MIT */
/*
 * dynamic: what does PT_DYNAMIC tell the loader?
 *
 * What the loader uses is what counts, and it is there when the section
 * headers are not.
 */
#ifndef SYMBOLS_DYNAMIC_H
#define SYMBOLS_DYNAMIC_H

#include "symbols/elf/image.h"

enum {
	DYNAMIC_TAGS = 40,	/* DT_RELR is the highest of the low ones */
};

struct dynamic {
	bool present;
	uint64_t tags[DYNAMIC_TAGS];	/* values by DT_*; 0 where absent */
	raddr_t gnu_hash, versym;
};

void dynamic_read(const struct image *, struct dynamic *ret);
/* Entries of the dynamic symbol table, as the hash tables know it. */
uint64_t dynamic_symbols(const struct image *, const struct dynamic *);

#endif
