/* SPDX-License-Identifier: MIT */
/* launch, inside: shared by launch*.c only. */
#ifndef INJECTOR_LAUNCH_IMPL_H
#define INJECTOR_LAUNCH_IMPL_H

#include "injector/launch/launch.h"
#include "injector/ptrace/threads.h"

/* Let it run to its next stop, with a ptrace request (0: it runs already) and a
 * signal: the wait status, or -ESRCH. */
int launch_run(struct launch *, int request, int signal);
/* The signal that a stop was for, to be passed on; 0 if it was none. */
int launch_signal(int status);
/* By what is the main thread made complete? */
struct set_up {
	const struct thread_runtime *runtime;	/* the language's, or a C library for that;
				 * NULL: its C library */
	bool alone;		/* by the language's, though a loader has been there */
};

/* Let a program without a C library of its loader's run to where its main thread is
 * complete. */
int launch_set_up(struct launch *, const struct target *, const struct set_up *);

#endif
