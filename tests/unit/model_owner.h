/* SPDX-License-Identifier: MIT */
/*
 * model_owner: what a thread and its signal handler do, step by step: arch/<name>/hot.S,
 * payload/ring.c, payload/claim.c. A handler may come between any two of these steps.
 */
#ifndef TESTS_UNIT_MODEL_OWNER_H
#define TESTS_UNIT_MODEL_OWNER_H

#include "tests/unit/model_ring.h"

/* CLAIM_*: claim_ring. HOT_*: a recording routine. SLOW_*: ring_room and ring_put in a slow path;
 * KEEP_*: give_up. */
enum owner_pc {
	CLAIM_TAKE, CLAIM_BEGIN, CLAIM_END,
	HOT_CURSOR, HOT_CLOCK, HOT_RESERVE, HOT_BODY, HOT_WORD, HOT_FULL, HOT_LOSE, HOT_COUNT,
	SLOW_ENTER, SLOW_LOSE, SLOW_ROOM, SLOW_CLOSE, SLOW_HEAD, SLOW_TAIL, SLOW_FIND, SLOW_FULL,
	KEEP_FIND, KEEP_SUM, KEEP_KNOWN, KEEP_DONE, KEEP_GIVE, KEEP_ZERO,
	SLOW_HEADER, SLOW_BEGIN, SLOW_PLACE, SLOW_OPEN, SLOW_PUT, SLOW_BODY, SLOW_WORD, SLOW_LEAVE,
	DONE,
};

/* `cur` is a place and a position, or odd, as in the payload, while the ring is full. */
enum { AT = 8, ODD = 0x80, FULL = 0x7f };

static inline uint8_t cursor_of(unsigned int place)
{
	return (uint8_t)((place + 1) * AT);
}

static inline unsigned int loc_of(uint8_t cur)
{
	return word_at(cur / AT - 1u, cur % AT);
}

static inline void lose(struct thread *t)
{
	t->losses = (uint8_t)(((t->losses | ODD) + 1) | ODD);
	t->cur = t->losses;
}

static inline void count_loss(struct state *s, unsigned int c, struct frame *f)
{
	must_hold(!f->has_room, "a ring that has room is full");
	store(&s->m, c, LOST, ++s->t[c].lost, false);
	s->truth.lost[c]++;
}

static inline void stamp(struct state *s, unsigned int c, struct frame *f)
{
	must_hold(s->truth.time + 1 < RECORDS, "the model has no room for so many records");
	f->id = wrong ? 0 : ++s->truth.time;
	s->truth.owner[f->id] = (uint8_t)c;
}

static inline void reserve(struct state *s, struct thread *t, struct frame *f)
{
	f->at = t->cur;
	t->cur += f->n;
	s->truth.seq[f->id] = s->truth.begun[f->at / AT - 1];
}

static inline void put_word(struct state *s, unsigned int c, struct frame *f)
{
	bool two = f->n == 2;

	store(&s->m, c, loc_of(f->at), two ? TWO_WORDS + f->id : f->id,
	      has(two ? HEADER_RELEASE : RECORD_RELEASE));
	s->truth.committed |= bit(f->id);
}

static inline void put_body(struct state *s, unsigned int c, struct frame *f)
{
	store(&s->m, c, loc_of(f->at) + 1, BODY + f->id, false);
}

/* ---- the recording routine ----------------------------------------------- */

static inline void hot_cursor(struct thread *t, struct frame *f)
{
	f->at = t->cur;
	if (t->end == FULL)
		f->pc = HOT_FULL;
	else
		f->pc = t->end && f->at + f->n <= t->end ? HOT_CLOCK : SLOW_ENTER;
}

/* `cur` is compared and moved at once; or all begins again. */
static inline void hot_advance(struct state *s, struct thread *t, struct frame *f)
{
	if (t->cur != f->at) {
		f->pc = HOT_CURSOR;
	} else if (f->pc == HOT_LOSE) {
		lose(t);
		f->pc = HOT_COUNT;
	} else {
		reserve(s, t, f);
		f->pc = f->n == 2 ? HOT_BODY : HOT_WORD;
	}
}

static inline void hot(struct state *s, unsigned int c, struct thread *t, struct frame *f)
{
	switch (f->pc) {
	case HOT_CURSOR:
		hot_cursor(t, f);
		return;
	case HOT_CLOCK:
		stamp(s, c, f);
		f->pc = HOT_RESERVE;
		return;
	case HOT_RESERVE:
	case HOT_LOSE:
		hot_advance(s, t, f);
		return;
	case HOT_BODY:
		put_body(s, c, f);
		f->pc = HOT_WORD;
		return;
	case HOT_WORD:
		put_word(s, c, f);
		f->pc = DONE;
		return;
	case HOT_FULL:
		f->pc = load(&s->m, c, TAIL, false) == t->full_tail ? HOT_LOSE : SLOW_ENTER;
		return;
	default:
		count_loss(s, c, f);
		f->pc = DONE;
	}
}

