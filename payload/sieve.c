/* SPDX-License-Identifier: MIT */
/*
 * sieve: which of the open calls are recorded?
 *
 * What the fast path leaves to C: all of it runs inside a slow path, which owns the struct thread.
 * Sides lie in shared memory, so what a side says is looked at before it is an index.
 */
#include "payload/payload.h"

#define OWNER_MASK ((1ull << SIDE_OWNER_BITS) - 1)

static uint64_t owner_of(uint64_t func, uint64_t sp)
{
	return func << SIDE_OWNER_BITS | (sp >> 3 & OWNER_MASK);
}

uint64_t sieve_least(const struct session *s)
{
	return observe(&s->asks) ? LEAST_ASKS : observe(&s->least);
}

void sieve_follow(const struct session *s, struct thread *t)
{
	while (is_sifted(s) && observe(&t->least) != sieve_least(s))
		publish(&t->least, sieve_least(s));
	/* With each refused call that ends the end of the frames moves. */
	if (t->deepest != observe(&s->deepest) || (t->deepest && is_sifted(s)))
		stacks_deepen(t, observe(&s->deepest));
}

void sieve_claim(const struct session *s, struct thread *t)
{
	t->sides = (uint64_t)s + s->sides_off + (uint64_t)t->index * TIMING_SIDES;
	t->least = sieve_least(s);
	t->losses = (t->losses | 1) + 2;
	t->parked = 0;
	t->parked_end = 0;
	publish(&t->cur, t->losses);
	publish(&t->subbuf_end, END_SIEVE);
}

/* The side of the frame at an offset, if it is that frame's; NULL: the two were not written
 * together. */
static struct side *own_side(const struct thread *t, uint64_t offset)
{
	struct side *side = thread_side(t, offset);
	uint64_t sp = frame_sp(*frames_at(t, offset));

	return (side->func & OWNER_MASK) == (sp >> 3 & OWNER_MASK) ? side : NULL;
}

/* What the call has read at its entry that has the frame and the side. */
static struct held_call *held_by(const struct session *s, const struct thread *t, uint64_t offset,
			    const struct side *side)
{
	return values_held(s, t, side->inner, frame_sp(*frames_at(t, offset)),
			   side->func >> SIDE_OWNER_BITS);
}

static bool is_pending(const struct thread *t, uint64_t offset)
{
	return (*frames_at(t, offset) & 7) == 8 - FRAME_PENDING;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

_Static_assert(64 - SIDE_OWNER_BITS == REC_FUNC_BITS, "each function of a side has a gate");

/* A call whose function's gate was closed meanwhile has perhaps ended unseen. */
static bool is_seen(const struct session *s, const struct side *side)
{
	return observe((const uint8_t *)s + GATES_OFF + (side->func >> SIDE_OWNER_BITS));
}

/* The same bits at the entry and the exit of a call. */
static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

/* What the injector has found its thread to be called; "": nothing yet, or of another one. */
static void find_name(const struct ring *r, char ret[16])
{
	int32_t of = observe(&r->named);
	uint32_t i;

	for (i = 0; i < sizeof(r->name); i++)
		ret[i] = observe(&r->name[i]);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!of || of != r->tid || observe(&r->named) != of)
		ret[0] = 0;
}

/* Of a call whose frame is at an offset: of what is not told what its condition needs. */
static void find_facts(const struct session *s, const struct thread *t, uint64_t offset,
		       unsigned int needs, uint64_t sp, uint64_t begin, uint64_t link,
		       struct condition_facts *ret)
{
	const struct ring *r = thread_ring(t);

	ret->duration_ns = 0;
	ret->tid = (uint32_t)r->tid;
	ret->pid = (uint32_t)r->pid;
	ret->cpu = needs & CONDITION_CPU ? cpu_number(s->cpu_at) : 0;
	ret->depth = (offset - frames_start(t)) / 8;
	ret->caller = needs & CONDITION_CALLER ? values_returns_to(s, t, sp, link) : 0;
	ret->random = mixed(begin ^ sp);
	ret->comm[0] = 0;
	if (needs & CONDITION_COMM)
		find_name(r, ret->comm);
}

