/* SPDX-License-Identifier: MIT */
/* callers: what are callers called? Addresses are as payload/callers.h has them. */
#ifndef TRACE_CALLERS_H
#define TRACE_CALLERS_H

#include "base/base.h"
#include "payload/callers.h"

struct caller {
	uint64_t address;
	const char *func;	/* NULL: no function is known there */
	const char *module;	/* its file's name; NULL: no file is mapped there */
	uint64_t offset;	/* from where the function begins, or the file's addresses do */
	const char *inlined;	/* the functions that are inlined there, the innermost first: each
				 * name with its end, and an empty one; NULL: none is known */
};

/* Where names come from. */
struct caller_names {
	/* False: no call can return there, so the stack was none from there on. */
	bool (*find)(void *ctx, uint64_t address, struct caller *ret);
	void *ctx;
};

/* How many of them are what they seem; *cut is changed if these are not all. */
size_t callers_sound(const struct caller_names *, const uint64_t *callers, size_t n,
		     uint8_t *cut);
/* Why there are no more, for people; NULL: the last is the outermost one, or many more follow. */
const char *callers_cut_text(uint8_t cut);

/* Names that a recording has: `v` is sorted by address. */
struct caller_table {
	const struct caller *v;
	size_t n;
};

/* For struct caller_names; `ctx` is such a table. */
bool caller_table_find(void *ctx, uint64_t address, struct caller *ret);

#endif
