/* SPDX-License-Identifier: MIT */
/* way_times: durations are added up by function, of calls that are paired in the target:
 * payload/timing.h has what lies where. */
#include "injector/session/ways.h"

enum { LATER = 1 << 12 };	/* functions of libraries that are loaded later */

/* Of what is probed at its entry only calls are counted. */
static struct routine_set routines(const struct routine_set *sets, enum plan_routines its)
{
	struct routine_set set = sets[ROUTINES_TIMED];

	set.mark = sets[its].count;
	return set;
}

static uint64_t room(uint64_t nfuncs)
{
	return TIMING_SIDES + (nfuncs + LATER) * TIMING_EACH;
}

static uint64_t funcs(uint64_t bytes)
{
	return timing_funcs(bytes);
}

/* Behind the times of all functions. */
static const uint64_t *counts(const struct ring *ring, uint64_t bytes)
{
	const struct timing *times = (const struct timing *)((const char *)ring + TIMINGS_OFF);

	return (const uint64_t *)(times + timing_funcs(bytes));
}

const struct way way_times = {
	.kind = COUNT_TIMES, .pairs = true,
	.routines = routines, .word = (uint64_t)REC_TIMED << REC_TIME_SHIFT,
	.late = REC_UNWATCHED,
	.room = room, .funcs = funcs, .counts = counts,
	.readings = 2,
};
