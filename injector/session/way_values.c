/* SPDX-License-Identifier: MIT */
/* way_values: of single functions in a session of records: the payload reads arguments and results
 * by their read plans (payload/values.c). */
#include "injector/session/ways.h"

static struct routine_set routines(const struct routine_set *sets, enum plan_routines its)
{
	struct routine_set set = sets[its];

	set.entry = set.mark = hot_table.values_entry;
	set.exit = hot_table.values_exit;
	set.leave = 0;
	return set;
}

const struct way way_values = {
	.kind = COUNT_NONE, .routines = routines,
	.tail = (uint64_t)REC_TAIL << REC_TIME_SHIFT, .marks_late = true,
};
