/* SPDX-License-Identifier: MIT */
/*
 * spills: which threads that have a spill area, for calls without stack, have ended?
 *
 * Where a language's runtime makes the threads an area is known by its thread's id
 * (payload/spills.c), which hardly ever comes again: where threads come and go, all are
 * taken in the end. So they are given back, in these steps:
 *
 *  1. The area's owner is no thread of the target.
 *  2. The area is marked, in a byte that only we write. A thread that is born with
 *     that id from now on does not take it for its own.
 *  3. The owner is still no thread of the target. So no thread uses the area: one
 *     that was born, and found it, between 1 and 2, has ended, too.
 *  4. It is given back, or, if the owner does live, is its own again.
 *
 * Should we die in between, the area stays marked until its owner has ended. A failure
 * of ours is no thread's end.
 */
#ifndef INJECTOR_SPILLS_H
#define INJECTOR_SPILLS_H

#include "injector/proc/namespace.h"
#include "injector/ptrace/target.h"
#include "payload/abi.h"

struct spills {
	const struct target *target;
	struct session *session;	/* NULL: nothing is given back */
	raddr_t at;		/* of the first area */
	uint32_t n;
	struct namespace ids;
};

/* Both live until spills_end. */
void spills_begin(const struct target *, struct session *, struct spills *ret);
/* To be called often. */
void spills_tick(const struct spills *);
void spills_end(struct spills *);

#endif
