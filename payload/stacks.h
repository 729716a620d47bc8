/* SPDX-License-Identifier: MIT */
/*
 * stacks, inside: what do the three files share that follow stacks?
 *
 * stacks.c	which stack is this?
 * places.c	where are a stack's open calls, and what are its bounds?
 * fibers.c	which call of a fiber ends here, and on which stack is it open?
 */
#ifndef PAYLOAD_STACKS_H
#define PAYLOAD_STACKS_H

#include "payload/payload.h"

/* How far a guessed stack reaches beyond the stack pointers seen on it. Less
 * than what fibers lie apart that are at about the same depth. */
#define REACH 4096

static inline bool place_is_taken(uint32_t number)
{
	return number >= STACK_LEAVES;
}

/* Not free, and not taken by another thread. */
static inline bool place_is_kept(const struct stack *k)
{
	return k->used && !place_is_taken(observe(&k->number));
}

static inline bool covers(const struct stack *k, uint64_t sp)
{
	return place_is_kept(k) && sp >= k->lo && sp < k->hi;
}

static inline struct stack *place_current(struct thread *t)
{
	return &t->stacks[t->current];
}

/* First frame (the sentinel's place) and end of stack i's piece. */
static inline uint64_t piece_start(uint32_t i)
{
	return i ? FRAMES_SPLIT + (i - 1) * FRAMES_OTHER : FRAMES_OFF;
}

static inline uint64_t piece_end(uint32_t i)
{
	return i ? piece_start(i) + FRAMES_OTHER : FRAMES_SPLIT;
}

/* How many of the current stack's open calls has a condition refused while all levels were kept
 * (sieve.h)? They are none of those that are. */
static inline uint64_t frames_failed(const struct thread *t)
{
	uint64_t at, n = 0;

	for (at = piece_start(t->current) + 8; at <= t->top && t->sides; at += 8)
		n += (*frames_at(t, at) & 7) == 8 - FRAME_FAILED && !thread_side(t, at)->begin;
	return n;
}

/* The end of what its thread uses of the current stack's piece. */
static inline uint64_t frames_end(const struct thread *t)
{
	uint64_t end = piece_end(t->current), most;

	if (!t->deepest)
		return end;
	most = piece_start(t->current) + 8 + 8 * (t->deepest + frames_failed(t));
	return most < end ? most : end;
}

/* Is a call open there with just this sp? `top` is the innermost one's offset. */
static inline bool has_frame(const struct thread *o, uint32_t j, uint64_t top, uint64_t sp)
{
	while (top > piece_start(j) && frame_sp(*frames_at(o, top)) < sp)
		top -= 8;
	return top > piece_start(j) && frame_sp(*frames_at(o, top)) == sp;
}

/* places.c */

/* The bounds of stack i are these from now on. */
void place_bound(struct thread *, uint32_t i, uint64_t lo, uint64_t hi);
/* Nothing is known any more of what was there. */
void place_forget(struct stack *);
/* The same if no other thread is taking it. */
bool place_give_up(struct stack *);
/* Make it the current one. */
void place_switch(struct thread *, uint32_t i);
/* Another stack has the place now, with no open calls. */
void place_open(struct thread *, uint32_t i, uint64_t lo, uint64_t hi);
/* The place for one more stack: a free one, or that of the one longest unused. */
uint32_t place_to_give_up(const struct thread *);
/* Have it free. What was open there is known by its exits from now on; unless another thread
 * takes it, which finds it in one of the two at any time. */
void place_free(struct thread *);
/* Let the guessed bounds of stack i reach around `sp`, too, but for every stack that is
 * known, and walls. False if one of these is between. */
bool place_reach(struct thread *, uint32_t i, uint64_t sp);
/* Give the place that is free to a stack of unknown bounds. */
uint32_t place_open_guessed(struct thread *, uint64_t sp, uint32_t number);

/* fibers.c */

/* What happens at `sp` is on a fiber whose place this thread does not know: which is it
 * now? */
uint32_t fibers_open(struct session *, struct thread *, uint64_t sp, enum what);
/* An exit at `sp`: make that stack the current one on which its call is open, wherever that
 * is kept. True if it was said to be unwound. */
bool fibers_find_begin(struct session *, struct thread *, uint64_t sp);

#endif
