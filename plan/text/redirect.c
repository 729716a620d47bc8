/* SPDX-License-Identifier: MIT */
/*
 * redirect: which branches land in a window, and can each of them be made to
 * land in its stub?
 *
 * A loop whose head is a few bytes behind the entry, or an epilogue that is
 * jumped to, leaves no window without a target in it. But if the place is reached only by jumps
 * of this function that we know, each of them is displaced as well, and its copy leads to the
 * same instruction's copy. So does the copy of a jump back to the entry: behind the recording
 * call, for an iteration is no call.
 *
 * All: the sweep of the module has found nothing else that leads there, and
 * what it has found is found again, instruction for instruction, in this body.
 */
#include <errno.h>
#include <stdlib.h>

#include "plan/impl.h"

static bool is_direct(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_BRANCH;
}

/* Does another function begin inside of a piece? The sweep reads on from
 * there anew, and may have met other instructions than we have. */
static bool begins_inside(const struct symbols *syms, struct range r)
{
	size_t next = vec_prefix(syms->nfuncs, i, syms->funcs[i].range.start <= r.start);

	return next < syms->nfuncs && syms->funcs[next].range.start < r.end;
}

static int by_to(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->step < y->step ? -1 : x->step > y->step;
}

int redirect_prepare(struct body *b)
{
	size_t n = 0;

	if (b->links)
		return 0;
	for (size_t i = 0; i < b->nsteps; i++)
		n += is_direct(&b->steps[i].insn);
	b->links = calloc(n + 1, sizeof(*b->links));
	if (!b->links)
		return fail(ENOMEM, "plan %s", b->func->name);
	for (size_t i = 0; i < b->nsteps; i++)
		if (is_direct(&b->steps[i].insn))
			b->links[b->nlinks++] = (struct link){ .to = b->steps[i].insn.dest,
							       .step = (uint32_t)i };
	if (b->nlinks)
		qsort(b->links, b->nlinks, sizeof(*b->links), by_to);
	for (size_t i = 0; i < b->npieces; i++)
		b->open |= begins_inside(b->impl->symbols, b->pieces[i]);
	return 0;
}

size_t redirect_link(const struct body *b, raddr_t to)
{
	return vec_prefix(b->nlinks, i, b->links[i].to < to);
}

static bool has_link(const struct body *b, raddr_t from, raddr_t to)
{
	for (size_t i = redirect_link(b, to); i < b->nlinks && b->links[i].to == to; i++)
		if (b->steps[b->links[i].step].insn.pc == from)
			return true;
	return false;
}

bool redirect_covers(const struct body *b, raddr_t a)
{
	const struct plan_impl *p = b->impl;

	if (b->open || ground_any(p, LAYER_FIXED, a, 1))
		return false;
	for (size_t i = ground_edge(p, a, 1); i < p->nedges && p->edges[i].to == a; i++)
		if (!has_link(b, edge_from(&p->edges[i]), a))
			return false;
	/* What nothing leads to may be data, and is not written over. */
	for (size_t i = redirect_link(b, a); i < b->nlinks && b->links[i].to == a; i++)
		if (!b->steps[b->links[i].step].live)
			return false;
	return true;
}
