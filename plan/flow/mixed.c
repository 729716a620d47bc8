/* SPDX-License-Identifier: MIT */
/*
 * mixed: where does a function compute with an address of code that it names?
 *
 * A search backwards (flow_goal.c) says what comes of a sum, if it comes to where its parts are
 * named. This goes forward over all of the function, as whole.c does, and says where that is to
 * be asked: at each step, which registers, vectors and words of memory may hold an address of
 * code that was named, or what was computed from one, on some way. The first instruction that
 * computes with one is told, whatever it is: what nobody can say anything of may lead anywhere.
 *
 * The start of a function is passed and compared everywhere, and compilers leave it in registers
 * that they have no more use for. Any other address of code is a label, whose registers hardly
 * ever come to be used otherwise: of those it is told, too, if memory may have been written by
 * another pointer, and if a call may have kept a register.
 */
#include <errno.h>
#include <string.h>

#include "plan/arrivals.h"
#include "plan/flow/flow.h"

enum {
	VECTORS = 16,
	WORDS = 32,		/* of memory, that have held such an address */
	FIRST_WORD = REGISTERS + VECTORS,
	FIXED = -1,		/* bases of words: of none, */
	NOWHERE = -2,		/* one that is none, */
	POINTED = 32,		/* and, with its number added, one that a register leads to */
	ROUNDS = 64,
	ACCUMULATOR = 0,	/* register that a call returns in */
	LOST = INT32_MIN,	/* how deep the stack is is not known, */
	ELSEWHERE,		/* nor asked: control has come by no way that is known */
	SMALL = UINT16_MAX,	/* what is no larger has nothing of an address */
	KEPT = 0xf028,		/* registers that a landing pad finds as they were */
};

/* A bit for each register, vector and word of memory. */
struct mixed_state {
	uint64_t label, start;	/* may be of a label, or what comes of it; of a function's start */
	uint64_t parts;		/* of either, of which a part was written over */
	raddr_t number[REGISTERS];	/* is known, for these: */
	uint16_t known, named;	/* and is an address, */
	uint16_t stacked;	/* or one of the stack, from where its pointer was at the entry */
	int32_t depth, frame;	/* bytes on the stack since the entry; where the frame pointer is */
	bool reached, news;
};

struct mixed {
	struct flow *flow;
	uint32_t *at;		/* by step: 1 + its state; 0: no ways meet there */
	struct mixed_state *states, anywhere, now;
	size_t nstates;
	struct slot words[WORDS];
	size_t nwords;
	bool changed;
	raddr_t place;		/* that the last step has computed */
	enum mixes found;	/* and what it is */
};

/* What is known of one value. */
struct level {
	bool label, start, parts;
};

/* ---- words of memory ------------------------------------------------------- */

/* Of the frame, by where the stack pointer was at the entry. */
static struct slot word_named(const struct mixed_state *s, const struct effect *e, int64_t off)
{
	struct slot w = { e->number + off, e->base < 0 ? FIXED : POINTED + e->base };

	if (!e->memory || e->thread || e->index >= 0 || (e->base == STACK && s->depth <= ELSEWHERE))
		w.base = NOWHERE;
	else if (e->base == STACK)
		w = (struct slot){ w.number - s->depth, STACK };
	else if (e->base == FRAME && s->frame > ELSEWHERE)
		w = (struct slot){ w.number - s->frame, STACK };
	else if (e->base >= 0 && s->known >> e->base & 1)
		w = (struct slot){ w.number + (int64_t)s->number[e->base],
				   s->stacked >> e->base & 1 ? STACK : FIXED };
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

	if (!is_any(l) && !arrivals_is_address(m->flow->body->impl, v.number))
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
	return level_at(s, word_bit(m, word_named(s, e, 0)));
}

/* What a pointer leads to may be what it has led to before, though it was set since: of that a
 * label is never forgotten. */
