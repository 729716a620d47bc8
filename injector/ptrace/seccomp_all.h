/* SPDX-License-Identifier: MIT */
/* seccomp_all: what may all threads of a process do? */
#ifndef INJECTOR_SECCOMP_ALL_H
#define INJECTOR_SECCOMP_ALL_H

#include "injector/ptrace/target.h"

/* May each thread make this call, whatever its arguments are? All are stopped. False also where a
 * filter cannot be read, and where one handles its system calls itself. */
bool seccomp_all_pass(const struct target *, long nr);
/*
 * A thread's system calls may come back to it as a signal (PR_SET_SYSCALL_USER_DISPATCH), ours and
 * the one that leads it home among them. It is the thread's own, no /proc shows it, and kernels
 * before 6.4 do not tell us either.
 */
bool seccomp_is_dispatched(pid_t tid);

#endif
