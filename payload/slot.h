/* SPDX-License-Identifier: MIT */
/*
 * slot.h: the journal of a session: what is written where. Part of abi.h.
 *
 * Of the injector, which writes it by its own mapping or, in `add`, by copies. A later inject
 * reads it, with the one before dead: so the order is that of the code. The payload looks into it
 * while it changes, where an unwinder asks (payload/unwind.c): a slot is counted by
 * session.nslots, with release, when it is whole; one that is used anew it may see half, and
 * believes only if a jump to a stub stands in that place.
 */
#ifndef PAYLOAD_SLOT_H
#define PAYLOAD_SLOT_H

#include <stdint.h>

enum slot_state {
	SLOT_FREE = 0,
	SLOT_PLANNED = 1,	/* the text still has the old bytes, or the new
				 * ones: the injector may have died between */
	SLOT_ACTIVE = 2,	/* the new bytes were read back */
	SLOT_REMOVED = 3,	/* the old bytes were read back; the stub stays
				 * and is used again for the same site */
};

enum slot_kind {
	SLOT_HOLE = 0,		/* the full jump that a short one leads to, or the jump
				 * of a host: written first, removed last */
	SLOT_EXIT = 1,
	SLOT_ENTRY = 2,
	SLOT_FOREIGN = 3,	/* no patch of ours, and always SLOT_FREE: `old`
				 * stood there before us, whatever the file says */
	SLOT_STUB = 4,		/* a jump, always SLOT_REMOVED, and a stub that the place
				 * had before those of now: a forked child may have the
				 * jump still, and the place the stub again */
	SLOT_PLACE = 5,		/* of a place within a function */
	SLOT_SEMAPHORE = 6,	/* nor is this: a counter of two bytes at `addr`, `old` is what it
				 * was, `func` the session's generation: see
				 * injector/patch/semaphores.h */
};

/* The journal's record of one write of at most 16 bytes within one page. */
struct slot {
	uint64_t addr;		/* in the target */
	uint64_t stub;		/* where the jump leads in the end */
	uint32_t func;		/* function id */
	uint16_t stub_size;
	uint8_t level;		/* written after the slots of lower levels, and
				 * removed before them: their function's jumps,
				 * which they displace, lead into what this one
				 * covers */
	uint8_t finds;		/* 1: it leads unwinders to the payload, and goes last */
	uint8_t kind;		/* enum slot_kind */
	uint8_t state;		/* enum slot_state */
	uint8_t len;		/* bytes written, 1..16 */
	uint8_t window;		/* displaced bytes, for the site of a stub */
	int32_t island;		/* where the jump leads first, from addr; 0: to
				 * the stub itself */
	uint8_t old[16], new_[16];
};

#endif
