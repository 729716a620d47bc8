/* SPDX-License-Identifier: MIT */
/*
 * slow: an entry, an exit or a mark that the fast path left to C: the thread's first, one that
 * finds the sub-buffer full or the epoch over, one on another stack, one that finds calls above it
 * left without an exit.
 */
#include "payload/payload.h"

/* One slow path: what its steps share. */
struct slow {
	struct session *s;
	struct thread *t;
};

/*
 * Is the slow path that began at sp `busy` still under way? A signal handler
 * left it for good, by siglongjmp, if we are now on its stack and not below
 * it. (While we stay below it, or on another stack, calls go on being lost,
 * and counted.)
 */
static bool abandoned(const struct slow *w, uint64_t sp)
{
	return sp >= w->t->busy && stacks_same(w->s, w->t, w->t->busy, sp);
}

static bool is_busy(const struct thread *t)
{
	return observe(&t->busy) && !observe(&t->end);
}

/* Become the outer slow path. A handler that comes before both are set runs one of its own, which
 * ends with `busy` 0 and perhaps `end` as it was: then again. Once both are set, what is nested
 * finds the thread busy. */
static void slow_own(struct thread *t, uint64_t sp)
{
	do {
		publish(&t->end, 0);
		publish(&t->busy, sp);
	} while (observe(&t->end) || observe(&t->busy) != sp);
}

/* The end of it. `end` first: from then on all is consistent, and whatever comes in between may
 * record, or begin and end a slow path. A thread that has outlived a hello in here has no ring. */
static void slow_leave(struct thread *t)
{
	if (t->sides && !t->timed)
		ring_park(t);
	publish(&t->end, t->subbuf_end);
	if (stacks_is_taken(t) || t->visit != observe(&payload_visit))
		publish(&t->end, 0);
	publish(&t->busy, 0);
}

static bool is_timed(uint64_t word)
{
	return word & (uint64_t)REC_TIMED << REC_TIME_SHIFT;
}

/* A thread that is late in a stub of an earlier visit, which was of another kind, has
 * nothing to say in this one. */
static bool is_wanted(struct session *s, uint64_t word)
{
	return payload_is_open(s) && (is_timed(word) ? s->counting == COUNT_TIMES :
				      s->counting == COUNT_NONE || is_sifted(s));
}

/* Begin a slow path: false if this call is not to be recorded. */
static bool slow_enter(struct slow *w, uint64_t word, uint64_t sp, enum what what)
{
	w->s = observe(&payload_session);
	if (!w->s || !is_wanted(w->s, word))
		return false;
	w->t = claim_thread(w->s, what);
	if (!w->t)
		return false;
	if (!is_busy(w->t)) {
		slow_own(w->t, sp);
		ring_unpark(w->t);
		if (is_timed(word))
			publish(&w->t->cur, w->t->cur + 2);
		if (w->s->limit && is_sifted(w->s))
			limiter_sift(w->s, w->t, word >> REC_FUNC_SHIFT);
		return true;
	}
	if (!abandoned(w, sp)) {
		ring_lose(w->t, what);
		return false;
	}
	publish(&w->t->busy, sp);
	ring_unpark(w->t);
	if (is_sifted(w->s))
		sieve_forget(w->t);
	stacks_reset(w->t);
	return true;
}

/* What is rare is not inlined, for the room on the application's stack. */
#define APART __attribute__((noinline)) static

/* What two ways to record share is there twice, so that the one without values takes no stack for
 * them. */
#define TWICE static inline __attribute__((always_inline))

/*
 * Find the stack, and pop the calls on it that were left without an exit:
 * those below sp, and one with the very same sp if that is another's entry.
 * True if this is the end of a call that was said to be unwound.
 */
