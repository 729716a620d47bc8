/* SPDX-License-Identifier: MIT */
/*
 * clock: which moments of the counter are which of the clocks?
 *
 * The first pair of (ticks, CLOCK_BOOTTIME) is taken at the start, the second
 * one again and again: the rate gets more exact as the session goes on. The
 * wall clock is read once, so that printed times never jump or go back when
 * it is set; CLOCK_BOOTTIME keeps its pace, also over a suspend.
 */
#ifndef INJECTOR_CLOCK_H
#define INJECTOR_CLOCK_H

#include <time.h>

#include "trace/format/ticks.h"

/* Takes the first pair, and after about a millisecond a second one. */
void clock_begin(struct clock *ret);
/* Take the second pair again. */
void clock_update(struct clock *);
/* One moment by the counter and by a clock of the kernel. Returns by how many ticks it may be
 * off. */
uint64_t clock_pair(clockid_t, struct clock_pair *ret);
/* CLOCK_MONOTONIC in ns. */
uint64_t clock_monotonic(void);

#endif
