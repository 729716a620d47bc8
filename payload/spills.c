/* SPDX-License-Identifier: MIT */
/*
 * spills: where is room for a call that has none on its stack?
 *
 * A spill area is the thread's whose thread pointer stands in its first word; or its id, in
 * threads of Go's runtime alone, which do not know theirs. No two threads that live
 * have the same one, so a thread that finds its own there is the owner, or comes after an owner
 * that has ended. The area is the thread's for life: a thread may be interrupted with its
 * registers in a spill frame, and whatever becomes of its ring they must still be there. For
 * the same reason an area is never wiped, nor cleared. Of threads of Go's, whose ids are soon all
 * new, an injector that is there gives back the areas once they have ended
 * (injector/session/spills.h). A thread that finds none does not look at each again at every
 * call.
 */
#include "payload/payload.h"

static struct search search;

static bool is_to_be_had(uint64_t owner)
{
	return !owner || owner >> 8 * SPILL_AREA_STATE == SPILL_AREA_BACK;
}

/* True if the area is now, or was, that of `own`: a signal handler that comes before
 * we have it may have taken it, and then it is ours. */
static bool take_area(uint64_t *area, uint64_t own)
{
	uint64_t owner = observe(area);

	return owner == own ||
		(is_to_be_had(owner) &&
		 __atomic_compare_exchange_n(area, &owner, own, false, __ATOMIC_ACQ_REL,
					     __ATOMIC_RELAXED)) || owner == own;
}

/* 0: they are all taken. */
static uint64_t find_area(const struct session *s)
{
	uint64_t tp = cpu_thread_pointer(), own = tp ? tp : (uint32_t)claim_tid(s);
	uint32_t home = s->nspills ? thread_home(own, s->nspills) : 0;
	uint32_t returns = observe(&s->returns);

	if (!own || !s->nspills || !search_begin(&search, returns))
		return 0;
	for (uint32_t n = 0; n < s->nspills; n++) {
		uint64_t area = s->spills + (uint64_t)((home + n) % s->nspills) * SPILL_AREA_SIZE;

		if (take_area((uint64_t *)area, own))
			return area;
	}
	search_failed(&search, returns);
	return 0;
}

/* A signal handler that comes in the middle of this, and records, finds the same. */
bool payload_first(uint64_t exit)
{
	struct session *s = observe(&payload_session);
	uint64_t area;

	if (!s || !payload_is_open(s))
		return false;
	area = find_area(s);
	if (!area) {
		claim_count(s, exit ? WHAT_EXIT : WHAT_ENTRY);
		return false;
	}
	cpu_set_thread_word(s->spills_offset, area + SPILL_AREA_SIZE - SPILL_SIZE + SPILL_STEP);
	return true;
}
