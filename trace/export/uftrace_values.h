/* SPDX-License-Identifier: MIT */
/*
 * uftrace_values: arguments and results in the words of uftrace: numbers of 8 bytes, and texts, of
 * which a list in its file `info` says which they are: "fetch@arg1/d64,arg2/s".
 */
#ifndef TRACE_UFTRACE_VALUES_H
#define TRACE_UFTRACE_VALUES_H

#include <stdio.h>

#include "trace/format/about.h"
#include "trace/read/frames.h"
#include "trace/read/signatures.h"

enum { UFTRACE_VALUES = 2048 };	/* bytes of one call's, at most */

/* "argspec:..." for all functions, or "retspec:..."; false: there is none to be said. */
bool uftrace_specs(struct signatures *, const struct about *, bool results, FILE *);
/* The bytes of a call's arguments, or of its result: a multiple of 8; 0: they are not told. */
size_t uftrace_values(struct signatures *, const struct call *, bool result,
		      uint8_t ret[UFTRACE_VALUES]);

#endif
