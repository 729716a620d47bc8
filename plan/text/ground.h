/* SPDX-License-Identifier: MIT */
/*
 * ground: what is true of each byte of the text, as the files see it that find that out
 * (ground.c, ground_make.c, sweep.c, pieces.c). All others ask by impl.h.
 */
#ifndef PLAN_GROUND_H
#define PLAN_GROUND_H

#include "plan/impl.h"

/*
 * A bit each for every byte. Of a place of which more is true the bits for less need not be
 * set: a start is fixed, and what is fixed is a target.
 */
enum plane {
	PLANE_TARGET, PLANE_FIXED, PLANE_START, PLANE_DEAD, PLANE_TAKEN,
	PLANE_NUMBER,	/* its function names it by a number */
	PLANE_NAMED,	/* code names it: it may be data, too */
	PLANE_READ,	/* an instruction that was read begins here */
	PLANE_WORD,	/* some word may lead there */
	PLANE_LIVE,	/* and no function has it, and control comes there */
	PLANE_STRAY,	/* only tables lead there by which other functions jump, */
	PLANE_LISTED,	/* or only what is named and looks like a table */
	PLANE_CROSSED,	/* an edge leads there */
	PLANES
};

struct ground {
	const struct text *text;
	uint64_t *planes[PLANES];
};

/* Several threads of a crew (crew.h) set bits of the same words at once. What they ask meanwhile
 * is of planes that none of them changes, or of places that only they do. */
static inline uint64_t bits_at(const uint64_t *bits, uint64_t word)
{
	return __atomic_load_n(&bits[word], __ATOMIC_RELAXED);
}

static inline bool bit_get(const uint64_t *bits, uint64_t i)
{
	return bits_at(bits, i / 64) >> (i % 64) & 1;
}

static inline void bit_set(uint64_t *bits, uint64_t i)
{
	if (!bit_get(bits, i))
		__atomic_fetch_or(&bits[i / 64], 1ull << (i % 64), __ATOMIC_RELAXED);
}

/* Some of one word, of which none is known to be set. */
static inline void bits_set(uint64_t *bits, uint64_t word, uint64_t set)
{
	__atomic_fetch_or(&bits[word], set, __ATOMIC_RELAXED);
}

static inline void bit_clear(uint64_t *bits, uint64_t i)
{
	if (bit_get(bits, i))
		__atomic_fetch_and(&bits[i / 64], ~(1ull << (i % 64)), __ATOMIC_RELAXED);
}

static inline bool is_start(const struct ground *g, uint64_t at)
{
	return bit_get(g->planes[PLANE_START], at);
}

/* ground.c */
const struct ground *ground_at(const struct plan_impl *, raddr_t);
/* All from `first` to `end` is about to be swept. */
void ground_warm(const struct ground *, raddr_t first, raddr_t end);
/* True if it was not live before. */
bool ground_set_live(struct plan_impl *, raddr_t);
/* Control that arrives at a padding byte runs on to the end of the padding. */
void ground_revive(const struct ground *, uint64_t at);
/* The sweep meets padding before it meets the branches into it. */
void ground_revive_all(const struct ground *);

/* shares.c: find the branches of all text. 0, -ENOMEM or -EBADMSG. */
int sweep_all(struct plan_impl *);

/* again.c: the code behind places that branches lead to, or (`all`) words, too, from which no
 * instruction was read yet: in p->hidden. 0 or -errno. */
int sweep_again(struct plan_impl *, bool all);

/* pieces.c: get ready for notes, if the file may have any. 0 or -ENOMEM. */
int pieces_expect(struct plan_impl *);
/* May it be a piece of another function, as far as only symbols tell? */
bool piece_is_likely(const struct func *);
/* A call leads here, or the address is taken. */
void piece_note_called(struct plan_impl *, raddr_t);
/* Now that all edges are known: which functions are pieces of others? */
int pieces_settle(struct plan_impl *);

#endif
