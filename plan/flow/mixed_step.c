/* SPDX-License-Identifier: MIT */
/* mixed_step: what does one instruction make of addresses of code? See mixed.c. */
#include "plan/arrivals.h"
#include "plan/flow/flow.h"
#include "plan/flow/mixed.h"

enum { HIGH = 1u << 31 };

/* What is known of one value. */
struct level {
	bool label, start, parts;
};

/* ---- words of memory ------------------------------------------------------- */

/* Of the frame, by where the stack pointer was at the entry. */
static struct slot word_named(const struct mixed *m, const struct mixed_state *s,
			      const struct effect *e, int64_t off)
{
	struct slot w = { e->number + off, e->base < 0 ? FIXED : POINTED + e->base };

	if (!e->memory || e->thread || e->index >= 0 || (e->base == m->sp && s->depth <= ELSEWHERE))
		w.base = NOWHERE;
	else if (e->base == m->sp)
		w = (struct slot){ w.number - s->depth, m->sp };
	else if (e->base == m->fp && s->frame > ELSEWHERE)
		w = (struct slot){ w.number - s->frame, m->sp };
	else if (e->base >= 0 && s->known >> e->base & 1)
		w = (struct slot){ w.number + (int64_t)s->number[e->base],
				   s->stacked >> e->base & 1 ? m->sp : FIXED };
	return w;
}

/* 0: nothing that matters was put there. */
static uint64_t word_bit(const struct mixed *m, struct slot w)
{
	for (size_t i = 0; i < m->nwords && w.base != NOWHERE; i++)
		if (m->words[i].number == w.number && m->words[i].base == w.base)
			return 1ull << (FIRST_WORD + i);
	return 0;
}

static uint64_t word_made(struct mixed *m, struct slot w)
{
	uint64_t bit = word_bit(m, w);

	if (bit || m->nwords == WORDS || w.base == NOWHERE)
		return bit;
	m->words[m->nwords] = w;
	return 1ull << (FIRST_WORD + m->nwords++);
}

/* ---- levels ---------------------------------------------------------------- */

static struct level level_at(const struct mixed_state *s, uint64_t bits)
{
	return (struct level){ s->label & bits, s->start & bits, s->parts & bits };
}

static struct level level_of(const struct mixed_state *s, int reg)
{
	return level_at(s, reg < 0 ? 0 : 1ull << reg);
}

static struct level level_both(struct level a, struct level b)
{
	return (struct level){ a.label || b.label, a.start || b.start, a.parts || b.parts };
}

/* One of the two. */
static struct level level_either(struct level a, struct level b)
{
	struct level l = level_both(a, b);

	l.start = (a.start && (b.start || b.label)) || (b.start && a.label);
	return l;
}

static bool is_any(struct level l)
{
	return l.label || l.start;
}

static void put_bits(struct mixed_state *s, uint64_t bits, struct level l)
{
	s->label = l.label ? s->label | bits : s->label & ~bits;
	s->start = l.start ? s->start | bits : s->start & ~bits;
	s->parts = l.parts && is_any(l) ? s->parts | bits : s->parts & ~bits;
}

static void put(struct mixed_state *s, int reg, struct level l)
{
	s->known &= (uint16_t)~(1u << reg);
	put_bits(s, 1ull << reg, l);
}

static struct level level_of_place(const struct mixed *m, raddr_t a)
{
	const struct plan_impl *p = m->flow->body->impl;
	const struct func *f = symbols_func_at(p->symbols, a);

	if (!arrivals_is_code(p, a))
		return (struct level){ 0 };
	bool start = !f || f->range.start == a;

	return (struct level){ .label = !start, .start = start };
}

/* A number; `from` is what it was computed from. */
static void put_number(struct mixed *m, struct mixed_state *s, int reg, struct value v,
		       struct level from)
{
	struct level l = v.named ? level_of_place(m, v.number) : (struct level){ 0 };

	if (!is_any(l) && v.number > SMALL && !arrivals_is_address(m->flow->body->impl, v.number))
		l = from;
	put(s, reg, l);
	s->known |= (uint16_t)(1u << reg);
	s->named = (uint16_t)((s->named & ~(1u << reg)) | (unsigned int)v.named << reg);
	s->stacked &= (uint16_t)~(1u << reg);
	s->number[reg] = v.number;
}

/* What is there in memory. */
static struct level level_there(const struct mixed *m, const struct mixed_state *s,
				const struct effect *e)
{
	return level_at(s, word_bit(m, word_named(m, s, e, 0)));
}

/* What a pointer leads to may be what it has led to before, though it was set since: of that a
 * label is never forgotten. */
