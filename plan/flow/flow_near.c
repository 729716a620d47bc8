/* SPDX-License-Identifier: MIT */
/* flow_near: what an instruction says, or those shortly before it, so that nothing is searched for;
 * and what values are. */
#include <stdlib.h>

#include "plan/flow/flow.h"

enum {
	BOUND_NEAR = 12,	/* steps in which an index may be bounded, */
	STACK_NEAR = 64,	/* or a register set that may have an address of the stack, */
	PASSED_NEAR = 24,	/* or what it is set to passed to a call */
};

/* What an index is at most, if that is told shortly before, and nowhere else. */
struct value flow_bound(struct flow *f, size_t step, int reg)
{
	const struct body *b = f->body;
	unsigned int shift = 0;

	for (size_t i = step; i-- > 0 && step - i <= BOUND_NEAR; ) {
		struct value v = value_any;
		struct effect e;

		if (f->led[i + 1] || b->steps[i].ends ||
		    b->steps[i].piece != b->steps[step].piece)
			break;
		e = *effect_at(f, i);
		if (e.others >> reg & 1)
			break;
		if (e.reg != reg)
			continue;
		if (e.op == EFFECT_CLIP)
			v = value_clipped(value_any, (raddr_t)e.number);
		else if (e.op == EFFECT_LOAD && e.width < 4 && !e.extends)
			v = value_clipped(value_any, e.width == 1 ? UINT8_MAX : UINT16_MAX);
		else if (e.op == EFFECT_SHIFT && shift + (unsigned int)e.number < 16) {
			shift += (unsigned int)e.number;
			continue;
		} else if (e.op == EFFECT_MOVE || e.op == EFFECT_CUT || e.op == EFFECT_WIDEN) {
			reg = e.base;
			continue;
		}
		return value_times(f, v, 1u << shift);
	}
	return value_any;
}

bool flow_number(struct flow *f, size_t step, int reg, uint64_t *ret)
{
	const struct step *s = f->body->steps;

	for (size_t i = step; i-- > 0 && step - i <= BOUND_NEAR && !f->led[i + 1] && !s[i].ends &&
	     s[i].piece == s[step].piece; ) {
		const struct effect *e = effect_at(f, i);

		if (e->reg == reg && e->op == EFFECT_NUMBER) {
			*ret = (uint64_t)e->number;
			return true;
		}
		if (e->reg == reg || e->others >> reg & 1 || e->op == EFFECT_SWAP ||
		    e->op == EFFECT_RETURNED)
			break;
	}
	return false;
}

bool flow_may_be_stack(struct flow *f, size_t step, int reg)
{
	const struct step *s = f->body->steps;

	for (size_t i = step; ; i--) {
		if (arch_is_stack(f->arch, reg))
			return true;
		/* What was passed is of no frame of its own. */
		if (i == 0 && !f->led[0])
			return false;
		if (f->led[i] || s[i - 1].ends || s[i - 1].piece != s[i].piece ||
		    step - i == STACK_NEAR)
			return flow_copies(f) >> reg & 1;
		const struct effect *e = effect_at(f, i - 1);

		if (e->op == EFFECT_SWAP && (e->reg == reg || e->base == reg))
			reg = e->reg == reg ? e->base : e->reg;
		else if (e->others >> reg & 1)
			return false;
		else if (e->reg != reg)
			continue;
		else if (e->op == EFFECT_MOVE || (e->op == EFFECT_SUM && e->index < 0))
			reg = e->base;
		else
			return (e->op == EFFECT_SUM || e->op == EFFECT_MAY_MOVE) &&
				flow_copies(f) >> reg & 1;
	}
}

void flow_vectors(struct flow *f, size_t step, struct vectors *ret)
{
	const struct plan_impl *p = f->body->impl;
	const struct insn *in = &f->body->steps[step].insn;
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, in->pc, &left);

	if (!f->vectors)
		f->vectors = calloc(f->body->nsteps + 1, sizeof(*f->vectors));
	if (f->vectors && f->vectors[step].known) {
		*ret = f->vectors[step].v;
		return;
	}
	*ret = (struct vectors){ .to = -1 };
	if (p->arch->vectors)
		p->arch->vectors(bytes, left, in, ret);
	if (f->vectors)
		f->vectors[step] = (struct step_vectors){ *ret, true };
}

bool values_are_named(const struct values *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->v[i].named)
			return false;
	return s->n;
}

bool values_are_known(const struct values *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!value_is_address(s->v[i]))
			return false;
	return s->n > 0;
}

bool values_are_whole(const struct values *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].kind != VALUE_WORD && s->v[i].kind != VALUE_NUMBER)
			return false;
	return true;
}

bool values_are_words(const struct values *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].kind != VALUE_WORD)
			return false;
	return true;
}

bool flow_passes_on(struct flow *f, size_t step, int reg, bool start)
{
	const struct step *steps = f->body->steps;
	const size_t end = MIN(step + PASSED_NEAR, f->body->nsteps);
	struct vectors v = { .to = -1 };

	while (++step < end && !f->led[step] && steps[step].piece == steps[step - 1].piece) {
		const struct effect *e = effect_at(f, step);
		uint8_t kind = steps[step].insn.kind;

		if (kind == INSN_CALL || kind == INSN_CALL_INDIRECT)
			return !(f->arch->kept >> reg & 1) &&
				(start || (reg != f->arch->second && kind != INSN_CALL)) &&
				flow_led_to(f, step) == f->body->nsteps;
		if (kind == INSN_RETURN)
			return !f->backs;
		if (kind == INSN_JUMP && !step_is_indirect(&steps[step]))
			return flow_led_to(f, step) == f->body->nsteps;
		if (kind != INSN_PLAIN || steps[step].ends || e->others || e->computes ||
		    e->op == EFFECT_SWAP || e->reg == reg || e->base == reg || e->index == reg ||
		    e->source == reg || e->copied == reg)
			return false;
		if (e->reg < 0)
			flow_vectors(f, step, &v);
		if (v.to >= 0 && v.from == reg)
			return false;
	}
	return false;
}
