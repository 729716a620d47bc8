/* SPDX-License-Identifier: MIT */
/*
 * family: with --follow-exec and --follow-fork together, what traces the programs that
 * forked children execute?
 *
 * A forked child goes on in the session of its parent, until it executes another program.
 * That is a process of its own, and is traced by an inject of its own, a worker. All of
 * them are children of a watcher, which was forked before there was anything of a target
 * that a fork could inherit:
 *
 *	family_begin(&f, ...)	forks the watcher
 *	family_root(&f, ...)	its children that were forked since are looked for
 *	family_end(&f, ...)	waits for all of them, or has them end
 *
 * Should inject die, the watcher is told to end by the kernel, and each worker when that
 * does: they take out their probes.
 */
#ifndef INJECTOR_FAMILY_H
#define INJECTOR_FAMILY_H

#include <sys/types.h>

#include "base/base.h"

struct family_words;

struct family {
	/* Set by the caller: trace this process, in a worker; the exit status. */
	int (*trace)(void *ctx, pid_t pid);
	void *ctx;

	struct family_words *words;	/* shared by all; NULL: there is no family */
	pid_t watcher;
};

/* Before anything is known of the target. 0 or -errno. */
int family_begin(struct family *);
/* The process has its probes; `began` is what -d counts from. May be said again. */
void family_root(struct family *, pid_t pid, uint64_t began);
/* What -d counts from. */
uint64_t family_began(const struct family *);
/* How many programs were begun, this one included. */
unsigned int family_number(struct family *);
/* The worst exit status of the others. If `gone` the process that was named is, and the
 * others are waited for; else no further one begins. */
int family_end(struct family *, bool gone);

#endif
