/* SPDX-License-Identifier: MIT */
/* preflight: step 1 of the attach: can this process be traced? Touches nothing. */
#ifndef INJECTOR_PREFLIGHT_H
#define INJECTOR_PREFLIGHT_H

#include <sys/types.h>

#include "base/base.h"

/* 0, or -errno with the one line that says why not and what to do. -ESRCH when
 * there is no such process. */
int preflight(pid_t pid);
/* The part of it that a visit which only removes probes needs. */
int preflight_stop(pid_t pid);
/* The part that `list` needs, which only reads. */
int preflight_list(pid_t pid);
/* The part that needs a session which is there already, and stops nothing. */
int preflight_session(pid_t pid);
/* A later step has ended with `err`, or what it has seen is in doubt: has the
 * process ended meanwhile? -ESRCH with the line of `check`, else `err` as it was. */
int preflight_again(int (*check)(pid_t), pid_t pid, int err);

/* Step 1 for a program that we have started, when it has executed. */
int preflight_started(pid_t pid);

/* What the load will need, checked against the limits of the target and of its
 * control groups, so that it does not run into them. */
struct needs {
	uint64_t address_space;	/* bytes to be mapped */
	uint64_t data;		/* of these, private and written to */
	uint64_t memory;	/* bytes that will be touched soon */
	bool asked;		/* the size of rings was asked for */
};

int preflight_limits(pid_t pid, const struct needs *);
/* How many bytes more of addresses may it have? False: any number. */
bool preflight_addresses(pid_t pid, uint64_t *left);
/* How many descriptors may it open? Rather too few. */
uint64_t preflight_descriptors(pid_t pid);
/* It has not as many as are needed for `what`. -EMFILE, with the line that says so and
 * what to do. */
int preflight_refuse_descriptors(pid_t pid, const char *what);
/* Seccomp filters of its threads forbid a call that we need, or kill for it (`harm`); NULL:
 * they cannot be read. -EPERM, with the line for it. */
int preflight_refuse_filter(pid_t pid, const char *call, bool harm);
/* An mmap of so many bytes there has failed: -ENOMEM with the line for it, if by a
 * limit (it locks what it maps, or RLIMIT_AS), else `err` with the line that it has. */
int preflight_refused_map(pid_t pid, uint64_t size, int err);

#endif
