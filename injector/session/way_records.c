/* SPDX-License-Identifier: MIT */
/* way_records: each entry and each exit is a record in its thread's ring. */
#include "injector/session/ways.h"

static struct routine_set routines(const struct routine_set *sets, enum plan_routines its)
{
	return sets[its];
}

const struct way way_records = { .kind = COUNT_NONE, .routines = routines,
				.late = REC_UNWATCHED };