static void put_there(struct mixed *m, struct mixed_state *s, const struct effect *e,
		      struct level l)
{
	struct slot w = word_named(m, s, e, 0);
	uint64_t bit;

	if (w.base >= POINTED && !l.label)
		return;
	bit = is_any(l) ? word_made(m, w) : word_bit(m, w);
	put_bits(s, bit, l);
}

/* ---- what instructions do -------------------------------------------------- */

static void found(struct mixed *m, struct level l)
{
	enum mixes mixes = l.label ? MIXES_LABEL : l.start ? MIXES_START : MIXES_NOT;

	m->found = MAX(m->found, mixes);
}

static struct value known_of(const struct mixed *m, const struct mixed_state *s, int reg)
{
	if (reg < 0)
		return value_number(m->flow, 0, false);
	if (!((s->known & ~s->stacked) >> reg & 1))
		return value_any;
	return (struct value){ .kind = VALUE_NUMBER, .number = s->number[reg],
			       .named = s->named >> reg & 1 };
}

/* The address of a word of the stack? */
static bool pass_stacked(const struct mixed *m, struct mixed_state *s, const struct effect *e)
{
	bool moves = e->op == EFFECT_MOVE || (e->op == EFFECT_SUM && e->index < 0 && !e->cut);
	int64_t number = e->op == EFFECT_SUM ? e->number : 0;

	if (!moves || e->base < 0)
		return false;
	if (e->base == m->sp && s->depth > ELSEWHERE)
		number -= s->depth;
	else if (e->base == m->fp && s->frame > ELSEWHERE)
		number -= s->frame;
	else if (s->known & s->stacked & 1u << e->base)
		number += (int64_t)s->number[e->base];
	else
		return false;
	put(s, e->reg, (struct level){ 0 });
	s->known |= (uint16_t)(1u << e->reg);
	s->stacked |= (uint16_t)(1u << e->reg);
	s->number[e->reg] = (raddr_t)number;
	return true;
}

static void pass_sum(struct mixed *m, struct mixed_state *s, const struct effect *e)
{
	struct value a = known_of(m, s, e->base), b = known_of(m, s, e->index);
	struct level l = level_both(level_of(s, e->base), level_of(s, e->index));
	unsigned int scale = MAX(e->scale, 1);
	bool copies = !e->number && ((e->index < 0 && e->base >= 0) ||
				     (e->base < 0 && scale == 1));

	if (copies && !l.parts) {
		put(s, e->reg, l);
	} else if (a.kind == VALUE_NUMBER && b.kind == VALUE_NUMBER &&
		   !(a.named && b.named) && !(b.named && scale > 1) && !l.parts) {
		raddr_t n = a.number + b.number * scale + (raddr_t)e->number;

		n = e->cut ? (uint32_t)n : n;
		a = value_number(m->flow, n, a.named || b.named);
		if (a.named && is_any(level_of_place(m, n)))
			m->found = MIXES_PLACE, m->place = n;
		put_number(m, s, e->reg, a, l);
	} else {
		l.start &= !e->cut;
		found(m, l);
		l.parts = false;
		put(s, e->reg, l);
	}
}

static void pass_load(struct mixed *m, struct mixed_state *s, const struct effect *e)
{
	struct level l = { 0 };

	if (e->width >= 4)
		l = level_there(m, s, e);
	if (e->op == EFFECT_ADD_LOAD) {
		l = level_both(level_there(m, s, e), level_of(s, e->reg));
		found(m, l);
	} else if (e->op == EFFECT_MAY_LOAD) {
		l = level_either(level_there(m, s, e), level_of(s, e->reg));
	}
	put(s, e->reg, l);
}

static void pass_pop(struct mixed *m, struct mixed_state *s, size_t step, const struct effect *e)
{
	const struct effect top = { .memory = true, .base = (int8_t)m->sp, .index = -1 };
	struct level l = level_there(m, s, &top);

	if (flow_is_own_address(m->flow, step))
		put_number(m, s, e->reg,
			   value_number(m->flow, m->flow->body->steps[step].insn.pc, true),
			   (struct level){ 0 });
	else
		put(s, e->reg, l);
}