static void put_there(struct mixed *m, struct mixed_state *s, const struct effect *e,
		      struct level l)
{
	struct slot w = word_named(s, e, 0);
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
static bool pass_stacked(struct mixed_state *s, const struct effect *e)
{
	bool moves = e->op == EFFECT_MOVE || (e->op == EFFECT_SUM && e->index < 0 && !e->cut);
	int64_t number = e->op == EFFECT_SUM ? e->number : 0;

	if (!moves || e->base < 0)
		return false;
	if (e->base == STACK && s->depth > ELSEWHERE)
		number -= s->depth;
	else if (e->base == FRAME && s->frame > ELSEWHERE)
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
	const struct effect top = { .memory = true, .base = STACK, .index = -1 };
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

	if (pass_stacked(s, e))
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
		put(s, SECOND, (struct level){ .label = level_of(s, SECOND).label });
		s->start &= s->label | UINT16_MAX;
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
	struct level l = level_at(s, of->of & (uint16_t)~(1u << STACK));

	if (of->of >> EFFECT_MEMORY & 1)
		l = level_both(l, level_there(m, s, e));
	return l;
}

/* Is it the difference of two addresses of code? That is a number. */
static bool is_distance(const struct mixed *m, const struct mixed_state *s,
			const struct effect *e, const struct effect_of *of)
{
	size_t n = 0;

	for (uint32_t left = of->of & UINT16_MAX; left; left &= left - 1)
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

	l.start &= !of->cut && !of->differs;
	if (is_distance(m, s, e, of))
		l = (struct level){ 0 };
	if (!of->parts)
		found(m, l);
	for (; others; others &= others - 1) {
		int reg = __builtin_ctz(others);
		struct level to = l;

		if (reg == STACK)
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

		l = v.named ? level_of_place(m, v.number) : l;
	}
	if (e->width && e->width < 4) {
		l = level_there(m, s, e);
		l.parts = true;
		if (is_any(l))
			put_there(m, s, e, l);
		return;
	}
	if (e->width > 8)	/* of a vector: of which, is not told */
		l.label = s->label & ((1ull << FIRST_WORD) - (1ull << REGISTERS));
	put_there(m, s, e, l);
}

static void pass_push(struct mixed *m, struct mixed_state *s, const struct effect *e)
{
	const struct effect top = { .memory = true, .base = STACK, .index = -1, .number = -8 };

	put_there(m, s, &top, level_of(s, e->source));
}

static void pass_stack(const struct effect *e, struct mixed_state *s)
{
	int32_t depth = s->depth, frame = s->frame;
	int64_t lower = 0;
	bool known = effect_lowers(e, STACK, &lower);

	s->depth = !known ? LOST : depth > ELSEWHERE ? depth + (int32_t)lower : depth;
	if (e->reg == STACK && e->op == EFFECT_MOVE && e->base == FRAME)
		s->depth = frame;
	if (e->reg == STACK && e->op == EFFECT_SUM && e->base == FRAME && e->index < 0 &&
	    frame > ELSEWHERE)
		s->depth = frame - (int32_t)e->number;
	if (e->reg == FRAME || e->others >> FRAME & 1)
		s->frame = e->op == EFFECT_MOVE && e->base == STACK ? depth : LOST;
	if (e->others >> FRAME & 1 && e->others >> STACK & 1 && frame > ELSEWHERE)
		s->depth = frame - 8;	/* leave */
}

static void pass_vectors(struct mixed *m, struct mixed_state *s, size_t step,
			 const struct effect *e)
{
	const struct plan_impl *p = m->flow->body->impl;
	const struct insn *in = &m->flow->body->steps[step].insn;
	struct level l = { 0 };
	struct vectors v;
	size_t left;

	if (!p->arch->vectors)
		return;
	p->arch->vectors(symbols_text(p->symbols, in->pc, &left), left, in, &v);
	if (v.to < 0)
		return;
	l = level_at(s, (uint64_t)v.of << REGISTERS & ((1ull << FIRST_WORD) - 1));
	if (v.from >= 0)
		l = level_both(l, level_of(s, v.from));
	if (e->memory && !e->stores) {
		l = level_both(l, level_there(m, s, e));
		l = level_both(l, level_at(s, word_bit(m, word_named(s, e, 8))));
	}
	l.parts = false;
	if (v.adds)
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

static void mixed_pass(struct mixed *m, size_t step, struct mixed_state *s)
{
	const struct effect *e = effect_at(m->flow, step);
	bool any = s->label | s->start;	/* else there is nothing to compute with */
	bool loads = e->stores && e->op == EFFECT_LOAD;	/* an exchange */
	struct level was = loads ? level_there(m, s, e) : (struct level){ 0 };
	struct effect_of of = { 0 };

	m->found = MIXES_NOT;
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
	else if (e->reg >= 0 && e->reg != STACK)
		pass_set(m, s, step, e);
	pass_stack(e, s);
}

/* ---- over all ways --------------------------------------------------------- */

static int32_t depth_both(int32_t a, int32_t b)
{
	return a == b || b == ELSEWHERE ? a : a == ELSEWHERE ? b : LOST;
}

static void mixed_join(struct mixed *m, struct mixed_state *to, const struct mixed_state *from)
{
	struct mixed_state old = *to;

	if (!old.reached) {
		*to = *from;
		to->reached = to->news = m->changed = true;
		return;
	}
	to->label |= from->label;
	/* A start counts only if it is one by all ways, or there is a label by others. */
	to->start &= from->start | from->label;
	to->start |= from->start & old.label;
	to->parts |= from->parts;
	to->known &= from->known;
	for (unsigned int left = to->known; left; left &= left - 1) {
		int reg = __builtin_ctz(left);
		uint16_t bit = (uint16_t)(1u << reg);

		if (to->number[reg] != from->number[reg] || (to->named ^ from->named) & bit ||
		    (to->stacked ^ from->stacked) & bit)
			to->known &= (uint16_t)~bit;
	}
	to->depth = depth_both(to->depth, from->depth);
	to->frame = depth_both(to->frame, from->frame);
	to->parts &= to->label | to->start;
	if (to->label != old.label || to->start != old.start || to->parts != old.parts ||
	    to->known != old.known || to->depth != old.depth || to->frame != old.frame)
		to->news = m->changed = true;
}

static void join_at(struct mixed *m, raddr_t to, const struct mixed_state *s)
{
	size_t step = body_step(m->flow->body, to);

	if (step < m->flow->body->nsteps && m->at[step])
		mixed_join(m, &m->states[m->at[step] - 1], s);
}

/* Where control arrives otherwise it comes from the body's own jumps, from calls that an exception
 * leaves, and from elsewhere. */
static struct mixed_state state_away(const struct mixed *m, size_t step,
				     const struct mixed_state *s)
{
	const struct plan_impl *p = m->flow->body->impl;
	const struct step *st = &m->flow->body->steps[step];
	struct mixed_state away = *s;
	size_t left;
	int reg = st->insn.kind != INSN_JUMP_INDIRECT ? -1 :
		p->arch->goes_by(symbols_text(p->symbols, st->insn.pc, &left), &st->insn);

	/* What it goes by is judged there. */
	if (reg >= 0)
		put(&away, reg, (struct level){ 0 });

	if (st->insn.kind == INSN_CALL || st->insn.kind == INSN_CALL_INDIRECT) {
		uint64_t kept = KEPT | ~((1ull << FIRST_WORD) - 1);

		away.label &= kept;
		away.start &= kept;
		away.known &= KEPT;
	}
	return away;
}

static bool is_leaver(const struct flow *f, size_t step, size_t *leaver)
{
	while (*leaver < f->nleavers && f->leavers[*leaver] < step)
		++*leaver;
	return *leaver < f->nleavers && f->leavers[*leaver] == step && !f->leads[step];
}

static void lead_on(struct mixed *m, size_t step, size_t *leaver, const struct mixed_state *s)
{
	const struct flow *f = m->flow;
	const struct step *st = &f->body->steps[step];

	if (st->insn.dest)
		join_at(m, st->insn.dest, s);
	for (size_t i = 0; i < f->nlinks && f->leads[step]; i++)
		if (f->links[i].step == step)
			join_at(m, f->links[i].to, s);
	if (is_leaver(f, step, leaver)) {
		struct mixed_state away = state_away(m, step, s);

		mixed_join(m, &m->anywhere, &away);
	}
}

static bool begins_anew(const struct mixed *m, size_t step)
{
	const struct step *s = &m->flow->body->steps[step];

	return !step || m->flow->led[step] || s[-1].piece != s->piece || s[-1].ends;
}

/* What is known where ways meet, or a way begins, if `s` comes from the step before. */
static void mixed_enter(struct mixed *m, size_t step, struct mixed_state *s)
{
	const struct body *b = m->flow->body;
	struct mixed_state *at = &m->states[m->at[step] - 1];

	if (step && ground_any(b->impl, LAYER_FIXED, b->steps[step].insn.pc, 1))
		mixed_join(m, at, &m->anywhere);
	if (step && s->reached && b->steps[step - 1].piece == b->steps[step].piece &&
	    !b->steps[step - 1].ends)
		mixed_join(m, at, s);
	*s = *at;
}

static void go_through(struct mixed *m)
{
	const struct body *b = m->flow->body;
	struct mixed_state s = { .reached = false };
	size_t leaver = 0;

	for (size_t i = 0; i < b->nsteps; i++) {
		if (begins_anew(m, i)) {
			mixed_enter(m, i, &s);
			s.reached = s.news;
			m->states[m->at[i] - 1].news = false;
		}
		if (!s.reached)
			continue;
		mixed_pass(m, i, &s);
		lead_on(m, i, &leaver, &s);
	}
}

/* Room for a state of each place where a way begins. */
static int make_states(struct mixed *m)
{
	const struct body *b = m->flow->body;

	m->at = calloc(b->nsteps + 1, sizeof(*m->at));
	for (size_t i = 0; m->at && i < b->nsteps; i++)
		if (begins_anew(m, i))
			m->at[i] = (uint32_t)++m->nstates;
	m->states = calloc(m->nstates + 1, sizeof(*m->states));
	return m->at && m->states ? 0 : -ENOMEM;
}

/* What no way leads to that is known is come to from elsewhere. */
static void reach_rest(struct mixed *m)
{
	const struct mixed_state rest = { .depth = m->anywhere.depth, .frame = m->anywhere.frame,
					  .reached = true };

	for (size_t i = 0; i < m->nstates; i++)
		if (!m->states[i].reached)
			mixed_join(m, &m->states[i], &rest);
}

int flow_mixed(struct flow *f, struct mixed **ret)
{
	struct mixed *m = *ret = calloc(1, sizeof(*m));

	if (m)
		*m = (struct mixed){ .flow = f };
	if (!m || make_states(m))
		return fail(ENOMEM, "plan %s", f->body->func->name);
	m->anywhere = (struct mixed_state){ .depth = ELSEWHERE, .frame = ELSEWHERE, .reached = true };
	m->states[0] = (struct mixed_state){ .frame = LOST, .reached = true, .news = true };
	m->changed = f->body->nsteps;
	for (int round = 0; m->changed && round < ROUNDS; round++) {
		m->changed = false;
		go_through(m);
		if (!m->changed)
			reach_rest(m);
	}
	return 0;
}

void flow_mixed_free(struct mixed *m)
{
	if (m) {
		free(m->at);
		free(m->states);
	}
	free(m);
}

enum mixes mixed_next(struct mixed *m, size_t step, raddr_t *place)
{
	const struct insn *in = &m->flow->body->steps[step].insn;
	struct mixed_state *s = &m->now;
	uint64_t passed = in->kind == INSN_RETURN ? 1u << ACCUMULATOR : 0;

	if (begins_anew(m, step))
		*s = m->states[m->at[step] - 1];
	if (!s->reached)
		return MIXES_NOT;
	bool parts = s->parts & s->label & passed;

	mixed_pass(m, step, s);
	*place = m->place;
	return parts ? MIXES_LABEL : m->found;
}
