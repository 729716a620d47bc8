/* SPDX-License-Identifier: MIT */
/*
 * loan: which thread may be borrowed for a moment, and for what?
 *
 * A thread that holds the allocator's or the loader's locks must not call into
 * either: it would wait for itself for ever. So a thread is chosen by what it
 * is doing; and the stack of one that shall call dlopen is walked before.
 */
#ifndef INJECTOR_LOAN_H
#define INJECTOR_LOAN_H

#include "injector/modules/modules.h"
#include "injector/remote/remote.h"

enum {
	LOAN_TRIES = 300,	/* looks, for what has to be done: about a second */
};

enum loan_use {
	LOAN_SYSCALLS,	/* system calls only */
	LOAN_LOAD,		/* may call dlopen */
};

/*
 * Borrow one thread that is fit for `use` now, or in one of `tries` looks, for
 * remote calls (one fit for dlopen is asked for only in a process of one
 * thread), never one whose system calls are dispatched to a handler of its own. One that
 * is under seccomp filters is borrowed only where all are, and for system calls only, if
 * its filters let pass all that we make (injector/ptrace/seccomp.h).
 * Threads that sleep in calls which restart exactly are tried first; among equals each
 * look begins with another, so that one that turns out unfit is not taken again at once.
 * An only thread that is not fit for dlopen, and sleeps, is not stopped again while it
 * does, and is given up soon: it may wait for input for ever.
 * -EAGAIN when none was fit, -EPERM when none ever will be. A caller that borrows gives back; what
 * became of the calls in between is `err`, and the result, unless that is 0 and the giving
 * back fails.
 */
int loan_borrow(struct target *, struct modules *, enum loan_use, int tries,
		  const struct gadgets *, struct remote *ret);
int loan_give_back(struct remote *, int err);

#endif