TWICE bool heal_by(struct slow *w, uint64_t sp, enum what what, bool asks)
{
	struct thread *t = w->t;
	bool unwound, told;

	sieve_follow(w->s, t);
	told = stacks_follow(w->s, t, sp, what);
	if (is_sifted(w->s) && frames_rest(t, sp, what) < t->top)
		(asks ? sieve_left_asked : sieve_left)(w->s, t, sp, what);
	unwound = frames_pop_left(t, sp, what);
	if (unwound && !t->timed && ring_room(w->s, t, 2))
		ring_put_ext(t, EXT_UNWOUND, frames_depth(t));
	return told;
}

APART bool heal(struct slow *w, uint64_t sp, enum what what)
{
	return heal_by(w, sp, what, false);
}

/* Conditions of what is left are asked, too. */
APART bool heal_asked(struct slow *w, uint64_t sp, enum what what)
{
	return heal_by(w, sp, what, true);
}

/* Push a frame, if there is room; without one the exit is recorded as it is. */
static bool slow_push(struct thread *t, uint64_t frame)
{
	if (t->top + 8 >= t->frames_end)
		return false;
	*frames_at(t, t->top + 8) = frame;
	publish(&t->top, t->top + 8);
	/* A thread that takes the stack just now may not see it. */
	if (!(frame & 1) && stacks_is_taken(t))
		orphans_tell(frame, ORPHANS_NOWHERE, frame, NULL);
	return true;
}

/* Where calls are sifted: of the pair of a frame and its side that a fast path was to write, all
 * but the frame of a call that was recorded meanwhile. */
static void settle_sifted(struct thread *t, uint64_t word, uint64_t sp)
{
	if (*frames_at(t, t->top) == sp)
		return;
	*frames_at(t, t->top) = sp - (word & SETTLE_FAILED ? FRAME_FAILED : FRAME_PENDING);
	sieve_settle(t, t->top, word >> REC_FUNC_SHIFT, sp);
}

/*
 * A fast path was interrupted between its record, or its loss, and its frame by
 * a handler that had one, too; `word` says where it left the stack's top, and
 * whether the frame is that of a lost entry, or a pending or refused one. Nothing is
 * counted, and nothing recorded but that we are on this stack again, which
 * the fast path would take for told.
 */
APART void slow_settle(uint64_t word, uint64_t sp, bool entry)
{
	uint64_t top = word >> 2 & (THREAD_SIZE - 1) & ~7ull;
	struct slow w = { observe(&payload_session), claim_kept() };
	struct thread *t = w.t;

	if (!t || is_busy(t))
		return;
	slow_own(t, sp);
	ring_unpark(t);
	stacks_settle(t, top);
	if (entry && !(word & (SETTLE_PENDING | SETTLE_FAILED)))
		*frames_at(t, top) = word & SETTLE_LOST ? sp - FRAME_LOST : sp;
	if (is_wanted(w.s, 0))
		ring_room(w.s, t, 0);
	if (t->sides && !t->timed && entry && is_wanted(w.s, 0))
		settle_sifted(t, word, sp);
	slow_leave(t);
}

static bool is_settling(uint64_t word)
{
	return (word & 3) == REC_NONE;
}

/* Make room for a record of `n` words, with its callers, if it is one of a begin, and what is read
 * of the call before it: by the registers `held`, or nothing if that is NULL. All at the time
 * `now`; 0: once they are read. */
TWICE bool slow_room(const struct slow *w, uint64_t word, uint64_t sp, enum what what,
		     unsigned int n, const uint64_t *held, uint64_t now)
{
	uint64_t func = word >> REC_FUNC_SHIFT;
	unsigned int callers = held && what == WHAT_ENTRY ?
		callers_take(w->s, w->t, func, sp, held) : 0;
	unsigned int words = held ? values_take(w->s, w->t, func, what, sp, held, 0) : 0;

	if (!ring_room_at(w->s, w->t, n + words + callers, now ? now : cpu_clock()))
		return false;
	if (callers)
		callers_put(w->s, w->t, func, callers);
	if (words)
		values_put_taken(w->s, w->t, func, words);
	return true;
}

