/* SPDX-License-Identifier: MIT */
/*
 * tracing: a thread of ours that does all ptrace work of one operation.
 *
 * Tracees belong to the thread that seized them. When it ends, the kernel
 * detaches all of them, also those that could not be stopped (PTRACE_DETACH
 * refuses a running tracee), so that no tracer is left behind on any path.
 */
#ifndef INJECTOR_TRACING_H
#define INJECTOR_TRACING_H

#include "base/base.h"

/* Run `operate(ctx)` on the tracer thread, at the caller's pace, and wait for it; its
 * result and its message become the caller's. Within an operation another one is a
 * part of it, on the same thread, which goes on holding what it held. */
int tracing(int (*operate)(void *ctx), void *ctx);

/* While threads of the target stand still, the tracer thread goes first: without
 * this, spinning threads that were let go starve the one that lets the others
 * go. Then it is at its pace again; but leisure ends with the first stop, for a
 * thread that was asked and did not stop in time may do so later, and stands until
 * it is looked at. Where it is not permitted nothing happens. */
void tracing_hurry(bool on);

#endif
