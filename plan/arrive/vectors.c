/* SPDX-License-Identifier: MIT */
/* vectors: where is something added to an address of code that a vector register has? */
#include <string.h>

#include "plan/arrivals.h"
#include "plan/flow/value.h"

enum { WIDEST = 64 };	/* bytes of the longest vector */

/* Does a relocation put an address of code into a vector that begins there? Where addresses are
 * numbers both words of one are to be such: of single numbers many look like an address. */
static bool has_code_words(const struct plan_impl *p, raddr_t at)
{
	const struct symbols *syms = p->symbols;
	size_t last = syms->ncode_words - 1, n, left;
	raddr_t words[2];

	/* Most of what is named lies before all of these. */
	if (syms->is_pie && (!syms->ncode_words || syms->code_words[last] < at ||
			     at + WIDEST <= syms->code_words[0]))
		return false;
	if (syms->is_pie)
		return syms->code_words[vec_prefix(last, k, syms->code_words[k] < at)] - at <
			WIDEST;
	const uint8_t *bytes = symbols_bytes(syms, at, sizeof(words), &n);

	if (!bytes || n < sizeof(words))
		return false;
	memcpy(words, bytes, sizeof(words));
	return symbols_text(syms, words[0], &left) && symbols_text(syms, words[1], &left);
}

bool vectors_may_load(const struct plan_impl *p, const struct insn *in, raddr_t at)
{
	struct vectors v;
	size_t left;

	if (!p->arch->vectors || !has_code_words(p, at))
		return false;
	const uint8_t *bytes = symbols_text(p->symbols, in->pc, &left);

	p->arch->vectors(bytes, left, in, &v);
	return v.to >= 0 && symbols_is_tabled(p->symbols, at);
}

/* Does a general register hold an address of code here? */
static bool is_place(struct flow *f, size_t step, int reg)
{
	struct values s;

	if (!flow_named(f, step, reg, &s))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (arrivals_is_code(f->body->impl, s.v[i].number))
			return true;
	return false;
}

/* Does an instruction begin where the first word there leads to? */
static bool leads_to_code(const struct plan_impl *p, raddr_t at)
{
	raddr_t word;

	return !symbols_read(p->symbols, at, &word, sizeof(word)) && ground_is_read(p, word);
}

/* From a fixed place? */
static bool loads_code(struct flow *f, size_t step)
{
	const struct plan_impl *p = f->body->impl;
	const struct insn *in = &f->body->steps[step].insn;
	const struct effect *e = effect_at(f, step);

	return in->kind == INSN_PLAIN && e->memory && !e->thread && !e->stores && e->base < 0 &&
		e->index < 0 && vectors_may_load(p, in, (raddr_t)e->number) &&
		(p->symbols->is_pie || leads_to_code(p, (raddr_t)e->number));
}

static bool loads_any(struct flow *f)
{
	bool ret = false;

	for (size_t i = 0; i < f->body->nsteps && !ret; i++)
		ret = loads_code(f, i);
	return ret;
}

/*
 * Two sums or more at a time, in vector registers: compilers make a list of addresses so, of
 * one that is named, or a word of data, and a list of distances. The length of that list is not
 * known.
 */
int vectors_judge(struct plan_impl *p, struct flow *f, uint32_t regs)
{
	const struct body *b = f->body;
	bool any = p->arch->vectors && (regs || loads_any(f));
	uint32_t places = 0, numbers = 0;
	int err = 0;

	for (size_t i = 0; i < b->nsteps && any && !err; i++) {
		const struct insn *in = &b->steps[i].insn;
		struct vectors v;
		size_t left;

		if (in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT)
			places = numbers = 0;
		if (in->kind != INSN_PLAIN || effect_at(f, i)->reg >= 0)
			continue;
		const uint8_t *bytes = symbols_text(p->symbols, in->pc, &left);

		p->arch->vectors(bytes, left, in, &v);
		if (v.to < 0)
			continue;
		bool loads = loads_code(f, i);
		bool place = v.of & places || (loads && p->symbols->is_pie);
		bool number = v.of & numbers || (loads && !p->symbols->is_pie);

		/* Bits are taken from numbers, too. */
		if ((place && v.computes) || (number && v.adds))
			err = arrivals_doubt(p, in->pc, UNPROVED_SUM);
		place |= v.from >= 0 && regs >> v.from & 1 && is_place(f, i, v.from);
		places = place ? places | 1u << v.to : places & ~(1u << v.to);
		numbers = number ? numbers | 1u << v.to : numbers & ~(1u << v.to);
	}
	return err;
}

