/* SPDX-License-Identifier: MIT */
/* stack: which registers hold addresses of the stack, and how far are those from where the stack
 * pointer is when a function begins? */
#include "plan/flow/flow.h"

void stack_begin(const struct arch *arch, struct stack *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(s->at); i++)
		s->at[i] = STACK_NOT;
	s->at[arch->stack] = 0;
	s->some = 0;
}

static int32_t stack_moved(int32_t at, int64_t by)
{
	if (at == STACK_NOT || at == STACK_LOST)
		return at;
	by += at;
	return by > STACK_LOST && by < INT32_MAX ? (int32_t)by : STACK_LOST;
}

/* What the register is that an instruction sets. */
static int32_t stack_set(const struct effect *e, const struct stack *s)
{
	bool of = e->base >= 0 && s->at[e->base] != STACK_NOT;

	switch (e->op) {
	case EFFECT_MOVE:
		return s->at[e->base];
	case EFFECT_MAY_MOVE:
		return s->at[e->base] == s->at[e->reg] ? s->at[e->reg] : STACK_LOST;
	case EFFECT_SUM:
		of |= e->index >= 0 && s->at[e->index] != STACK_NOT;
		if (!of || e->cut)
			return STACK_NOT;
		return e->index >= 0 ? STACK_LOST : stack_moved(s->at[e->base], e->number);
	}
	return STACK_NOT;
}

static inline void pass_all(const struct arch *arch, const struct effect *e, struct stack *s)
{
	int32_t set = e->reg >= 0 ? stack_set(e, s) : STACK_NOT;
	int32_t *sp = &s->at[arch->stack];

	if (e->op == EFFECT_SWAP) {
		set = s->at[e->base];
		s->at[e->base] = s->at[e->reg];
		s->at[e->reg] = set;
		return;
	}
	if (e->leaves)
		*sp = stack_moved(s->at[arch->frame], 8);
	for (uint32_t left = e->others; left; left &= left - 1)
		if (!e->leaves || __builtin_ctz(left) != arch->stack)
			s->at[__builtin_ctz(left)] = STACK_NOT;
	if (e->op == EFFECT_RETURNED)
		s->at[arch->second] = STACK_NOT;
	if (e->pushes)
		*sp = stack_moved(*sp, -8);
	if (e->pops || e->op == EFFECT_POP)
		*sp = stack_moved(*sp, 8);
	if (e->reg >= 0)
		s->at[e->reg] = set;
}

static void set_some(struct stack *s, int reg, bool some)
{
	s->some = (uint16_t)((s->some & ~(1u << reg)) | (some ? 1u : 0) << reg);
}

static bool is_some(const struct stack *s, int reg)
{
	return reg >= 0 && s->some >> reg & 1;
}

/* The stack pointer is known by all ways, or not at all. */
__attribute__((noinline))
static void pass_some(const struct arch *arch, const struct effect *e, struct stack *s)
{
	bool base = is_some(s, e->base), own = is_some(s, e->reg);
	bool moves = e->op == EFFECT_MOVE || e->op == EFFECT_SUM || e->op == EFFECT_SWAP;
	bool lost = e->leaves && is_some(s, arch->frame);

	pass_all(arch, e, s);
	s->some &= (uint16_t)~e->others;
	if (e->op == EFFECT_SWAP)
		set_some(s, e->base, own);
	if (e->reg >= 0)
		set_some(s, e->reg, moves ? base : e->op == EFFECT_MAY_MOVE && own);
	if (lost || is_some(s, arch->stack))
		s->at[arch->stack] = STACK_LOST;
	set_some(s, arch->stack, false);
}

void stack_pass(const struct arch *arch, const struct effect *e, struct stack *s)
{
	if (s->some)
		pass_some(arch, e, s);
	else
		pass_all(arch, e, s);
}

/* A register that two ways leave otherwise: what it holds by some of them counts if that is the
 * address of the way back, or above. */
static void join_some(struct stack *s, const struct stack *with, int reg)
{
	int32_t a = s->at[reg], b = with->at[reg], most = MAX(a, b);
	bool some = is_some(s, reg) || is_some(with, reg), two = MIN(a, b) > STACK_LOST;

	if (a == b && !some)
		return;
	/* In a loop that counts on there is no highest. */
	some = most >= 0 && MIN(a, b) != STACK_LOST && !(some && two && a != b);
	s->at[reg] = some ? most : STACK_LOST;
	set_some(s, reg, some);
}

void stack_join(const struct arch *arch, struct stack *s, const struct stack *with)
{
	int32_t a = s->at[arch->stack], b = with->at[arch->stack];

	for (int i = 0; i < ARCH_REGISTERS_MAX; i++)
		if (i == arch->stack)
			s->at[i] = a == b ? a : STACK_LOST;
		else if (s->at[i] != with->at[i] || (s->some | with->some))
			join_some(s, with, i);
	/* Where another stack begins was mostly this one, of which memory has told. */
	if (a >= STACK_ANEW && b != STACK_LOST && b < STACK_ANEW / 2)
		s->at[arch->stack] = b;
	else if (b >= STACK_ANEW && a != STACK_LOST && a < STACK_ANEW / 2)
		s->at[arch->stack] = a;
}

bool stack_reaches(const struct effect *e, const struct stack *s, int64_t *ret)
{
	if (!e->memory || e->thread || e->index >= 0 || e->base < 0)
		return false;
	*ret = stack_is_known(s, e->base) ? s->at[e->base] + e->number : 0;
	return stack_is_known(s, e->base);
}

void stack_equal(const struct flow *f, size_t step, struct stack *s)
{
	const struct plan_impl *p = f->body->impl;
	const struct step *st = &f->body->steps[step];
	const int sp = f->arch->stack;
	uint16_t equal = 0;
	size_t left;

	if (step && st->insn.kind == INSN_BRANCH && st->insn.dest < st->insn.pc && !f->led[step] &&
	    st[-1].piece == st->piece && st[-1].insn.pc + st[-1].insn.size == st->insn.pc)
		equal = f->arch->equals(symbols_text(p->symbols, st[-1].insn.pc, &left),
					&st[-1].insn, &st->insn);
	for (int i = 0; i < REGISTERS && equal >> sp & 1; i++)
		if (equal >> i & 1 && stack_is_known(s, i) && !is_some(s, i))
			s->at[sp] = s->at[i];
}
