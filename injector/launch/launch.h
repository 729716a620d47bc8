/* SPDX-License-Identifier: MIT */
/*
 * launch: start a program, and hold it before anything of its own has run.
 *
 *	launch_begin(...)	it has executed; not one instruction has run
 *	launch_loaded(...)	its libraries are there, and relocated
 *	(the attach)
 *	target_let_go(...)	it runs
 *	launch_wait(...)	how did it end?
 *
 * All but the last on one tracer thread. Until it is let go, our death ends it
 * too (PTRACE_O_EXITKILL): it has not begun, and would run into the breakpoint
 * for which it waits. From then on it is like any other target, and its
 * terminal, process group, signals, environment and descriptors are those that
 * it would have without us.
 */
#ifndef INJECTOR_LAUNCH_H
#define INJECTOR_LAUNCH_H

#include "injector/ptrace/target.h"

/* What env(1), nice(1) and timeout(1) return, too. */
enum launch_status {
	LAUNCH_FAILED = 125,	/* we failed: the command has not begun */
	LAUNCH_NOT_EXECUTABLE = 126,
	LAUNCH_NOT_FOUND = 127,
	LAUNCH_SIGNALLED = 128,	/* and the number of the signal */
};

struct launch {
	const char *name;	/* as given */
	pid_t pid;		/* 0: there is none, and `status` counts */
	int pidfd;
	int status;		/* our exit status if it did not begin */
	struct thread_hold thread;	/* until target_keep */
};

/*
 * Start `command` (its words, NULL behind the last) with `environment`, by PATH
 * as a shell would. On failure it has not begun, as after launch_cancel.
 */
int launch_begin(char **command, char **environment, struct launch *ret);
/*
 * Let it run to where its loader has mapped and relocated every library and the
 * C library works, and before the first constructor; the target keeps it there.
 */
int launch_loaded(struct launch *, struct target *);
/* It is not to begin after all. If it has ended by itself, launch_wait says how. */
void launch_cancel(struct launch *);
/* If it is stopped by its terminal, as by a suspend key of its own: then be
 * stopped too, so that the shell that waits for us goes on. */
void launch_follow_stop(const struct launch *);
/* Our exit status: wait for its end, which may have been long ago. */
int launch_wait(struct launch *);
void launch_clear(struct launch *);

#endif