/* Does its condition say of an open call that it passes, however it ends? (The stack may have been
 * written over since one that was left has begun: so its caller is not known.) */
static bool passes(const struct session *s, const struct thread *t, uint64_t offset,
		   const struct side *side, uint64_t now)
{
	uint64_t sp = frame_sp(*frames_at(t, offset));
	const struct held_call *held = held_by(s, t, offset, side);
	struct condition_facts *f = values_facts(s, t);
	unsigned int needs;

	if (!values_decides(s, side->func >> SIDE_OWNER_BITS, held, &needs))
		return true;
	if (!(needs & CONDITION_DURATION))
		return false;
	find_facts(s, t, offset, needs & ~CONDITION_CALLER, sp, side->begin, 0, f);
	f->duration_ns = timing_ns(less(now, side->begin), s->scale);
	return values_passes(s, t, held, f);
}

/* What asks conditions of open calls, and what does not, are there twice: asking takes stack, for
 * which there is room only where registers are held. */
#define TWICE static inline __attribute__((always_inline))

/* Has it taken as long as it has to, and does it pass? One that has no condition, or one that has
 * said so at its entry, does. */
TWICE bool is_ripe(const struct session *s, const struct thread *t, uint64_t offset, uint64_t now,
		   bool asks)
{
	const struct side *side = is_pending(t, offset) ? own_side(t, offset) : NULL;
	unsigned int needs;

	if (!side || less(now, side->begin) < s->least || !is_seen(s, side))
		return false;
	return asks ? passes(s, t, offset, side, now) :
		!values_decides(s, side->func >> SIDE_OWNER_BITS, held_by(s, t, offset, side),
				&needs);
}

/* Record the begin of a call that is open, with its callers, which take so many words; its frame
 * says so then, or that it is lost. */
static inline __attribute__((always_inline))
void record_begin(struct session *s, struct thread *t, uint64_t offset,
			 unsigned int callers)
{
	uint64_t sp = frame_sp(*frames_at(t, offset)), *p;
	const struct side *side = own_side(t, offset);
	struct held_call *held;
	unsigned int words;
	uint64_t func;
	uint32_t n;

	if (!side)
		return;
	func = side->func >> SIDE_OWNER_BITS;
	held = held_by(s, t, offset, side);
	n = held ? observe(&held->n) : 0;
	words = held && n <= READS_CAPTURE_MAX ? values_words(n) : 0;
	if (!ring_room(s, t, callers + words + 3)) {
		ring_lose(t, WHAT_ENTRY);
		*frames_at(t, offset) = sp - FRAME_LOST;
		return;
	}
	if (callers)
		callers_put(s, t, func, callers);
	if (words)
		values_put_held(s, t, held, n);
	p = ring_take(t, 3);
	p[1] = func << REC_TIME_SHIFT;
	p[2] = side->begin << REC_TIME_SHIFT;
	ring_give(t, p, REC_EXT | (uint64_t)EXT_BEGUN << REC_FUNC_SHIFT | 2ull << REC_WORDS_SHIFT);
	*frames_at(t, offset) = sp;
}

/* What is recorded later is taken for what is further in: so nothing is that is around a call that
 * is recorded, and open. */
TWICE void record_ripe(struct session *s, struct thread *t, uint64_t end, uint64_t now, bool asks)
{
	uint64_t at = end - 8, start = frames_start(t);

	while (at > start && *frames_at(t, at) & 1)
		at -= 8;
	for (at += 8; at < end; at += 8)
		if (is_ripe(s, t, at, now, asks))
			record_begin(s, t, at, 0);
}

void sieve_record(struct session *s, struct thread *t, uint64_t end, uint64_t now)
{
	record_ripe(s, t, end, now, false);
}

