/* SPDX-License-Identifier: MIT */
/*
 * debugfile: where are the symbols that were stripped from this file?
 */
#ifndef SYMBOLS_DEBUGFILE_H
#define SYMBOLS_DEBUGFILE_H

#include "symbols/symtab.h"

struct stripped {
	const struct image *image;
	const char *path;
	const char *debug_root;
};

/*
 * A debug file found by build id, or by .gnu_debuglink, and checked to belong
 * to the image by build id or checksum: its headers and symbol table. 0,
 * -ENOENT if there is none that has symbols, or -ENOMEM. On success the caller
 * closes *image, which owns *ret.
 */
int debugfile_read(const struct stripped *, struct image *image,
		   struct symtab *ret);

/*
 * The same from .gnu_debugdata, a compressed ELF file inside the file that
 * names the functions which .dynsym does not.
 */
int minidebug_read(const struct stripped *, struct image *image,
		   struct symtab *ret);

#endif
