/* SPDX-License-Identifier: MIT */
/*
 * watched: did a call of a watched function take longer than it may?
 *
 * A thread remembers when those that are open began. The first that takes too long fires: from then
 * on each ring records what comes after that moment in half of its places, and then drops and
 * counts, so that what came before it is kept (`is_frozen` in ring.c). No injector has to be there
 * for that: it is so until an injector has read the rings and arms it again.
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

void watch_note(struct thread *t, uint64_t sp)
{
	struct watched *w = place_for(t, sp);

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

/* How long a call of it may take; 0: it is not watched. */
static uint64_t watch_limit(const struct session *s, uint32_t func)
{
	uint32_t i;

	for (i = 0; i < s->nwatches && i < WATCHES; i++)
		if (s->watches[i].func == func)
			return s->watches[i].ticks;
	return 0;
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

void watch_entered(uint64_t func, uint64_t sp)
{
	struct session *s = observe(&payload_session);
	struct thread *t = s && watch_limit(s, func) ? claim_kept() : NULL;

	if (t)
		watch_note(t, sp);
}

struct watching watch_leaves(uint64_t func, uint64_t sp)
{
	struct session *s = observe(&payload_session);
	uint64_t limit = s ? watch_limit(s, func) : 0;
	struct thread *t = limit ? claim_kept() : NULL;

	return (struct watching){ t ? take_begin(t, sp) : 0, t ? cpu_clock() : 0 };
}

void watch_left(struct watching w, uint64_t func)
{
	struct session *s = w.begin ? observe(&payload_session) : NULL;
	uint64_t limit = s ? watch_limit(s, func) : 0;
	const struct thread *t = limit && w.end > w.begin && w.end - w.begin > limit ?
		claim_kept() : NULL;

	if (t)
		fire(s, t, func, w.begin, w.end);
}
