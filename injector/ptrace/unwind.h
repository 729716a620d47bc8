/* SPDX-License-Identifier: MIT */
/* unwind: walk the stack of a stopped thread, with libunwind, by the target's layout. Where
 * that does not know an address it is read once more. */
#ifndef INJECTOR_UNWIND_H
#define INJECTOR_UNWIND_H

#include "injector/ptrace/target.h"

struct unwind_frame {
	raddr_t pc, sp;
	bool signal;		/* a signal handler's frame: pc is where the
				 * thread was interrupted, not a return address */
};

/*
 * Call `each` for every frame, innermost first; nonzero from it ends the walk
 * and is returned. Returns 1 when the outermost frame was reached, 0 when the
 * unwind information ended before it. To be called by the tracer's thread.
 */
int unwind_walk(struct target *, pid_t tid,
		int (*each)(void *ctx, const struct unwind_frame *), void *ctx);

#endif
