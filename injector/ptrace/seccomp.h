/* SPDX-License-Identifier: MIT */
/*
 * seccomp: may a thread under seccomp filters make the system calls that we need of it?
 *
 * A container's and a service's threads are under filters from their start, which allow
 * nearly all that programs do; others' kill for anything but read and write. So the filters
 * are read (PTRACE_SECCOMP_GET_FILTER, since Linux 4.4: it takes CAP_SYS_ADMIN of the
 * machine, a kernel that can checkpoint, and that we are under no filter), and asked what
 * they would answer, before anything is done: a call that they would not let pass is
 * never made.
 */
#ifndef INJECTOR_SECCOMP_H
#define INJECTOR_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sock_fprog;

/* Of one thread. Owned. */
struct seccomp_filters {
	pid_t tid;		/* 0: none was read */
	struct sock_fprog *v;
	size_t n;
};

/* What filters may do with a call, as bits. */
enum seccomp_answer {
	SECCOMP_PASSES = 1,
	SECCOMP_DENIES = 2,	/* it fails, and that is all */
	SECCOMP_HARMS = 4,	/* it kills, signals, waits for another's word, or is said to
				 * have been made */
};

/* May we read filters at all? False: *why tells what is missing. */
bool seccomp_readable(const char **why);
/* All filters of a thread that the caller traces and that is stopped. -errno, and
 * nothing to be freed. */
int seccomp_read(pid_t tid, struct seccomp_filters *ret);
void seccomp_forget(struct seccomp_filters *);
/* What may they answer to a call? Of its arguments those count whose bit is in `known`. */
unsigned int seccomp_ask(const struct seccomp_filters *, long nr, const uint64_t args[6],
			 unsigned int known);
/* May a thread under them be borrowed to make system calls? False: the first call that it
 * could not make, and whether that would do harm. */
bool seccomp_lends(const struct seccomp_filters *, const char **call, bool *harm);

/* May the kernel go on with an interrupted sleep of this stopped thread by restart_syscall? */
bool seccomp_restarts(pid_t pid, pid_t tid);

#endif
