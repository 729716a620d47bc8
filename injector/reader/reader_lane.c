/* SPDX-License-Identifier: MIT */
/*
 * reader_lane: from one ring to items in time order.
 *
 * An item is a word of a sub-buffer, or the begin of one. Every word is loaded
 * once and judged by what was loaded, since its owner may change it at any
 * moment. What is read is zeroed before the sub-buffer goes back: that is how
 * a word that is not there yet can be told from one of an earlier round.
 */
#include "injector/reader/reader_impl.h"

#include <string.h>
#include <sys/mman.h>

#include "injector/proc/kernel.h"

#define TIME_MASK ((1ull << REC_TIME_BITS) - 1)
#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

#define NOWHERE UINT16_MAX	/* no sub-buffer's place */

static struct subbuf *subbuf_in(const struct reader *r, const struct lane *l, uint32_t place)
{
	return (struct subbuf *)(l->buffers + (size_t)place * r->sub_size);
}

/* The open one. */
static struct subbuf *subbuf(const struct reader *r, const struct lane *l)
{
	return subbuf_in(r, l, l->place);
}

static uint64_t *words(const struct reader *r, const struct lane *l)
{
	return (uint64_t *)(subbuf(r, l) + 1);
}

/* Nothing is added to sub-buffer `at` any more. */
static bool is_closed(const struct lane *l)
{
	return l->head - l->at > 1;
}

/* The words that the owner has, or may have, written. */
static size_t limit(const struct reader *r, const struct lane *l)
{
	const uint64_t most = (r->sub_size - sizeof(struct subbuf)) / 8;

	return is_closed(l) ? MIN(load(&subbuf(r, l)->reserved) / 8, most) : most;
}

static uint64_t total_lost(const struct lane *l)
{
	return l->lost_entries + l->lost_exits -
	       (l->base_entries + l->base_exits);
}

/* If what lies there is a sub-buffer from `at` to `head`, note it. */
static bool note_place(struct reader *r, struct lane *l, uint32_t place)
{
	uint64_t n = load(&subbuf_in(r, l, place)->seq) - 1;

	if (n - l->at >= l->head - l->at)
		return false;
	l->places[n % r->nsub] = (uint16_t)place;
	return true;
}

/* Where do the sub-buffers from `at` to `head` lie? The newest may not be
 * anywhere yet. */
static void find_places(struct reader *r, struct lane *l)
{
	uint64_t missing = l->head - l->at;

	for (uint64_t n = l->at; n != l->head; n++)
		l->places[n % r->nsub] = NOWHERE;
	for (uint32_t i = 0; missing && i < r->nsub; i += 64) {
		uint64_t used = load(&l->ring->used[i / 64]);

		for (; used; used &= used - 1) {
			uint32_t place = i + (uint32_t)__builtin_ctzll(used);

			if (place < r->nsub && note_place(r, l, place))
				missing--;
		}
	}
}

/*
 * Have the memory of as many places again as the owner has used, for it takes the
 * lowest that is free: to make a page takes a processor two microseconds and more, and
 * that is better our time than the target's (and our control group's memory). What is
 * there it maps sixteen pages at a time. Where the kernel does not know the request
 * (before 5.14), the owner makes them.
 */
static void touch_ahead(const struct reader *r, struct lane *l)
{
	uint32_t top = 0, from = l->touched;
	uintptr_t at, end;

	for (uint32_t i = 0; i < r->nsub; i += 64) {
		uint64_t used = load(&l->ring->used[i / 64]);

		if (used)
			top = i + 64 - (uint32_t)__builtin_clzll(used);
	}
	l->touched = MAX(from, MIN(2 * top + 1, r->nsub));
	if (l->touched == from)
		return;
	at = ALIGN_DOWN((uintptr_t)subbuf_in(r, l, from), kernel_page());
	end = (uintptr_t)subbuf_in(r, l, l->touched);
	madvise((void *)at, end - at, MADV_POPULATE_READ);
}

void lane_snapshot(struct reader *r, struct lane *l)
{
	uint64_t tail = l->at, held;
	unsigned fill;

	l->lost_entries = load(&l->ring->lost_entries);
	l->lost_exits = load(&l->ring->lost_exits);
	l->head = load(&l->ring->head);
	held = l->head - tail;
	if (held > r->nsub) {
		/* No code of ours writes that: start again at the newest. */
		r->stats.damaged++;
		l->at = l->head ? l->head - 1 : 0;
		l->open = l->ready = false;
		__atomic_store_n(&l->ring->tail, l->at, __ATOMIC_RELEASE);
		held = l->head - l->at;
	}
	find_places(r, l);
	touch_ahead(r, l);
	/* A ring without sub-buffers is refused at the start. */
	fill = (unsigned)(held * 100 / r->nsub);	/* NOLINT(clang-analyzer-core.DivideZero) */
	/* The one that is being written is no sign of pressure by itself. */
	if (held > 1 && fill > r->fill)
		r->fill = fill;
}

