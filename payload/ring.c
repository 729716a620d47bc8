/* SPDX-License-Identifier: MIT */
/*
 * ring: how do words get into the ring, and when does a sub-buffer end?
 *
 * All of this runs inside the slow path, which owns the struct thread: `end`
 * is 0, so nothing nested writes; `subbuf_end` is the true end.
 *
 * Of a sub-buffer the reader learns by `head`. It is closed (`reserved`
 * written) before the next one is begun, its header is written before `head`
 * counts it, its place is taken after that, and the words come last. A slow
 * path that was left for good in between leaves a number without a place at
 * worst, or an empty sub-buffer; or one that goes on although `reserved` is
 * written: readers take for closed what `head` has left behind, and then it is
 * written again. `subbuf_end` is written after the `cur` that
 * belongs to it, and erased before.
 *
 * A ring that is full is one more state of the same kind: `subbuf_end` is
 * END_FULL, `cur` is odd, and hot.S drops and counts until `tail` moves. Every
 * failed search for a place moves `cur`, as every drop in hot.S does.
 *
 * Where the last are to be kept a ring is never full, but after a watched call has taken
 * too long. What a sub-buffer replaces is counted, given up (`tail`), and zeroed, in this
 * order: left for good in between, it is counted once (the sum is known before the step
 * is), and zeroed by the next slow path, which takes the same place.
 */
#include "payload/payload.h"

#define WORD_SIZE 8

/* For all words of any record. */
static uint64_t no_words[READS_CAPTURE_MAX / VALUES_BYTES + CALLERS_MOST];

#define EPOCH_TICKS (1ull << REC_TIME_BITS)

/* How many sub-buffers does it have, with its bank? */
static uint32_t subs_of(const struct session *s, const struct ring *r)
{
	return s->nsub + (r->bank ? s->bank_subs : 0);
}

static struct subbuf *subbuf_at(const struct session *s, const struct ring *r, uint32_t place)
{
	uint64_t at = (uint64_t)r + PAGE;

	if (place >= s->nsub) {
		place -= s->nsub;
		at = (uint64_t)s + s->banks_off +
			(uint64_t)(r->bank - 1) * s->bank_subs * s->sub_size;
	}
	return (struct subbuf *)(at + (uint64_t)place * s->sub_size);
}

static uint64_t *words_end(const struct session *s, const struct subbuf *b)
{
	return (uint64_t *)((uint64_t)b + s->sub_size);
}

/* The lowest place that is free; false if the ring is full. */
static bool find_place(const struct session *s, const struct ring *r, uint32_t *ret)
{
	uint32_t i, n = subs_of(s, r);
	uint64_t free;

	for (i = 0; i < n; i += 64) {
		free = ~observe(&r->used[i / 64]);
		if (free) {
			*ret = i + (uint32_t)__builtin_ctzll(free);
			return *ret < n;
		}
	}
	return false;
}

static void take_place(struct ring *r, uint32_t place)
{
	__atomic_fetch_or(&r->used[place / 64], 1ull << place % 64, __ATOMIC_RELEASE);
}

/* What a handler drops that comes meanwhile is in both numbers or in none: so it is told
 * at once, and what is untold is what the two have more than was reported. */
static uint64_t lost_so_far(const struct ring *r, uint64_t *entries, uint64_t *exits)
{
	do {
		*entries = observe(&r->lost_entries);
		*exits = observe(&r->lost_exits);
	} while (observe(&r->lost_entries) != *entries);
	return *entries + *exits;
}

/*
 * A child that is forked while its parent begins a sub-buffer has the end of one, which was
 * written after its memory was wiped, and none that it belongs to.
 */
void ring_close(const struct session *s, struct thread *t)
{
	struct subbuf *b = (struct subbuf *)observe(&t->subbuf);
	uint64_t cur, end;

	ring_unpark(t);
	cur = observe(&t->cur);
	end = b ? observe(&t->subbuf_end) : 0;
	if (cur & 1)
		t->losses = cur;
	else if (end)
		publish(&b->reserved, cur - (uint64_t)(b + 1));
	publish(&t->subbuf_end, 0);
	publish(&t->cur, 0);
	if (end > END_SIEVE && s->limit && !is_sifted(s))
		limiter_look(s, t, b, cpu_clock());
}

/*
 * A slow path that is left for good in one of these leaves it as it was, or as it was to become:
 * subbuf_end says which. `cur` has no odd value twice, as with losses. A ring that was found full
 * is looked at anew by the next slow path.
 */
void ring_unpark(struct thread *t)
{
	if (t->subbuf_end != END_SIEVE)
		return;
	if (t->cur & 1)
		t->losses = t->cur;
	publish(&t->cur, t->parked);
	publish(&t->subbuf_end, t->parked_end);
}