/* ---- where calls are sifted (sieve.h) ------------------------------------ */

TWICE void sift_entry(struct slow *w, uint64_t word, uint64_t sp, const uint64_t *held)
{
	uint64_t func = word >> REC_FUNC_SHIFT, begin = cpu_clock();
	unsigned int words = held ? values_take(w->s, w->t, func, WHAT_ENTRY, sp, held, 0) : 0;
	/* Without registers no condition is asked. */
	enum verdict v = held ? sieve_entry(w->s, w->t, sp, begin, cpu_link(held)) :
		values_conditioned(w->s, func) ? VERDICT_FAILS : VERDICT_PASSES;
	unsigned int callers;

	if (v == VERDICT_FAILS) {
		if (held && (!w->t->deepest || values_needs(w->s, w->t) & CONDITION_DEPTH))
			sieve_push(w->s, w->t, func, sp, w->t->deepest ? begin : 0, FRAME_FAILED);
		else
			orphans_drop(sp, 0);
		return;
	}
	/* Without a frame its exit could not be told from that of one which fails. */
	if (w->t->top + 8 >= w->t->frames_end) {
		ring_lose(w->t, WHAT_ENTRY);
		return;
	}
	if (v == VERDICT_OPEN || w->s->least) {
		sieve_push(w->s, w->t, func, sp, begin, FRAME_PENDING);
		return;
	}
	callers = held ? callers_take(w->s, w->t, func, sp, held) : 0;
	if (!ring_room(w->s, w->t, 1 + words + callers)) {
		ring_lose(w->t, WHAT_ENTRY);
		sieve_push(w->s, w->t, func, sp, begin, FRAME_LOST);
		return;
	}
	if (callers)
		callers_put(w->s, w->t, func, callers);
	if (words)
		values_put_taken(w->s, w->t, func, words);
	ring_put(w->t, word);
	sieve_push(w->s, w->t, func, sp, begin, 0);
}

/* Of a call without a frame it is not known when it began; nor was it recorded. */
TWICE void sift_exit(struct slow *w, uint64_t word, uint64_t sp, const uint64_t *held, bool tail)
{
	uint64_t now, func = word >> REC_FUNC_SHIFT, frame = *frames_at(w->t, w->t->top);
	struct thread *t = w->t;
	bool pending = frame == sp - FRAME_PENDING;
	unsigned int words = 0;

	if (frame_sp(frame) != sp || frame == sp - FRAME_FAILED)
		return;
	now = cpu_clock();
	if (!sieve_takes_long(w->s, t, func, sp, now))
		return;
	if (held && pending) {
		words = values_take_back(w->s, t, func, sp, tail ? 0 : held,
					 sieve_held(w->s, t, sp, func));
		if (sieve_exit(w->s, t, sp, now, cpu_link(held)) != VERDICT_PASSES)
			return;
	} else if (!held && pending && values_conditioned(w->s, func)) {
		return;
	} else if (held && !tail) {
		words = values_take(w->s, t, func, WHAT_EXIT, sp, held, 0);
	}
	if (held && pending)
		sieve_pass(w->s, t, sp, now, callers_take(w->s, t, func, sp, held));
	else if (pending)
		sieve_record(w->s, t, t->top + 8, now);
	if (*frames_at(t, t->top) != sp || !ring_room_at(w->s, t, 1 + words, now)) {
		ring_lose(t, WHAT_EXIT);
		return;
	}
	if (words)
		values_put_taken(w->s, t, func, words);
	ring_put(t, word);
}

APART void sift_entry_unread(struct slow *w, uint64_t word, uint64_t sp)
{
	sift_entry(w, word, sp, 0);
}

