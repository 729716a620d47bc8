/* SPDX-License-Identifier: MIT */
/*
 * hist_values: histograms of values, for `inject hist -f FUNCTION:VALUE`: numbers by powers of two,
 * all else by how often its text was there. Of calls as they are read, from a process or from a
 * recording; functions without a value among them have a histogram of their durations.
 */
#ifndef INJECTOR_HIST_VALUES_H
#define INJECTOR_HIST_VALUES_H

#include "injector/options/options.h"
#include "trace/format/about.h"
#include "trace/output/output.h"
#include "trace/read/frames.h"

struct hist_values;

/* `about` has functions and clock; its names are whole ones. 0, or a negative error with a message:
 * no function has a value that was asked for. All that is given stays. */
int hist_values_new(const struct options *, const struct about *, struct hist_values **ret);
void hist_values_free(struct hist_values *);	/* NULL is legal */
/* There are more functions now; of those that there were the values stay. 0 or -ENOMEM. */
int hist_values_name(struct hist_values *, const struct about *);
/* They are shown by these names, and calls are of these. */
void hist_values_show(struct hist_values *, const struct reader_func *funcs);
/* Calls that are shown are counted: as they end. */
struct sink hist_values_sink(struct hist_values *, const struct clock *);
/* 0 or -ENOMEM. */
int hist_values_print(const struct hist_values *, struct output *);

#endif
