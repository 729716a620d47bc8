/* SPDX-License-Identifier: MIT */
/* traps: which breakpoints are ours, and whose is SIGTRAP? */
#ifndef PAYLOAD_TRAPS_H
#define PAYLOAD_TRAPS_H

#include <stdint.h>

/* As rt_sigaction has it. */
struct trap_action {
	uint64_t handler, flags, restorer, mask;
};

/* A breakpoint of ours: a thread that ran into the one at `addr` goes on at `stub`. */
struct trap {
	uint64_t addr;		/* written last, and never changed; 0: free */
	uint64_t stub;
};

/* A power of two; three quarters of them are used. */
#define TRAPS_MOST 2048

/*
 * In the payload's own memory, so that a forked child has its own. Written by
 * the injector: entries are only ever added, by open addressing from
 * trap_hash() on.
 */
struct traps {
	uint64_t handler;	/* of SIGTRAP, in the payload; set in hello */
	uint64_t hooked;	/* it is the process's handler, as far as we know */
	struct trap_action chain;	/* the application's own */
	struct trap_action ours, now;	/* for the injector's system calls */
	struct trap table[TRAPS_MOST];
};

static inline uint64_t trap_hash(uint64_t addr)
{
	return (addr * 0x9e3779b97f4a7c15ull >> 32) % TRAPS_MOST;
}

#endif