/* Is a mark wanted? How long its call takes is not known, nor what it returns. */
TWICE bool sift_mark(struct slow *w, uint64_t word, uint64_t sp, const uint64_t *held)
{
	uint64_t func = word >> REC_FUNC_SHIFT;

	if (w->s->least && !(word & (uint64_t)REC_SPAN << REC_TIME_SHIFT))
		return false;
	if (!held)
		return !values_conditioned(w->s, func);
	values_take(w->s, w->t, func, WHAT_ENTRY, sp, held, 0);
	return sieve_entry(w->s, w->t, sp, cpu_clock(), cpu_link(held)) == VERDICT_PASSES;
}

/* ------------------------------------------------------------------------- */

TWICE void record_entry(struct slow *w, uint64_t word, uint64_t sp, const uint64_t *held)
{
	if (!slow_enter(w, word, sp, WHAT_ENTRY))
		return;
	(held ? heal_asked : heal)(w, sp, WHAT_ENTRY);
	if (frames_deep(w->t)) {
		;
	} else if (is_timed(word)) {
		if (!timing_begin(w->t, word >> REC_FUNC_SHIFT, slow_push(w->t, sp)))
			ring_lose(w->t, WHAT_ENTRY);
	} else if (is_sifted(w->s)) {
		held ? sift_entry(w, word, sp, held) : sift_entry_unread(w, word, sp);
	} else if (slow_room(w, word, sp, WHAT_ENTRY, 1, held, 0)) {
		ring_put(w->t, word);
		slow_push(w->t, sp);
	} else {
		if (held)
			values_forget(w->s, w->t, sp);
		ring_lose(w->t, WHAT_ENTRY);
		slow_push(w->t, sp - FRAME_LOST);
	}
	slow_leave(w->t);
}

void payload_slow_entry(uint64_t word, uint64_t sp)
{
	struct slow w;

	if (is_settling(word))
		slow_settle(word, sp, true);
	else
		record_entry(&w, word, sp, 0);
}

/* Is the call that ends at `sp` open, as far as this thread knows? It is one that
 * had no room for a frame, if there is none now. */
static bool is_open_call(const struct thread *t, uint64_t sp)
{
	return frame_sp(*frames_at(t, t->top)) == sp || t->top + 8 >= t->frames_end;
}

TWICE void put_exit(const struct slow *w, uint64_t word, uint64_t sp, bool told,
		    const uint64_t *held)
{
	bool open = !told && is_open_call(w->t, sp);
	uint64_t now = held ? cpu_clock() : 0;

	/* Where the entry was lost, the exit is, too: it would be unpaired. */
	if (*frames_at(w->t, w->t->top) == sp - FRAME_LOST ||
	    !slow_room(w, word, sp, WHAT_EXIT, open ? 1 : 2, open ? held : 0, now))
		ring_lose(w->t, WHAT_EXIT);
	else if (open)
		ring_put(w->t, word);
	else
		ring_put_ext(w->t, told ? EXT_AFTER : EXT_BEFORE, word >> REC_FUNC_SHIFT);
}

TWICE void end_call(struct slow *w, uint64_t word, uint64_t sp, bool told, const uint64_t *held,
		    bool tail)
{
	if (frames_too_deep(w->t, sp))
		;
	else if (is_sifted(w->s))
		sift_exit(w, word, sp, held, tail);
	else if (!is_timed(word))
		put_exit(w, word, sp, told, tail ? 0 : held);
}

APART void end_call_unread(struct slow *w, uint64_t word, uint64_t sp, bool told)
{
	end_call(w, word, sp, told, 0, false);
}

/* What a function returns that ends with a jump to another one is not there yet. */
TWICE void record_exit(struct slow *w, uint64_t word, uint64_t sp, const uint64_t *held)
{
	const uint64_t tail = (uint64_t)REC_TAIL << REC_TIME_SHIFT;
	bool told, is_tail = held && word & tail;

	word &= ~(held ? tail : 0);
	if (!slow_enter(w, word, sp, WHAT_EXIT))
		return;
	told = (held ? heal_asked : heal)(w, sp, WHAT_EXIT);
	held ? end_call(w, word, sp, told, held, is_tail) : end_call_unread(w, word, sp, told);
	frames_pop(w->t, sp);
	slow_leave(w->t);
}

