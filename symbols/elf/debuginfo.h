/* SPDX-License-Identifier: MIT */
/*
 * debuginfo: where is the debug information of this file? In it, in the debug file that was
 * stripped from it, in what dwz has moved to a file that several share, and in the files of units
 * that the compiler has split from it.
 */
#ifndef SYMBOLS_DEBUGINFO_H
#define SYMBOLS_DEBUGINFO_H

#include <elfutils/libdw.h>

#include "symbols/elf/image.h"
#include "symbols/elf/splitfile.h"

/* A file that has debug information. */
struct debug_source {
	struct image image;
	int fd;
	Dwarf *dwarf;
	void *moved[8];		/* what sections hold that were given room behind them */
	size_t nmoved;
};

struct debuginfo {
	struct debug_source main, common;	/* common.dwarf NULL: there is none */
	uint64_t too_large;	/* bytes, more than `most`: then nothing is read; 0 */
	/* Of units that were split from it: where they may be, the first one's that was not found
	 * (NULL: all were), bytes that may still be read, and the section with strings that has
	 * room for the name of a file in memory (NULL: none has). */
	struct split_places places;
	char *dir, *missing;
	uint64_t left;
	Elf_Scn *strings;
};

/*
 * Open that of a file, whose path is that and which `fd` is; debug files are below `root`. libdw
 * reads all of it into memory, so what has more than `most` bytes is left. 0 or -ENOENT.
 * debuginfo_close is always to be called.
 */
int debuginfo_open(int fd, const char *path, const char *root, uint64_t most,
		   struct debuginfo *ret);
void debuginfo_close(struct debuginfo *);

/*
 * The entry of a whole unit, in place of one that the compiler has split; another stays. False: it
 * is not found; then libdw is not to be asked for more than its ranges and its lines, for it would
 * open the file that the unit names.
 */
bool debuginfo_whole(struct debuginfo *, Dwarf_Die *unit);

/* The text of an attribute (NULL is legal), and the name of an entry; NULL: there is none, or it is
 * not in its section. All strings of libdw are asked for by these. */
const char *debuginfo_string(Dwarf_Attribute *);
const char *debuginfo_name(Dwarf_Die *);

#endif