/* What it sets by a number, or by a register. */
static void pass_set(struct mixed *m, struct mixed_state *s, size_t step, const struct effect *e)
{
	struct level l = level_of(s, e->base), own = level_of(s, e->reg);
	struct value v = known_of(m, s, e->base);
	const int second = m->flow->arch->second;

	if (pass_stacked(m, s, e))
		return;
	switch (e->op) {
	case EFFECT_MOVE:
	case EFFECT_CUT:
	case EFFECT_WIDEN:
		if (v.kind == VALUE_NUMBER && (e->op == EFFECT_MOVE || !v.named))
			put_number(m, s, e->reg, e->op == EFFECT_MOVE ? v :
				   e->op == EFFECT_CUT ? value_cut(m->flow, v) :
				   value_widened(m->flow, v), l);
		else
			put(s, e->reg, l);
		return;
	case EFFECT_NUMBER:
		put_number(m, s, e->reg, value_number(m->flow, (raddr_t)e->number, e->named),
			   (struct level){ 0 });
		return;
	case EFFECT_MAY_MOVE:
		put(s, e->reg, level_either(l, own));
		return;
	case EFFECT_CODED:
		put(s, e->reg, own);
		return;
	case EFFECT_CLIP:
		put(s, e->reg, e->number > SMALL ? l : (struct level){ 0 });
		return;
	case EFFECT_SHIFT:
		l.start &= !e->cut;
		found(m, l);
		put(s, e->reg, l);
		return;
	case EFFECT_SUM:
		pass_sum(m, s, e);
		return;
	case EFFECT_POP:
		pass_pop(m, s, step, e);
		return;
	case EFFECT_BACK:
		put(s, e->reg, level_at(s, 1ull << (REGISTERS + e->vector % VECTORS)));
		return;
	case EFFECT_RETURNED:
		put(s, e->reg, (struct level){ 0 });
		put(s, second, (struct level){ .label = level_of(s, second).label });
		s->start &= s->label | GENERAL;
		return;
	}
	pass_load(m, s, e);
}

static void pass_swap(struct mixed *m, struct mixed_state *s, const struct effect *e)
{
	struct level a = level_of(s, e->reg), b = level_of(s, e->base);
	struct value x = known_of(m, s, e->reg), y = known_of(m, s, e->base);

	put(s, e->reg, b);
	put(s, e->base, a);
	if (x.kind == VALUE_NUMBER)
		put_number(m, s, e->base, x, a);
	if (y.kind == VALUE_NUMBER)
		put_number(m, s, e->reg, y, b);
}

/* What goes into what is not told. */
static struct level level_of_parts(const struct mixed *m, const struct mixed_state *s,
				   const struct effect *e, const struct effect_of *of)
{
	struct level l = level_at(s, of->of & GENERAL & ~(1u << m->sp));

	if (of->of >> EFFECT_MEMORY & 1)
		l = level_both(l, level_there(m, s, e));
	return l;
}

/* Is it the difference of two addresses of code? That is a number. */
static bool is_distance(const struct mixed *m, const struct mixed_state *s,
			const struct effect *e, const struct effect_of *of)
{
	size_t n = 0;

	for (uint32_t left = of->of & GENERAL; left; left &= left - 1)
		n += is_any(level_of(s, __builtin_ctz(left)));
	if (of->of >> EFFECT_MEMORY & 1)
		n += is_any(level_there(m, s, e));
	return of->differs && n == 2;
}

/* Registers that it sets to something unknown. */
static void pass_others(struct mixed *m, struct mixed_state *s, const struct effect *e,
			const struct effect_of *of)
{
	struct level l = level_of_parts(m, s, e, of);
	uint32_t others = e->others;

	l.start &= !of->cut && !of->differs && !of->hashes;
	/* A number with a mark: no module of which that is asked is so high. */
	if (is_distance(m, s, e, of) || (of->high && m->flow->body->impl->span.end < HIGH))
		l = (struct level){ 0 };
	if (!of->parts)
		found(m, l);
	for (; others; others &= others - 1) {
		int reg = __builtin_ctz(others);
		struct level to = l;

		if (reg == m->sp)
			continue;
		if (of->parts >> reg & 1) {
			to = level_both(l, level_of(s, reg));
			to.parts = true;
		}
		put(s, reg, to);
	}
}

/* What was in memory, and something else, stays there. */
static void pass_change(struct mixed *m, struct mixed_state *s, const struct effect *e,
			const struct effect_of *of)
{
	struct level l = level_both(level_of_parts(m, s, e, of), level_there(m, s, e));

	if (of->width >= 4)
		found(m, l);
	else
		l.parts = true;
	if (is_any(l))
		put_there(m, s, e, l);
}

