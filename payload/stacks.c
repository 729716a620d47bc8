/* SPDX-License-Identifier: MIT */
/*
 * stacks: which stack is this, and which calls are open on it?
 *
 * Calls are paired by stack pointer, so each stack that a thread runs on needs
 * frames of its own. A stack is known by its range: the born stack's is given
 * by the session (main thread) or lies below the thread pointer (others); of any
 * other, a fiber's or a signal's, the bounds are a guess around the stack pointers
 * seen, which grows with them. (The kernel knows those of a signal stack, but is not
 * asked: see claim_tid.)
 */
#include "payload/stacks.h"

/*
 * Was the thread that runs at `sp` born on the main thread's stack? That one was, and a
 * forked child's first thread if the main thread has forked it; one that another thread
 * has forked goes on on that one's, below the same thread pointer.
 */
static bool is_main(const struct session *s, const struct thread *t, uint64_t sp)
{
	const struct ring *r = thread_ring(t);

	return r->tid == s->pid ||
	       (r->tid == r->pid && sp >= s->stack_lo && sp < s->stack_hi);
}

/* The range of the stack that the thread was born with, which runs at `sp`. */
static void born_range(const struct session *s, const struct thread *t, uint64_t sp,
		       uint64_t *lo, uint64_t *hi)
{
	if (is_main(s, t, sp)) {
		*lo = s->stack_lo;
		*hi = s->stack_hi;
	} else {
		*hi = cpu_thread_pointer() & ~7ull;
		*lo = *hi > s->stack_max ? *hi - s->stack_max : 0;
	}
}

void stacks_reset(struct thread *t)
{
	uint32_t i;

	for (i = 0; i < THREAD_STACKS; i++)
		place_forget(&t->stacks[i]);
	/* No stack is current: piece 0 with a sentinel that nothing is below. */
	publish(&t->goroutine, 0);
	publish(&t->current, 0);
	t->stacks[0].lo = 0;
	t->stacks[0].hi = 0;
	t->stacks[0].top = FRAMES_OFF;
	t->stacks[0].number = 0;
	t->lo = ~0ull;
	*frames_at(t, FRAMES_OFF) = 1;
	t->top = FRAMES_OFF;
	t->frames_end = frames_end(t);
	t->told = 0;
}

/* Let the current stack, if its bounds are a guess, grow to `sp`. */
static bool stacks_grow(struct thread *t, uint64_t sp)
{
	const struct stack *k = place_current(t);

	return place_is_kept(k) && k->opened && sp + REACH >= k->lo && sp <= k->hi + REACH &&
	       place_reach(t, t->current, sp);
}

/* A stack that is known, and reaches there. */
static bool find_known(const struct thread *t, uint64_t sp, uint32_t *ret)
{
	uint32_t i;

	/* Backwards: a signal stack may lie within the born one's range. */
	for (i = THREAD_STACKS; i-- > 0;)
		if (covers(&t->stacks[i], sp)) {
			*ret = i;
			return true;
		}
	return false;
}

/*
 * No frames are kept of goroutines, for it is the reader that pairs their calls, and nothing is
 * ever on their stack by its range: a call from elsewhere leaves it.
 */
void stacks_goroutine(struct thread *t, const struct goroutine *g)
{
	struct stack *k = &t->stacks[GOROUTINE_STACK];

	if (t->current != GOROUTINE_STACK) {
		k->lo = ~0ull;
		k->hi = 0;
		k->opened = 0;
		k->top = piece_start(GOROUTINE_STACK);
		*frames_at(t, k->top) = 1;
		place_switch(t, GOROUTINE_STACK);
	}
	publish(&k->number, STACK_SHARED | STACK_GOROUTINE |
		((uint64_t)g >> GOROUTINE_SHIFT) % STACK_FIBERS);
	publish(&t->goroutine, (uint64_t)g);
}

/* The stack that the thread was born with, if `sp` is there and the stack is not known yet. */
static bool open_born(const struct session *s, struct thread *t, uint64_t sp)
{
	uint64_t lo, hi;

	born_range(s, t, sp, &lo, &hi);
	if (place_is_kept(&t->stacks[0]) || sp < lo || sp >= hi)
		return false;
	place_open(t, 0, lo, hi);
	return true;
}

