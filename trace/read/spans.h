/* SPDX-License-Identifier: MIT */
/*
 * spans: from one call to another: how long does that take which no function does from its begin
 * to its end, such as a request that a server's event loop comes back to?
 *
 * A span begins where a function is called, or returns, and ends where another one is or does. Both
 * are of the same thread, or, where values are named (`by`), of the same values in one process,
 * whichever threads these are. A span that begins anew has not ended: the older one is forgotten,
 * or, at a point that is for the first time only, goes on.
 * In one thread spans may lie within each other: what ends lies in the call that its span has begun
 * with, or else ends the last one.
 *
 * A sink of frames.h, which gives spans to another: as a call of the function at which they begin,
 * with the call at which they end (struct call, `until`).
 */
#ifndef TRACE_SPANS_H
#define TRACE_SPANS_H

#include "symbols/symbols.h"
#include "trace/format/about.h"
#include "trace/read/frames.h"

enum {
	SPANS_GROUPS = 32,
	SPANS_OPEN = 1 << 16,	/* at a time; the oldest are forgotten for more */
};

struct span_point {
	struct pattern pattern;	/* of a function, or of PROVIDER:NAME; owned */
	bool usdt;
	bool ends;		/* a span ends there */
	bool at_return;		/* and not where it is called */
	bool first;		/* none begins there as long as there is one */
	uint8_t group;		/* what begins in a group ends in it */
};

struct spans_options {
	const struct span_point *points;
	size_t npoints;
	const char *const *by;	/* names of values, as pick.h has them */
	size_t nby;
	uint64_t min_ns;	/* shorter ones are left out */
	uint64_t calls;		/* so many are shown; 0: all */
};

struct spans;

/* The functions are those of `about`. All that is given stays until
 * spans_free. 0; -ENOMEM; -EINVAL with a message if a function has none of the values. */
int spans_new(const struct clock *, const struct about *, const struct spans_options *,
	      const struct sink *, struct spans **ret);
void spans_free(struct spans *);	/* NULL is legal */
/* There are more functions. 0 or -errno, as above. */
int spans_name(struct spans *, const struct about *);
/* What frames_new takes. Every call has to be opened (no -t, no -D). */
struct sink spans_sink(struct spans *);
/* The recording has ended at `now`: what is open, and has been for as long as it takes, is given
 * as that. */
void spans_finish(struct spans *, uint64_t now);
bool spans_full(const struct spans *);

#endif
