/* SPDX-License-Identifier: MIT */
/*
 * overhead: --max-overhead: watch what the probes cost the target, and take out
 * those that cost it more than it may lose. The others stay.
 */
#ifndef INJECTOR_OVERHEAD_H
#define INJECTOR_OVERHEAD_H

#include "injector/patch/disarm.h"
#include "injector/show/limiter.h"
#include "injector/show/cpu_times.h"

enum { OVERHEAD_NAMED = 10 };	/* functions of one stop */

struct overhead {
	/* Set by the caller, which owns them; alive until overhead_end. */
	struct target *target;
	const struct reader *reader;
	const struct live *live;	/* all that stands: it may grow */
	const struct removal *others;	/* how forked children are found that record
					 * as well; NULL: there are none */
	struct session *session;	/* NULL: no values are read */
	uint64_t max_pause;
	const struct way *way;	/* one that adds up calls is asked for those of now */

	size_t disarmed;	/* functions that were taken out, so far */

	/* Our own. */
	struct limiter *limiter;
	struct cpu_times cpu_times;
	uint64_t *counted;	/* calls of each function at the last sample */
	size_t ncounted;
	uint64_t next;		/* monotonic ns: the next sample */
	bool *leaving;		/* functions that are to be taken out, by id */
	size_t nfuncs;		/* in there: more may have come since */
	struct limiter_verdict named[OVERHEAD_NAMED];	/* those above the limit */
	size_t nnamed;
	struct change *todo;	/* what of them still stands */
	size_t ntodo;
	bool delayed;		/* and could not be taken out at once */
};

/* What an event costs here, in ns. */
struct limiter_costs overhead_costs(void);
/* And how much more, on the average of what is probed, where values or callers are read. */
double overhead_reading(const struct live *);
/* `limit` in hundredths of a percent. 0 or -ENOMEM. */
int overhead_begin(struct overhead *, uint32_t limit);
/* Every event that is read. 0 or -ENOMEM. */
int overhead_event(struct overhead *, const struct event *);
/* To be called often: looks, and disarms what has to go. What fails is said. */
void overhead_tick(struct overhead *);
void overhead_end(struct overhead *);

#endif