bool stacks_follow(struct session *s, struct thread *t, uint64_t sp, enum what what)
{
	uint32_t i;

	if (!covers(place_current(t), sp)) {
		if (find_known(t, sp, &i))
			place_switch(t, i);
		else if (!stacks_grow(t, sp))
			place_switch(t, open_born(s, t, sp) ? 0 :
				     fibers_open(s, t, sp, what));
	}
	return what == WHAT_EXIT && t->current != GOROUTINE_STACK && fibers_find_begin(s, t, sp);
}

bool stacks_same(struct session *s, struct thread *t, uint64_t a, uint64_t b)
{
	uint64_t lo, hi;
	uint32_t i;

	born_range(s, t, a, &lo, &hi);
	if (!find_known(t, a, &i))
		return a >= lo && a < hi && b >= lo && b < hi;
	return covers(&t->stacks[i], b);
}

bool stacks_is_taken(const struct thread *t)
{
	const struct stack *k = &t->stacks[t->current];

	if (!k->opened)
		return false;
	/* Either the thief's 0 comes after our `end`, or we see what it did. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return place_is_taken(observe(&k->number));
}

void stacks_settle(struct thread *t, uint64_t top)
{
	uint32_t i = top < FRAMES_SPLIT ? 0 : 1 + (top - FRAMES_SPLIT) / FRAMES_OTHER;

	/* The handler's own frames are gone: it returned. */
	if (i != t->current) {
		t->top = place_current(t)->top;
		place_switch(t, i);
	}
	/* Another one that came later may have taken our frame for one that was left. */
	t->top = top;
}

void stacks_deepen(struct thread *t, uint32_t deepest)
{
	t->deepest = deepest;
	t->frames_end = frames_end(t);
}

bool frames_deep(const struct thread *t)
{
	return t->deepest &&
		(t->top - piece_start(t->current)) / 8 - frames_failed(t) >= t->deepest;
}

bool frames_too_deep(const struct thread *t, uint64_t sp)
{
	return frames_deep(t) && frame_sp(*frames_at(t, t->top)) != sp;
}

uint32_t frames_depth(const struct thread *t)
{
	uint32_t n = t->stacks[t->current].within;
	uint64_t at;

	for (at = piece_start(t->current) + 8; at <= t->top; at += 8)
		n += !(*frames_at(t, at) & 1);
	return n;
}

/* Is this frame left when `what` happens at `sp`? */
static bool is_left(uint64_t frame, uint64_t sp, enum what what)
{
	return frame_sp(frame) < sp || (frame_sp(frame) == sp && what == WHAT_ENTRY);
}

/* The innermost frame, at that offset. */
static void stacks_pop(struct thread *t, uint64_t at, bool unwound)
{
	timing_end(t, at, unwound);
	publish(&t->top, at - 8);
}

uint64_t frames_start(const struct thread *t)
{
	return piece_start(t->current);
}

uint64_t frames_rest(const struct thread *t, uint64_t sp, enum what what)
{
	uint64_t start = piece_start(t->current), at = t->top;

	while (at > start && is_left(*frames_at(t, at), sp, what))
		at -= 8;
	return at;
}

bool frames_pop_left(struct thread *t, uint64_t sp, enum what what)
{
	uint64_t top = frames_rest(t, sp, what), at = t->top, outer, frame;
	bool any = false, pending;

	outer = top < at ? frame_sp(*frames_at(t, top + 8)) : 0;
	for (; at > top; stacks_pop(t, at, true), at -= 8) {
		frame = *frames_at(t, at);
		any |= !(frame & 1);
		pending = frame_sp(frame) - FRAME_PENDING == frame;
		if ((!(frame & 1) || pending) && frame_sp(frame) < sp)
			orphans_tell(frame, sp, outer, pending ? timing_side(t, at) : NULL);
	}
	return any;
}

void frames_pop(struct thread *t, uint64_t sp)
{
	uint64_t at = t->top;

	if (at <= piece_start(t->current) || frame_sp(*frames_at(t, at)) != sp)
		return;
	/* A handler may have come right before our place is shown that another handler finds. */
	*frames_at(t, at) = sp - FRAME_FAILED;
	stacks_pop(t, at, false);
}
