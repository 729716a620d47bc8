/* SPDX-License-Identifier: MIT */
/* seccomp_all: what may all threads of a process do? */
#ifndef INJECTOR_SECCOMP_ALL_H
#define INJECTOR_SECCOMP_ALL_H

#include "injector/ptrace/target.h"

/* May each thread make this call, whatever its arguments are? All are stopped. False also where a
 * filter cannot be read. */
bool seccomp_all_pass(const struct target *, long nr);

#endif
