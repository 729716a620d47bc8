/* SPDX-License-Identifier: MIT */
/*
 * tracks: on which row is a call drawn?
 *
 * Of a row each call lies within another one, or beside it. So what a thread runs on the stack that
 * it was born with is on its own row, and there is one for each other stack: a goroutine's, a
 * fiber's, or one for signals. Threads go from one of these to another while calls are open.
 */
#ifndef TRACE_TRACKS_H
#define TRACE_TRACKS_H

#include "trace/read/frames.h"

struct track {
	int32_t pid, tid;	/* of the thread that was the first to run it */
	uint32_t thread, stack;
};

struct tracks {
	struct track *v;
	size_t n, cap;
	uint32_t *index;	/* by hash: one behind the place in v; 0: none */
	size_t index_cap;	/* a power of 2 */
};

/* 0: the thread's own; else the number of the stack's, from 1 on, which is new if it is the highest
 * and was not there before. -ENOMEM, with a message. */
ssize_t tracks_of(struct tracks *, const struct call *);
/* As a user would call it. */
void tracks_name(const struct track *, char *ret, size_t size);
void tracks_clear(struct tracks *);

#endif