static void pass_store(struct mixed *m, struct mixed_state *s, const struct effect *e)
{
	struct level l = level_of(s, e->source);

	if (l.parts && e->width == 8)
		found(m, l);
	if (e->source < 0 && e->width >= 4 && e->width <= 8) {
		struct value v = value_number(m->flow, (raddr_t)e->written, false);
		const struct plan_impl *p = m->flow->body->impl;
		bool place = !p->symbols->is_pie && arrivals_may_be_place(p, v.number);

		l = v.named || place ? level_of_place(m, v.number) : l;
	}
	if (e->width && e->width < 4) {
		l = level_there(m, s, e);
		l.parts = true;
		if (is_any(l))
			put_there(m, s, e, l);
		return;
	}
	if (e->source < 0 && !e->writes)	/* of a vector: of which, is not told */
		l.label = s->label & ((1ull << FIRST_WORD) - (1ull << REGISTERS));
	put_there(m, s, e, l);
}

static void pass_push(struct mixed *m, struct mixed_state *s, const struct effect *e)
{
	const struct effect top = { .memory = true, .base = (int8_t)m->sp, .index = -1,
				    .number = -8 };

	put_there(m, s, &top, e->source < 0 && e->memory ? level_there(m, s, e) :
		  level_of(s, e->source));
}

static int32_t depth_lower(int32_t depth, int64_t by)
{
	int64_t to = depth + by;

	return depth <= ELSEWHERE ? depth : to > ELSEWHERE && to <= INT32_MAX ? (int32_t)to : LOST;
}

static void pass_stack(const struct mixed *m, struct mixed_state *s, const struct effect *e)
{
	int32_t depth = s->depth, frame = s->frame;
	int64_t lower = 0;
	bool known = effect_lowers(e, m->sp, &lower);

	s->depth = known ? depth_lower(depth, lower) : LOST;
	if (e->reg == m->sp && e->op == EFFECT_MOVE && e->base == m->fp)
		s->depth = frame;
	if (e->reg == m->sp && e->op == EFFECT_SUM && e->base == m->fp && e->index < 0)
		s->depth = depth_lower(frame, -e->number);
	if (e->reg == m->fp || e->others >> m->fp & 1)
		s->frame = e->op == EFFECT_MOVE && e->base == m->sp ? depth : LOST;
	if (e->others >> m->fp & 1 && e->others >> m->sp & 1)	/* leave */
		s->depth = depth_lower(frame, -8);
}

static void pass_vectors(struct mixed *m, struct mixed_state *s, size_t step,
			 const struct effect *e)
{
	struct level l = { 0 };
	struct vectors v;

	flow_vectors(m->flow, step, &v);
	if (v.to < 0)
		return;
	l = level_at(s, (uint64_t)v.of << REGISTERS & ((1ull << FIRST_WORD) - 1));
	if (v.from >= 0)
		l = level_both(l, level_of(s, v.from));
	if (e->memory && !e->stores) {
		l = level_both(l, level_there(m, s, e));
		l = level_both(l, level_at(s, word_bit(m, word_named(m, s, e, 8))));
	}
	l.parts = false;
	if (v.computes)
		found(m, l);
	put_bits(s, 1ull << (REGISTERS + v.to % VECTORS), l);
}

static void effect_of_step(const struct mixed *m, size_t step, const struct effect *e,
			   struct effect_of *ret)
{
	const struct plan_impl *p = m->flow->body->impl;
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, m->flow->body->steps[step].insn.pc, &left);

	p->arch->effect_of(bytes, left, e, ret);
}

void mixed_pass(struct mixed *m, size_t step, struct mixed_state *s)
{
	const struct effect *e = effect_at(m->flow, step);
	bool any = s->label | s->start;	/* else there is nothing to compute with */

	m->found = MIXES_NOT;
	/* What sets no register, and writes no number, only moves the stack then. */
	if (!any && e->reg < 0 && !e->others && !e->writes) {
		if (e->pushes || e->pops)
			pass_stack(m, s, e);
		return;
	}
	bool loads = e->stores && e->op == EFFECT_LOAD;	/* an exchange */
	struct level was = loads ? level_there(m, s, e) : (struct level){ 0 };
	struct effect_of of = { 0 };

	if (any && (e->others || e->computes))
		effect_of_step(m, step, e, &of);
	if (any && (e->memory || (e->reg < 0 && !e->others) || e->vector >= 0))
		pass_vectors(m, s, step, e);
	if (e->computes)
		pass_change(m, s, e, &of);
	else if (e->stores && !e->pops)
		pass_store(m, s, e);
	if (e->pushes)
		pass_push(m, s, e);
	if (e->others)
		pass_others(m, s, e, &of);
	if (e->op == EFFECT_SWAP)
		pass_swap(m, s, e);
	else if (loads)
		put(s, e->reg, was);
	else if (e->reg >= 0 && e->reg != m->sp)
		pass_set(m, s, step, e);
	pass_stack(m, s, e);
}

