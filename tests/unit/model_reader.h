/* SPDX-License-Identifier: MIT */
/*
 * model_reader: what the reader does with a ring, step by step: injector/reader/reader.c,
 * reader_lane.c and reader_threads.c. It passes over the ring again and again.
 */
#ifndef TESTS_UNIT_MODEL_READER_H
#define TESTS_UNIT_MODEL_READER_H

#include "tests/unit/model_ring.h"

/* PASS_*: threads_look, reader_look, lane_snapshot. ITEM_*: find_item, lane_take. GIVE_*:
 * give_back, pass_on, free_ring. */
enum reader_pc {
	PASS_LOOK, PASS_STATE, PASS_GENERATION, PASS_NEW, PASS_LOST, PASS_HEAD, PASS_USED, PASS_SEQ,
	ITEM_NEXT, ITEM_OPEN, ITEM_END, ITEM_WORD, ITEM_BODY, ITEM_LAST,
	GIVE_ZERO, GIVE_PLACE, GIVE_TAIL, GIVE_FREE,
};

#define NOWHERE 0xff

/* A pass is over: what it knew is forgotten. */
static inline void pass_end(struct reader *r)
{
	r->pc = PASS_LOOK;
	r->gone = r->used = r->i = 0;
	memset(r->places, 0, sizeof(r->places));
	if (!r->open)
		r->place = r->pos = 0;
	r->end = r->word = 0;
	r->head = r->at;
}

/* Whose is the ring, by its generation? */
static inline unsigned int owner_of(const struct reader *r)
{
	return r->generation == 2;
}

static inline void pass_look(struct state *s, struct reader *r)
{
	r->gone = r->claimed && s->t[owner_of(r)].ended;
	if (r->gone && has(SEE_END))
		join(&s->m.cpu[READER].knows, &s->m.cpu[owner_of(r)].knows);
	r->pc = PASS_STATE;
}

static inline void pass_generation(struct state *s, struct reader *r)
{
	uint8_t generation = load(&s->m, READER, GENERATION, false);

	must_hold(!r->claimed || generation == r->generation,
		  "the ring of a thread is taken for another's");
	if (r->claimed)
		r->pc = PASS_LOST;
	else if (generation == r->generation)
		pass_end(r);
	else
		r->pc = PASS_NEW;
}

/* lane_claim. */
static inline void pass_new(struct state *s, struct reader *r)
{
	uint8_t generation = load(&s->m, READER, GENERATION, false);

	if (load(&s->m, READER, HEAD, false) == r->at) {
		pass_end(r);
		return;
	}
	must_hold(load(&s->m, READER, PID, false) == generation,
		  "a thread is taken for one of another process");
	r->claimed = 1;
	r->generation = generation;
	r->last = 0;
	r->pc = PASS_LOST;
}

static inline void pass_head(struct state *s, struct reader *r)
{
	r->head = load(&s->m, READER, HEAD, has(HEAD_ACQUIRE));
	must_hold((uint8_t)(r->head - r->at) <= SUBS || s->truth.numbers,
		  "the ring holds more sub-buffers than it has");
	for (unsigned int i = 0; i < 4; i++)
		r->places[i] = NOWHERE;
	r->i = 0;
	r->pc = PASS_USED;
}

/* find_places. */
static inline void pass_seq(struct state *s, struct reader *r)
{
	if (r->used >> r->i & 1) {
		uint8_t n = seq_of(load(&s->m, READER, HEADER + r->i, false)) - 1;

		if ((uint8_t)(n - r->at) < (uint8_t)(r->head - r->at))
			r->places[n % 4] = r->i;
	}
	if (++r->i == SUBS)
		r->pc = ITEM_NEXT;
}

