/* SPDX-License-Identifier: MIT */
/*
 * splitfile: what did -gsplit-dwarf move out of this file? A unit of debug information: to a file
 * of its own (.dwo), or with others to a package (.dwp), as DWARF 5 (7.3) has them, and before it
 * GNU's DebugFission.
 *
 * libdw opens the file that a unit names, whatever that is, and maps it; of packages libdw 0.188
 * knows nothing. So a file is made in memory that has the one unit and the strings that it names,
 * and libdw is shown that.
 */
#ifndef SYMBOLS_SPLITFILE_H
#define SYMBOLS_SPLITFILE_H

#include "symbols/elf/image.h"

/* What the file says of the unit that is missing in it. */
struct split_unit {
	uint64_t id;
	int version;		/* of DWARF */
	const char *name;	/* of the file that has it */
	const char *dir;	/* in which it was compiled; NULL: not said */
};

/* A package, and its index; `image.elf` NULL: there is none. */
struct split_package {
	struct image image;
	int fd;
	bool tried;
};

/* Where such files are looked for. */
struct split_places {
	const char *path;	/* of the program or library: PATH.dwp */
	const char *dir;	/* of the file with its debug information */
	uint16_t machine;	/* e_machine */
	struct split_package package;
};

/*
 * The unit, in a file in memory: its descriptor, for the caller to close. -ENOENT if it is not
 * found, -EFBIG if it has more than *left bytes, of which it takes its own, or -ENOMEM.
 */
int splitfile_open(struct split_places *, const struct split_unit *, uint64_t *left);
void splitfile_close(struct split_places *);

#endif
