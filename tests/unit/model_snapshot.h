/* SPDX-License-Identifier: MIT */
/*
 * model_snapshot: what is copied of a ring that no reader empties, step by step:
 * injector/reader/ring_snapshot.c, with its numbers.
 */
#ifndef TESTS_UNIT_MODEL_SNAPSHOT_H
#define TESTS_UNIT_MODEL_SNAPSHOT_H

#include "tests/unit/model_ring.h"

enum snapshot_pc {
	COPY_HEAD, COPY_TAIL, COPY_SEQ, COPY_WORDS, COPY_WORDS_AGAIN, COPY_LOOK, COPY_NOW, COPY_SUM,
	COPY_KNOWN, COPY_SAME, COPIED,
};

static inline void copy_fence(struct state *s, enum order o)
{
	if (has(o))
		fence_loads(&s->m, READER);
}

/* 1. What makes no sense is read again. */
static inline void copy_tail(struct state *s, struct snapshot *p)
{
	p->tail = load(&s->m, READER, TAIL, false);
	p->pc = COPY_HEAD;
	if ((uint8_t)(p->head - p->tail) > SUBS)
		return;
	copy_fence(s, COPY_BEGIN);
	p->n = p->first = p->head;
	p->pc = COPY_SEQ;
}

/* 2. Sub-buffer n - 1, unless all were looked at. */
static inline void copy_seq(struct state *s, struct snapshot *p)
{
	if (p->n == p->tail) {
		p->pc = COPY_NOW;
		return;
	}
	p->n--;
	p->pos = p->again = 0;
	p->seq = seq_of(load(&s->m, READER, HEADER + p->n % SUBS, false));
	p->pc = COPY_WORDS;
}

static inline uint8_t copy_word(struct state *s, struct snapshot *p)
{
	unsigned int place = p->n % SUBS;

	p->words[place][p->pos] = load(&s->m, READER, word_at(place, p->pos), false);
	return p->words[place][p->pos++];
}

/* 3. Of the newest, all that came before the last record found, and what belongs to it. */
static inline void copy_words(struct state *s, struct snapshot *p)
{
	if (is_header(copy_word(s, p)))
		p->again = p->pos;
	if (p->pos < now->words)
		return;
	p->pos = 0;
	p->pc = COPY_LOOK;
	if (p->n + 1 == p->head) {
		p->pc = COPY_WORDS_AGAIN;
		copy_fence(s, COPY_AGAIN);
	}
}

static inline void copy_words_again(struct state *s, struct snapshot *p)
{
	uint8_t *w = p->words[p->n % SUBS];
	unsigned int most = p->again + 1u < now->words ? p->again + 1u : now->words, n = most;

	if (p->pos < most)
		copy_word(s, p);
	if (p->pos < most)
		return;
	if (most > p->again && w[p->again] < BODY)
		n = p->again;
	memset(w + n, 0, now->words - n);
	p->pc = COPY_LOOK;
}

/* It may come before the copy: 4. sees what has gone. */
static inline void copy_look(struct state *s, struct snapshot *p)
{
	uint8_t tail = load(&s->m, READER, TAIL, false);
	bool held = p->seq == p->n + 1 && tail <= p->n;

	p->pc = held ? COPY_SEQ : COPY_NOW;
	if (held) {
		p->first = p->n;
		p->kept[p->n % SUBS] = p->n + 1;
	}
}

/* Is every record there of those that a sub-buffer had when it was copied? */
static inline void judge_words(struct state *s, const struct snapshot *p, unsigned int n)
{
	const uint8_t *w = p->words[n % SUBS];
	uint32_t all = 0, newest = n + 1 == p->head;
	unsigned int i, last = now->words;

	for (i = 1; i <= s->truth.time; i++)
		all |= s->truth.seq[i] == n + 1 ? bit(i) & s->truth.committed : 0;
	while (newest && last && !w[last - 1])
		last--;
	for (i = 0; i < last; i++) {
		if (!w[i] && !newest)
			break;
		must_hold(is_header(w[i]), "a copy has a hole");
		if (wrong)
			return;
		truth_take(s, w[i] & ID, n);
		all &= ~bit(w[i] & ID);
		if (w[i] < TWO_WORDS)
			continue;
		i++;
		must_hold(i < now->words && w[i] == BODY + (w[i - 1] & ID),
			  "a record is copied before it is whole");
	}
	must_hold(newest || !all, "a record is lost");
}

static inline void judge(struct state *s, const struct snapshot *p)
{
	uint8_t n = 0, tail = p->given > p->first ? p->given : p->first;

	for (unsigned int i = tail; i < p->head && !wrong; i++) {
		must_hold(p->kept[i % SUBS] == i + 1, "a copy was not looked at");
		judge_words(s, p, i);
	}
	for (unsigned int id = 1; id <= s->truth.time; id++)
		n += s->truth.committed & bit(id) && s->truth.seq[id] <= tail;
	if (tail <= p->head)
		must_hold(n == p->overwritten, "what was overwritten is counted wrongly");
}

/* 4. What is overwritten belongs to that tail if the owner is in no step to another one. */
static inline void copy_known(struct state *s, struct snapshot *p)
{
	p->pc = load(&s->m, READER, NEXT_TAIL, false) == p->given ? COPY_SAME : COPY_NOW;
}

static inline void copy_same(struct state *s, struct snapshot *p)
{
	p->pc = COPY_NOW;
	if (load(&s->m, READER, OVERWRITTEN, false) != p->overwritten)
		return;
	judge(s, p);
	memset(p, 0, sizeof(*p));
	p->pc = COPIED;
}

static inline bool snapshot_step(struct state *s)
{
	struct snapshot *p = &s->s;

	switch (p->pc) {
	case COPY_HEAD:
		p->head = load(&s->m, READER, HEAD, false);
		p->pc = COPY_TAIL;
		return true;
	case COPY_TAIL:
		copy_tail(s, p);
		return true;
	case COPY_SEQ:
		copy_seq(s, p);
		return true;
	case COPY_WORDS:
		copy_words(s, p);
		return true;
	case COPY_WORDS_AGAIN:
		copy_words_again(s, p);
		return true;
	case COPY_LOOK:
		copy_look(s, p);
		return true;
	case COPY_NOW:
		p->given = load(&s->m, READER, TAIL, false);
		p->pc = COPY_SUM;
		return true;
	case COPY_SUM:
		p->overwritten = load(&s->m, READER, OVERWRITTEN, false);
		copy_fence(s, COPY_END);
		p->pc = COPY_KNOWN;
		return true;
	case COPY_KNOWN:
		copy_known(s, p);
		return true;
	case COPY_SAME:
		copy_same(s, p);
		return true;
	default:
		return false;
	}
}

#endif