static inline void pass(struct state *s, struct reader *r)
{
	switch (r->pc) {
	case PASS_LOOK:
		pass_look(s, r);
		return;
	case PASS_STATE:
		r->pc = PASS_GENERATION;
		if (load(&s->m, READER, STATE, has(CLAIMED_ACQUIRE)) == 2)
			return;
		if (r->claimed)
			r->pc = PASS_LOST;
		else
			pass_end(r);
		return;
	case PASS_GENERATION:
		pass_generation(s, r);
		return;
	case PASS_NEW:
		pass_new(s, r);
		return;
	case PASS_LOST:
		/* Only what it says at the end is told, in this model. */
		if (r->gone)
			r->lost = load(&s->m, READER, LOST, false);
		r->pc = PASS_HEAD;
		return;
	case PASS_HEAD:
		pass_head(s, r);
		return;
	case PASS_USED:
		r->used = load(&s->m, READER, USED, has(PLACE_ACQUIRE));
		r->pc = PASS_SEQ;
		return;
	default:
		pass_seq(s, r);
	}
}

/* ---- items --------------------------------------------------------------- */

static inline bool is_closed(const struct reader *r)
{
	return (uint8_t)(r->head - r->at) > 1;
}

static inline void item_next(struct state *s, struct reader *r)
{
	if (r->at == r->head) {
		r->pc = ITEM_LAST;
	} else if (r->open) {
		r->pc = ITEM_END;
	} else if (r->places[r->at % 4] != NOWHERE) {
		r->place = r->places[r->at % 4];
		r->pc = ITEM_OPEN;
	} else if (is_closed(r)) {
		must_hold(s->truth.numbers >> r->at & 1, "a sub-buffer is nowhere");
		r->pc = GIVE_TAIL;
	} else {
		r->pc = ITEM_LAST;
	}
}

static inline void item_open(struct state *s, struct reader *r)
{
	uint8_t header = load(&s->m, READER, HEADER + r->place, false);

	must_hold(header == header_of(r->at + 1u, s->truth.header_lost[r->place]),
		  "a header is of an earlier round");
	r->open = 1;
	r->pos = 0;
	r->pc = ITEM_END;
}

/* Will a word that reads 0 ever be there? */
static inline bool will_come(const struct state *s, unsigned int loc)
{
	for (unsigned int c = OWNER; c <= NEXT_OWNER; c++) {
		const struct thread *t = &s->t[c];

		for (unsigned int i = 0; i < t->depth; i++)
			if (t->frame[i].at && !(t->frame[i].at & ODD) &&
			    loc_of(t->frame[i].at) == loc)
				return true;
	}
	return latest_value(&s->m, loc);
}

/* Nothing is to be read behind this word, which the owner may have reserved. */
static inline bool is_last_word(const struct state *s, const struct reader *r)
{
	for (unsigned int i = r->pos; i < now->words; i++)
		if (latest_value(&s->m, word_at(r->place, i)))
			return false;
	return true;
}

/* skip_hole: a word is given up if a siglongjmp has left it, as passes without it tell. */
static inline void item_hole(struct state *s, struct reader *r)
{
	unsigned int loc = word_at(r->place, r->pos);
	bool hole = s->truth.holes >> (loc - WORD) & 1;

	if (hole && (is_closed(r) || (r->gone && !is_last_word(s, r)))) {
		r->pos++;
		r->pc = ITEM_END;
		return;
	}
	if (is_closed(r))
		must_hold(hole || (!r->gone && will_come(s, loc)), "a record is lost");
	r->pc = ITEM_LAST;
	if (is_closed(r))
		pass_end(r);
}

static inline void item_take(struct state *s, struct reader *r, unsigned int id)
{
	must_hold(id > r->last, "times go back within a ring");
	truth_take(s, id, r->at);
	r->last = (uint8_t)id;
	r->pc = ITEM_END;
}