void lane_claim(struct reader *r, struct lane *l)
{
	struct ring *ring = l->ring;

	l->claimed = true;
	l->gone = l->open = l->ready = l->ends = false;
	l->generation = load(&ring->generation);
	l->thread = r->next_thread++;
	threads_name(r, l, load(&ring->tid));
	l->at = load(&ring->tail);
	l->cut = r->kept && l->at;
	l->last = 0;
	l->looked = l->ran = 0;
	l->told_lost = l->reported = 0;
	l->ncapture = 0;
	l->called = false;
	l->base_entries = l->base_exits = 0;
	r->stats.threads++;
}

/* On to the next sub-buffer. */
static void pass_on(struct lane *l)
{
	l->at++;
	l->open = false;
	l->hole_passes = 0;
	__atomic_store_n(&l->ring->tail, l->at, __ATOMIC_RELEASE);
}

/* Zero what was written, then let the owner have the place again. */
static void give_back(const struct reader *r, struct lane *l, size_t written)
{
	memset(words(r, l), 0, written * 8);
	__atomic_fetch_and(&l->ring->used[l->place / 64], ~(1ull << l->place % 64),
			   __ATOMIC_RELEASE);
	pass_on(l);
}

/* Times never go back within a ring; and what was recorded before a pass
 * began is not later than its begin, except by the skew of two CPUs. */
static void set_time(struct reader *r, struct lane *l, uint64_t tsc)
{
	if (r->last && tsc > r->now)
		tsc = r->now;
	l->tsc = MAX(tsc, l->last);
	l->waited = l->ends = false;
	l->ready = true;
}

/* The header of sub-buffer `at`; false if it is nowhere (yet). */
static bool open_subbuf(struct reader *r, struct lane *l)
{
	struct subbuf *s;

	l->place = l->places[l->at % r->nsub];
	if (l->place == NOWHERE) {
		if (!is_closed(l))
			return false;
		r->stats.damaged++;
		pass_on(l);
		return false;
	}
	s = subbuf(r, l);
	l->epoch = load(&s->epoch);
	if (l->cut) {
		l->base_entries = load(&s->lost_entries);
		l->base_exits = load(&s->lost_exits);
	}
	l->header_lost = load(&s->lost_entries) + load(&s->lost_exits) -
			 (l->base_entries + l->base_exits);
	l->header_untold = load(&s->untold);
	l->header_tid = load(&s->tid);
	l->header_depth = load(&s->depth);
	l->header_stack = load(&s->stack);
	l->pos = 0;
	l->hole_passes = 0;
	l->open = l->begins = true;
	set_time(r, l, load(&s->begin));
	return true;
}

/* The next word that is not 0, or `end`. */
static size_t next_word(const uint64_t *w, size_t from, size_t end)
{
	while (from < end && !load(&w[from]))
		from++;
	return from;
}

/*
 * A word that reads 0: reserved, and not written yet. Its thread was put aside
 * between the two, or interrupted by a signal whose handler wrote on. In the
 * current sub-buffer we stop here; in a closed one, after some passes, the
 * word is given up. True: go on at l->pos.
 */
static bool skip_hole(struct reader *r, struct lane *l, size_t end)
{
	bool final = r->last || l->gone;
	size_t next;

	if (!is_closed(l) && !final)
		return false;
	next = next_word(words(r, l), l->pos, end);
	if (!is_closed(l) && next == end)
		return false;
	if (!final && l->hole_passes++ < HOLE_PASSES)
		return false;
	r->stats.damaged += next - l->pos;
	l->pos = next;
	l->hole_passes = 0;
	return true;
}

static size_t body_words(const struct lane *l, uint64_t word)
{
	if ((word & 3) != REC_EXT)
		return has_depths(l->fiber);
	if ((word >> REC_FUNC_SHIFT & 63) == EXT_VALUES ||
	    (word >> REC_FUNC_SHIFT & 63) == EXT_CALLERS)
		return word >> REC_WORDS_SHIFT;
	return (word >> REC_WORDS_SHIFT) & 15;
}

/* The first body word's data. */
static uint64_t body(const struct reader *r, const struct lane *l)
{
	return body_words(l, l->word) ?
		load(&words(r, l)[l->pos + 1]) >> REC_TIME_SHIFT : 0;
}

