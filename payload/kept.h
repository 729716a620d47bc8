/* SPDX-License-Identifier: MIT */
/*
 * kept: what does the exit of a call need of what its entry has read?
 *
 * As where the bytes are that a function fills in. It is kept by the call's stack pointer, as a
 * stack of so many calls: one that ends takes its place away, so that what is kept of a call lasts
 * however many are made within it. The places of those that end out of turn are taken away with the
 * one below. Where all are in use the oldest is written over.
 *
 * All of it is the thread's own, and used within its slow path alone. The program may have written
 * anything over it.
 */
#ifndef PAYLOAD_KEPT_H
#define PAYLOAD_KEPT_H

#include "payload/captures.h"

enum { KEPT = 64 };

struct kept {
	uint32_t func;
	uint32_t n;		/* bytes */
	struct plan_ref by;
	uint8_t bytes[104];	/* results, as in a capture */
};

struct kept_calls {
	uint32_t next;		/* behind the newest; all are modulo KEPT */
	uint32_t used;		/* up to KEPT places, some of which may be free */
	uint64_t sp[KEPT];	/* the calls' stack pointers; 0: free */
	struct kept v[KEPT];
};

/* The results of the operations that the plan says, of a call that begins at `sp`, read by the plan
 * `by`; those for which there is no room are left out, and what needs them will not be read. */
void kept_put(struct kept_calls *, const struct capture_plan *, const struct plan_ref *by,
	      const struct reads_state *, uint64_t func, uint64_t sp);
/* Of the call at `sp`; NULL: there is nothing. */
struct kept *kept_find(struct kept_calls *, uint64_t func, uint64_t sp);
/* It ends, or another one begins there. */
void kept_forget(struct kept_calls *, uint64_t sp);

#endif
