/* SPDX-License-Identifier: MIT */
/* kept: a copy of a call, with the memory that it refers to, for sinks that show it later. */
#ifndef TRACE_KEPT_H
#define TRACE_KEPT_H

#include "trace/read/frames.h"

/* Owned by the caller, until call_drop. What there is no memory for is not in it. The calls around
 * it are not kept. */
struct call call_keep(const struct call *);
void call_drop(struct call *);
/* How many bytes it takes. */
size_t call_bytes(const struct call *);

#endif
