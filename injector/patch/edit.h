/* SPDX-License-Identifier: MIT */
/*
 * edit: the one way in which the text of a process that has begun changes: steps 6 to 9. To
 * add probes (commit.c) and to take them out (restore.c) are two sets of rules for it.
 *
 *     prepare   the target runs: pages that will change become its own
 *  6. stop      no thread of the target runs
 *  7. park      no PC, of a register or of a signal frame, is where a change would hurt it
 *  8. write     page by page, and each page is read back. `all`: every change, or none.
 *               Else what was made before the time was over stays: every beginning of the
 *               list is harmless (order.h)
 *  9. release   every thread runs
 *
 * An attempt that a thread or the time stands in the way of ends with 9, and is made again.
 */
#ifndef INJECTOR_EDIT_H
#define INJECTOR_EDIT_H

#include "injector/patch/park.h"
#include "injector/ptrace/text.h"

enum {
	EDIT_MODEST = 20,	/* attempts that bring nothing on, within the pause */
	EDIT_VAIN = 4,		/* so few, if each time more was needed than there is */
	EDIT_RECKLESS = 20,	/* and after these, if it must not fail: of any length */
};

/* The changes of one of two lists. Its owner may shorten it between attempts. */
struct edit_list {
	struct change *v;
	size_t n;
	/* 7. Where has a PC to go before this list is written? NULL: wherever it is, it may
	 * stay. */
	park_forward *forward;
};

struct edit {
	/* Set by the caller. */
	struct target *target;
	struct edit_list first, then;	/* in the order in which they are made */
	uint64_t max_pause;	/* ns; 0: the usual one */
	bool all;		/* all changes, or none */
	bool must;		/* what attempts within the pause have brought no further
				 * takes the time that it needs */
	/* May be NULL. With the target running; 0 or -errno. */
	int (*prepare)(void *ctx);
	/* 7. Every PC may stay where it is: may the text change? -EBUSY: not now. */
	int (*check)(void *ctx, const struct sigframes *);
	/* 8 is done, and no thread runs yet. */
	void (*written)(void *ctx);
	/* Attempt `i` has failed with `err`. 0: make another one; -errno: no. Without it:
	 * -EAGAIN and -EBUSY may pass. */
	int (*again)(void *ctx, int i, int err);
	void *ctx;

	/* Found. */
	raddr_t pc;		/* of a thread that stood in the way of the last attempt; 0: none
				 * did. Also set by `forward`, if it knows better */
	size_t done;		/* changes that were made, if not all or none: they are taken
				 * from the lists */
	bool unbounded;		/* a stop took the time that it needed */
	uint64_t forced;	/* ns, the longest such stop that brought it on; 0: none did */
};

/* On the tracer thread. 0, or -errno: with `all` nothing has changed then. */
int edit(struct edit *);

#endif
