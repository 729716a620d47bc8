/* SPDX-License-Identifier: MIT */
/* ticks: what do ticks of the records mean in nanoseconds, and on the wall? */
#ifndef TRACE_TICKS_H
#define TRACE_TICKS_H

#include "base/base.h"

/* One moment, by the counter and in ns since 1970. */
struct clock_pair {
	uint64_t ticks, ns;
};

struct clock {
	uint64_t ticks, ns;	/* one moment, by the counter and CLOCK_BOOTTIME */
	uint64_t realtime;	/* the same in ns since 1970 */
	uint64_t run_ticks, run_ns;	/* the rate: so many ticks are so many ns */
	/* Of a recording: moments in order, each later than the one before by both.
	 * What keeps real time is now a little faster and now slower than the
	 * counter. */
	const struct clock_pair *pairs;
	size_t npairs;
};

/* A span of ticks in ns. */
uint64_t clock_ns(const struct clock *, uint64_t ticks);
/* ns since 1970 of a moment in ticks, also of one before the first pair. Later
 * moments have no lower number. */
uint64_t clock_realtime(const struct clock *, uint64_t ticks);
/* The last moment that both are known of. */
struct clock_pair clock_last(const struct clock *);

#endif
