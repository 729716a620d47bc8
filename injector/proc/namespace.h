/* SPDX-License-Identifier: MIT */
/*
 * namespace: which thread is it that a target in a PID namespace of its own knows by
 * another id than we do?
 *
 * Since Linux 6.11 the kernel translates. Before, all threads are asked for their ids, and
 * a list of threads may leave out some that live (reader_threads.c has why): a thread
 * that is in none of several lists has ended, as far as can be known. One that cannot be asked
 * may be any.
 */
#ifndef INJECTOR_NAMESPACE_H
#define INJECTOR_NAMESPACE_H

#include <stdbool.h>
#include <sys/types.h>

struct namespace {
	int fd;			/* to translate by; or -1 */
	bool other;		/* its ids are not ours */
	bool certain;		/* what is said of them is */
	ino_t number;		/* 0: not known */
};

/* Of no process (0), ids are ours. */
void namespace_open(pid_t pid, struct namespace *ret);
void namespace_close(struct namespace *);
/* Our id of a thread of `pid` that is `inner` to itself; 0: there is none; or -errno: that
 * cannot be told now. The thread may be another process's, or have ended, all the same. */
pid_t namespace_outer(const struct namespace *, pid_t pid, pid_t inner);
/* The same in any process of that namespace, which is said in `pid`. */
pid_t namespace_anybody(const struct namespace *, pid_t inner, pid_t *pid);

#endif