void payload_slow_exit(uint64_t word, uint64_t sp)
{
	struct slow w;

	if (is_settling(word))
		slow_settle(word, sp, false);
	else
		record_exit(&w, word, sp, 0);
}

/* Of the code that is marked the stack pointer is higher by `lowered`, which values are read by. */
TWICE void record_mark(struct slow *w, uint64_t word, uint64_t sp, uint64_t lowered,
		       const uint64_t *held)
{
	if (!slow_enter(w, word, sp, WHAT_ENTRY))
		return;
	(held ? heal_asked : heal)(w, frames_mark_sp(word, sp), WHAT_ENTRY);
	if (frames_deep(w->t) || (is_sifted(w->s) && !sift_mark(w, word, sp + lowered, held)))
		;
	else if (slow_room(w, word, sp + lowered, WHAT_ENTRY, 2, held, 0))
		ring_put_ext(w->t, EXT_MARK, word >> REC_FUNC_SHIFT |
					     sp << (MARK_SP_SHIFT - REC_TIME_SHIFT));
	else
		ring_lose(w->t, WHAT_ENTRY);
	slow_leave(w->t);
}

void payload_slow_mark(uint64_t word, uint64_t sp)
{
	struct slow w;

	record_mark(&w, word, sp, 0, 0);
}

/* Nothing that an entry has read is kept for the exit. */
TWICE void record_goroutine(struct slow *w, uint64_t word, uint64_t sp, const struct goroutine *g,
			    const uint64_t *held)
{
	enum what what = (word & 3) == REC_EXIT ? WHAT_EXIT : WHAT_ENTRY;
	uint64_t func = word >> REC_FUNC_SHIFT;
	unsigned int callers, words;
	uint64_t end, pushed;

	if (!slow_enter(w, word, sp, what))
		return;
	stacks_goroutine(w->t, g);
	/* Its stack is there up to its end; another one, as of signals, need not be. */
	end = sp >= g->lo && sp < g->hi ? g->hi : 0;
	/* What runs there was called. (Where a thread of C's runs Go, its end is a guess.) */
	pushed = end ? sp + CPU_PUSHED : 0;
	callers = held && what == WHAT_ENTRY && callers_moved(func) ?
		callers_take_moved(w->s, w->t, func, sp, held, end) : 0;
	words = held ? values_take(w->s, w->t, func, what, sp, held, pushed) : 0;
	if (!ring_room(w->s, w->t, 2 + callers + words)) {
		ring_lose(w->t, what);
	} else {
		if (callers)
			callers_put(w->s, w->t, func, callers);
		if (words)
			values_put_taken(w->s, w->t, func, words);
		if ((word & 3) == REC_NONE)
			ring_put_ext(w->t, EXT_MARK, func);
		else
			ring_put_deep(w->t, word, g->hi - sp);
	}
	slow_leave(w->t);
}

void payload_slow_goroutine(uint64_t word, uint64_t sp, const struct goroutine *g)
{
	struct slow w;

	record_goroutine(&w, word, sp, g, 0);
}

/* What a function returns that ends with a jump to another one is not there yet. (Not inline: this
 * is where tools/payload-check.sh asks how much of a goroutine's stack is taken.) */
__attribute__((noinline)) static void values_goroutine(uint64_t word, uint64_t sp,
						       const uint64_t *held)
{
	const uint64_t tail = (uint64_t)REC_TAIL << REC_TIME_SHIFT;
	const uint64_t moved = (uint64_t)REC_MOVED << REC_TIME_SHIFT;
	struct slow w;

	record_goroutine(&w, word & ~(tail | moved), sp, cpu_goroutine(held),
			 word & tail ? 0 : held);
}

/* Of a function of Go? */
static bool is_moved(uint64_t word)
{
	return word & (uint64_t)REC_MOVED << REC_TIME_SHIFT ||
		callers_moved(word >> REC_FUNC_SHIFT);
}

