/* SPDX-License-Identifier: MIT */
/* flow_goal: what does control leave by, and what does a step make of an address? */
#include "plan/flow.h"

enum {
	BUDGET = 1 << 15,	/* steps in one search for where a jump leads, */
	BUDGET_CALL = 1 << 11,	/* and a call, of which whole.c knows, too */
	OWN_NEAR = 8,		/* steps in which an entry of a table is loaded and added */
};

/* Who jumps to another function may have left arguments where it looks for them, but does
 * not push them. */
static bool goal_of_return(struct flow *f, size_t step, struct values *ret, bool jumps)
{
	struct effect e;
	size_t at;

	if (!flow_find_pushed(f, step, &at, &e) || (jumps && !e.pushes))
		return false;
	flow_pushed(f, at, &e, ret);
	return true;
}

static bool add_own_tables(const struct values *of, struct values *ret)
{
	size_t named = 0;

	for (size_t i = 0; i < of->n; i++) {
		if (of->v[i].kind == VALUE_POINT || of->v[i].kind == VALUE_PLACE)
			return false;
		named += value_is_address(of->v[i]);
	}
	for (size_t i = 0; i < of->n && named; i++)
		if (value_is_address(of->v[i]))
			values_add(ret, (struct value){ .kind = VALUE_PLACE, .named = true,
				.width = 4, .scale = 1, .extends = true,
				.number = of->v[i].number, .table = of->v[i].number });
	return named;
}

/*
 * movslq (B, I, 4), X; add B, X: whatever B is, the table is of distances from itself. B is the
 * address of one that the code names; or, by ways that the code does not seem to mean,
 * something else: all that is named anywhere and may be such a table is read as one.
 * False: it is not so, or B is computed from what is named.
 */
static bool goes_by_own_table(struct flow *f, size_t step, int reg, struct values *ret)
{
	const struct body *b = f->body;
	int base = -1, entry = -1;
	struct values of;

	for (size_t i = step; i-- > 0 && step - i <= OWN_NEAR; ) {
		struct effect e;

		if (f->led[i + 1] || b->steps[i].ends ||
		    b->steps[i].piece != b->steps[step].piece)
			return false;
		effect_of(f, i, &e);
		bool sets = e.reg >= 0 && (e.reg == (entry < 0 ? reg : entry) || e.reg == base);

		if (e.op == EFFECT_SWAP || e.others >> (entry < 0 ? reg : entry) & 1 ||
		    (base >= 0 && e.others >> base & 1))
			return false;
		if (!sets)
			continue;
		if (entry < 0) {
			if (e.op != EFFECT_SUM || e.base < 0 || e.index < 0 || e.scale != 1 ||
			    e.number || e.cut || e.base == e.index)
				return false;
			entry = e.base;
			base = e.index;
			continue;
		}
		/* Either of the two may be the entry. */
		if (e.op == EFFECT_LOAD && e.reg == base && e.base == entry) {
			base = entry;
			entry = e.reg;
		}
		if (e.op != EFFECT_LOAD || e.reg != entry || e.base != base || e.width != 4 ||
		    !e.extends || e.scale != 4 || e.number || e.index < 0 || e.index == e.base)
			return false;
		flow_ask(f, i, base, &of);
		return add_own_tables(&of, ret);
	}
	return false;
}

bool flow_goal(struct flow *f, size_t step, struct values *ret)
{
	const struct arch *arch = f->body->impl->arch;
	const struct step *s = &f->body->steps[step];
	const struct insn *in = &s->insn;
	struct effect e;
	size_t left;

	ret->n = 0;
	f->nslots = 0;
	f->near_only = false;
	f->budget = in->kind == INSN_CALL_INDIRECT && !f->patient ? BUDGET_CALL : BUDGET;
	if (s->by_thunk) {
		flow_ask(f, step, s->by_thunk - 1, ret);
		return true;
	}
	if (in->kind == INSN_RETURN)
		return goal_of_return(f, step, ret, false);
	if (in->kind == INSN_JUMP && !body_has(f->body, in->dest))
		return goal_of_return(f, step, ret, true);
	if (in->kind != INSN_JUMP_INDIRECT && in->kind != INSN_CALL_INDIRECT)
		return false;
	int reg = arch->goes_by(symbols_text(f->body->impl->symbols, in->pc, &left), in);

	if (reg >= 0) {
		if (!goes_by_own_table(f, step, reg, ret))
			flow_ask(f, step, reg, ret);
		return true;
	}
	effect_of(f, step, &e);
	e.width = 8;
	if (flow_enter(f)) {
		flow_set_by_load(f, step, &e, ret);
		flow_leave(f);
	}
	return true;
}

/* Is it an address that the code names, by whatever way control came? Elsewhere it may be
 * something else by now, and what is left of the address goes nowhere. */
static bool is_surely_named(struct flow *f, size_t step, uint32_t regs, int reg)
{
	struct values v;

	if (reg < 0 || !(regs >> reg & 1))
		return false;
	flow_ask(f, step, reg, &v);
	return values_are_known(&v);
}

bool flow_sum(struct flow *f, size_t step, const struct effect *e, uint32_t regs,
	      struct values *ret)
{
	ret->n = 0;
	f->nslots = 0;
	f->near_only = true;
	f->budget = BUDGET_CALL;
	if (e->op == EFFECT_SUM && e->reg != STACK && (is_surely_named(f, step, regs, e->base) ||
						       is_surely_named(f, step, regs, e->index))) {
		flow_set_by_sum(f, step, e, ret);
		return true;
	}
	if (e->op == EFFECT_ADD_LOAD && is_surely_named(f, step, regs, e->reg)) {
		flow_set_by_one(f, step, e, ret);
		return true;
	}
	/* Of what is computed in another way nobody knows where it leads. */
	if (!(e->others & regs))
		return false;
	for (int reg = 0; reg < REGISTERS; reg++) {
		struct values was;

		if (!(e->others & regs & 1u << reg) || reg == STACK)
			continue;
		if (!(e->changes >> reg & 1) || !is_surely_named(f, step, regs, reg))
			continue;
		flow_ask(f, step, reg, &was);
		for (size_t i = 0; i < was.n; i++) {
			was.v[i].kind = VALUE_POINT;
			values_add(ret, was.v[i]);
		}
	}
	return ret->n;
}
