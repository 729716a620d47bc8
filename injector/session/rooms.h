/* SPDX-License-Identifier: MIT */
/*
 * rooms: which threads that have a room for calls without stack have ended?
 *
 * Where a language's runtime makes the threads a room is known by its thread's id
 * (payload/rooms.c), which hardly ever comes again: where threads come and go, all are
 * taken in the end. So they are given back, in these steps:
 *
 *  1. The room's owner is no thread of the target.
 *  2. The room is marked, in a byte that only we write. A thread that is born with
 *     that id from now on does not take it for its own.
 *  3. The owner is still no thread of the target. So no thread uses the room: one
 *     that was born, and found it, between 1 and 2, has ended, too.
 *  4. It is given back, or, if the owner does live, is its own again.
 *
 * Should we die in between, the room stays marked until its owner has ended. A failure
 * of ours is no thread's end.
 */
#ifndef INJECTOR_ROOMS_H
#define INJECTOR_ROOMS_H

#include "injector/proc/namespace.h"
#include "injector/ptrace/target.h"
#include "payload/abi.h"

struct rooms {
	const struct target *target;
	struct session *session;	/* NULL: nothing is given back */
	raddr_t at;		/* of the first room */
	uint32_t n;
	struct namespace ids;
};

/* Both live until rooms_end. */
void rooms_begin(const struct target *, struct session *, struct rooms *ret);
/* To be called often. */
void rooms_tick(const struct rooms *);
void rooms_end(struct rooms *);

#endif