/* Find a word in the open sub-buffer. */
static bool find_word(struct reader *r, struct lane *l)
{
	size_t end = limit(r, l);

	while (l->pos < end) {
		uint64_t w = load(&words(r, l)[l->pos]);

		if (!w) {
			if (!skip_hole(r, l, end))
				return false;
			continue;
		}
		/* A body whose head is missing, or that does not fit. */
		if ((w & 3) == REC_NONE || l->pos + body_words(l, w) >= end) {
			r->stats.damaged++;
			l->pos++;
			continue;
		}
		l->word = w;
		set_time(r, l, (l->epoch & ~TIME_MASK) +
			       ((w >> REC_TIME_SHIFT) & TIME_MASK));
		return true;
	}
	return false;
}

/* Of what is in the ring. */
static bool find_item(struct reader *r, struct lane *l)
{
	while (!l->ready && l->at != l->head) {
		if (!l->open) {
			uint64_t at = l->at;

			if (!open_subbuf(r, l) && l->at == at)
				return false;
			continue;
		}
		if (find_word(r, l))
			return true;
		if (!is_closed(l) || l->pos < limit(r, l))
			return false;
		give_back(r, l, l->pos);
	}
	return l->ready;
}

/* What a thread that is gone has left is followed by its end. */
bool lane_peek(struct reader *r, struct lane *l)
{
	if (!l->claimed)
		return false;
	if (find_item(r, l) || !l->gone)
		return l->ready;
	set_time(r, l, l->gone_at);
	l->ends = true;
	return true;
}

/* `lost` words were dropped so far; true if that is news. A header and a word
 * may both say it, and whichever comes first is right. */
static bool tell_lost(struct reader *r, struct lane *l, uint64_t lost)
{
	uint64_t more = lost - l->told_lost;

	if ((int64_t)more <= 0)
		return false;
	l->told_lost = lost;
	tell_one(r, l, EVENT_LOST, 0, more);
	return true;
}

void lane_tell_lost(struct reader *r, struct lane *l, uint64_t tsc)
{
	l->last = MAX(l->last, tsc);
	tell_lost(r, l, total_lost(l));
}

/* The thread has ended, and another one has had its ring from here on. */
static void change_owner(struct reader *r, struct lane *l, int32_t tid)
{
	calls_end(r, l);
	l->thread = r->next_thread++;
	l->gone = false;
	threads_name(r, l, tid);
	r->stats.threads++;
}

void lane_own(struct reader *r, struct lane *l)
{
	int32_t tid = load(&l->ring->tid);

	if (r->kept && tid != l->owner)
		change_owner(r, l, tid);
}

/* A sub-buffer says where its owner stood: what was dropped before it, on
 * which stack it is, and how deep. What came before the first that a ring still
 * holds is not lost: it is not asked for. */
static void take_begin(struct reader *r, struct lane *l)
{
	if (r->kept && l->header_tid != l->owner)
		change_owner(r, l, l->header_tid);
	calls_stack(r, l, l->header_stack);
	if (!r->err && l->cut) {
		l->cut = false;
		l->reported = l->base_entries + l->base_exits - l->header_untold;
		calls_begin_within(r, l, l->header_depth);
	}
	/* Where each record has its depth, that tells. */
	if (!r->err && tell_lost(r, l, l->header_lost) && !has_depths(l->header_stack))
		calls_remain(r, l, l->header_depth, EVENT_EXIT_LOST);
}

/* The callers of the next call. */
static void take_callers(struct reader *r, struct lane *l, uint64_t data)
{
	const uint64_t *w = words(r, l) + l->pos + 2;
	size_t nwords = body_words(l, l->word);

	l->callers = l->callers ?: calloc(CALLERS_MOST, sizeof(*l->callers));
	l->called = l->callers && nwords && nwords - 1 <= CALLERS_MOST;
	if (!l->called) {
		r->stats.damaged++;
		return;
	}
	l->callee = (uint32_t)(data >> CALLERS_FUNC_SHIFT);
	l->callers_cut = (uint8_t)(data >> CALLERS_CUT_SHIFT);
	l->ncallers = (uint8_t)(nwords - 1);
	for (size_t i = 0; i < l->ncallers; i++)
		l->callers[i] = load(&w[i]) >> REC_TIME_SHIFT;
}

/* What was said of the next call is not of the one after it. */
static void forget_said(struct lane *l)
{
	l->ncapture = 0;
	l->nregisters = 0;
	l->called = false;
}

