/* SPDX-License-Identifier: MIT */
/*
 * fibers: which call of a fiber ends here, and on which stack is it open?
 *
 * A fiber may go on in another thread, which then takes its open calls over:
 *
 *  1. It exchanges the number of the place that has them for STACK_LEAVES. No other thread
 *     takes that place now, nor does its thread use it, or give it to another stack.
 *  2. It sends that thread to the slow path, in case it takes the place for its current
 *     stack's, and looks again whether that is what it wants; if not, the place gets its
 *     number back.
 *  3. It copies the frames to a place of its own. Nothing changes them, for that thread
 *     is not on that stack any more; or it is where another stack was taken for this
 *     one. What it then adds in a slow path that was under way is put among the orphans.
 *  4. It gives the place back: its number is STACK_TAKEN.
 *
 * An address lies on one stack only, so an exit finds its call by the stack pointer alone:
 * in another place of this thread's, in another thread's, or among the orphans. Where none of
 * them has it, it began before we came.
 */
#include "payload/stacks.h"

/* One more than the highest index of a thread that was seen on a fiber. */
static uint32_t nfollowed;

/* Offset of the innermost frame of another thread's stack j. */
static uint64_t top_of(const struct thread *o, uint32_t j)
{
	uint64_t top = observe(&o->top);

	/* In this order: see place_switch. */
	return observe(&o->current) == j ? top : observe(&o->stacks[j].top);
}

static bool is_wall_between(uint64_t below, uint64_t above)
{
	uint64_t lo = below, hi = above + 1;

	orphans_narrow(below, &lo, &hi);
	return hi <= above;
}

/*
 * Is what happens at `sp` on o's stack j? An exit is, if the call that it ends is
 * open there: an address lies on one stack only. An entry, if it is between the
 * outermost and the innermost open call, or below, so near that no other stack
 * begins there in all likelihood: what is called next by the fiber that was resumed.
 */
static bool is_there(const struct thread *o, uint32_t j, uint64_t top, uint64_t sp,
		     enum what what)
{
	uint64_t start = piece_start(j), innermost;

	if (top == start)
		return false;
	if (what == WHAT_EXIT)
		return has_frame(o, j, top, sp);
	innermost = frame_sp(*frames_at(o, top));
	return sp <= frame_sp(*frames_at(o, start + 8)) && sp + REACH >= innermost &&
	       (sp >= innermost || !is_wall_between(sp, innermost));
}

/* The frames of o's stack j, the innermost one at offset `top`, to piece i. */
static void copy_frames(struct thread *t, uint32_t i, const struct thread *o,
			uint32_t j, uint64_t top)
{
	uint64_t at, by = piece_start(i) - piece_start(j);

	for (at = piece_start(j) + 8; at <= top; at += 8) {
		*frames_at(t, at + by) = *frames_at(o, at);
		timing_take(t, at + by, timing_side(o, at));
	}
	t->stacks[i].top = top + by;
}

/* A stack that is looked for: that of this number or, if it is 0, where `what` happens at
 * `sp`. */
struct wanted {
	uint64_t sp;
	enum what what;
	uint32_t number;
};

/* If o's stack j, whose number is `number`, is what is wanted, the offset of its innermost
 * frame, which lies in its piece: o may be changing stacks, and have another's. Else 0. */
static uint64_t wanted_top(const struct thread *o, uint32_t j, uint32_t number,
			   const struct wanted *w)
{
	uint64_t top = top_of(o, j);

	if (top < piece_start(j) || top >= piece_end(j))
		return 0;
	return (w->number ? w->number == number : is_there(o, j, top, w->sp, w->what)) ? top : 0;
}

