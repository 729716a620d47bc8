/* SPDX-License-Identifier: MIT */
/* metadata: the text that tells readers of CTF what a trace directory holds. */
#ifndef TRACE_METADATA_H
#define TRACE_METADATA_H

#include "trace/format/about.h"

/* The whole text, owned by the caller; 0 or -ENOMEM. */
int metadata_make(const struct about *, char **ret, size_t *size);

/* What tells of the end, and why it came, in a text that metadata_make has made: it takes as
 * many bytes at any time, so that it can be written where a disk has no room for a text. */
#define METADATA_END_KEY "\tend = "

/* What stands behind each name of those that are inlined at an address. */
#define INLINED_BEHIND " <- "

struct metadata_place {
	size_t at, size;
	char text[128];
};

bool metadata_end(const char *text, const struct about *, struct metadata_place *ret);

/* What was read of it. Strings are owned. */
struct metadata {
	struct about about;
	uint64_t version;	/* of the layout */
	uint64_t ctf_major, ctf_minor;
	size_t unnamed;		/* functions that have an id and no name */
	bool whole;		/* the text did not end too early */
	char **strings;
	size_t nstrings, strings_cap;
	struct reader_func *funcs;
	struct about_module *modules;
	struct caller *callers;
	uint64_t *packets;
};

/* Read text[size]; whatever is missing keeps its 0. -ENOMEM, or -EBADMSG if it is
 * nothing that inject has written. */
int metadata_read(const char *text, size_t size, struct metadata *ret);
void metadata_clear(struct metadata *);

#endif
