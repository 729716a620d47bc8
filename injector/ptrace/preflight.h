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

/* Seccomp filters of its threads forbid a call that we need, or kill for it (`harm`); NULL:
 * they cannot be read. -EPERM, with the line for it. */
int preflight_refuse_filter(pid_t pid, const char *call, bool harm);

#endif
