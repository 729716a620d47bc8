/* SPDX-License-Identifier: MIT */
/*
 * near: of which parts of the text does a plan have to know who may arrive there?
 *
 * Of the selected functions and of whatever may be a piece of one; and around them
 * of as much as a short jump's hole may lie in, with all padding that begins there.
 * Who arrives by a short branch comes from near by, and all code near by is swept.
 * Who arrives otherwise is found by his bytes (arch->find_ref).
 */
#include <errno.h>

#include "plan/ground.h"

enum { TEXTS_MAX = 16 };	/* of a file that is not read whole: each is searched for
				 * what leads to each, and no real one has more */

static void keep(struct plan_impl *p, struct range r)
{
	for (size_t i = 0; i < p->ngrounds; i++) {
		const struct ground *g = &p->grounds[i];
		struct range t = g->text->range;
		raddr_t from = MAX(r.start, t.start), to = MIN(r.end, t.end);

		if (from >= to)
			continue;
		for (uint64_t w = (from - t.start) / 64; w <= (to - 1 - t.start) / 64; w++)
			bit_set(g->near, w);
	}
}

static raddr_t less(raddr_t a, raddr_t n)
{
	return a - MIN(a, n);
}

static raddr_t more(raddr_t a, raddr_t n)
{
	return a + MIN(UINT64_MAX - a, n);
}

/* Called in the order of addresses; what ends before `*done` is kept already. */
static void keep_around(struct plan_impl *p, struct range r, raddr_t *done)
{
	const struct symbols *syms = p->symbols;
	raddr_t reach = (raddr_t)p->arch->short_reach + p->arch->short_size +
		ARCH_INSN_MAX;
	raddr_t from = less(r.start, reach);
	size_t before = vec_prefix(syms->nfuncs, i, syms->funcs[i].range.start <= from);
	const struct range *last = before ? &syms->funcs[before - 1].range : NULL;

	/* Padding that is dead begins in a function or at most a page behind. */
	if (last && more(last->end, PLAN_PAGE) > from)
		from = last->start;
	raddr_t end = more(more(r.end, reach), reach);

	keep(p, (struct range){ MAX(less(from, reach), *done), end });
	*done = MAX(*done, end);
}

/* By index in funcs: it is selected, or may be a piece of what is. */
static void choose(const struct plan_impl *p, const struct func *const *selected, size_t n,
		   bool *ret)
{
	const struct symbols *syms = p->symbols;

	for (size_t i = 0; i < n; i++)
		ret[selected[i] - syms->funcs] = true;
	for (size_t i = 0; i < syms->nfuncs; i++) {
		const struct func *f = &syms->funcs[i];

		if (piece_is_likely(f) || (f->flags & FUNC_FRAGMENT &&
					   (f->parent < 0 || ret[f->parent])))
			ret[i] = true;
	}
}

int near_find(struct plan_impl *p, const struct func *const *selected, size_t n)
{
	const struct symbols *syms = p->symbols;
	raddr_t done = 0;

	if (!p->arch->find_ref || p->ngrounds > TEXTS_MAX)
		return 0;
	auto_free bool *chosen = calloc(syms->nfuncs + 1, sizeof(*chosen));
	if (!chosen)
		return fail(ENOMEM, "plan %s", syms->base);
	for (size_t i = 0; i < p->ngrounds; i++) {
		uint64_t words = range_size(p->grounds[i].text->range) / 64 + 1;

		p->grounds[i].near = calloc(words / 64 + 1, sizeof(uint64_t));
		if (!p->grounds[i].near)
			return fail(ENOMEM, "plan %s", syms->base);
	}
	choose(p, selected, n, chosen);
	for (size_t i = 0; i < syms->nfuncs; i++)
		if (chosen[i])
			keep_around(p, syms->funcs[i].range, &done);
	return 0;
}

bool near_any(const struct ground *g, struct range r)
{
	struct range t = g->text->range;

	if (!g->near)
		return true;
	for (uint64_t at = r.start - t.start; at < r.end - t.start; at = at - at % 64 + 64)
		if (is_near(g, at))
			return true;
	return false;
}

/* Is it near, and something to tell of it? All calls lead to starts. */
static bool matters(const struct plan_impl *p, raddr_t a)
{
	const struct ground *g = ground_at(p, a);
	uint64_t at = g ? a - g->text->range.start : 0;

	return g && is_near(g, at) && !is_start(g, at);
}

/* Does an instruction say so that ends with, or begins before, byte `at`? */
static bool tells(const struct plan_impl *p, const uint8_t *bytes, size_t n, raddr_t pc,
		  size_t at)
{
	for (size_t i = at + 1; i-- > 0 && at - i < ARCH_INSN_MAX; ) {
		struct insn in;

		if (p->arch->measure(bytes + i, n - i, pc + i, &in))
			continue;
		if ((in.flags & INSN_PCREL && matters(p, in.ref)) ||
		    (in.dest && matters(p, in.dest)))
			return true;
	}
	return false;
}

static bool may_matter(const struct plan_impl *p, raddr_t from)
{
	for (raddr_t i = 0; i <= ARCH_REF_SLACK; i++)
		if (matters(p, from + i))
			return true;
	return false;
}

/* Does code in `r` of one text say so of another, or of its own? */
static bool is_named(const struct plan_impl *p, const struct text *t, struct range r,
		     const struct ground *named)
{
	const struct places to = { named->text->range, named->near };
	/* The last instruction may end behind. */
	size_t n = MIN(range_size(r) + ARCH_INSN_MAX, t->range.end - r.start);
	const uint8_t *bytes = t->bytes + (r.start - t->range.start);
	raddr_t a;

	for (size_t at = 0; at < n; at++) {
		at = p->arch->find_ref(bytes, n, r.start, at, &to, &a);
		if (at < n && may_matter(p, a) && tells(p, bytes, n, r.start, at))
			return true;
	}
	return false;
}

bool near_is_named(const struct plan_impl *p, const struct ground *g, struct range r)
{
	for (size_t i = 0; i < p->ngrounds; i++)
		if (is_named(p, g->text, r, &p->grounds[i]))
			return true;
	return false;
}
