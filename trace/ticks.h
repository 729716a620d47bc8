/* SPDX-License-Identifier: MIT */
/* ticks: what do ticks of the records mean in nanoseconds, and on the wall? */
#ifndef TRACE_TICKS_H
#define TRACE_TICKS_H

#include "base/base.h"

struct clock {
	uint64_t ticks, ns;	/* one moment, by the counter and CLOCK_MONOTONIC */
	uint64_t realtime;	/* the same in ns since 1970 */
	uint64_t run_ticks, run_ns;	/* the rate: so many ticks are so many ns */
};

/* A span of ticks in ns. */
uint64_t clock_ns(const struct clock *, uint64_t ticks);
/* ns since 1970 of a moment in ticks, also of one before the first pair. */
uint64_t clock_realtime(const struct clock *, uint64_t ticks);

#endif
