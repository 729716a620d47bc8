/* SPDX-License-Identifier: MIT */
/*
 * debugfile: where are the symbols that were stripped from this file?
 */
#ifndef SYMBOLS_DEBUGFILE_H
#define SYMBOLS_DEBUGFILE_H

#include "symbols/elf/symtab.h"

struct stripped {
	const struct image *image;
	const char *path;
	const char *debug_root;
};

/* Where they are looked for: symbols_set_debug_root. */
const char *symbols_debug_root(void);

/*
 * A debug file found by build id, or by .gnu_debuglink, and checked to belong
 * to the image by build id or checksum: its headers and symbol table. 0,
 * -ENOENT if there is none that has symbols, or -ENOMEM. On success the caller
 * closes *image, which owns *ret.
 */
int debugfile_read(const struct stripped *, struct image *image,
		   struct symtab *ret);

/*
 * The same for one that has debug information: it is open, and so is *fd, of which the
 * image reads. The caller closes both, and frees the name of its directory.
 */
int debugfile_open(const struct stripped *, struct image *image, int *fd, char **dir);

/* The ELF file of a name that another file has: its descriptor, of which the image reads, both for
 * the caller to close; or -ENOENT. What is no regular file is not opened. */
int debugfile_open_named(const char *path, struct image *image);

/* The file to which a debug file in `dir` refers by .gnu_debugaltlink, if its build id is
 * that: as debugfile_open. */
int debugfile_open_common(const char *dir, const char *name, const uint8_t *id, size_t n,
			  struct image *image, int *fd);

/*
 * As debugfile_read, from .gnu_debugdata, a compressed ELF file inside the file that
 * names the functions which .dynsym does not.
 */
int minidebug_read(const struct stripped *, struct image *image,
		   struct symtab *ret);

#endif
