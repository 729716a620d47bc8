/* SPDX-License-Identifier: MIT */
/* shortened: has our stop cut a transfer of the target short? */
#ifndef INJECTOR_SHORTENED_H
#define INJECTOR_SHORTENED_H

#include "injector/ptrace/target.h"

/*
 * A call that was at work when the thread was stopped, and now returns success,
 * but less than it would have without us: part of its bytes or messages, or a
 * wait that has not come to its end. It cannot be repaired, only counted. What
 * ends early by itself is not meant: at the end of a file, with descriptors
 * that do not block, in calls that return whatever there is.
 */
bool shortened(const struct target *, const struct regs_call_state *);

#endif
