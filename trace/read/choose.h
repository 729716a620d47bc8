/* SPDX-License-Identifier: MIT */
/* choose: which functions does a pattern mean, of those that have been recorded? */
#ifndef TRACE_CHOOSE_H
#define TRACE_CHOOSE_H

#include "symbols/symbols.h"
#include "trace/format/about.h"

/* Set wanted[id] of what the pattern means to `value`. A name that it equals is all
 * that it means. *found grows by how many these are. 0 or -ENOMEM. */
int choose_names(const struct about *, const struct pattern *, bool value, bool *wanted,
		 size_t *found);

#endif
