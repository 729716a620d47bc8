/* SPDX-License-Identifier: MIT */
/*
 * limits: part of step 4 of the attach: what the limits of the target, and of its control
 * groups, leave to loading. Asked before anything is mapped, so that it does not run into them.
 */
#ifndef INJECTOR_LIMITS_H
#define INJECTOR_LIMITS_H

#include <sys/types.h>

#include "base/base.h"

/* What the load will need. */
struct needs {
	uint64_t address_space;	/* bytes to be mapped */
	uint64_t data;		/* of these, private and written to */
	uint64_t memory;	/* bytes that will be touched soon */
	bool asked;		/* the size of rings was asked for */
};

int limits_check(pid_t pid, const struct needs *);
/* How many bytes more of addresses may it have, and what it forks? For a server may limit its
 * children as it forks them, and those that are there tell by how much. False: any number. */
bool limits_addresses(pid_t pid, uint64_t *left);
/* How many descriptors may it open? Rather too few. */
uint64_t limits_descriptors(pid_t pid);
/* It has not as many as are needed for `what`. -EMFILE, with the line that says so and
 * what to do. */
int limits_refuse_descriptors(pid_t pid, const char *what);
/* An mmap of so many bytes there has failed: -ENOMEM with the line for it, if by a
 * limit (it locks what it maps, or RLIMIT_AS), else `err` with the line that it has. */
int limits_refused_map(pid_t pid, uint64_t size, int err);

#endif
