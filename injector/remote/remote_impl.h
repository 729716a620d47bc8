/* SPDX-License-Identifier: MIT */
/* remote, inside: shared by remote.c and remote_call.c only. */
#ifndef INJECTOR_REMOTE_IMPL_H
#define INJECTOR_REMOTE_IMPL_H

#include "injector/remote/remote.h"

enum {
	SYSCALL_BUDGET = 500 * 1000 * 1000,	/* ns, for one system call */
	PATIENCE = 20,		/* budgets that a thread may wait for a CPU */
};

/* remote_call.c */
int remote_set_mask(pid_t tid, uint64_t mask);
/* Registers with which the thread's next instructions bring it back. */
struct regs remote_at_sigreturn(const struct remote *);
/*
 * A budget is for a thread that sleeps, for a lock that it may itself hold; one that
 * wants to run and gets no CPU on a crowded machine is waited for much longer. So is one
 * that has just stopped, for that is yet to be reported.
 */
bool remote_wants_to_run(const struct remote *);
/* After a wait for its next stop, which has ended so. */
int remote_wait_longer(const struct remote *, int status, uint64_t budget);

#endif
