/* SPDX-License-Identifier: MIT */
/*
 * stale: may a thread that is still in a stub of an earlier visit go on, with
 * the jumps of this one in the text?
 *
 * A stub leads back to places that were the middle of no window when it was made. This
 * visit may have planned the same function otherwise (exits as well, another
 * selection, an epilogue that is jumped to), and a thread can be away from its
 * stub for long: in a handler of a fault that a displaced instruction has made.
 */
#ifndef INJECTOR_STALE_H
#define INJECTOR_STALE_H

#include "injector/patch/probes.h"
#include "injector/ptrace/sigframes.h"

/*
 * A stopped thread, or a signal frame, rests there. 0: wherever it comes out of our stubs is no
 * middle of a jump. -EBUSY: it is, at *at. -EAGAIN: only its registers know that; in a moment
 * memory will.
 */
int stale_check(const struct target *, const struct infection *, const struct live *,
		const struct rest *, raddr_t *at);

#endif