/* (Nor are these, so that a goroutine's call takes no stack for them.) */
__attribute__((noinline)) static void values_entry(uint64_t word, uint64_t sp, uint64_t lowered,
						   const uint64_t *held)
{
	struct slow w;

	if ((word & 3) == REC_ENTRY) {
		record_entry(&w, word, sp + lowered, held);
		watch_entered(word >> REC_FUNC_SHIFT, sp + lowered);
	} else {
		record_mark(&w, word, sp, lowered, held);
	}
}

/* Where calls are sifted the fast path leaves them to these, be anything read or not. */
static bool reads_nothing(void)
{
	const struct session *s = observe(&payload_session);

	return !s || !s->plans_funcs;
}

void payload_values_entry(uint64_t word, uint64_t sp, const uint64_t *held)
{
	uint64_t lowered = word >> REC_LATE_SHIFT & REC_LOWERED_MASK;

	word -= lowered << REC_LATE_SHIFT;
	if (is_moved(word))
		values_goroutine(word, sp + lowered * 8, held);
	else if ((word & 3) == REC_ENTRY && reads_nothing())
		payload_slow_entry(word, sp + lowered * 8);
	else
		values_entry(word, sp, lowered * 8, held);
}

__attribute__((noinline)) static void values_exit(uint64_t word, uint64_t sp,
						  const uint64_t *held)
{
	struct watching watching = watch_leaves(word >> REC_FUNC_SHIFT, sp);
	struct slow w;

	record_exit(&w, word, sp, held);
	watch_left(watching, word >> REC_FUNC_SHIFT);
}

void payload_values_exit(uint64_t word, uint64_t sp, const uint64_t *held)
{
	if (is_moved(word))
		values_goroutine(word, sp, held);
	else if (reads_nothing())
		payload_slow_exit(word & ~((uint64_t)REC_TAIL << REC_TIME_SHIFT), sp);
	else
		values_exit(word, sp, held);
}

/* Where calls are timed they are known since the claim. */
static uint64_t *counters(struct thread *t, const struct session *s)
{
	uint64_t ring = observe(&t->ring), counts = observe(&t->counts);

	if (!observe(&t->counted)) {
		t->counts = counts = ring ? ring + PAGE : 0;
		publish(&t->counted, counts ? counts + (uint64_t)s->nsub * s->sub_size : 0);
	}
	return (uint64_t *)counts;
}

/* One for which there is no counter is a loss, as where there is no ring. */
void payload_slow_count(uint64_t word, uint64_t sp)
{
	struct session *s = observe(&payload_session);
	uint64_t func = word >> REC_FUNC_SHIFT, *counts;
	struct thread *t;

	if (!s || !payload_is_open(s) || !is_counted(s))
		return;
	t = claim_thread(s, WHAT_ENTRY);
	if (!t)
		return;
	counts = counters(t, s);
	if (!counts)
		return;
	if ((uint64_t)&counts[func] < observe(&t->counted))
		cpu_count(&counts[func]);
	else
		__atomic_fetch_add(&s->lost_entries, 1, __ATOMIC_RELAXED);
}

/* A word of kind REC_EXT is to be counted. */
void payload_slow_tight(uint64_t word, uint64_t sp, const struct goroutine *g)
{
	uint64_t late = word >> REC_LATE_SHIFT & (REC_LOWERED_MASK | REC_UNWATCHED);

	sp += (late & REC_LOWERED_MASK) * 8;
	word -= late << REC_LATE_SHIFT;
	if ((word & 3) == REC_EXT)
		payload_slow_count(word, sp);
	else if (g && sp >= g->lo && sp < g->hi)
		payload_slow_goroutine(word, sp, g);
	else if ((word & 3) == REC_ENTRY)
		payload_slow_entry(word, sp);
	else if ((word & 3) == REC_EXIT)
		payload_slow_exit(word, sp);
	else
		payload_slow_mark(word, sp);
}
