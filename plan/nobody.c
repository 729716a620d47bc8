/* SPDX-License-Identifier: MIT */
/*
 * nobody: what of the bytes that no function has is code, and where does it lead?
 */
#include "plan/arrivals.h"

#include <errno.h>

static bool is_forbidden(const struct body *b, size_t step)
{
	const struct insn *in = &b->steps[step].insn;
	struct effect e;
	size_t left;

	b->impl->arch->effect(symbols_text(b->impl->symbols, in->pc, &left), in, &e);
	return e.forbidden;
}

/* Does control that comes to this step run on until it leaves, as in code? In data it meets
 * what no program may do. */
static bool runs(const struct body *b, size_t step)
{
	for (size_t i = step; i < b->nsteps; i++) {
		if (is_forbidden(b, i))
			return false;
		if (b->steps[i].ends)
			return insn_ends(&b->steps[i].insn);
	}
	return false;
}

/* Follow what leads from one place to others, in code of nobody. */
static void reach(const struct body *b, raddr_t from, bool *live, uint32_t *todo)
{
	size_t n = 0, to = body_step(b, from);

	if (to < b->nsteps && !live[to] && runs(b, to)) {
		live[to] = true;
		todo[n++] = (uint32_t)to;
	}
	while (n) {
		size_t i = todo[--n];
		const struct step *s = &b->steps[i];
		size_t next[2] = { s->ends ? b->nsteps : i + 1,
				   s->insn.dest ? body_step(b, s->insn.dest) : b->nsteps };

		for (size_t k = 0; k < 2; k++)
			if (next[k] < b->nsteps && !live[next[k]] && runs(b, next[k])) {
				live[next[k]] = true;
				todo[n++] = (uint32_t)next[k];
			}
	}
}

/*
 * Most of what no function has is data, or lies between functions for the linker's
 * purposes. What is code something leads to: a branch of a function, an address. The rest is
 * not judged: what looks like an indirect jump there is none.
 */
static int drop_data(struct body *b)
{
	const struct plan_impl *p = b->impl;
	struct range r = b->func->range;
	auto_free bool *live = calloc(b->nsteps + 1, sizeof(*live));
	auto_free uint32_t *todo = calloc(b->nsteps + 1, sizeof(*todo));

	if (!live || !todo)
		return fail(ENOMEM, "plan %s", p->symbols->base);
	for (size_t i = 0; i < p->nways; i++)
		if (range_has(r, p->ways[i]))
			reach(b, p->ways[i], live, todo);
	for (size_t i = 0; i < p->symbols->npointers; i++)
		if (range_has(r, p->symbols->pointers[i]))
			reach(b, p->symbols->pointers[i], live, todo);
	for (size_t i = 0; i < b->nsteps; i++) {
		struct insn *in = &b->steps[i].insn;

		if (!live[i] && (in->flags & INSN_BY_REGISTER || insn_ends(in)))
			in->kind = INSN_STOP;
	}
	return 0;
}

/* The code around this address that no function has. */
int nobody_judge(struct plan_impl *p, raddr_t at, raddr_t *done)
{
	const struct symbols *syms = p->symbols;
	size_t next = vec_prefix(syms->nfuncs, i, syms->funcs[i].range.start <= at);
	struct func f = { .name = "code of no function", .parent = -1 };
	struct body b;

	for (size_t i = 0; i < syms->ntexts; i++)
		if (range_has(syms->texts[i].range, at))
			f.range = syms->texts[i].range;
	if (next && syms->funcs[next - 1].range.end > f.range.start)
		f.range.start = syms->funcs[next - 1].range.end;
	if (next < syms->nfuncs)
		f.range.end = MIN(f.range.end, syms->funcs[next].range.start);
	*done = f.range.end;
	int err = body_read_nobody(p, &f, &b);

	if (err)
		return err;
	err = drop_data(&b);
	if (!err)
		err = arrivals_judge(p, &b, true);
	body_clear(&b);
	return err;
}
