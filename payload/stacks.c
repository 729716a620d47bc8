/* SPDX-License-Identifier: MIT */
/*
 * stacks: which stack is this, and which calls are open on it?
 *
 * Calls are paired by stack pointer, so each stack that a thread runs on needs
 * frames of its own. A stack is known by its range: the born stack's is given
 * by the session (main thread) or lies below the thread pointer (others); the
 * signal stack's the kernel tells; of any other, a fiber's for instance, the
 * bounds are a guess around the stack pointers seen, which grows with them.
 */
#include <asm/unistd.h>
#include "payload/payload.h"

/* How far a guessed stack reaches beyond the stack pointers seen on it. Less
 * than what fibers lie apart that are at about the same depth. */
#define REACH 4096

/* The kernel's stack_t. */
struct signal_stack {
	uint64_t sp;
	int32_t flags;
	uint64_t size;
};

#define SIGNAL_STACK_OFF 2	/* SS_DISABLE */

static bool covers(const struct stack *k, uint64_t sp)
{
	return k->used && sp >= k->lo && sp < k->hi;
}

static struct stack *current(struct thread *t)
{
	return &t->stacks[t->current];
}

/* First frame (the sentinel's place) and end of stack i's piece. */
static uint64_t piece_start(uint32_t i)
{
	return i ? FRAMES_SPLIT + (i - 1) * FRAMES_OTHER : FRAMES_OFF;
}

static uint64_t piece_end(uint32_t i)
{
	return i ? piece_start(i) + FRAMES_OTHER : FRAMES_SPLIT;
}

static void set_bounds(struct thread *t, uint32_t i, uint64_t lo, uint64_t hi)
{
	t->stacks[i].lo = lo;
	t->stacks[i].hi = hi;
	*frames_at(t, piece_start(i)) = hi - 7;
	if (i == t->current)
		t->lo = lo;
}

