/* SPDX-License-Identifier: MIT */
/*
 * clock: what do ticks of the records mean in nanoseconds, and on the wall?
 *
 * The first pair of (ticks, CLOCK_MONOTONIC) is taken at the start, the second
 * one again and again: the rate gets more exact as the session goes on. The
 * wall clock is read once, so that printed times never jump or go back when
 * somebody sets it.
 */
#ifndef INJECTOR_CLOCK_H
#define INJECTOR_CLOCK_H

#include "base/base.h"

struct clock {
	uint64_t ticks, ns;	/* the first pair */
	uint64_t realtime;	/* ns since 1970 at the first pair */
	uint64_t run_ticks, run_ns;	/* from the first pair to the last */
};

/* Takes the first pair, and after about a millisecond a second one. */
void clock_begin(struct clock *ret);
/* Take the second pair again. */
void clock_update(struct clock *);
/* A span of ticks in ns. */
uint64_t clock_ns(const struct clock *, uint64_t ticks);
/* ns since 1970 of a moment in ticks, also of one before the start. */
uint64_t clock_realtime(const struct clock *, uint64_t ticks);
/* CLOCK_MONOTONIC in ns. */
uint64_t clock_monotonic(void);

#endif