/* The count goes on, and in a turn to its end, but while the thread is looked at. */
static uint64_t count_on(const struct thread *t)
{
	return t->losses & SIEVE_TURN && !limiter_samples(t) ?
		(t->losses | (SIEVE_TURN - 1)) + 2 : (t->losses | 1) + SIEVE_SLOW;
}

void ring_park(struct thread *t)
{
	bool current = t->subbuf_end > END_SIEVE;

	if (t->subbuf_end == END_SIEVE)
		return;
	t->parked = current ? t->cur : 0;
	t->parked_end = current ? t->subbuf_end : 0;
	t->losses = count_on(t);
	publish(&t->subbuf_end, END_SIEVE);
	publish(&t->cur, t->losses);
}

/* `tail` was read before the search that found no place. */
static void fill_up(struct thread *t, uint64_t tail)
{
	t->losses = (t->losses | 1) + 2;
	t->full_tail = tail;
	publish(&t->cur, t->losses);
	publish(&t->subbuf_end, END_FULL);
}

/* Write the header of sub-buffer `b`, the `seq`-th of the ring. */
static void fill_header(const struct thread *t, struct subbuf *b, uint64_t seq,
			uint64_t now)
{
	const struct ring *r = thread_ring(t);

	b->seq = seq;
	b->epoch = now & ~(EPOCH_TICKS - 1);
	b->begin = now;
	b->reserved = 0;
	b->depth = frames_depth(t);
	b->stack = t->stacks[t->current].number;
	b->untold = (uint32_t)(lost_so_far(r, &b->lost_entries, &b->lost_exits) - t->reported);
	b->tid = r->tid;
}

/*
 * A load maps all that is there nearby, where a store maps the one page that it needs,
 * and the reader touches places ahead: so these two make what would be a fault for each
 * page two at most.
 */
static void look_over(const struct session *s, const struct subbuf *b)
{
	observe(&b->seq);
	observe(words_end(s, b) - 1);
}

/* Entries, exits and marks. */
static uint64_t count_events(const struct session *s, const struct subbuf *b)
{
	const uint64_t *w = (const uint64_t *)(b + 1), *end = words_end(s, b);
	uint64_t n = 0;

	for (; w < end; w++) {
		unsigned int kind = *w & 3, subkind = *w >> REC_FUNC_SHIFT & 63;

		n += kind == REC_ENTRY || kind == REC_EXIT ||
		     (kind == REC_EXT && ext_is_event(subkind));
	}
	return n;
}

static void zero_words(const struct session *s, struct subbuf *b)
{
	uint64_t *w = (uint64_t *)(b + 1), *end = words_end(s, b);

	while (w < end)
		*w++ = 0;
}

/*
 * The sub-buffers below `to` are given up, of which the last is `b`:
 *
 *  1. what will then have been overwritten
 *  2. that this is known
 *  3. it has been
 *  4. and cannot be read any more
 */
