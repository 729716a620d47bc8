/* SPDX-License-Identifier: MIT */
/*
 * timing: how long do calls take, where that is all that is wanted to be known?
 *
 * What the fast path of arch/<name>/timed.h leaves to C: all of it runs inside a slow
 * path, which owns the struct thread. Sides and timings lie in shared memory, so what a
 * side says is looked at before it is an index.
 */
#include "payload/payload.h"

/* One that is the thread's own is always odd, and none is used twice: see hot.S. */
void timing_claim(const struct session *s, struct thread *t)
{
	uint64_t n = timing_funcs((uint64_t)s->nsub * s->sub_size);

	t->sides = t->ring + TIMING_SIDES_OFF;
	t->timings = t->ring + TIMINGS_OFF;
	t->timed = t->timings + n * sizeof(struct timing);
	t->counts = t->timed;
	t->counted = t->counts + n * sizeof(uint64_t);
	t->scale = s->scale;
	t->losses = (t->losses | 1) + 2;
	publish(&t->cur, t->losses);
	publish(&t->subbuf_end, END_TIMED);
}

static struct timing *timing_of(const struct thread *t, uint64_t func)
{
	uint64_t at = observe(&t->timings) + (func << TIMING_SHIFT);

	return func < 1u << REC_FUNC_BITS && at < observe(&t->timed) ? (struct timing *)at : NULL;
}

/* The counter of a function that has a timing. */
static uint64_t *counter_of(const struct thread *t, uint64_t func)
{
	uint64_t counts = observe(&t->counts);

	return timing_of(t, func) ? (uint64_t *)counts + func : NULL;
}

bool timing_begin(struct thread *t, uint64_t func, bool framed)
{
	uint64_t *counter = counter_of(t, func);

	if (framed)
		*thread_side(t, t->top) = (struct side){ cpu_clock(), 0, func };
	if (!counter)
		return false;
	++*counter;
	return true;
}

/* Two processors' clocks may differ, and memory may be scribbled over. */
static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void timing_end(struct thread *t, uint64_t offset, bool unwound)
{
	struct side *side = thread_side(t, offset);
	struct timing *f = t->timed ? timing_of(t, side->func) : NULL;
	uint64_t ticks;

	if (!f)
		return;
	ticks = less(cpu_clock(), side->begin);
	f->unwound += unwound;
	f->total += ticks;
	f->self += less(ticks, side->inner);
	if (f->most < ticks)
		f->most = ticks;
	f->buckets[timing_bucket(timing_ns(ticks, t->scale))]++;
	side[-1].inner += ticks;
}

struct side *timing_side(const struct thread *t, uint64_t offset)
{
	return t->sides ? thread_side(t, offset) : NULL;
}

void timing_copy(struct side *to, const struct side *from)
{
	if (to && from)
		*to = *from;
}

void timing_take(struct thread *t, uint64_t offset, const struct side *from)
{
	struct side side;
	uint64_t *counter;

	if (!t->sides || !from)
		return;
	side = *from;
	/* What a pending call has read is where another thread keeps it. */
	if (!t->timed)
		side.inner = 0;
	*thread_side(t, offset) = side;
	counter = t->timed ? counter_of(t, side.func) : NULL;
	if (counter)
		__atomic_fetch_or(counter, TIMING_TAKEN, __ATOMIC_RELAXED);
}