/* A call that was open already when it was recorded. */
static void take_begun(struct reader *r, struct lane *l, uint64_t func)
{
	uint64_t begin = body_words(l, l->word) == 2 ?
		load(&words(r, l)[l->pos + 2]) >> REC_TIME_SHIFT : 0;

	if (func >= r->nfuncs || !begin)
		r->stats.damaged++;
	else
		calls_begun(r, l, (uint32_t)func, MIN(begin, l->last));
	forget_said(l);
}

static void take_ext(struct reader *r, struct lane *l)
{
	uint64_t data = body(r, l);
	uint32_t func;

	switch ((l->word >> REC_FUNC_SHIFT) & 63) {
	case EXT_UNWOUND:
		forget_said(l);
		calls_remain(r, l, data, EVENT_UNWOUND);
		return;
	case EXT_STACK:
		calls_stack(r, l, (uint32_t)data);
		return;
	case EXT_MARK:
		func = data & ((1u << REC_FUNC_BITS) - 1);
		if (func >= r->nfuncs)
			break;
		calls_mark(r, l, func, (uint32_t)(data >> MARK_AT));
		forget_said(l);
		return;
	case EXT_BEGUN:
		take_begun(r, l, data);
		return;
	case EXT_VALUES:
		values_take(r, l, words(r, l) + l->pos + 1, body_words(l, l->word));
		return;
	case EXT_REGISTERS:
		registers_take(r, l, words(r, l) + l->pos + 1, body_words(l, l->word));
		return;
	case EXT_CALLERS:
		take_callers(r, l, data);
		return;
	case EXT_BEFORE:
		forget_said(l);
		if (data >= r->nfuncs)
			break;
		r->stats.events++;
		tell_one(r, l, EVENT_BEFORE, (uint32_t)data, 0);
		return;
	case EXT_AFTER:
		forget_said(l);
		if (data >= r->nfuncs)
			break;
		r->stats.events++;
		return;
	case EXT_LOST:
		l->reported += data;
		tell_lost(r, l, l->reported - l->base_entries - l->base_exits);
		return;
	}
	r->stats.damaged++;
}

static void take_word(struct reader *r, struct lane *l)
{
	struct open_call call = { .func = (uint32_t)(l->word >> REC_FUNC_SHIFT) };

	if ((l->word & 3) == REC_EXT) {
		take_ext(r, l);
		return;
	}
	if (call.func >= r->nfuncs) {
		r->stats.damaged++;
		return;
	}
	r->stats.events++;
	call.depth = (uint32_t)body(r, l);
	registers_read(r, l, call.func, (l->word & 3) == REC_EXIT);
	if ((l->word & 3) == REC_ENTRY) {
		r->stats.calls++;
		calls_entry(r, l, call);
	} else {
		calls_exit(r, l, call);
	}
	forget_said(l);
}

void lane_end(struct reader *r, struct lane *l, uint64_t tsc)
{
	lane_tell_lost(r, l, tsc);
	calls_end(r, l);
	r->stats.lost_entries += l->lost_entries - l->base_entries;
	r->stats.lost += total_lost(l);
	l->lost_entries = l->lost_exits = 0;
	l->base_entries = l->base_exits = 0;
	l->claimed = l->ready = false;
	threads_forget(l);
}

/* Is what all other threads of its process have written read, too? Until then a fiber may go
 * on on one of them. */
static bool is_last(const struct reader *r, const struct lane *l)
{
	for (uint32_t i = 0; i < r->nrings; i++) {
		const struct lane *other = &r->lanes[i];

		if (other != l && other->claimed && other->pid == l->pid)
			return false;
	}
	return true;
}

/* It has ended, and all is read: let other threads claim the ring. */
static void free_ring(struct reader *r, struct lane *l)
{
	uint32_t claimed = RING_CLAIMED;

	if (is_last(r, l) && threads_is_over(r, l))
		calls_end_fibers(r, l);
	lane_end(r, l, l->last);
	if (l->open)
		give_back(r, l, l->pos);
	else if (l->at != l->head)
		pass_on(l);
	__atomic_compare_exchange_n(&l->ring->state, &claimed, RING_FREE, false,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	threads_offer(r, l);
}

void lane_take(struct reader *r, struct lane *l)
{
	l->ready = false;
	l->last = l->tsc;
	if (l->ends) {
		free_ring(r, l);
		return;
	}
	if (l->begins) {
		l->begins = false;
		take_begin(r, l);
		return;
	}
	calls_resume(r, l);
	if (r->err)
		return;
	take_word(r, l);
	l->pos += 1 + body_words(l, l->word);
}
