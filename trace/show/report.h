/* SPDX-License-Identifier: MIT */
/* report: how often was each function called, and how long did that take? */
#ifndef TRACE_REPORT_H
#define TRACE_REPORT_H

#include "symbols/names/shorten.h"
#include "trace/read/view.h"

enum report_key {
	REPORT_TOTAL,		/* in it and in what it calls; of recursive calls only
				 * the outermost one counts */
	REPORT_SELF,		/* in it alone */
	REPORT_CALLS,
	REPORT_AVERAGE, REPORT_MIN, REPORT_MAX,
	REPORT_P50, REPORT_P99,	/* to a sixteenth */
	REPORT_KEYS,
};

/* All times in ns, of calls of which both sides are known or that were still open. */
struct report_line {
	const char *name, *module;
	bool timed;		/* else the calls are all that is known */
	uint64_t parts;		/* calls of which a part is in the record */
	uint64_t v[REPORT_KEYS];
};

/* The functions that were called, in the order of `sort`, the largest first. Names are
 * those of the view. */
struct report {
	struct report_line *lines;
	size_t n;
	enum report_key sort;
};

/* The words of --sort; -EINVAL, with a message, if it is none of them. */
int report_key(const char *word, enum report_key *ret);
/* Runs the view. */
int report_make(struct view *, enum report_key sort, struct report *ret);
void report_clear(struct report *);
/* Show both by short names, which `made` owns: the same function by the same one. */
int report_shorten(struct report *, struct report *, struct strings *made);

void report_print(const struct report *, struct output *);
/* What `now` has in comparison to `before`: functions are the same by name and module. */
int report_print_diff(const struct report *before, const struct report *now,
		      enum report_key sort, struct output *);

#endif
