/* SPDX-License-Identifier: MIT */
/*
 * audit: which user attached to what, when, and how did it end?
 *
 * Two lines for each run that works on a process: one before anything of it is
 * touched, so that an inject that is killed has left one, and one with the result.
 * Both go to the system's log (authpriv.notice), if there is one, and to the file
 * of --log. What a command is given on its line stays out: it may be secret.
 */
#ifndef INJECTOR_AUDIT_H
#define INJECTOR_AUDIT_H

#include "injector/options/options.h"

/* Does nothing for a verb that works on no process. An error if the file cannot be
 * written: then nothing is to be touched. */
int audit_begin(const struct options *, int argc, char **argv);
/* In another process of the same run: it works on that one. audit_end tells of it, too. */
int audit_other(pid_t pid);
/* With the exit status, and the last line that was said. */
void audit_end(int status);

#endif
