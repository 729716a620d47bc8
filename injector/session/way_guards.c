/* SPDX-License-Identifier: MIT */
/* way_guards: of what may put the process under a seccomp filter, where values are read: the
 * payload looks whether it does (payload/guard.c). If it was asked for, it is recorded as well. */
#include "injector/session/ways.h"

static struct routine_set routines(const struct routine_set *sets, enum plan_routines its)
{
	struct routine_set set = way_values.routines(sets, its);

	set.entry = set.mark = hot_table.guard;
	return set;
}

const struct way way_guards = {
	.kind = COUNT_NONE, .routines = routines,
	.tail = (uint64_t)REC_TAIL << REC_TIME_SHIFT, .marks_late = true,
};
