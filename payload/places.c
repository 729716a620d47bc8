/* SPDX-License-Identifier: MIT */
/*
 * places: where are a stack's open calls, and what are its bounds?
 *
 * A thread has places for some stacks, each with the frames of the calls that are open.
 * Those of fibers have other threads, too, an eye on: see fibers.c. What has no place is
 * among the orphans.
 */
#include "payload/stacks.h"

void place_bound(struct thread *t, uint32_t i, uint64_t lo, uint64_t hi)
{
	t->stacks[i].lo = lo;
	t->stacks[i].hi = hi;
	*frames_at(t, piece_start(i)) = hi - 7;
	if (i == t->current)
		t->lo = lo;
}

void place_forget(struct stack *k)
{
	publish(&k->number, STACK_TAKEN);
	publish(&k->used, 0);
}

bool place_give_up(struct stack *k)
{
	uint32_t number = observe(&k->number);

	if (number == STACK_LEAVES ||
	    !__atomic_compare_exchange_n(&k->number, &number, STACK_TAKEN, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	publish(&k->used, 0);
	return true;
}

void place_switch(struct thread *t, uint32_t i)
{
	publish(&t->goroutine, 0);
	publish(&place_current(t)->top, t->top);
	publish(&t->current, i);
	t->lo = t->stacks[i].lo;
	/* Another thread that sees it sees which stack's it is: see top_of in fibers.c. */
	publish(&t->top, t->stacks[i].top);
	t->frames_end = frames_end(t);
	t->stacks[i].used = ++t->switches;
}

void place_open(struct thread *t, uint32_t i, uint64_t lo, uint64_t hi)
{
	struct stack *k = &t->stacks[i];

	place_forget(k);
	k->opened = 0;
	k->within = 0;
	k->top = piece_start(i);
	k->used = ++t->switches;
	place_bound(t, i, lo, hi);
	if (i == t->current) {
		t->top = k->top;
		t->lo = lo;
	}
	publish(&k->number, t->next_number++ & ~STACK_SHARED);
}

/* A stack with open calls counts more than one with none. */
static uint64_t rank(const struct thread *t, uint32_t i)
{
	const struct stack *k = &t->stacks[i];

	if (!place_is_kept(k))
		return observe(&k->number) == STACK_LEAVES ? ~0ull : 0;
	return k->used | (k->top > piece_start(i) ? 1ull << 63 : 0);
}

/* Never the born one's, the goroutines', nor the current. */
uint32_t place_to_give_up(const struct thread *t)
{
	uint32_t i, best = t->current == 1 ? 2 : 1;

	for (i = best + 1; i < GOROUTINE_STACK; i++)
		if (i != t->current && rank(t, i) < rank(t, best))
			best = i;
	return best;
}

/* Put the open calls of stack i among the orphans. */
static void shelve(const struct thread *t, uint32_t i, uint32_t number)
{
	uint64_t top = t->stacks[i].top, at, inner;
	uint32_t within = t->stacks[i].within;

	for (at = piece_start(i) + 8; at <= top; at += 8) {
		inner = at < top ? frame_sp(*frames_at(t, at + 8)) : 0;
		orphans_put(*frames_at(t, at), inner, number, within, timing_side(t, at));
		within += !(*frames_at(t, at) & 1);
	}
}

static void unshelve(const struct thread *t, uint32_t i, uint32_t number)
{
	uint64_t at;

	for (at = piece_start(i) + 8; at <= t->stacks[i].top; at += 8)
		orphans_drop(frame_sp(*frames_at(t, at)), number);
}

void place_free(struct thread *t)
{
	uint32_t i = place_to_give_up(t), number = observe(&t->stacks[i].number);

	while (place_is_kept(&t->stacks[i]) && t->stacks[i].opened) {
		shelve(t, i, number);
		if (place_give_up(&t->stacks[i]))
			return;
		unshelve(t, i, number);
		i = place_to_give_up(t);
		number = observe(&t->stacks[i].number);
	}
	place_forget(&t->stacks[i]);
}

/* Bounds of a guessed stack around `sp`, which keep off every known one, and walls. */
static void guess(const struct thread *t, uint32_t self, uint64_t sp,
		  uint64_t *lo, uint64_t *hi)
{
	const struct stack *k;
	uint32_t i;

	*lo = sp > REACH ? sp - REACH : 0;
	*hi = (sp + REACH) & ~7ull;
	for (i = 0; i < THREAD_STACKS; i++) {
		k = &t->stacks[i];
		if (!place_is_kept(k) || i == self)
			continue;
		if (k->hi <= sp && k->hi > *lo)
			*lo = k->hi;
		if (k->lo > sp && k->lo < *hi)
			*hi = k->lo;
	}
	orphans_narrow(sp, lo, hi);
}

bool place_reach(struct thread *t, uint32_t i, uint64_t sp)
{
	const struct stack *k = &t->stacks[i];
	uint64_t lo, hi;

	guess(t, i, sp, &lo, &hi);
	if (lo >= k->hi || hi <= k->lo)
		return false;
	place_bound(t, i, lo < k->lo ? lo : k->lo, hi > k->hi ? hi : k->hi);
	return true;
}

uint32_t place_open_guessed(struct thread *t, uint64_t sp, uint32_t number)
{
	uint32_t i = place_to_give_up(t);
	uint64_t lo, hi;

	guess(t, i, sp, &lo, &hi);
	place_open(t, i, lo, hi);
	t->stacks[i].opened = 1;
	publish(&t->stacks[i].number, number);
	return i;
}