static inline void item_word(struct state *s, struct reader *r)
{
	r->word = load(&s->m, READER, word_at(r->place, r->pos), has(WORD_ACQUIRE));
	if (!r->word) {
		item_hole(s, r);
	} else if (!is_header(r->word)) {
		must_hold(s->truth.holes >> (r->place * WORDS_MOST + r->pos) & 1,
			  "a body has no header");
		r->pos++;
		r->pc = ITEM_END;
	} else if (r->word >= TWO_WORDS) {
		r->pc = ITEM_BODY;
	} else {
		item_take(s, r, r->word);
		r->pos++;
	}
}

static inline void item_body(struct state *s, struct reader *r)
{
	uint8_t body = load(&s->m, READER, word_at(r->place, r->pos + 1u), false);

	must_hold(body == BODY + (r->word & ID), "a record is taken before it is whole");
	item_take(s, r, r->word & ID);
	r->pos += 2;
}

/* The words that the owner has, or may have, written. */
static inline void item_end(struct state *s, struct reader *r)
{
	r->end = is_closed(r) ? load(&s->m, READER, RESERVED + r->place, false) : now->words;
	if (r->pos < r->end)
		r->pc = ITEM_WORD;
	else
		r->pc = is_closed(r) ? GIVE_ZERO : ITEM_LAST;
}

/* All is read. free_ring, if its thread has ended. */
static inline void item_last(struct reader *r)
{
	if (!r->gone) {
		pass_end(r);
		return;
	}
	r->frees = 1;
	r->pc = r->open ? GIVE_ZERO : r->at != r->head ? GIVE_TAIL : GIVE_FREE;
}

static inline void item(struct state *s, struct reader *r)
{
	switch (r->pc) {
	case ITEM_NEXT:
		item_next(s, r);
		return;
	case ITEM_OPEN:
		item_open(s, r);
		return;
	case ITEM_END:
		item_end(s, r);
		return;
	case ITEM_WORD:
		item_word(s, r);
		return;
	case ITEM_BODY:
		item_body(s, r);
		return;
	default:
		item_last(r);
	}
}

/* ---- back to the owner --------------------------------------------------- */

static inline void give_free(struct state *s, struct reader *r)
{
	unsigned int owner = owner_of(r);

	must_hold(!(truth_of(&s->truth, owner) & ~s->truth.taken), "a record is lost");
	must_hold(r->lost == s->truth.lost[owner], "less is lost than was");
	store(&s->m, READER, STATE, 0, has(FREE_RELEASE));
	r->claimed = r->frees = r->lost = r->last = 0;
	pass_end(r);
}

static inline void give(struct state *s, struct reader *r)
{
	switch (r->pc) {
	case GIVE_ZERO:
		for (unsigned int i = 0; i < r->pos; i++)
			store(&s->m, READER, word_at(r->place, i), 0, false);
		r->pc = GIVE_PLACE;
		return;
	case GIVE_PLACE:
		change(&s->m, READER, USED, latest_value(&s->m, USED) & ~bit(r->place),
		       has(GIVE_RELEASE));
		r->pc = GIVE_TAIL;
		return;
	case GIVE_TAIL:
		r->at++;
		r->open = r->place = r->pos = 0;
		store(&s->m, READER, TAIL, r->at, has(TAIL_RELEASE));
		r->pc = r->frees ? GIVE_FREE : ITEM_NEXT;
		return;
	default:
		give_free(s, r);
	}
}

/* May the step that comes next be made at once? See owner_is_local. */
static inline bool reader_is_local(const struct reader *r)
{
	return r->pc == ITEM_NEXT || r->pc == ITEM_LAST || r->pc == GIVE_ZERO ||
		r->pc == GIVE_TAIL || (r->pc == PASS_SEQ && !(r->used >> r->i & 1));
}

static inline bool reader_step(struct state *s)
{
	struct reader *r = &s->r;

	if (r->pc < ITEM_NEXT)
		pass(s, r);
	else if (r->pc < GIVE_ZERO)
		item(s, r);
	else
		give(s, r);
	return true;
}

#endif
