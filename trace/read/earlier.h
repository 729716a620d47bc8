/* SPDX-License-Identifier: MIT */
/*
 * earlier: which calls were open as the record of their stack begins?
 *
 * Their begins are not in the record, and each is known by its end alone. So a view
 * that shows them as calls which contain others looks through the record before: from the first
 * event of a stack on its earlier calls are open, in the order in which they will end.
 */
#ifndef TRACE_EARLIER_H
#define TRACE_EARLIER_H

#include "trace/format/event.h"

struct earlier_call {
	uint32_t thread, stack;	/* as of the event that ends it */
	uint32_t func;		/* UINT32_MAX: the end of the stack; what comes then is
				 * of another with its number */
	uint64_t seq;
	uint64_t begin;		/* ticks; 0: not known */
	uint64_t first;		/* ticks of the first event of the stack */
	int32_t pid, tid;	/* as of the event that ends it */
};

struct earlier;

int earlier_new(struct earlier **ret);
void earlier_free(struct earlier *);	/* NULL is legal */
/* In the order of time: a call ends that has begun at `begin` (0: not known), on a
 * stack with a first event at `first`; or a stack, EVENT_STACK_END. 0 or -ENOMEM. What is
 * beyond a million is not kept. */
int earlier_note(struct earlier *, const struct event *, uint64_t begin, uint64_t first);
/* All are noted. */
void earlier_sort(struct earlier *);
/* The calls of a stack, in the order in which they end, and how many they are: of each in
 * turn, from *at = 0 on. 0: there is no other. */
size_t earlier_next(const struct earlier *, size_t *at, const struct earlier_call **ret);

#endif
