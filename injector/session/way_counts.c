/* SPDX-License-Identifier: MIT */
/* way_counts: calls are counted by function, and nothing else is known of them. */
#include "injector/session/ways.h"
#include "payload/page.h"

enum { LATER = 1 << 15 };	/* functions of libraries that are loaded later */

static struct routine_set routines(const struct routine_set *sets, enum plan_routines its)
{
	struct routine_set set = sets[its];

	set.mark = set.count;
	return set;
}

static uint64_t room(uint64_t nfuncs)
{
	return (nfuncs + LATER) * sizeof(uint64_t);
}

static uint64_t funcs(uint64_t bytes)
{
	return bytes / sizeof(uint64_t);
}

static const uint64_t *counts(const struct ring *ring, uint64_t bytes)
{
	(void)bytes;
	return (const uint64_t *)((const char *)ring + PAGE);
}

const struct way way_counts = {
	.kind = COUNT_CALLS, .entry_only = true, .routines = routines,
	.late = REC_UNWATCHED,
	.room = room, .funcs = funcs, .counts = counts,
	.cost = 1.5, .readings = 1,
};
