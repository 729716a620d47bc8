/* SPDX-License-Identifier: MIT */
/* splitparts: the sections of one unit, as they are collected, and written. */
#ifndef SYMBOLS_SPLITPARTS_H
#define SYMBOLS_SPLITPARTS_H

#include "symbols/elf/image.h"

enum split_kind {
	SPLIT_INFO, SPLIT_TYPES, SPLIT_ABBREV, SPLIT_LOC, SPLIT_LOCLISTS, SPLIT_RNGLISTS,
	SPLIT_OFFSETS, SPLIT_STR, SPLIT_KINDS,
};

struct split_parts {
	struct { uint8_t *bytes; size_t n; } v[SPLIT_KINDS];
	uint64_t left;		/* bytes that they may still take */
};

/* A file that has such sections. */
struct split_source {
	const struct image *image;
	int fd;
};

/* The name of its section, ".debug_info.dwo" and so on. */
const char *split_section(enum split_kind);

/* Add bytes of a section, [at, at + n): 0, -ENOENT if they are not in it, -EFBIG or -ENOMEM. */
int split_add(struct split_parts *, enum split_kind, const struct split_source *,
	      const GElf_Shdr *, uint64_t at, uint64_t n);

/* Add the strings that the list in SPLIT_OFFSETS names, and make it name those. */
int split_add_strings(struct split_parts *, const struct split_source *, int version);

/* A file in memory that has them: its descriptor, or -errno. */
int split_write(const struct split_parts *, uint16_t machine);
/* Forget what was collected. */
void split_clear(struct split_parts *);

#endif
