/* SPDX-License-Identifier: MIT */
/*
 * reader_held: when are calls told that are held until it is known whether they pass?
 *
 * At their end, if they do; or when it is certain that they will, however they end: as one within
 * them is told, or when they have been open for long.
 */
#include "injector/reader/reader_impl.h"

#include <string.h>

enum {
	LOOK_NS = 100000000,	/* between two looks at calls that are held, */
	LONG_NS = 100000000,	/* which are told after so long, if they will pass */
};

/* It is told from now on, and within it are no others that are. */
void held_not(struct open_calls *s, struct open_call *c)
{
	c->unwanted = false;
	c->outer = s->told;
	s->told = (uint32_t)(c - s->calls) + 1;
}

static void tell_begun(struct reader *r, struct lane *l, struct open_call *c, int32_t pid,
		       int32_t tid)
{
	struct event begun = tell_of(r, l, EVENT_ENTRY, c->func);

	asked_told(c, &begun);
	begun.pid = pid ?: begun.pid;
	begun.tid = tid ?: begun.tid;
	r->stats.calls++;
	r->stats.events++;
	tell_event(r, &begun);
	asked_forget(r, c);
}

/*
 * One that was held has ended, and passes. Calls around it that will pass, too, for they have taken
 * long enough, are told before it, so that it is within them; but none within which one that is
 * told is open, for it would be taken to be within that. All as if in the thread in which it began,
 * so that they have that order in a recording, too.
 */
void held_ended(struct reader *r, struct lane *l, struct open_call *c, enum event_kind kind)
{
	struct open_calls *s = current(r, l);
	struct event begun = { 0 }, ended = tell_of(r, l, kind, c->func);
	size_t from = s->nheld;

	asked_told(c, &begun);
	while (from && s->held[from - 1] >= s->told &&
	       asked_will_pass(r, &s->calls[s->held[from - 1]], l->last))
		from--;
	for (size_t i = from; i < s->nheld; i++) {
		struct open_call *around = &s->calls[s->held[i]];

		tell_begun(r, l, around, begun.pid, begun.tid);
		held_not(s, around);
	}
	s->nheld = from;
	tell_begun(r, l, c, 0, 0);
	ended.pid = begun.pid;
	ended.tid = begun.tid;
	tell_event(r, &ended);
}

/* The first that is held within all that are told. */
static size_t first_within(const struct open_calls *s)
{
	size_t from = 0, to = s->nheld;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (s->held[middle] < s->told)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* The outermost first: one that is not certain to pass has all within it wait. A thread may have
 * been put aside right behind its look at the clock, with an end that is not in its ring yet: what
 * is open now was so `least` ticks ago. */
static void look_at_stack(struct reader *r, struct lane *l, uint64_t least)
{
	struct open_calls *s = current(r, l);
	size_t from = first_within(s), to = from;

	while (to < s->nheld && !r->err) {
		struct open_call *c = &s->calls[s->held[to]];

		if (!asked_has_been(c, l->last, least) || !asked_will_pass(r, c, l->last - least))
			break;
		tell_begun(r, l, c, 0, 0);
		held_not(s, c);
		to++;
	}
	if (to < s->nheld && to > from)
		memmove(s->held + from, s->held + to, (s->nheld - to) * sizeof(*s->held));
	s->nheld -= to - from;
}

static void look_at_lane(struct reader *r, struct lane *l, uint64_t now, uint64_t least)
{
	uint32_t fiber = l->fiber;
	size_t was = l->current;

	l->fiber = 0;
	for (l->current = 0; l->current < l->nstacks && !r->err; l->current++)
		if (l->stacks[l->current].nheld) {
			l->last = MAX(l->last, now);
			look_at_stack(r, l, least);
		}
	l->current = was;
	l->fiber = fiber;
}

/* As pending_look: in the last pass a call that is open is so however short it has been. */
void held_look(struct reader *r)
{
	uint64_t monotonic = clock_monotonic(), now = r->leaves ? r->leaves : r->now;
	uint64_t least = r->last ? 0 : (uint64_t)((double)LONG_NS * (double)r->clock.run_ticks /
						  (double)MAX(r->clock.run_ns, 1u));
	struct lane aside = { .last = now };

	if (!r->held || r->err || r->reached != r->now || (!r->last && monotonic < r->next_held))
		return;
	r->next_held = monotonic + LOOK_NS;
	for (uint32_t i = 0; i < r->nrings; i++)
		look_at_lane(r, &r->lanes[i], now, least);
	for (size_t i = 0; i < MAX_FIBERS && !r->err; i++)
		if (r->fibers[i].nheld) {
			aside.fiber = r->fibers[i].number;
			aside.fiber_at = i;
			look_at_stack(r, &aside, least);
		}
}
