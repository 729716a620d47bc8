/* SPDX-License-Identifier: MIT */
/*
 * pieces: which functions are pieces of others, where only unwind entries tell of
 * them?
 *
 * The unlikely half of a function looks like a function if it begins outside of any
 * frame. But such halves are packed, while functions are aligned, all but unlikely
 * ones; and they are never called.
 */
#include <errno.h>

#include "plan/text/ground.h"

enum { PIECE_ALIGN = 16 };

bool piece_is_likely(const struct func *f)
{
	return f->source == FUNC_EH_FRAME && !(f->flags & FUNC_FRAGMENT) &&
	       (f->flags & FUNC_PACKED || f->range.start % PIECE_ALIGN);
}

void piece_note_called(struct plan_impl *p, raddr_t a)
{
	const struct symbols *syms = p->symbols;
	const struct func *f = p->called ? symbols_func_at(syms, a) : NULL;

	if (f && f->range.start == a)
		__atomic_store_n(&p->called[f - syms->funcs], true, __ATOMIC_RELAXED);
}

static bool is_called(const struct plan_impl *p, const struct func *f)
{
	return p->called && p->called[f - p->symbols->funcs];
}

int pieces_expect(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;

	for (size_t i = 0; i < syms->nfuncs && !p->called; i++) {
		if (!piece_is_likely(&syms->funcs[i]))
			continue;
		p->called = calloc(syms->nfuncs, sizeof(*p->called));
		if (!p->called)
			return fail(ENOMEM, "plan %s", syms->base);
	}
	return 0;
}

bool ground_is_fragment(const struct plan_impl *p, const struct func *f)
{
	return f->flags & FUNC_FRAGMENT || !ground_any(p, LAYER_START, f->range.start, 1);
}

bool ground_may_be_piece(const struct plan_impl *p, const struct func *f)
{
	return ground_is_fragment(p, f) || (piece_is_likely(f) && !is_called(p, f));
}

/* By index of functions: it jumps into the middle of another. */
static void note_leading_back(const struct plan_impl *p, bool *leads)
{
	const struct symbols *syms = p->symbols;

	for (size_t i = 0; i < p->nedges; i++) {
		const struct func *f = symbols_func_at(syms, edge_from(&p->edges[i]));
		const struct func *to = symbols_func_at(syms, p->edges[i].to);

		if (f && to && to->range.start != p->edges[i].to)
			leads[f - syms->funcs] = true;
	}
}

static bool is_branched_to(const struct plan_impl *p, raddr_t a)
{
	for (size_t i = ground_edge(p, a, 1); i < p->nedges && p->edges[i].to == a; i++)
		if (p->edges[i].branch)
			return true;
	return false;
}

/* Most of what was noted are calls. */
static void trim_edges(struct plan_impl *p)
{
	struct edge *fewer = reallocarray(p->edges, p->nedges + 1, sizeof(*fewer));

	if (!fewer)
		return;
	p->edges = fewer;
	p->edges_cap = p->nedges + 1;
}

static void pieces_begin(const struct plan_impl *p, raddr_t a)
{
	const struct ground *g = ground_at(p, a);

	if (g)
		bit_set(g->planes[PLANE_START], a - g->text->range.start);
}

/* A piece is never called, and its address never taken; a conditional branch leads there,
 * or it leads back into the middle of a function. The others are functions, unless they
 * are packed like pieces. */
int pieces_settle(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;
	auto_free bool *leads = calloc(syms->nfuncs + 1, sizeof(*leads));
	size_t kept = 0;

	if (!leads)
		return fail(ENOMEM, "plan %s", syms->base);
	note_leading_back(p, leads);
	for (size_t i = 0; i < syms->nfuncs; i++) {
		const struct func *f = &syms->funcs[i];
		raddr_t start = f->range.start;

		if (piece_is_likely(f) &&
		    (is_called(p, f) || (!(f->flags & FUNC_PACKED) && !leads[i] &&
					 !is_branched_to(p, start))))
			pieces_begin(p, start);
	}
	/* A jump to a function's start is a call. */
	for (size_t i = 0; i < p->nedges; i++)
		if (!ground_any(p, LAYER_START, p->edges[i].to, 1))
			p->edges[kept++] = p->edges[i];
	p->nedges = kept;
	trim_edges(p);
	return 0;
}