static void give_up(const struct session *s, struct ring *r, const struct subbuf *b,
		    uint64_t to)
{
	if (r->next_tail != to) {
		r->next_overwritten = r->overwritten + count_events(s, b);	/* 1 */
		publish(&r->next_tail, to);				/* 2 */
	}
	publish(&r->overwritten, r->next_overwritten);			/* 3 */
	publish(&r->tail, to);						/* 4 */
	/* Not before a reader that copies it can know. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* The place of the oldest sub-buffer, or one that was not used yet. */
static uint32_t replace_oldest(const struct session *s, const struct thread *t)
{
	struct ring *r = thread_ring(t);
	uint32_t n = subs_of(s, r), place = (uint32_t)(r->head % n);
	struct subbuf *b = subbuf_at(s, r, place);

	if (r->head < n)
		return place;
	if (r->head - r->tail >= n)
		give_up(s, r, b, r->head - n + 1);
	zero_words(s, b);
	return place;
}

/*
 * Has a watched call taken too long, and has what came then filled half of the places? Not
 * before all is said of it: its number may still be that of the call before, and then the
 * ring would be taken for one that has filled the half already.
 */
static bool is_frozen(const struct session *s, struct ring *r)
{
	if (observe(&s->fired) != WATCH_FIRED)
		return false;
	if (r->fired != s->firings) {
		r->fired_head = r->head;
		r->fired = s->firings;
	}
	return r->head - r->fired_head >= subs_of(s, r) / 2;
}

/*
 * A place where the last are kept; false if all are to stay. An injector that arms the watch
 * again says so first, and then lets those threads look again which are full: one that did not
 * see the former will see the latter.
 */
static bool take_oldest(const struct session *s, struct thread *t, uint64_t tail, uint32_t *ret)
{
	if (is_frozen(s, thread_ring(t))) {
		fill_up(t, tail);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (is_frozen(s, thread_ring(t)))
			return false;
		publish(&t->subbuf_end, 0);
	}
	*ret = replace_oldest(s, t);
	return true;
}

/* The ring is the parent's: see thread_ring(). What has come this far may still write what that
 * writes, too. */
static bool is_wiped(const struct thread *t)
{
	return !observe(&t->ring);
}

static bool ring_begin_subbuf(struct session *s, struct thread *t)
{
	struct ring *r = thread_ring(t);
	uint64_t head = r->head, tail = observe(&r->tail);
	struct subbuf *b;
	uint32_t place;

	if (r == &payload_no_ring)
		return false;
	if (s->keep_last) {
		if (!take_oldest(s, t, tail, &place))
			return false;
	} else if (!find_place(s, r, &place)) {
		fill_up(t, tail);
		return false;
	}
	b = subbuf_at(s, r, place);
	look_over(s, b);
	if (is_wiped(t))
		return false;
	fill_header(t, b, head + 1, cpu_clock());
	if (is_wiped(t))
		return false;
	publish(&r->head, head + 1);
	take_place(r, place);
	t->limit = b->epoch + EPOCH_TICKS;
	t->bias = b->epoch << REC_TIME_SHIFT;
	t->told = b->stack;
	publish(&t->subbuf, (uint64_t)b);
	publish(&t->cur, (uint64_t)(b + 1));
	publish(&t->subbuf_end, (uint64_t)words_end(s, b));
	if (!is_wiped(t))
		return true;
	/* Its first record would not be its parent's: it knows neither time nor losses. */
	publish(&t->subbuf_end, 0);
	publish(&t->cur, 0);
	t->subbuf = 0;
	return false;
}

static bool fits(const struct thread *t, unsigned int n)
{
	return t->subbuf_end > END_SIEVE && t->cur + n * WORD_SIZE <= t->subbuf_end &&
	       t->now < t->limit;
}

static bool subbuf_room(struct session *s, struct thread *t, unsigned int n)
{
	if (fits(t, n))
		return true;
	ring_close(s, t);
	return ring_begin_subbuf(s, t);
}

/* What may have to be said first: that words were lost, and the stack. */
#define TOLD_WORDS 4

bool ring_room_at(struct session *s, struct thread *t, unsigned int n, uint64_t now)
{
	uint64_t lost, entries, exits;

	t->now = now;
	if (!subbuf_room(s, t, n + TOLD_WORDS))
		return false;
	lost = lost_so_far(thread_ring(t), &entries, &exits);
	if (lost != t->reported) {
		ring_put_ext(t, EXT_LOST, lost - t->reported);
		t->reported = lost;
	}
	if (t->told != t->stacks[t->current].number) {
		t->told = t->stacks[t->current].number;
		ring_put_ext(t, EXT_STACK, t->told);
	}
	return true;
}

bool ring_room(struct session *s, struct thread *t, unsigned int n)
{
	return ring_room_at(s, t, n, cpu_clock());
}

/* A time in the record's place. It may be before that when the sub-buffer was begun, if room was
 * made for a call that had ended before; what is nearest of its time is near enough then. */
static uint64_t stamp(const struct thread *t)
{
	uint64_t epoch = t->bias >> REC_TIME_SHIFT, now = t->now;

	if (now >= t->limit)
		now = t->limit - 1;
	if (now < epoch)
		now = epoch;
	return (now << REC_TIME_SHIFT) - t->bias;
}

uint64_t *ring_take(struct thread *t, unsigned int n)
{
	uint64_t cur = observe(&t->cur);

	if (!cur)
		return no_words;
	publish(&t->cur, cur + n * WORD_SIZE);
	return (uint64_t *)cur;
}

void ring_give(const struct thread *t, uint64_t *p, uint64_t word)
{
	publish(p, word + stamp(t));
}

void ring_put(struct thread *t, uint64_t word)
{
	ring_give(t, ring_take(t, 1), word);
}

void ring_put_deep(struct thread *t, uint64_t word, uint64_t body)
{
	uint64_t *p = ring_take(t, 2);

	p[1] = body << REC_TIME_SHIFT;
	ring_give(t, p, word);
}

void ring_put_ext(struct thread *t, unsigned int subkind, uint64_t body)
{
	ring_put_deep(t, REC_EXT | (uint64_t)subkind << REC_FUNC_SHIFT |
		      1ull << REC_WORDS_SHIFT, body);
}

void ring_lose(struct thread *t, enum what what)
{
	struct ring *r = thread_ring(t);

	cpu_count(what == WHAT_ENTRY ? &r->lost_entries : &r->lost_exits);
}
