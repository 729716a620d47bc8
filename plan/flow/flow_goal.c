/* SPDX-License-Identifier: MIT */
/* flow_goal: what does control leave by, and what does a step make of an address? */
#include "plan/arrivals.h"
#include "plan/flow/flow.h"

enum {
	PUT_MOST = 4 * 8,	/* bytes that are left on the stack to be returned by */
	BUDGET = 1 << 15,	/* steps in one search for where a jump leads, */
	BUDGET_CALL = 1 << 11,	/* and a call, which whole.c knows, or code of no function, */
	BUDGET_HURRIED = 1 << 7,/* or such code where that binds nothing more */
	OWN_NEAR = 8,		/* steps in which an entry of a table is loaded and added */
	ROUND = 1 << 16,	/* what many numbers are multiples of */
	REACHED_NEAR = 16,	/* steps around a loop's, in which memory is reached by it */
};

/* The body goes by what it has put itself where a return takes its way back, or leaves it there for
 * what it leads to? And so by what it has put above. */
static bool goal_of_return(struct flow *f, size_t step, struct values *ret)
{
	bool put = false;

	if (!f->backs && f->body->steps[step].insn.kind != INSN_UNKNOWN)
		return false;
	for (int64_t at = 0; at < PUT_MOST && flow_has_put(f, step, at); at += 8, put = true)
		if (flow_enter(f)) {
			flow_set_by_slot(f, step, &(struct slot){ at, f->arch->stack }, ret);
			flow_leave(f);
		}
	return put;
}

/* Was it computed from the address of such a table, or of code? */
static bool is_by_table(const struct plan_impl *p, const struct value *v)
{
	size_t left;

	return (v->kind == VALUE_POINT || v->kind == VALUE_PLACE) && v->named &&
		(distances_may_be(p, v->number) || symbols_text(p->symbols, v->number, &left));
}

/* Where control falls into code no table ends; it may begin there, if that looks like one. */
static bool may_have_table(const struct flow *f, const struct value *v)
{
	const struct plan_impl *p = f->body->impl;
	size_t step = body_step(f->body, v->number);
	const struct step *s = &f->body->steps[step];

	return distances_lead_to_text(p, v) &&
		(!step || step == f->body->nsteps || s[-1].piece != s->piece || s[-1].ends ||
		 distances_may_be(p, v->number));
}

static bool add_own_tables(const struct flow *f, const struct values *of,
			   struct values *ret)
{
	const struct plan_impl *p = f->body->impl;
	bool words = !p->symbols->is_pie;

	for (size_t i = 0; i < of->n; i++) {
		if (is_by_table(p, &of->v[i]))
			return false;
		words &= of->v[i].kind == VALUE_WORD;
	}
	/* Nothing tells words that name a table in the text from other numbers. */
	if (words)
		return false;
	for (size_t i = 0; i < of->n; i++) {
		struct value v = { .kind = VALUE_PLACE, .named = true, .width = 4, .scale = 1,
				   .extends = true, .number = of->v[i].number,
				   .table = of->v[i].number };

		if (value_is_address(of->v[i]) && may_have_table(f, &v))
			values_add(ret, v);
	}
	if (!ret->n)
		values_add(ret, (struct value){ .kind = VALUE_WORD, .kept = true });
	return true;
}

/*
 * movslq (B, I, 4), X; add B, X: whatever B is, the table is of distances from itself. B is the
 * address of one that is named somewhere; or, by ways that the code does not seem to mean,
 * something else: all that is named anywhere and may be such a table is read as one. If the
 * search does not come to where it is named, it is not known which it is, but it is one of
 * them. False: it is not so, or B is computed from what is named.
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
		e = *effect_at(f, i);
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
		return add_own_tables(f, &of, ret);
	}
	return false;
}

/* What is in doubt binds the module: one goal more in code of no function changes little. Tables
 * are found near where they are gone by. */
bool flow_hurries(const struct flow *f, size_t doubts)
{
	return f->body->unowned && (f->body->impl->hurried || doubts > DOUBTS_MANY);
}

bool values_have_any(const struct values *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].kind == VALUE_ANY)
			return true;
	return false;
}

/* Where a search ends too early whole.c knows whether it is a whole word; but not which table of
 * its own a jump goes by. */
static size_t budget_of(const struct flow *f, const struct insn *in)
{
	bool call = in->kind == INSN_CALL_INDIRECT && !f->patient;

	if (f->hurried)
		return BUDGET_HURRIED;
	return call || f->body->unowned ? BUDGET_CALL : BUDGET;
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
	f->by_call = in->kind == INSN_CALL_INDIRECT;
	f->budget = budget_of(f, in);
	if (s->by_thunk) {
		flow_ask(f, step, s->by_thunk - 1, ret);
		return true;
	}
	e = *effect_at(f, step);
	if (in->kind == INSN_RETURN || (in->kind == INSN_UNKNOWN && !e.memory) ||
	    (in->kind == INSN_JUMP && !body_has(f->body, in->dest)))
		return goal_of_return(f, step, ret);
	if (in->kind != INSN_JUMP_INDIRECT && in->kind != INSN_CALL_INDIRECT &&
	    in->kind != INSN_UNKNOWN)
		return false;
	int reg = in->kind == INSN_UNKNOWN ? -1 :
		arch->goes_by(symbols_text(f->body->impl->symbols, in->pc, &left), in);

	e.width = 8;
	if (reg >= 0) {
		f->budget = f->hurried ? BUDGET_CALL : BUDGET;
		if (!goes_by_own_table(f, step, reg, ret)) {
			f->budget = budget_of(f, in);
			flow_ask(f, step, reg, ret);
		}
	} else if (flow_enter(f)) {
		flow_set_by_load(f, step, &e, ret);
		flow_leave(f);
	}
	return true;
}

