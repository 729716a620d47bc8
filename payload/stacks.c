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
 *
 * A fiber may go on in another thread, which then takes its open calls over:
 *
 *  1. It copies the frames to a place of its own. Nothing changes them, for the
 *     thread that kept them is not on that stack any more.
 *  2. It exchanges the number of the place that they came from for STACK_TAKEN.
 *     A thread that gives a place to another stack does that first, so if it
 *     did so in the meantime, this fails and the copy is worth nothing.
 *  3. It sends the other thread to the slow path, in case the fiber comes back
 *     before that thread has called anything else: then what it takes for its
 *     current stack is taken (stacks_is_taken, at the end of its slow paths, for
 *     one that was under way).
 */
#include "payload/payload.h"

/* How far a guessed stack reaches beyond the stack pointers seen on it. Less
 * than what fibers lie apart that are at about the same depth. */
#define REACH 4096

/* One more than the highest index of a thread that was seen on a fiber. */
static uint32_t nfollowed;

/* Not free, and not taken by another thread. */
static bool is_kept(const struct stack *k)
{
	return k->used && observe(&k->number) != STACK_TAKEN;
}

static bool covers(const struct stack *k, uint64_t sp)
{
	return is_kept(k) && sp >= k->lo && sp < k->hi;
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

static void forget(struct stack *k)
{
	publish(&k->number, STACK_TAKEN);
	publish(&k->used, 0);
}

void stacks_reset(struct thread *t)
{
	uint32_t i;

	for (i = 0; i < THREAD_STACKS; i++)
		forget(&t->stacks[i]);
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
	t->frames_end = FRAMES_SPLIT;
	t->told = 0;
}

static void switch_to(struct thread *t, uint32_t i)
{
	publish(&t->goroutine, 0);
	publish(&current(t)->top, t->top);
	publish(&t->current, i);
	t->lo = t->stacks[i].lo;
	t->top = t->stacks[i].top;
	t->frames_end = piece_end(i);
	t->stacks[i].used = ++t->switches;
}

static void open_stack(struct thread *t, uint32_t i, uint64_t lo, uint64_t hi)
{
	struct stack *k = &t->stacks[i];

	forget(k);
	k->opened = 0;
	k->top = piece_start(i);
	k->used = ++t->switches;
	set_bounds(t, i, lo, hi);
	if (i == t->current) {
		t->top = k->top;
		t->lo = lo;
	}
	publish(&k->number, t->next_number++ & ~STACK_SHARED);
}

/* Who has open calls counts more than who has none. */
static uint64_t rank(const struct thread *t, uint32_t i)
{
	const struct stack *k = &t->stacks[i];

	if (!is_kept(k))
		return 0;
	return k->used | (k->top > piece_start(i) ? 1ull << 63 : 0);
}

/* A place for one more stack: a free one, or that of the one longest unused,
 * whose open calls are forgotten. Never the born one's, the goroutines', nor the
 * current. */
static uint32_t victim(const struct thread *t)
{
	uint32_t i, best = t->current == 1 ? 2 : 1;

	for (i = best + 1; i < GOROUTINE_STACK; i++)
		if (i != t->current && rank(t, i) < rank(t, best))
			best = i;
	return best;
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
		if (!is_kept(k) || i == self)
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

	if (!is_kept(k) || !k->opened || sp + REACH < k->lo || sp > k->hi + REACH)
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

/*
 * No frames are kept of goroutines, for it is the reader that pairs their calls, and
 * nothing is ever on their stack by its range: who comes from elsewhere leaves it.
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
		switch_to(t, GOROUTINE_STACK);
	}
	publish(&k->number, STACK_SHARED | STACK_GOROUTINE |
		((uint64_t)g >> GOROUTINE_SHIFT) % STACK_FIBERS);
	publish(&t->goroutine, (uint64_t)g);
}

/* Offset of the innermost frame of another thread's stack j. */
static uint64_t top_of(const struct thread *o, uint32_t j)
{
	uint64_t top = observe(&o->top);

	/* In this order: see switch_to. */
	return observe(&o->current) == j ? top : observe(&o->stacks[j].top);
}

/* Is a call open there with just this sp? `top` is the innermost one's offset. */
static bool has_frame(const struct thread *o, uint32_t j, uint64_t top, uint64_t sp)
{
	while (top > piece_start(j) && frame_sp(*frames_at(o, top)) < sp)
		top -= 8;
	return top > piece_start(j) && frame_sp(*frames_at(o, top)) == sp;
}

/*
 * Is what happens at `sp` on o's stack j? An exit is, if the call that it ends is
 * open there: an address lies on one stack only. An entry, if it is between the
 * outermost and the innermost open call, or below, so near that no other stack
 * begins there in all likelihood: what is called next by who was resumed.
 */
static bool is_there(const struct thread *o, uint32_t j, uint64_t top, uint64_t sp,
		     enum what what)
{
	uint64_t start = piece_start(j);

	if (top <= start || top >= piece_end(j))
		return false;
	if (what == WHAT_EXIT)
		return has_frame(o, j, top, sp);
	return sp <= frame_sp(*frames_at(o, start + 8)) &&
	       sp + REACH >= frame_sp(*frames_at(o, top));
}

/* The frames of o's stack j, the innermost one at offset `top`, to piece i. */
static void copy_frames(struct thread *t, uint32_t i, const struct thread *o,
			uint32_t j, uint64_t top)
{
	uint64_t at, by = piece_start(i) - piece_start(j);

	for (at = piece_start(j) + 8; at <= top; at += 8) {
		*frames_at(t, at + by) = *frames_at(o, at);
		timing_move(t, at + by, o, at);
	}
	t->stacks[i].top = top + by;
}

/* The place of the stack now; 0 if it was not taken. */
static uint32_t take_from(struct thread *t, struct thread *o, uint32_t j, uint64_t sp,
			  enum what what)
{
	struct stack *k = &o->stacks[j], *mine;
	uint32_t number = observe(&k->number), i;
	uint64_t lo = k->lo, hi = k->hi, top = top_of(o, j);

	if (!(number & STACK_SHARED) || number == STACK_TAKEN ||
	    !is_there(o, j, top, sp, what))
		return 0;
	i = victim(t);
	mine = &t->stacks[i];
	forget(mine);
	copy_frames(t, i, o, j, top);						/* 1 */
	if (!__atomic_compare_exchange_n(&k->number, &number, STACK_TAKEN, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))	/* 2 */
		return 0;
	publish(&o->end, 0);							/* 3 */
	mine->opened = 1;
	mine->used = ++t->switches;
	if (sp < lo + REACH)
		lo = sp > REACH ? sp - REACH : 0;
	set_bounds(t, i, lo, hi);
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

/* Take the open calls of the stack of `sp` over from another thread. Its place
 * now; 0 if there are none. */
static uint32_t take(struct session *s, struct thread *t, uint64_t sp, enum what what)
{
	uint32_t n = observe(&nfollowed), r, j, i;

	for (r = 0; r < n && r < s->nrings; r++) {
		struct thread *o = (struct thread *)(s->threads + (uint64_t)r * THREAD_SIZE);

		if (o == t || observe(&o->magic) != THREAD_MAGIC || o->visit != t->visit)
			continue;
		for (j = 1; j < THREAD_STACKS; j++) {
			i = take_from(t, o, j, sp, what);
			if (i)
				return i;
		}
	}
	return 0;
}

/* A stack of unknown bounds. Its number is its own in the whole session. */
static uint32_t open_fiber(struct session *s, struct thread *t, uint64_t sp,
			   enum what what)
{
	uint32_t i = take(s, t, sp, what);
	uint64_t lo, hi;

	follow_here(t);
	if (i)
		return i;
	i = victim(t);
	forget(&t->stacks[i]);
	guess(t, i, sp, &lo, &hi);
	open_stack(t, i, lo, hi);
	t->stacks[i].opened = 1;
	publish(&t->stacks[i].number, STACK_SHARED |
		__atomic_fetch_add(&s->next_fiber, 1, __ATOMIC_RELAXED) % STACK_FIBERS);
	return i;
}

/* A stack that has not been seen yet, or was forgotten. */
static uint32_t discover(struct session *s, struct thread *t, uint64_t sp,
			 enum what what)
{
	uint64_t lo, hi;

	born_range(s, t, &lo, &hi);
	if (is_kept(&t->stacks[0]) || sp < lo || sp >= hi)
		return open_fiber(s, t, sp, what);
	open_stack(t, 0, lo, hi);
	return 0;
}

/* Another place of this thread's where the call is open that ends at `sp`. */
static bool find_open(const struct thread *t, uint64_t sp, uint32_t *ret)
{
	const struct stack *k;
	uint32_t i;

	for (i = 1; i < THREAD_STACKS; i++) {
		k = &t->stacks[i];
		if (i != t->current && is_kept(k) && k->opened &&
		    has_frame(t, i, k->top, sp)) {
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

/* An exit on a fiber, of a call that is not open there as far as this thread knows:
 * what was guessed of its bounds is wrong, or another thread has seen it begin. */
static void find_begin(struct session *s, struct thread *t, uint64_t sp)
{
	uint32_t i, before = t->current;

	if (!find_open(t, sp, &i)) {
		i = take(s, t, sp, WHAT_EXIT);
		if (!i)
			return;
	}
	switch_to(t, i);
	if (t->stacks[before].top == piece_start(before))
		forget(&t->stacks[before]);
}

void stacks_follow(struct session *s, struct thread *t, uint64_t sp, enum what what)
{
	uint32_t i;

	if (!covers(current(t), sp)) {
		if (find_known(t, sp, &i))
			switch_to(t, i);
		else if (!grow(t, sp))
			switch_to(t, discover(s, t, sp, what));
	}
	if (what == WHAT_EXIT && current(t)->opened && is_missing(t, sp))
		find_begin(s, t, sp);
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

bool stacks_is_taken(const struct thread *t)
{
	const struct stack *k = &t->stacks[t->current];

	if (!k->opened)
		return false;
	/* Either the thief's 0 comes after our `end`, or we see what it did. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return observe(&k->number) == STACK_TAKEN;
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

static void pop(struct thread *t, bool unwound)
{
	timing_end(t, unwound);
	publish(&t->top, t->top - 8);
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
		pop(t, true);
	}
	return any;
}

void frames_pop(struct thread *t, uint64_t sp)
{
	if (frame_sp(*frames_at(t, t->top)) == sp)
		pop(t, false);
}
