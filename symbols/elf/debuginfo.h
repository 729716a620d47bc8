/* SPDX-License-Identifier: MIT */
/*
 * debuginfo: where is the debug information of this file? In it, in the debug file that was
 * split from it, and in what dwz has moved to a file that several share.
 */
#ifndef SYMBOLS_DEBUGINFO_H
#define SYMBOLS_DEBUGINFO_H

#include <elfutils/libdw.h>

#include "symbols/elf/image.h"

/* A file that has debug information. */
struct debug_source {
	struct image image;
	int fd;
	Dwarf *dwarf;
};

struct debuginfo {
	struct debug_source main, common;	/* common.dwarf NULL: there is none */
	uint64_t too_large;	/* bytes, more than `most`: then nothing is read; 0 */
};

/*
 * Open that of a file, whose path is that and which `fd` is; debug files are below `root`. libdw
 * reads all of it into memory, so what has more than `most` bytes is left. 0 or -ENOENT.
 * debuginfo_close is always to be called.
 */
int debuginfo_open(int fd, const char *path, const char *root, uint64_t most,
		   struct debuginfo *ret);
void debuginfo_close(struct debuginfo *);

/* The text of an attribute (NULL is legal), and the name of an entry; NULL: there is none, or it is
 * not in its section. All strings of libdw are asked for by these. */
const char *debuginfo_string(Dwarf_Attribute *);
const char *debuginfo_name(Dwarf_Die *);

#endif
