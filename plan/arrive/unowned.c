/* SPDX-License-Identifier: MIT */
/*
 * unowned: what of the bytes that no function has is code, and where does it lead?
 */
#include "plan/arrivals.h"

#include <errno.h>

static bool is_forbidden(const struct body *b, size_t step)
{
	const struct insn *in = &b->steps[step].insn;
	struct effect e;
	size_t left;

	const uint8_t *p = symbols_text(b->impl->symbols, in->pc, &left);

	b->impl->arch->effect(p, left, in, &e);
	return e.forbidden;
}

/* By step: does control that comes there run on until it leaves, as in code? In data it meets
 * what no program may do. */
static void find_runs(const struct body *b, bool *runs)
{
	for (size_t i = b->nsteps; i-- > 0; )
		runs[i] = !is_forbidden(b, i) &&
			(b->steps[i].ends ? insn_ends(&b->steps[i].insn) :
			 i + 1 < b->nsteps && runs[i + 1]);
}

/* The code of a gap, and what of it something leads to. */
struct gap {
	const struct body *body;
	bool *runs, *live;	/* by step */
	uint32_t *todo;
	size_t ntodo, nlive;
};

static void reach_step(struct gap *g, size_t step)
{
	if (step >= g->body->nsteps || g->live[step] || !g->runs[step])
		return;
	g->live[step] = true;
	g->nlive++;
	g->todo[g->ntodo++] = (uint32_t)step;
}

/* Follow what leads from one place to others. */
static void reach(struct gap *g, raddr_t from)
{
	const struct body *b = g->body;

	reach_step(g, body_step(b, from));
	while (g->ntodo) {
		size_t i = g->todo[--g->ntodo];

		if (!b->steps[i].ends)
			reach_step(g, i + 1);
		if (b->steps[i].insn.dest)
			reach_step(g, body_step(b, b->steps[i].insn.dest));
	}
}

/* `v` is sorted. */
static void reach_all(struct gap *g, const raddr_t *v, size_t n)
{
	struct range r = g->body->func->range;

	for (size_t i = vec_prefix(n, k, v[k] < r.start); i < n && v[i] < r.end; i++)
		reach(g, v[i]);
}

/*
 * Most of what no function has is data, or lies between functions for the linker's
 * purposes. What is code something leads to: a branch of a function, an address. The rest is
 * not judged: what looks like an indirect jump there is none. *more: only ways behind the first
 * `early`, which were found since, lead to some of it.
 */
static int drop_data(struct body *b, size_t early, bool *more)
{
	const struct plan_impl *p = b->impl;
	auto_free bool *runs = calloc(b->nsteps + 1, sizeof(*runs));
	auto_free bool *live = calloc(b->nsteps + 1, sizeof(*live));
	auto_free uint32_t *todo = calloc(b->nsteps + 1, sizeof(*todo));
	struct gap g = { .body = b, .runs = runs, .live = live, .todo = todo };

	if (!runs || !live || !todo)
		return fail(ENOMEM, "plan %s", p->symbols->base);
	find_runs(b, runs);
	reach_all(&g, p->ways, early);
	reach_all(&g, p->symbols->pointers, p->symbols->npointers);
	size_t before = g.nlive;

	reach_all(&g, p->ways + early, p->nways - early);
	*more = g.nlive > before;
	for (size_t i = 0; i < b->nsteps; i++) {
		struct insn *in = &b->steps[i].insn;

		if (!live[i] && (in->flags & INSN_BY_REGISTER || insn_ends(in) ||
				 in->kind == INSN_UNKNOWN))
			in->kind = INSN_STOP;
	}
	return 0;
}

struct range unowned_around(const struct plan_impl *p, raddr_t at)
{
	const struct symbols *syms = p->symbols;
	size_t next = vec_prefix(syms->nfuncs, i, syms->funcs[i].range.start <= at);
	struct range ret = { 0 };

	for (size_t i = 0; i < syms->ntexts; i++)
		if (range_has(syms->texts[i].range, at))
			ret = syms->texts[i].range;
	if (next && syms->funcs[next - 1].range.end > ret.start)
		ret.start = syms->funcs[next - 1].range.end;
	if (next < syms->nfuncs)
		ret.end = MIN(ret.end, syms->funcs[next].range.start);
	symbols_is_data(syms, at, &ret);
	return ret;
}

int unowned_judge(struct plan_impl *p, raddr_t at, size_t early)
{
	struct func f = { .name = "code of no function", .parent = -1,
			  .range = unowned_around(p, at) };
	size_t tables = p->ntables, places = p->nplaces, bases = p->nbases;
	struct body b;
	bool late = early < p->nways, more = true;
	int err = body_read_unowned(p, &f, &b);

	if (err)
		return err;
	err = !late && (b.entry_only || b.hides) ? arrivals_doubt(p, at, UNPROVED_UNREAD) :
		drop_data(&b, early, &more);
	if (!err && (!late || more))
		err = arrivals_judge(p, &b, SUSPECT_NAME | SUSPECT_BACK);
	/* Where that leads has been read by then. */
	if (!err && late && (p->ntables > tables || p->nplaces > places || p->nbases > bases))
		err = arrivals_doubt(p, at, UNPROVED_UNREAD);
	body_clear(&b);
	return err;
}
