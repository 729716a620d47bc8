/* SPDX-License-Identifier: MIT */
/*
 * payload_forks: children that are forked between calls that the payload counts, and in
 * the middle of one.
 */
#ifndef TESTS_UNIT_PAYLOAD_FORKS_H
#define TESTS_UNIT_PAYLOAD_FORKS_H

#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include "tests/unit/payload_world.h"

static struct {
	uint64_t steps, at;	/* of the call: made, and where its child is forked */
	pid_t child;		/* -1: none yet */
} forks;

static inline void forks_end(pid_t child)
{
	int status;

	MUST(waitpid(child, &status, 0) == child && !status);
}

/* The child goes on from there as the parent does. */
static inline void forks_here(int sig, siginfo_t *info, void *context)
{
	if (++forks.steps != forks.at)
		return;
	stop_stepping(context);
	forks.child = fork();
	MUST(forks.child >= 0);
}

/*
 * After a call of F another for each of its instructions, at which a child is forked,
 * until there is no further one; the child ends the call and makes one more. How many the
 * parent has made.
 */
static inline uint64_t fork_at_steps(probed_fn *f)
{
	struct sigaction act = { .sa_sigaction = forks_here, .sa_flags = SA_SIGINFO };
	uint64_t made = 1;

	f(NULL);
	MUST(!sigaction(SIGTRAP, &act, NULL));
	do {
		forks.steps = 0;
		forks.at = made++;
		forks.child = -1;
		call_stepping(f);
		if (!forks.child) {
			f(NULL);
			_exit(0);
		}
		if (forks.child > 0)
			forks_end(forks.child);
	} while (forks.child > 0);
	return made;
}

/* A call, N of a child's, and another. */
static inline void fork_between(probed_fn *f, int n)
{
	f(NULL);
	pid_t child = fork();

	if (child == 0) {
		while (n--)
			f(NULL);
		_exit(0);
	}
	MUST(child > 0);
	forks_end(child);
	f(NULL);
}

#endif