/* The range of the stack that the thread was born with. */
static void born_range(const struct session *s, const struct thread *t,
		       uint64_t *lo, uint64_t *hi)
{
	if (thread_ring(t)->tid == s->pid) {
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
		t->stacks[i].used = 0;
	/* No stack is current: piece 0 with a sentinel that nothing is below. */
	t->current = 0;
	t->stacks[0].lo = 0;
	t->stacks[0].hi = 0;
	t->stacks[0].top = FRAMES_OFF;
	t->stacks[0].number = 0;
	t->lo = ~0ull;
	*frames_at(t, FRAMES_OFF) = 1;
	t->top = FRAMES_OFF;
	t->frames_end = FRAMES_SPLIT;
	t->told = 0;
}

static void switch_to(struct thread *t, uint32_t i)
{
	current(t)->top = t->top;
	t->current = i;
	t->lo = t->stacks[i].lo;
	t->top = t->stacks[i].top;
	t->frames_end = piece_end(i);
	t->stacks[i].used = ++t->switches;
}

static void open_stack(struct thread *t, uint32_t i, uint64_t lo, uint64_t hi)
{
	struct stack *k = &t->stacks[i];

	k->number = t->next_number++;
	k->opened = 0;
	k->top = piece_start(i);
	k->used = ++t->switches;
	set_bounds(t, i, lo, hi);
	if (i == t->current) {
		t->top = k->top;
		t->lo = lo;
	}
}

/* A place for one more stack: a free one, or that of the one longest unused,
 * whose open calls are forgotten. Never the born one's, nor the current. */
static uint32_t victim(const struct thread *t)
{
	uint32_t i, best = t->current == 1 ? 2 : 1;

	for (i = best + 1; i < THREAD_STACKS; i++)
		if (i != t->current && t->stacks[i].used < t->stacks[best].used)
			best = i;
	return best;
}

static bool signal_range(uint64_t sp, uint64_t *lo, uint64_t *hi)
{
	struct signal_stack ss;

	if (cpu_syscall(__NR_sigaltstack, 0, (long)&ss, 0) ||
	    ss.flags & SIGNAL_STACK_OFF)
		return false;
	*lo = ss.sp;
	*hi = ss.sp + ss.size;
	return sp >= *lo && sp < *hi;
}

/* Bounds of a guessed stack around `sp`, which keep off every known one. */
static void guess(const struct thread *t, uint32_t self, uint64_t sp,
		  uint64_t *lo, uint64_t *hi)
{
	const struct stack *k;
	uint32_t i;

	*lo = sp > REACH ? sp - REACH : 0;
	*hi = (sp + REACH) & ~7ull;
	for (i = 0; i < THREAD_STACKS; i++) {
		k = &t->stacks[i];
		if (!k->used || i == self)
			continue;
		if (k->hi <= sp && k->hi > *lo)
			*lo = k->hi;
		if (k->lo > sp && k->lo < *hi)
			*hi = k->lo;
	}
}

/* Let the current stack, if its bounds are a guess, grow to `sp`. */
static bool grow(struct thread *t, uint64_t sp)
{
	struct stack *k = current(t);
	uint64_t lo, hi;

	if (!k->used || !k->opened || sp + REACH < k->lo || sp > k->hi + REACH)
		return false;
	guess(t, t->current, sp, &lo, &hi);
	if (lo > k->hi || hi < k->lo)
		return false;
	set_bounds(t, t->current, lo < k->lo ? lo : k->lo, hi > k->hi ? hi : k->hi);
	return true;
}

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

/* The stack of just this range; THREAD_STACKS if it is not known. */
static uint32_t find_range(const struct thread *t, uint64_t lo, uint64_t hi)
{
	const struct stack *k;
	uint32_t i;

	for (i = 0; i < THREAD_STACKS; i++) {
		k = &t->stacks[i];
		if (k->used && k->lo == lo && k->hi == hi)
			break;
	}
	return i;
}

/* A stack that has not been seen yet, or was forgotten. */
static uint32_t discover(struct session *s, struct thread *t, uint64_t sp)
{
	uint64_t lo, hi;
	uint32_t i;

	born_range(s, t, &lo, &hi);
	if (!t->stacks[0].used && sp >= lo && sp < hi) {
		open_stack(t, 0, lo, hi);
		return 0;
	}
	i = victim(t);
	if (signal_range(sp, &lo, &hi)) {
		open_stack(t, i, lo, hi);
		return i;
	}
	t->stacks[i].used = 0;
	guess(t, i, sp, &lo, &hi);
	open_stack(t, i, lo, hi);
	t->stacks[i].opened = 1;
	return i;
}

void stacks_follow(struct session *s, struct thread *t, uint64_t sp)
{
	uint32_t i;

	if (covers(current(t), sp))
		return;
	if (find_known(t, sp, &i))
		switch_to(t, i);
	else if (!grow(t, sp))
		switch_to(t, discover(s, t, sp));
}

bool stacks_same(struct session *s, struct thread *t, uint64_t a, uint64_t b)
{
	uint64_t lo, hi;
	uint32_t i;

	born_range(s, t, &lo, &hi);
	if (!find_known(t, a, &i))
		return a >= lo && a < hi && b >= lo && b < hi;
	return covers(&t->stacks[i], b);
}

bool stacks_left_for_signal(struct thread *t, uint64_t sp)
{
	uint64_t lo, hi;
	uint32_t i;

	if (!signal_range(sp, &lo, &hi) ||
	    (current(t)->lo == lo && current(t)->hi == hi))
		return false;
	i = find_range(t, lo, hi);
	if (i == THREAD_STACKS) {
		i = victim(t);
		open_stack(t, i, lo, hi);
	}
	switch_to(t, i);
	return true;
}

void stacks_settle(struct thread *t, uint64_t top)
{
	uint32_t i = top < FRAMES_SPLIT ? 0 : 1 + (top - FRAMES_SPLIT) / FRAMES_OTHER;

	if (i == t->current)
		return;
	/* The handler's own frames are gone: it returned. */
	t->top = current(t)->top;
	switch_to(t, i);
	t->top = top;
}

uint32_t frames_depth(const struct thread *t)
{
	uint64_t at;
	uint32_t n = 0;

	for (at = piece_start(t->current) + 8; at <= t->top; at += 8)
		n += !(*frames_at(t, at) & 1);
	return n;
}

bool frames_pop_below(struct thread *t, uint64_t sp)
{
	uint64_t start = piece_start(t->current), frame;
	bool any = false;

	while (t->top > start) {
		frame = *frames_at(t, t->top);
		if (frame_sp(frame) >= sp)
			break;
		any |= !(frame & 1);
		t->top -= 8;
	}
	return any;
}
