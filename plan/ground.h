/* SPDX-License-Identifier: MIT */
/*
 * ground: what is true of each byte of the text, as those see it who find that out
 * (ground.c, sweep.c, pieces.c). All others ask by impl.h.
 */
#ifndef PLAN_GROUND_H
#define PLAN_GROUND_H

#include "plan/impl.h"

/*
 * A bit each for every byte. The first two tell of a place by which of them are
 * set: the first only, it is a target and no more; the second only, it is fixed as
 * well; both, a start.
 */
enum plane { PLANE_FIRST, PLANE_SECOND, PLANE_DEAD, PLANE_TAKEN, PLANES };

struct ground {
	const struct text *text;
	uint64_t *planes[PLANES];
};

static inline bool bit_get(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static inline void bit_set(uint64_t *bits, uint64_t i)
{
	bits[i / 64] |= 1ull << (i % 64);
}

static inline void bit_clear(uint64_t *bits, uint64_t i)
{
	bits[i / 64] &= ~(1ull << (i % 64));
}

static inline bool is_start(const struct ground *g, uint64_t at)
{
	return bit_get(g->planes[PLANE_FIRST], at) && bit_get(g->planes[PLANE_SECOND], at);
}

static inline void mark_target(const struct ground *g, uint64_t at)
{
	if (!bit_get(g->planes[PLANE_SECOND], at))
		bit_set(g->planes[PLANE_FIRST], at);
}

static inline void mark_fixed(const struct ground *g, uint64_t at)
{
	if (bit_get(g->planes[PLANE_SECOND], at))
		return;
	bit_set(g->planes[PLANE_SECOND], at);
	bit_clear(g->planes[PLANE_FIRST], at);
}

static inline void mark_start(const struct ground *g, uint64_t at)
{
	bit_set(g->planes[PLANE_SECOND], at);
	bit_set(g->planes[PLANE_FIRST], at);
}

/* ground.c */
const struct ground *ground_at(const struct plan_impl *, raddr_t);
/* Control that arrives at a padding byte runs on to the end of the padding. */
void ground_revive(const struct ground *, uint64_t at);

/* sweep.c: find the branches of all text. 0, -ENOMEM or -EBADMSG. */
int sweep_all(struct plan_impl *);

/* pieces.c: get ready for notes, if the file may have any. 0 or -ENOMEM. */
int pieces_expect(struct plan_impl *);
/* May it be a piece of another function, as far as only symbols tell? */
bool piece_is_likely(const struct func *);
/* A call leads here, or the address is taken. */
void piece_note_called(struct plan_impl *, raddr_t);
/* Now that all edges are known: which functions are pieces of others? */
int pieces_settle(struct plan_impl *);

#endif
