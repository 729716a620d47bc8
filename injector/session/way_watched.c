/* SPDX-License-Identifier: MIT */
/* way_watched: of single functions in a session of records: the payload itself looks how long each
 * call takes (payload/watched.c). */
#include "injector/session/ways.h"

static struct routine_set routines(const struct routine_set *sets, enum plan_routines its)
{
	struct routine_set set = sets[its];

	set.entry = hot_table.watch_entry;
	set.exit = hot_table.watch_exit;
	set.leave = 0;
	return set;
}

const struct way way_watched = { .kind = COUNT_NONE, .routines = routines };
