/* SPDX-License-Identifier: MIT */
/* values: the text of what was read of a call. */
#ifndef TRACE_SHOW_VALUES_H
#define TRACE_SHOW_VALUES_H

#include "trace/read/frames.h"
#include "trace/read/signatures.h"

/* The signatures of functions that were called. All zero at first. */
struct shown_values {
	struct signatures signatures;
	char args[4096], result[4096];
};

void shown_clear(struct shown_values *);

/* Into `args` and `result`: "fd=3, buf=..." and "8"; each is "" if there is nothing to be said. Of a
 * call whose exit is not there only what was read at its entry. Printable. */
void shown_take(struct shown_values *, const struct call *);
/* One argument after the other, from *i = 0 on: its value into `args`, and its name ("": it has
 * none) into *name. False: that were all. */
bool shown_next(struct shown_values *, const struct call *, size_t *i, const char **name);
/* Is anything but the result read at the exits of this function? */
bool shown_changes(struct shown_values *, const struct reader_func *);

#endif
