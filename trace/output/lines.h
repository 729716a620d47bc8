/* SPDX-License-Identifier: MIT */
/*
 * lines: lines of several threads, in the order of the times that they tell.
 *
 * A call is shown when it is known how, which may be long after others have been shown that
 * began later. So lines are held until nothing can come before them.
 */
#ifndef TRACE_LINES_H
#define TRACE_LINES_H

#include "trace/output/output.h"

struct lines;

int lines_new(struct output *, struct lines **ret);
void lines_free(struct lines *);	/* NULL is legal */
/* A line of that time, of `n` bytes, is kept; of lines of one time the first is the first.
 * False if there is no memory. */
bool lines_add(struct lines *, uint64_t tsc, const char *text, size_t n);
/* No line of a time before this one will come: write those. */
void lines_settle(struct lines *, uint64_t before);
/* Bytes that are held. */
size_t lines_held(const struct lines *);

#endif
