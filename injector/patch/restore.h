/* SPDX-License-Identifier: MIT */
/*
 * restore: take jumps out of the code of one process: stop, see that nobody
 * stands where a jump leads, write, release.
 *
 * Which jumps may go is the caller's business; here every beginning of the list
 * is harmless, so what was restored stays so whatever comes.
 */
#ifndef INJECTOR_RESTORE_H
#define INJECTOR_RESTORE_H

#include "injector/ptrace/text.h"
#include "payload/abi.h"

struct restore {
	/* Set by the caller. */
	struct target *target;
	struct change *changes;	/* from jumps to the original, in the order of
				 * restore_order; all stand */
	size_t n;
	uint64_t max_pause;	/* ns; 0: the usual one */
	const struct session *session;	/* NULL: it is not known what is code of ours */
	bool whole;		/* no restoring is given up for the pause allowed:
				 * what many short stops have brought no further
				 * takes the time that it needs */

	/* Found. */
	size_t done;		/* changes that were made: `changes` and `n` are
				 * those that were not */
	bool unbounded;		/* a stop took the time that it needed */
};

enum { RESTORE_MODEST = 20 };	/* stops that bring nothing on, within the pause */

/* The writing order backwards: holes last, and a host after its hole. What unwinders
 * are led by comes behind all of these. For qsort of struct change. */
int restore_order(const void *a, const void *b);
/* On a surgeon thread. 0, or -errno with some of it done. */
int restore(struct restore *);

#endif
