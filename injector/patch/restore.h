/* SPDX-License-Identifier: MIT */
/*
 * restore: take jumps out of the text of one process: the rules of an edit (edit.h) that
 * keeps what it has done, for every beginning of the list is harmless. Which jumps may go
 * is the caller's business.
 */
#ifndef INJECTOR_RESTORE_H
#define INJECTOR_RESTORE_H

#include "injector/ptrace/text.h"
#include "payload/abi.h"

struct restore {
	/* Set by the caller. */
	struct target *target;
	struct change *changes;	/* from jumps to the original, in the order of
				 * order_restored; all stand */
	size_t n;
	/* In the stop in which the last one is restored; NULL: nothing more is done. */
	void (*restored)(void *ctx);
	void *ctx;
	uint64_t max_pause;	/* ns; 0: the usual one */
	const struct session *session;	/* NULL: it is not known what is code of ours */
	bool whole;		/* no restoring is given up for the pause allowed:
				 * what many short stops have brought no further
				 * takes the time that it needs */

	/* Found. */
	size_t done;		/* changes that were made: `changes` and `n` are
				 * those that were not */
	uint64_t forced;	/* ns, the longest stop that took the time that it needed, and
				 * brought it on; 0: there was none */
};

/* On the tracer thread. 0, or -errno with some of it done. */
int restore(struct restore *);

#endif
