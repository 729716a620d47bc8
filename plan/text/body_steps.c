/* SPDX-License-Identifier: MIT */
/* body_steps: the pieces and the steps that a body has so far. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/impl.h"

static size_t strides(struct range r)
{
	return range_size(r) / BODY_STRIDE + 1;
}

uint32_t *body_places(struct body *b, size_t piece)
{
	struct body_room *r = &b->room;
	size_t before = 0, had = r->at_cap;

	for (size_t i = 0; i < piece; i++)
		before += strides(b->pieces[i]);
	while (r->at_cap < before + strides(b->pieces[piece]))
		if (base_grow((void **)&r->at, &r->at_cap, sizeof(*r->at)))
			return NULL;
	if (had < r->at_cap)
		memset(r->at + had, 0, (r->at_cap - had) * sizeof(*r->at));
	return r->at + before;
}

/* In this piece, of whose strides `before` are those of others. */
static size_t step_in(const struct body *b, size_t piece, size_t before, raddr_t a)
{
	size_t k = before + (a - b->pieces[piece].start) / BODY_STRIDE;
	size_t i = k < b->room.at_cap ? b->room.at[k] : b->nsteps;

	/* If it is of another piece, or of an earlier body, no step begins there. */
	for (size_t n = 0; n < BODY_STRIDE && i < b->nsteps; n++, i--)
		if (b->steps[i].insn.pc == a && b->steps[i].piece == piece)
			return i;
	return b->nsteps;
}

size_t body_step(const struct body *b, raddr_t a)
{
	size_t before = 0;

	for (size_t n = 0; n < b->npieces; before += strides(b->pieces[n++]))
		if (range_has(b->pieces[n], a))
			return step_in(b, n, before, a);
	return b->nsteps;
}

bool body_is_entry(const struct body *b, raddr_t a)
{
	return a >= b->pieces[0].start && a <= b->steps[b->entry].insn.pc;
}

void body_doubt(struct body *b, enum refusal why)
{
	b->open |= why == REFUSED_UNREADABLE;
	if (!b->entry_only)
		b->entry_only = why;
}

int body_add_piece(struct body *b, struct range r)
{
	size_t left;

	for (size_t i = 0; i < b->npieces; i++) {
		if (!range_overlaps(b->pieces[i], r))
			continue;
		/* The same bytes twice would be two opinions of one window. */
		if (r.start < b->pieces[i].start || r.end > b->pieces[i].end)
			body_doubt(b, REFUSED_UNREADABLE);
		return 0;
	}
	if (r.end <= r.start || !symbols_text(b->impl->symbols, r.start, &left) ||
	    range_size(r) > left || b->npieces > UINT16_MAX) {
		body_doubt(b, REFUSED_UNREADABLE);
		return 0;
	}
	struct range *new = vec_push(b->room.pieces, b->npieces, b->room.pieces_cap);

	if (!new)
		return -ENOMEM;
	*new = r;
	b->pieces = b->room.pieces;
	return 0;
}

/* If two functions do, each sees the other's edges into it: see doubt_strangers. */
int body_adopt(struct body *b, raddr_t a)
{
	const struct func *f = symbols_func_at(b->impl->symbols, a);

	if (!f || !ground_is_fragment(b->impl, f) || f->parent >= 0)
		return 0;
	return body_add_piece(b, f->range);
}

/* Where branches are not to be guessed, compilers jump by way of this. */
int body_thunk(const struct plan_impl *p, raddr_t at)
{
	size_t left;
	const uint8_t *bytes = p->has_thunks ? symbols_text(p->symbols, at, &left) : NULL;

	return bytes ? p->arch->thunk(bytes, left) : -1;
}

void body_room_free(struct body_room *r)
{
	free(r->steps);
	free(r->pieces);
	free(r->at);
	*r = (struct body_room){ 0 };
}

void body_clear(struct body *b)
{
	body_room_free(&b->impl->spare);
	b->impl->spare = b->room;
	free(b->links);
}
