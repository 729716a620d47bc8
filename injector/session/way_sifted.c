/* SPDX-License-Identifier: MIT */
/* way_sifted: only calls are recorded that take long enough, or that a condition holds for. The
 * others end in the target: payload/sieve.h. */
#include "injector/session/ways.h"

static struct routine_set routines(const struct routine_set *sets, enum plan_routines its)
{
	return sets[its == ROUTINES_C ? ROUTINES_SIFTED : its];
}

const struct way way_sifted = { .kind = COUNT_SIFTED, .routines = routines,
			       .late = REC_UNWATCHED };
