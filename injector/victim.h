/* SPDX-License-Identifier: MIT */
/*
 * victim: which thread may be borrowed for a moment, and for what?
 *
 * A thread that holds the allocator's or the loader's locks must not call into
 * either: it would wait for itself for ever. So a victim is chosen by what it
 * is doing, and its stack is read before it is used.
 */
#ifndef INJECTOR_VICTIM_H
#define INJECTOR_VICTIM_H

#include "injector/modules.h"
#include "injector/remote.h"

enum victim_use {
	VICTIM_SYSCALLS,	/* system calls only */
	VICTIM_THREAD,		/* may call pthread_create */
	VICTIM_LOAD,		/* may call dlopen itself */
};

/*
 * Stop one thread that is fit for `use` (a thread fit for dlopen is asked for
 * only in a process of one thread), never one that seccomp confines. Threads
 * that sleep in calls which restart exactly are tried first; among equals the
 * choice goes round with `turn`, so that one that turns out unfit later is not
 * taken again at once. -EAGAIN when none is fit now: the caller tries again
 * later.
 */
int victim_take(struct target *, struct modules *, enum victim_use, unsigned turn,
		struct thread_hold **ret);
/*
 * Borrow one that is fit now, or in one of `tries` looks, for remote calls. Who
 * asks for it gives it back: remote_end, target_release.
 */
int victim_borrow(struct target *, struct modules *, enum victim_use, int tries,
		  const struct gadgets *, struct remote *ret);

#endif
