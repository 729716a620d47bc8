/* SPDX-License-Identifier: MIT */
/*
 * tally: how often was each text there? Of several lists at a time. How many texts are kept is
 * bounded: those that come later are counted as one.
 */
#ifndef TRACE_TALLY_H
#define TRACE_TALLY_H

#include "trace/output/output.h"

enum { TALLY_MOST = 10000, TALLY_BYTES = 1 << 24 };

struct tallied {
	uint32_t list;
	uint64_t n;
	char *text;
};

/* All zero at first. */
struct tally {
	struct tallied *v;
	size_t n, cap, bytes;
	uint32_t *index;	/* by hash: i + 1, or 0 */
};

void tally_clear(struct tally *);
/* False: it has no room (or there is no memory), and its list is to count it among the others. */
bool tally_add(struct tally *, uint32_t list, const char *text);
/* Those of a list, what was there most often first. 0 or -ENOMEM; the caller frees *ret. */
int tally_sort(const struct tally *, uint32_t list, const struct tallied ***ret, size_t *n);

#endif
