/* SPDX-License-Identifier: MIT */
/*
 * within: calls that take long, with all calls that they have made, as short as these may be.
 *
 * A sink of frames.h, to which every call is given. What happens within a call of one of the
 * functions that are asked for is kept until that call ends; then it is given on in its order, or
 * forgotten.
 */
#ifndef TRACE_WITHIN_H
#define TRACE_WITHIN_H

#include "symbols/symbols.h"
#include "trace/format/about.h"
#include "trace/read/frames.h"

enum { WITHIN_CALLS = 10000 };	/* of one that is kept; what comes behind these is left out */

struct within_options {
	const struct pattern *roots;	/* functions whose calls are to take long */
	size_t nroots;
	uint64_t min_ns;		/* so long */
	uint64_t calls;			/* so many of them are shown; 0: all */
};

struct within;

/* The functions are those of `about`. All that is given stays until within_free. 0 or -ENOMEM. */
int within_new(const struct clock *, const struct about *, const struct within_options *,
	       const struct sink *, struct within **ret);
void within_free(struct within *);	/* NULL is legal */
/* There are more functions. 0 or -ENOMEM. */
int within_name(struct within *, const struct about *);
/* What frames_new takes, without -t and -D. */
struct sink within_sink(struct within *);
bool within_full(const struct within *);

#endif
