/* SPDX-License-Identifier: MIT */
/*
 * tracer: another process that traces the target. Only one can at a time, and only it can
 * end that. Reads /proc only.
 */
#ifndef INJECTOR_TRACER_H
#define INJECTOR_TRACER_H

#include <sys/types.h>

#include "base/base.h"

/* The process that traces a thread of `pid`, if it is not inject itself and is not about to
 * end; 0: none. */
pid_t tracer_of(pid_t pid);
/*
 * Wait until none does, and say so: for 10 seconds at most, of which *waited (ns) have gone
 * by already, and no longer than until one more signal wants us to stop.
 */
void tracer_await(pid_t pid, uint64_t *waited);

#endif
