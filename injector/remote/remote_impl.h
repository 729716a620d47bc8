/* SPDX-License-Identifier: MIT */
/* remote, inside: shared by remote.c and remote_call.c only. */
#ifndef INJECTOR_REMOTE_IMPL_H
#define INJECTOR_REMOTE_IMPL_H

#include "injector/remote/remote.h"

enum {
	SYSCALL_BUDGET = 500 * 1000 * 1000,	/* ns, for one system call */
	PATIENCE = 20,		/* budgets that a call may take which does not sleep */
};
#define LONGEST (60 * 1000000000ull)	/* ns, whatever a call waits for */

/* remote_call.c */
int remote_set_mask(pid_t tid, uint64_t mask);
/* Registers with which the thread's next instructions bring it back. */
struct regs remote_at_sigreturn(const struct remote *);
/*
 * A budget is for a thread that sleeps, for a lock that it may itself hold. How fast the machine
 * is, and how crowded, is in no budget: of others only those count in which
 *
 * - the thread has had a processor all the time, or
 * - it was in the kernel, where nothing ends its sleep. It waits there for what another thread
 *   has, mostly the process's address space, until that one gets a processor; nor could it be
 *   given back in the meantime.
 *
 * One that wants to run and gets no processor loses nothing by our wait. One that has just
 * stopped is yet to be reported.
 */
struct waiting {
	uint64_t end;		/* of all that is waited; 0: no budget has ended yet */
	uint64_t ran;		/* for how long the thread had run then */
	int held;		/* budgets that have ended while the kernel held it */
};
/* A budget has ended: is the call to have one more? */
bool remote_is_worth(const struct remote *, struct waiting *, uint64_t budget);
/* It wants to run, or has stopped. */
bool remote_wants_to_run(const struct remote *);
/* Say of a call that it failed so, and return it. */
int remote_failed(const struct remote *, int err);

#endif
