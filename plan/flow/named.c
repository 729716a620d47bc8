/* SPDX-License-Identifier: MIT */
/*
 * named: which registers do certainly not hold, at a place, what code names?
 *
 * A search backwards (flow.c) says that of one register at one place: it finds something on
 * one of the ways there that code does not name. Nearly all registers at nearly all places are
 * like that. So this goes forward over the function, once, and keeps for each register what a
 * search is sure to find, or nothing. Jumps backwards are left out, for they only add to
 * what is found.
 */
#include <errno.h>
#include <string.h>

#include "plan/flow/flow.h"

enum {
	/* What is sure to be found, the strongest last. Each comes with how many more searches
	 * may be within one another before this one is not made any more. */
	NOTHING = 0,
	SOMETHING = 8,		/* that code may name, or make of numbers */
	NUMBER = 16,		/* one that is no address, but with others may make one */
	UNNAMED = 24,		/* not named, and nothing that is added to it but an address
				 * makes it so */
	WHAT = 24, MORE = 7,
	FULL = DEPTH,
};

_Static_assert(FULL < MORE, "0 is told apart");

static inline uint8_t found(unsigned int what)
{
	return (uint8_t)(what | FULL);
}

/* Found by searches within this one, for two registers. */
static uint8_t within(unsigned int what, uint8_t a, uint8_t b)
{
	unsigned int more = MIN(a & MORE, b & MORE);

	return more > 1 ? (uint8_t)(what | (more - 1)) : NOTHING;
}

/* Where addresses are no numbers, numbers make none. */
static unsigned int of_number(const struct named *n, int64_t number, bool named)
{
	const struct flow *f = n->flow;
	bool pie = f->body->impl->symbols->is_pie;

	return value_number(f, (raddr_t)number, named).named ? SOMETHING : pie ? UNNAMED : NUMBER;
}

/* No register is 0, which needs no search. */
static uint8_t of_register(const struct named *n, int reg)
{
	return reg < 0 ? (uint8_t)(of_number(n, 0, false) | MORE) : n->now.found[reg];
}

static uint8_t of_sum(const struct named *n, const struct effect *e)
{
	uint8_t a = of_register(n, e->base), b = of_register(n, e->index);
	unsigned int number = of_number(n, e->number, false);
	unsigned int least = MIN(MIN(a & WHAT, b & WHAT), number);
	unsigned int most = MAX(MAX(a & WHAT, b & WHAT), number);

	return within(least >= NUMBER && most == UNNAMED ? UNNAMED : SOMETHING, a, b);
}

/* Of one register: cut, shifted, or otherwise another number. */
static uint8_t of_one(const struct named *n, const struct effect *e)
{
	bool own = e->op == EFFECT_CODED || e->op == EFFECT_ADD_LOAD;
	uint8_t a = of_register(n, own ? e->reg : e->base);

	if (e->op == EFFECT_CODED || e->op == EFFECT_CLIP)
		return within(UNNAMED, a, a);
	return within((a & WHAT) == UNNAMED ? UNNAMED : SOMETHING, a, a);
}

/* Of what the frame has at a place, what was put there may be named. */
static uint8_t of_load(const struct named *n, const struct effect *e)
{
	bool frame = arch_is_stack(n->flow->arch, e->base) && e->index < 0 && !e->thread;

	if (frame && e->width == 8)
		return NOTHING;
	if (frame || e->thread || e->width == 8)
		return found(UNNAMED);
	return within(UNNAMED, of_register(n, e->base), of_register(n, e->index));
}

/* In the register that an instruction sets, behind it. */
static uint8_t of_effect(const struct named *n, const struct effect *e)
{
	switch (e->op) {
	case EFFECT_MOVE:
	case EFFECT_SWAP:
		return of_register(n, e->base);
	case EFFECT_MAY_MOVE:
		return MAX(of_register(n, e->base), of_register(n, e->reg));
	case EFFECT_MAY_LOAD:
	case EFFECT_RETURNED:
		return found(UNNAMED);
	case EFFECT_NUMBER:
		return found(of_number(n, e->number, e->named));
	case EFFECT_SUM:
		return of_sum(n, e);
	case EFFECT_LOAD:
		return of_load(n, e);
	case EFFECT_CODED:
	case EFFECT_CLIP:
	case EFFECT_SHIFT:
	case EFFECT_CUT:
	case EFFECT_WIDEN:
	case EFFECT_ADD_LOAD:
		return of_one(n, e);
	}
	return NOTHING;
}

static void named_put(struct named *n, int reg, uint8_t what)
{
	uint32_t bit = 1u << reg;

	n->now.found[reg] = what;
	n->may = (what & WHAT) < NUMBER ? n->may | bit : n->may & ~bit;
}

static void named_pass(struct named *n, const struct effect *e)
{
	const struct arch *arch = n->flow->arch;

	if (e->reg < 0 && !e->others) {
		named_put(n, arch->stack, found(UNNAMED));
		return;
	}
	uint8_t sets = e->reg >= 0 ? of_effect(n, e) : NOTHING;

	for (uint32_t left = e->others; left; left &= left - 1)
		named_put(n, __builtin_ctz(left), found(UNNAMED));
	if (e->op == EFFECT_RETURNED)
		named_put(n, arch->second, found(UNNAMED));
	if (e->op == EFFECT_SWAP)
		named_put(n, e->base, n->now.found[e->reg]);
	if (e->reg >= 0)
		named_put(n, e->reg, sets);
	named_put(n, arch->stack, found(UNNAMED));
}

static void named_join(struct named_state *to, const struct named_state *from)
{
	for (int i = 0; i < REGISTERS; i++)
		to->found[i] = MAX(to->found[i], from->found[i]);
}

/* Where ways meet, as search_ways has them; `falls`: one comes from the step before. */
static void named_enter(struct named *n, size_t step, bool falls)
{
	const struct flow *f = n->flow;
	const struct step *s = &f->body->steps[step];
	bool begins = !step || s[-1].piece != s->piece;
	raddr_t pc = s->insn.pc;
	size_t first = flow_first_link(f, step), i = first;

	if (!falls)
		memset(&n->now, NOTHING, sizeof(n->now));
	for (; i < f->nlinks && f->links[i].to == pc; i++)
		if (f->links[i].step < step)
			named_join(&n->now, &n->before[f->links[i].step]);
	if (!step || (i == first && !falls && (f->led[step] || begins)))
		memset(&n->now, found(UNNAMED), sizeof(n->now));
	for (int reg = 0; reg < REGISTERS; reg++)
		named_put(n, reg, n->now.found[reg]);
}

int named_begin(struct flow *f, struct named *ret)
{
	*ret = (struct named){ .flow = f,
			       .before = malloc((f->body->nsteps + 1) * sizeof(*ret->before)) };
	return ret->before ? 0 : fail(ENOMEM, "plan %s", f->body->func->name);
}

uint32_t named_next(struct named *n, size_t step)
{
	const struct step *s = &n->flow->body->steps[step];
	bool falls = step && s[-1].piece == s->piece && !s[-1].ends;

	if (step)
		named_pass(n, effect_at(n->flow, step - 1));
	if (!falls || n->flow->led[step])
		named_enter(n, step, falls);
	if (s->insn.dest || n->flow->leads[step])
		n->before[step] = n->now;
	return n->may;
}