/* Is it an address that the code names, or was computed from one, by whatever way control
 * came? Elsewhere it may be something else by now, and what is left of the address goes
 * nowhere. */
static bool is_surely_named(struct flow *f, size_t step, uint32_t regs, int reg)
{
	struct values v;

	if (reg < 0 || !(regs >> reg & 1))
		return false;
	flow_ask(f, step, reg, &v);
	return values_are_named(&v);
}

static bool reaches_by(const struct flow *f, size_t step, int reg)
{
	const struct effect *e = effect_at(f, step);

	return e->memory && e->base == reg && f->body->steps[step].insn.kind == INSN_PLAIN;
}

static bool is_set_anew(const struct flow *f, size_t step, int reg)
{
	const struct effect *e = effect_at(f, step);

	return e->others >> reg & 1 || (e->reg == reg && (e->op != EFFECT_SUM || e->base != reg));
}

/* Does something reach memory by this register, as long as that is set by nothing but sums of its
 * own? Code that steps from one to the next of what it reads has data there. */
static bool is_reached_by(struct flow *f, size_t step, int reg)
{
	size_t first = step > REACHED_NEAR ? step - REACHED_NEAR : 0, last = step + REACHED_NEAR;

	for (size_t i = step; i-- > first && !is_set_anew(f, i, reg); )
		if (reaches_by(f, i, reg))
			return true;
	for (size_t i = step + 1; i < f->body->nsteps && i < last; i++) {
		if (reaches_by(f, i, reg))
			return true;
		if (is_set_anew(f, i, reg))
			break;
	}
	return false;
}

/* A sum that depends on itself: a step of a loop, and their number is not known. */
static void set_by_rounds(struct flow *f, size_t step, const struct effect *e, struct values *ret)
{
	if (!f->rounds || is_reached_by(f, step, e->reg))
		return;
	for (size_t i = 0; i < ret->n; i++)
		if (value_is_address(ret->v[i]))
			ret->v[i].kind = VALUE_POINT;
}

/* Is something added to a number that is where a function begins, or a place in this one? Of
 * round ones many are numbers. */
static bool is_start_number(const struct flow *f, const struct effect *e)
{
	const struct symbols *syms = f->body->impl->symbols;
	raddr_t a = (raddr_t)e->number;
	const struct func *at = syms->is_pie || a % ROUND == 0 ? NULL : symbols_func_at(syms, a);

	return at && (at->range.start == a || body_has(f->body, a));
}

/* For what is judged where it is made. */
static void begin_near(struct flow *f, struct values *ret)
{
	ret->n = 0;
	f->nslots = 0;
	f->near_only = true;
	f->budget = BUDGET_CALL;
}

bool flow_named(struct flow *f, size_t step, int reg, struct values *ret)
{
	begin_near(f, ret);
	flow_ask(f, step, reg, ret);
	return values_are_named(ret);
}

/* Is one of the two that are added surely named? If nothing more is asked of an instruction when
 * neither is, the last question ends with the first answer that says so. What a search takes
 * of the budget, the next one does not have: so no other may. */
static bool is_named_sum(struct flow *f, size_t step, const struct effect *e, uint32_t regs)
{
	bool last = !e->stores && !(e->others & regs) && !is_start_number(f, e);
	bool index = e->index >= 0 && regs >> e->index & 1;

	f->only_named = last && !index;
	bool ret = is_surely_named(f, step, regs, e->base);

	f->only_named = last;
	ret = ret || is_surely_named(f, step, regs, e->index);
	f->only_named = false;
	return ret;
}

bool flow_sum(struct flow *f, size_t step, const struct effect *e, uint32_t regs,
	      struct values *ret)
{
	begin_near(f, ret);
	if (e->op == EFFECT_SUM && e->reg != f->arch->stack && step + 1 < f->body->nsteps &&
	    goes_by_own_table(f, step + 1, e->reg, ret))
		return true;
	if (e->op == EFFECT_SUM && e->reg != f->arch->stack && is_named_sum(f, step, e, regs)) {
		f->rounds = false;
		flow_set_by_sum(f, step, e, ret);
		set_by_rounds(f, step, e, ret);
		return true;
	}
	/* It is named by the sum itself, where addresses are numbers. */
	if (e->op == EFFECT_SUM && e->reg != f->arch->stack && is_start_number(f, e)) {
		flow_set_by_sum(f, step, e, ret);
		return true;
	}
	if (e->op == EFFECT_ADD_LOAD && is_surely_named(f, step, regs, e->reg)) {
		flow_set_by_one(f, step, e, ret);
		return true;
	}
	/* To a word of memory, that says how far from it a place is. */
	if (e->stores && e->computes && is_surely_named(f, step, regs, e->source)) {
		flow_ask(f, step, e->source, ret);
		for (size_t i = 0; i < ret->n; i++)
			ret->v[i].kind = VALUE_POINT;
		return true;
	}
	/* What is computed in another way may lead anywhere. */
	if (!(e->others & regs))
		return false;
	for (int reg = 0; reg < REGISTERS; reg++) {
		struct values was;

		if (!(e->others & regs & 1u << reg) || reg == f->arch->stack)
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

bool flow_sum_by_jumps(struct flow *f, size_t step, const struct effect *e, struct values *ret)
{
	begin_near(f, ret);
	f->near_only = false;
	f->budget = BUDGET;
	if (e->op == EFFECT_SUM && e->reg != f->arch->stack)
		flow_set_by_sum(f, step, e, ret);
	return f->budget && values_are_named(ret);
}
