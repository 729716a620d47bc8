/* SPDX-License-Identifier: MIT */
/*
 * watch: did a call of a watched function take longer than it may?
 *
 * These calls are recorded as all others, but by way of C, where a thread remembers when
 * those that are open began. The first that takes too long fires: from then on each ring
 * records what comes after that moment in half of its places, and then drops and counts,
 * so that what came before it is kept (`is_frozen` in ring.c). No injector has to be there for
 * that: it is so until an injector has read the rings and arms it again.
 */
#include "payload/payload.h"

/* A call at the same place of a stack has left it, in whatever way. */
static struct watched *place_for(struct thread *t, uint64_t sp)
{
	uint32_t i;

	for (i = 0; i < THREAD_WATCHED; i++)
		if (t->watched[i].sp == sp)
			return &t->watched[i];
	return &t->watched[t->next_watched++ % THREAD_WATCHED];
}

/* Also of functions that are not watched, if their stack pointer is lower here. */
void payload_watch_entry(uint64_t word, uint64_t sp)
{
	uint64_t late = word >> REC_LATE_SHIFT & (REC_LOWERED_MASK | REC_UNWATCHED);
	struct watched *w;
	struct thread *t;

	sp += (late & REC_LOWERED_MASK) * 8;
	payload_slow_entry(word - (late << REC_LATE_SHIFT), sp);
	t = late & REC_UNWATCHED ? 0 : claim_kept();
	if (!t)
		return;
	w = place_for(t, sp);
	w->sp = 0;
	w->begin = cpu_clock();
	publish(&w->sp, sp);
}

/* When the call that ends at `sp` began; 0: not known. */
static uint64_t take_begin(struct thread *t, uint64_t sp)
{
	uint32_t i;

	for (i = 0; i < THREAD_WATCHED; i++) {
		if (t->watched[i].sp != sp)
			continue;
		publish(&t->watched[i].sp, 0);
		return t->watched[i].begin;
	}
	return 0;
}

static bool is_too_long(const struct session *s, uint32_t func, uint64_t ticks)
{
	uint32_t i;

	for (i = 0; i < s->nwatches && i < WATCHES; i++)
		if (s->watches[i].func == func)
			return ticks > s->watches[i].ticks;
	return false;
}

/* The first one only. */
static void fire(struct session *s, const struct thread *t, uint32_t func, uint64_t begin,
		 uint64_t end)
{
	uint32_t armed = WATCH_ARMED;

	if (!__atomic_compare_exchange_n(&s->fired, &armed, WATCH_FIRES, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	s->firings++;
	s->fired_func = func;
	s->fired_tid = thread_ring(t)->tid;
	s->fired_begin = begin;
	s->fired_end = end;
	publish(&s->fired, WATCH_FIRED);
}

void payload_watch_exit(uint64_t word, uint64_t sp)
{
	struct session *s = observe(&payload_session);
	uint32_t func = word >> REC_FUNC_SHIFT;
	struct thread *t = s ? claim_kept() : NULL;
	uint64_t end = cpu_clock(), begin = t ? take_begin(t, sp) : 0;

	payload_slow_exit(word, sp);
	if (begin && end > begin && is_too_long(s, func, end - begin))
		fire(s, t, func, begin, end);
}