/* A call that is left was the shorter the further in it is. */
TWICE void record_left(struct session *s, struct thread *t, uint64_t sp, enum what what, bool asks)
{
	uint64_t at = frames_rest(t, sp, what) + 8, now = cpu_clock();

	for (; at <= t->top; at += 8)
		if (is_ripe(s, t, at, now, asks))
			break;
	if (at <= t->top)
		record_ripe(s, t, t->top + 8, now, asks);
}

void sieve_left(struct session *s, struct thread *t, uint64_t sp, enum what what)
{
	record_left(s, t, sp, what, false);
}

void sieve_left_asked(struct session *s, struct thread *t, uint64_t sp, enum what what)
{
	record_left(s, t, sp, what, true);
}

void sieve_forget(struct thread *t)
{
	uint64_t at = frames_start(t) + 8, end = t->top;

	for (; at <= end && at < THREAD_SIZE; at += 8) {
		if (!is_pending(t, at))
			continue;
		ring_lose(t, WHAT_ENTRY);
		/* Nor is it an earlier one there that was left. */
		orphans_drop(frame_sp(*frames_at(t, at)), 0);
	}
}

/* Where what was read of the calls ends that have frames up to there: each side says so, but one
 * that was not written together with its frame; and there is none of the sentinel. */
static uint64_t held_below(const struct thread *t, uint64_t at)
{
	const struct side *side = own_side(t, at);

	while (!side && at > frames_start(t)) {
		at -= 8;
		side = own_side(t, at);
	}
	return side ? side->inner : 0;
}

void sieve_push(const struct session *s, struct thread *t, uint64_t func, uint64_t sp,
		uint64_t begin, uint64_t kind)
{
	uint64_t at = t->top + 8, below = held_below(t, t->top);
	struct side *side;

	if (at >= t->frames_end)
		return;
	side = thread_side(t, at);
	*side = (struct side){ begin, below, owner_of(func, sp) };
	if (kind == FRAME_PENDING)
		side->inner = values_hold(s, t, below, sp, func);
	*frames_at(t, at) = sp - kind;
	publish(&t->top, at);
}

enum verdict sieve_entry(const struct session *s, const struct thread *t, uint64_t sp,
			 uint64_t begin, uint64_t link)
{
	struct condition_facts f;

	find_facts(s, t, t->top + 8, values_needs(s, t), sp, begin, link, &f);
	return values_verdict(s, t, false, &f);
}

struct held_call *sieve_held(const struct session *s, const struct thread *t, uint64_t sp,
			uint64_t func)
{
	const struct side *side = own_side(t, t->top);

	return side ? values_held(s, t, side->inner, sp, func) : NULL;
}

enum verdict sieve_exit(const struct session *s, const struct thread *t, uint64_t sp,
			uint64_t now, uint64_t link)
{
	const struct side *side = own_side(t, t->top);
	struct condition_facts f;

	if (!side)
		return VERDICT_FAILS;
	find_facts(s, t, t->top, values_needs(s, t), sp, side->begin, link, &f);
	f.duration_ns = timing_ns(less(now, side->begin), s->scale);
	return values_verdict(s, t, true, &f);
}

void sieve_settle(struct thread *t, uint64_t offset, uint64_t func, uint64_t sp)
{
	uint64_t below = held_below(t, offset - 8) & ~0ull << 32;

	*thread_side(t, offset) = (struct side){ is_pending(t, offset) ? cpu_clock() : 0, below,
						 owner_of(func, sp) };
}

bool sieve_takes_long(const struct session *s, const struct thread *t, uint64_t func, uint64_t sp,
		      uint64_t now)
{
	const struct side *side = own_side(t, t->top);

	return *frames_at(t, t->top) != sp - FRAME_PENDING ||
		(side && side->func >> SIDE_OWNER_BITS == func &&
		 less(now, side->begin) >= s->least);
}

/* What ends now has passed, whatever else was asked of it. */
void sieve_pass(struct session *s, struct thread *t, uint64_t sp, uint64_t now,
		unsigned int callers)
{
	record_ripe(s, t, t->top, now, true);
	if (*frames_at(t, t->top) == sp - FRAME_PENDING && own_side(t, t->top))
		record_begin(s, t, t->top, callers);
}