/* The place has this number from now on, unless its thread has forgotten all stacks meanwhile. */
static void give_back(struct stack *k, uint32_t number)
{
	uint32_t leaves = STACK_LEAVES;

	__atomic_compare_exchange_n(&k->number, &leaves, number, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The place of the stack now; 0 if it was not taken. */
static uint32_t take_from(struct thread *t, struct thread *o, uint32_t j,
			  const struct wanted *w)
{
	struct stack *k = &o->stacks[j], *mine;
	uint32_t number = observe(&k->number), i;
	uint64_t top, lo, hi;

	if (!(number & STACK_SHARED) || place_is_taken(number) ||
	    !wanted_top(o, j, number, w) ||
	    !__atomic_compare_exchange_n(&k->number, &number, STACK_LEAVES, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))	/* 1 */
		return 0;
	publish(&o->end, 0);							/* 2 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	top = wanted_top(o, j, number, w);
	if (!top) {
		give_back(k, number);
		return 0;
	}
	i = place_to_give_up(t);
	mine = &t->stacks[i];
	place_forget(mine);
	copy_frames(t, i, o, j, top);						/* 3 */
	lo = k->lo;
	hi = k->hi;
	mine->within = k->within;
	give_back(k, STACK_TAKEN);						/* 4 */
	mine->opened = 1;
	mine->used = ++t->switches;
	place_bound(t, i, lo, hi);
	publish(&mine->number, number);
	return i;
}

static void follow_here(const struct thread *t)
{
	uint32_t n = observe(&nfollowed);

	while (n <= t->index &&
	       !__atomic_compare_exchange_n(&nfollowed, &n, t->index + 1, false,
					    __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		;
}

/* Take the open calls of a stack over from another thread. Its place now; 0 if there
 * are none. */
static uint32_t fibers_take(struct session *s, struct thread *t, const struct wanted *w)
{
	uint32_t n = observe(&nfollowed), r, j, i;

	for (r = 0; r < n && r < s->nrings; r++) {
		struct thread *o = (struct thread *)(s->threads + (uint64_t)r * THREAD_SIZE);

		if (o == t || observe(&o->magic) != THREAD_MAGIC || o->visit != t->visit)
			continue;
		for (j = 1; j < THREAD_STACKS; j++) {
			i = take_from(t, o, j, w);
			if (i)
				return i;
		}
	}
	return 0;
}

/* A fiber's number is its own in the whole session. */
uint32_t fibers_open(struct session *s, struct thread *t, uint64_t sp, enum what what)
{
	uint32_t i;

	place_free(t);
	i = fibers_take(s, t, &(struct wanted){ sp, what, 0 });
	follow_here(t);
	if (i) {
		place_reach(t, i, sp);
		return i;
	}
	return place_open_guessed(t, sp, STACK_SHARED |
		__atomic_fetch_add(&s->next_fiber, 1, __ATOMIC_RELAXED) % STACK_FIBERS);
}

/* Another place of this thread's where the call is open that ends at `sp`. */
static bool find_open(const struct thread *t, uint64_t sp, uint32_t *ret)
{
	const struct stack *k;
	uint32_t i;

	for (i = 0; i < GOROUTINE_STACK; i++) {
		k = &t->stacks[i];
		if (i != t->current && place_is_kept(k) && has_frame(t, i, k->top, sp)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/*
 * Is the call that ends at `sp` one that this thread does not know to be open? Not
 * if it is further down than there was room for frames: then it is open here, and
 * to look elsewhere would make deep recursion slow.
 */
static bool is_missing(const struct thread *t, uint64_t sp)
{
	bool full = t->top + 8 >= t->frames_end;

	return !has_frame(t, t->current, t->top, sp) &&
	       !(full && sp < frame_sp(*frames_at(t, t->top)));
}

/*
 * The call at `sp` goes on that was said to be unwound: there is a wall. A place that reaches
 * across keeps the part where its calls are. If it has none, the born stack's keeps the
 * upper one, and any other, which was made for what is at `sp`, the lower one.
 */
static void part_places(struct thread *t, uint64_t sp, const struct orphan *c)
{
	uint64_t wall = orphans_part(sp, c->by, c->outer), start;
	uint32_t i;

	for (i = 0; i < GOROUTINE_STACK; i++) {
		const struct stack *k = &t->stacks[i];
		bool none = (i == t->current ? t->top : k->top) == piece_start(i);

		if (!place_is_kept(k) || wall <= k->lo || wall >= k->hi)
			continue;
		start = piece_start(i);
		if (none ? !i : frame_sp(*frames_at(t, start + 8)) >= wall)
			place_bound(t, i, wall, k->hi);
		else
			place_bound(t, i, k->lo, wall);
	}
}

/* One more frame of the current stack, among those that there are. */
static void insert(struct thread *t, const struct orphan *c)
{
	uint64_t at = t->top;

	if (at + 8 >= t->frames_end)
		return;
	for (; at > piece_start(t->current) && *frames_at(t, at) < c->frame; at -= 8) {
		*frames_at(t, at + 8) = *frames_at(t, at);
		timing_copy(timing_side(t, at + 8), timing_side(t, at));
	}
	*frames_at(t, at + 8) = c->frame;
	timing_take(t, at + 8, &c->side);
	publish(&t->top, t->top + 8);
}

/* The place of the stack with this number, which has lost its own. It has no two, here
 * or elsewhere, for then neither would know what is open. */
static uint32_t place_of(struct session *s, struct thread *t, uint64_t sp, uint32_t number)
{
	uint32_t i;

	for (i = 1; i < GOROUTINE_STACK; i++)
		if (place_is_kept(&t->stacks[i]) && t->stacks[i].number == number)
			return i;
	i = fibers_take(s, t, &(struct wanted){ sp, WHAT_EXIT, number });
	return i ? i : place_open_guessed(t, sp, number);
}

/* The call at `sp` is open on the current stack: put it there, and those within it, which
 * were left. (Neither is inlined, for the room on the application's stack.) */
__attribute__((noinline))
static void bring_back(struct thread *t, uint64_t sp)
{
	uint32_t number = place_current(t)->number;
	struct orphan c;

	if (!orphans_take(sp, number, &c))
		return;
	place_current(t)->within = (uint16_t)c.within;
	do
		insert(t, &c);
	while (c.inner && orphans_take(c.inner, number, &c));
}

__attribute__((noinline))
static bool was_told(struct thread *t, uint64_t sp)
{
	struct orphan c;

	if (!orphans_take(sp, 0, &c))
		return false;
	if (c.by != ORPHANS_NOWHERE)
		part_places(t, sp, &c);
	/* Nothing was recorded of it, so it may still pass. (What is left within it goes next.) */
	if (c.frame && t->top + 8 < t->frames_end) {
		*frames_at(t, t->top + 8) = c.frame;
		timing_take(t, t->top + 8, &c.side);
		publish(&t->top, t->top + 8);
	}
	return true;
}

/* Look for it wherever it may be; nothing changes if it is nowhere. True if it was said
 * to be unwound. */
static bool find_begin(struct session *s, struct thread *t, uint64_t sp)
{
	uint32_t i, number;

	if (find_open(t, sp, &i)) {
		place_switch(t, i);
		return false;
	}
	/* Told is what was thrown out of, too, and its place may be another call's now. */
	if (!place_current(t)->opened)
		return was_told(t, sp);
	place_free(t);
	i = fibers_take(s, t, &(struct wanted){ sp, WHAT_EXIT, 0 });
	number = i ? 0 : orphans_number(sp);
	if (i || number)
		place_switch(t, i ? i : place_of(s, t, sp, number));
	if (number)
		bring_back(t, sp);
	return !i && !number && was_told(t, sp);
}

/* What is not open where it should be, as far as this thread knows: what was guessed of
 * that stack's bounds is wrong, or another thread has seen the call begin. */
bool fibers_find_begin(struct session *s, struct thread *t, uint64_t sp)
{
	uint32_t before = t->current;
	bool told;

	if (!is_missing(t, sp))
		return false;
	told = find_begin(s, t, sp);
	if (t->current != before && before && t->stacks[before].top == piece_start(before))
		place_give_up(&t->stacks[before]);
	return told;
}
