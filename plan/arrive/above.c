/* SPDX-License-Identifier: MIT */
/*
 * above: does a function write where the way back of the one that calls it is?
 *
 * What is above a function's own way back are its arguments, which it may write to; or, if its
 * caller has put none there, the frame of that, and what that returns by. How much a caller has on
 * the stack is known of nearly all direct calls (back.c); and what a function jumps to in the end
 * has what was put there for itself. Few functions write there, and compilers make room for that.
 */
#include <errno.h>

#include "plan/arrive/sweep.h"

enum { WORD = 8, HASHES = 1 << 16 };

static int add_above(struct plan_impl *p, struct above a)
{
	struct above *new = vec_push(p->highs, p->nhighs, p->highs_cap);

	if (!new)
		return -ENOMEM;
	*new = a;
	return 0;
}

static int add_handing(struct plan_impl *p, const struct insn *in, int64_t own)
{
	struct handing *new = vec_push(p->handings, p->nhandings, p->handings_cap);

	if (!new)
		return -ENOMEM;
	*new = (struct handing){ in->dest, in->pc, (uint64_t)MIN(own, UINT16_MAX) };
	return 0;
}

int above_note(struct sweep *s, const struct insn *in)
{
	struct back *b = &s->way_back;
	raddr_t pc = b->above;

	if (!s->impl->arch->effect)
		return 0;
	int32_t sp = b->stack.at[s->impl->arch->stack];

	b->above = 0;
	if (pc && add_above(s->impl, (struct above){ s->func->range.start, pc,
						      b->above_block, b->above_end }))
		return -ENOMEM;
	if (b->may || sp > 0 || sp == STACK_NOT || sp == STACK_LOST)
		return 0;
	if (in->kind == INSN_CALL)
		return add_handing(s->impl, in, WORD - (int64_t)sp);
	if (in->kind == INSN_JUMP && !sp && !range_has(s->func->range, in->dest))
		return add_handing(s->impl, in, 0);
	return 0;
}

/* The highest that a function writes to, of the first `n`, which are sorted; NULL: it does not. */
static const struct above *highest(const struct plan_impl *p, size_t n, raddr_t func)
{
	size_t i = vec_prefix(n, k, p->highs[k].func < func);
	const struct above *ret = NULL;

	for (; i < n && p->highs[i].func == func; i++)
		if (!ret || p->highs[i].end > ret->end)
			ret = &p->highs[i];
	return ret;
}

/* What does so by what it jumps to, unless that was known. */
static int pass_on(struct plan_impl *p, size_t n, const struct handing *h, const struct above *a)
{
	const struct func *f = symbols_func_at(p->symbols, h->pc);
	const struct above *own = f ? highest(p, n, f->range.start) : NULL;

	return !f || (own && own->end >= a->end) ? 0 :
		add_above(p, (struct above){ f->range.start, a->pc, 0, a->end });
}

/* Where the file tells how much a caller has on the stack, it may be that a call before this one
 * never returns. */
static bool is_room(const struct plan_impl *p, const struct handing *h, const struct above *a)
{
	int64_t cfa;

	return a->end <= (int32_t)h->own ||
		(!symbols_cfa_offset(p->symbols, h->pc, &cfa) && a->end <= cfa);
}

static unsigned int hash_of(raddr_t func)
{
	return (unsigned int)(func >> 2) % HASHES;
}

static int judge_round(struct plan_impl *p)
{
	uint64_t writes[HASHES / 64] = { 0 };
	size_t n = p->nhighs;
	int err = 0;

	base_sort(p->highs, n, sizeof(*p->highs));
	for (size_t i = 0; i < n; i++)
		writes[hash_of(p->highs[i].func) / 64] |= 1ull << hash_of(p->highs[i].func) % 64;
	for (size_t i = 0; i < p->nhandings && n && !err; i++) {
		const struct handing *h = &p->handings[i];
		unsigned int hash = hash_of(h->to);
		const struct above *a = writes[hash / 64] >> hash % 64 & 1 ?
			highest(p, n, h->to) : NULL;

		if (a && !h->own)
			err = pass_on(p, n, h, a);
		else if (a && !is_room(p, h, a))
			err = arrivals_doubt(p, a->pc, UNPROVED_BACK);
	}
	return err;
}

/* Compilers leave code to which nothing leads, and of which the file tells nothing right. */
static void drop_dead(struct plan_impl *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nhighs; i++) {
		const struct above *a = &p->highs[i];

		if (!a->block || ground_any(p, LAYER_TARGET, a->block, a->pc - a->block + 1))
			p->highs[kept++] = *a;
	}
	p->nhighs = kept;
}

int above_judge(struct plan_impl *p)
{
	size_t n = 0;
	int err = 0;

	drop_dead(p);
	while (p->nhighs > n && !err) {
		n = p->nhighs;
		err = judge_round(p);
	}
	return err;
}