/* ---- the slow path ------------------------------------------------------- */

/* What is nested in a slow path is lost, unless that was left for good. */
static inline void slow_enter(struct thread *t, struct frame *f)
{
	bool busy = t->busy && !t->end;

	f->pc = busy && !t->left ? SLOW_LOSE : SLOW_ROOM;
	t->left = t->left && !busy;
	if (f->pc == SLOW_ROOM) {
		t->end = 0;
		t->busy = 1;
	}
}

static inline bool fits(const struct thread *t, const struct frame *f)
{
	return t->subbuf_end && t->subbuf_end != FULL && t->cur + f->n <= t->subbuf_end;
}

static inline void slow_close(struct state *s, unsigned int c, struct thread *t)
{
	if (t->cur && !(t->cur & ODD))
		store(&s->m, c, RESERVED + t->subbuf, t->cur % AT, false);
	t->subbuf_end = 0;
	t->cur = 0;
}

static inline void slow_find(struct state *s, unsigned int c, struct frame *f)
{
	uint8_t used = load(&s->m, c, USED, has(USED_ACQUIRE));

	f->place = used & 1 ? 1 : 0;
	f->pc = used == 3 ? SLOW_FULL : SLOW_HEADER;
}

static inline void slow_full(struct thread *t, const struct frame *f)
{
	lose(t);
	t->full_tail = f->tail;
	t->subbuf_end = FULL;
}

static inline void slow_header(struct state *s, unsigned int c, struct thread *t, struct frame *f)
{
	unsigned int p = f->place;

	store(&s->m, c, HEADER + p, header_of(f->head + 1u, t->lost), false);
	if (now->leaves)
		store(&s->m, c, RESERVED + p, 0, false);
	s->truth.header_lost[p] = t->lost;
	s->truth.begun[p] = f->head + 1;
	s->truth.holes &= (uint8_t)~(((1u << WORDS_MOST) - 1) << p * WORDS_MOST);
}

static inline void slow_open(struct thread *t, const struct frame *f)
{
	t->subbuf = f->place;
	t->cur = cursor_of(f->place);
	t->subbuf_end = (uint8_t)(cursor_of(f->place) + now->words);
}

static inline void slow_put(struct state *s, unsigned int c, struct thread *t, struct frame *f)
{
	stamp(s, c, f);
	reserve(s, t, f);
	f->pc = f->n == 2 ? SLOW_BODY : SLOW_WORD;
}

/* With keep_last, by the numbers of give_up: of a sub-buffer that is full, the records. */
static inline void keep(struct state *s, unsigned int c, struct thread *t, struct frame *f)
{
	unsigned int p = f->head % SUBS, n = 0, to = f->head - SUBS + 1u;

	switch (f->pc++) {
	case KEEP_FIND:
		f->place = (uint8_t)p;
		if (f->head < SUBS)
			f->pc = SLOW_HEADER;
		return;
	case KEEP_SUM:									/* 1 */
		for (unsigned int id = 1; id <= s->truth.time; id++)
			n += s->truth.seq[id] == to;
		t->overwritten += n;
		store(&s->m, c, NEXT_OVERWRITTEN, t->overwritten, false);
		return;
	case KEEP_KNOWN:								/* 2 */
		store(&s->m, c, NEXT_TAIL, to, true);
		return;
	case KEEP_DONE:									/* 3 */
		store(&s->m, c, OVERWRITTEN, t->overwritten, has(OVERWRITTEN_RELEASE));
		return;
	case KEEP_GIVE:									/* 4 */
		store(&s->m, c, TAIL, to, has(GIVEN_UP_RELEASE));
		if (has(GIVEN_UP_FENCE))
			fence_stores(&s->m, c);
		return;
	default:
		for (unsigned int i = 0; i < now->words; i++)
			store(&s->m, c, word_at(p, i), 0, false);
		f->pc = SLOW_HEADER;
	}
}

static inline void slow(struct state *s, unsigned int c, struct thread *t, struct frame *f)
{
	switch (f->pc++) {
	case SLOW_ENTER:
		slow_enter(t, f);
		return;
	case SLOW_LOSE:
		count_loss(s, c, f);
		f->pc = DONE;
		return;
	case SLOW_ROOM:
		if (fits(t, f))
			f->pc = SLOW_PUT;
		return;
	case SLOW_CLOSE:
		slow_close(s, c, t);
		return;
	case SLOW_HEAD:
		f->head = load(&s->m, c, HEAD, false);
		return;
	case SLOW_TAIL:
		f->tail = load(&s->m, c, TAIL, has(TAIL_ACQUIRE));
		if (now->kept)
			f->pc = KEEP_FIND;
		return;
	case SLOW_FIND:
		slow_find(s, c, f);
		return;
	case SLOW_FULL:
		slow_full(t, f);
		count_loss(s, c, f);
		f->pc = SLOW_LEAVE;
		return;
	case SLOW_HEADER:
		slow_header(s, c, t, f);
		return;
	case SLOW_BEGIN:
		store(&s->m, c, HEAD, f->head + 1, has(HEAD_RELEASE));
		return;
	case SLOW_PLACE:
		change(&s->m, c, USED, latest_value(&s->m, USED) | bit(f->place),
		       has(PLACE_RELEASE));
		return;
	case SLOW_OPEN:
		slow_open(t, f);
		return;
	case SLOW_PUT:
		slow_put(s, c, t, f);
		return;
	case SLOW_BODY:
		put_body(s, c, f);
		return;
	case SLOW_WORD:
		put_word(s, c, f);
		return;
	default:
		t->end = t->subbuf_end;
		t->busy = 0;
		f->pc = DONE;
	}
}

