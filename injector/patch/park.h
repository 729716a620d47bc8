/* SPDX-License-Identifier: MIT */
/*
 * park: step 7: no PC may rest inside bytes that are about to change.
 *
 * A PC inside a window moves forward to the same instruction in the relocated
 * copy, which stands already, and this before any byte is written. No window
 * holds a call but as its last instruction, so no return address can lie
 * inside one; the PCs saved in signal frames can, and move likewise.
 */
#ifndef INJECTOR_PARK_H
#define INJECTOR_PARK_H

#include "injector/ptrace/sigframes.h"

/*
 * Where a thread, or a signal frame, that rests here has to go: *to = 0 if it may stay where it
 * is. -EBUSY if it may not and there is nowhere to go.
 */
typedef int park_forward(void *ctx, const struct rest *, raddr_t *to);

/*
 * Every thread must be stopped. 0: every PC, also those saved in signal
 * frames, is where it may stay. A PC is moved at once, and not back on a later
 * failure, where there is nothing to undo: a thread that was moved runs through
 * its stub, which stays. -EBUSY from `forward`, or when a stack that matters
 * cannot be walked (then *pc is the PC in question). -EAGAIN when it was not done
 * `until` (ns; 0: no limit).
 */
int park(struct target *, const struct sigframes *, park_forward *, void *ctx,
	 uint64_t until, raddr_t *pc);

#endif