/* ---- a thread ------------------------------------------------------------ */

static inline void claim(struct state *s, unsigned int c, struct thread *t)
{
	switch (t->claimed++) {
	case CLAIM_TAKE:
		if (!exchange(&s->m, c, STATE, 0, 1, has(FREE_ACQUIRE)))
			t->claimed = CLAIM_TAKE;
		return;
	case CLAIM_BEGIN:
		store(&s->m, c, GENERATION, load(&s->m, c, GENERATION, false) + 1, false);
		store(&s->m, c, PID, c + 1, false);
		store(&s->m, c, LOST, 0, false);
		return;
	default:
		store(&s->m, c, STATE, 2, has(CLAIMED_RELEASE));
	}
}

/* Is there room for certain, and can it be seen that there is? */
static inline bool has_room(const struct state *s)
{
	return s->r.claimed && s->r.at + 1 >= latest_value(&s->m, HEAD);
}

static inline bool begin_call(struct state *s, unsigned int c, struct thread *t)
{
	uint8_t what = now->script[c][t->next];

	if (what & HAS_ROOM && !has_room(s))
		return false;
	if (what & HAS_ROOM)
		see_all(&s->m, c);
	t->next++;
	t->depth = 1;
	t->frame[0] = (struct frame){ .pc = HOT_CURSOR, .n = what & 3,
				      .has_room = what & HAS_ROOM };
	return true;
}

/* What the call was about that a siglongjmp has left. */
static inline void abandon(struct state *s, struct thread *t)
{
	const struct frame *f = &t->frame[0];
	unsigned int hole = f->at ? loc_of(f->at) - WORD : 0;

	if (f->pc >= SLOW_ROOM && f->pc <= SLOW_LEAVE)
		t->left = 1;
	if (f->pc == SLOW_PLACE)
		s->truth.numbers |= (uint8_t)bit(f->head);
	if (f->pc == HOT_BODY || f->pc == HOT_WORD || f->pc == SLOW_BODY || f->pc == SLOW_WORD)
		s->truth.holes |= (uint8_t)(((1u << f->n) - 1) << hole);
}

static inline void drop_frame(struct thread *t)
{
	t->depth--;
	memset(&t->frame[t->depth], 0, sizeof(t->frame[0]));
}

/* A handler returns, or leaves for good. */
static inline void end_call(struct state *s, struct thread *t)
{
	bool leaves = t->depth == 2 && now->leaves && choose(2);

	if (leaves)
		abandon(s, t);
	drop_frame(t);
	if (leaves)
		drop_frame(t);
}

/*
 * May the step that comes next be made at once? It loads nothing, and a load of what it
 * stores may take the message before: so the others can do all that they could before it.
 */
static inline bool owner_is_local(const struct thread *t)
{
	uint8_t pc = t->depth ? t->frame[t->depth - 1].pc : 0;

	return t->depth && pc != HOT_FULL && pc != SLOW_HEAD && pc != SLOW_TAIL &&
		pc != SLOW_FIND && pc != SLOW_PLACE;
}

/* False: it cannot go on now. */
static inline bool owner_step(struct state *s, unsigned int c)
{
	struct thread *t = &s->t[c];
	struct frame *f = &t->frame[t->depth ? t->depth - 1 : 0];

	if (t->ended || !now->script[c][0] || (c == NEXT_OWNER && !s->t[OWNER].ended))
		return false;
	if (t->claimed <= CLAIM_END) {
		claim(s, c, t);
		return true;
	}
	if (!t->depth && now->script[c][t->next])
		return begin_call(s, c, t);
	if (!t->depth) {
		t->ended = 1;
		return true;
	}
	if (f->pc == DONE)
		end_call(s, t);
	else if (f->pc >= KEEP_FIND && f->pc <= KEEP_ZERO)
		keep(s, c, t, f);
	else if (f->pc >= SLOW_ENTER)
		slow(s, c, t, f);
	else
		hot(s, c, t, f);
	return true;
}

/* A signal comes. */
static inline bool owner_interrupt(struct state *s, unsigned int c)
{
	struct thread *t = &s->t[c];

	if (!now->handler || t->handled || t->depth != 1 || t->frame[0].pc == DONE)
		return false;
	t->handled = 1;
	t->frame[t->depth++] = (struct frame){ .pc = HOT_CURSOR, .n = now->handler };
	return true;
}

#endif
