/* SPDX-License-Identifier: MIT */
/*
 * whole: which registers, and words of its frame, may hold something computed, at each
 * place of a function?
 *
 * A search backwards (value.c) says more, but goes over much of a large function for each
 * question. This goes forward over all of it, once, and answers only yes or no: no is
 * that it is a whole word, which was passed, returned, loaded or named.
 */
#include <errno.h>

#include "plan/flow/value.h"

enum {
	REGISTERS = 16, SLOTS = 48,
	STACK = 4, FRAME = 5,
	ROUNDS = 64,
	LOST = INT32_MIN,	/* how deep the stack is is not known */
	ELSEWHERE,		/* control has not come from the entry */
};

/* What may be computed: a bit for each register, and above them for each slot. */
struct state {
	uint64_t computed;
	int32_t depth;		/* bytes on the stack since the entry */
	int32_t own;		/* the same, if control came only from there */
	bool reached;
	bool news;		/* it has changed since all behind it was gone through */
};

struct whole {
	const struct body *body;
	struct flow *flow;
	struct state *at;	/* before each step at which ways meet */
	uint32_t *to;		/* by step: 1 + the one that it leads to, or the number of steps;
				 * 0: that was not asked for yet */
	struct state anywhere;	/* where control arrives otherwise: as if called */
	struct slot slots[SLOTS];
	size_t nslots;
	bool changed;
};

/* The bit of a word of the frame; 0: there are too many. */
static uint64_t slot_bit(struct whole *w, const struct effect *e, const struct state *s)
{
	int64_t number = e->number - (e->base == STACK ? s->depth : 0);

	if (e->base == STACK && s->depth == LOST)
		return 0;
	for (size_t i = 0; i < w->nslots; i++)
		if (w->slots[i].base == e->base && w->slots[i].number == number)
			return 1ull << (REGISTERS + i);
	if (w->nslots == SLOTS)
		return 0;
	w->slots[w->nslots] = (struct slot){ number, e->base };
	return 1ull << (REGISTERS + w->nslots++);
}

static bool is_frame(const struct effect *e)
{
	return e->memory && !e->thread && e->index < 0 &&
		(e->base == STACK || e->base == FRAME);
}

static void whole_put(struct state *s, uint64_t bit, bool computed)
{
	s->computed = computed ? s->computed | bit : s->computed & ~bit;
}

static bool is_computed(const struct state *s, int reg)
{
	return reg >= 0 && s->computed >> reg & 1;
}

static bool loads_computed(struct whole *w, const struct effect *e, const struct state *s)
{
	uint64_t bit = is_frame(e) ? slot_bit(w, e, s) : 0;

	return e->width != 8 || (is_frame(e) && (!bit || s->computed & bit));
}

/* What is innermost on the stack. */
static bool pops_computed(struct whole *w, const struct state *s)
{
	struct effect top = { .memory = true, .base = STACK, .index = -1 };
	uint64_t bit = slot_bit(w, &top, s);

	return !bit || s->computed & bit;
}

static bool sets_computed(struct whole *w, const struct effect *e, const struct state *s)
{
	switch (e->op) {
	case EFFECT_MOVE:
		return is_computed(s, e->base);
	case EFFECT_CUT:
		return is_computed(s, e->base) || w->body->impl->symbols->is_pie;
	case EFFECT_NUMBER:
	case EFFECT_RETURNED:
		return false;
	case EFFECT_POP:
		return pops_computed(w, s);
	case EFFECT_LOAD:
		return loads_computed(w, e, s);
	case EFFECT_MAY_MOVE:
		return is_computed(s, e->base) || is_computed(s, e->reg);
	case EFFECT_MAY_LOAD:
		return loads_computed(w, e, s) || is_computed(s, e->reg);
	case EFFECT_CODED:
		return is_computed(s, e->reg);
	}
	return true;
}

static void whole_store(struct whole *w, const struct effect *e, struct state *s)
{
	uint64_t bit = is_frame(e) ? slot_bit(w, e, s) : 0;

	whole_put(s, bit, e->computes || e->width < 8 || is_computed(s, e->source));
}

static void move_stack(const struct effect *e, struct state *s)
{
	int64_t lower = 0;
	bool known = effect_lowers(e, STACK, &lower);

	s->depth = known && s->depth != LOST ? s->depth + (int32_t)lower : LOST;
	if (s->own > ELSEWHERE)
		s->own = known ? s->own + (int32_t)lower : LOST;
}

static void whole_pass(struct whole *w, size_t step, struct state *s)
{
	bool computed;

	const struct effect *e = effect_at(w->flow, step);
	if (e->op == EFFECT_SWAP) {
		computed = is_computed(s, e->reg);
		whole_put(s, 1ull << e->reg, is_computed(s, e->base));
		whole_put(s, 1ull << e->base, computed);
		return;
	}
	computed = e->reg >= 0 && sets_computed(w, e, s);
	if (e->stores && !e->pops)
		whole_store(w, e, s);
	if (e->pushes) {
		struct effect top = { .memory = true, .base = STACK, .index = -1, .number = -8 };

		whole_put(s, slot_bit(w, &top, s), is_computed(s, e->source));
	}
	if (e->op == EFFECT_RETURNED)
		whole_put(s, 1ull << 2, false);
	s->computed |= e->others;
	if (e->reg >= 0)
		whole_put(s, 1ull << e->reg, computed);
	move_stack(e, s);
	if (e->stores && e->pops)
		whole_store(w, e, s);
}

static void whole_join(struct whole *w, struct state *to, const struct state *from)
{
	struct state old = *to;

	if (!old.reached) {
		*to = *from;
		to->reached = to->news = w->changed = true;
		return;
	}
	to->computed |= from->computed;
	if (to->depth != from->depth)
		to->depth = LOST;
	if (to->own == ELSEWHERE)
		to->own = from->own;
	else if (to->own != from->own && from->own != ELSEWHERE)
		to->own = LOST;
	if (to->computed != old.computed || to->depth != old.depth || to->own != old.own)
		to->news = w->changed = true;
}

static void join_at(struct whole *w, size_t step, const struct state *s)
{
	if (step < w->body->nsteps)
		whole_join(w, &w->at[step], s);
}

/* Where control goes from this step other than on. */
static void lead_on(struct whole *w, size_t step, const struct state *s)
{
	const struct step *st = &w->body->steps[step];

	if (st->insn.dest) {
		if (!w->to[step])
			w->to[step] = 1 + (uint32_t)body_step(w->body, st->insn.dest);
		join_at(w, w->to[step] - 1, s);
	}
	if (w->flow->leads[step]) {
		for (size_t i = 0; i < w->flow->nlinks; i++)
			if (w->flow->links[i].step == step)
				join_at(w, body_step(w->body, w->flow->links[i].to), s);
	}
}

/* What comes behind a place where ways meet is gone through again only if something has changed
 * there: else it would say the same again. */
static void go_through(struct whole *w)
{
	const struct body *b = w->body;
	struct state s = { .reached = false };

	for (size_t i = 0; i < b->nsteps; i++) {
		if (i && (b->steps[i - 1].piece != b->steps[i].piece || b->steps[i - 1].ends))
			s.reached = false;
		if (w->flow->led[i] || i == 0) {
			if (i && ground_any(b->impl, LAYER_FIXED, b->steps[i].insn.pc, 1))
				whole_join(w, &w->at[i], &w->anywhere);
			if (s.reached)
				whole_join(w, &w->at[i], &s);
			s = w->at[i];
			s.reached = s.news;
			w->at[i].news = false;
		}
		if (!s.reached)
			continue;
		whole_pass(w, i, &s);
		lead_on(w, i, &s);
	}
}

int flow_whole(struct flow *f, struct whole **ret)
{
	struct whole *w = calloc(1, sizeof(*w));

	if (!w)
		return fail(ENOMEM, "plan %s", f->body->func->name);
	*w = (struct whole){ .body = f->body, .flow = f,
			     .anywhere = { .depth = LOST, .own = ELSEWHERE, .reached = true },
			     .at = calloc(f->body->nsteps + 1, sizeof(*w->at)),
			     .to = calloc(f->body->nsteps + 1, sizeof(*w->to)) };
	*ret = w;
	if (!w->at || !w->to)
		return fail(ENOMEM, "plan %s", f->body->func->name);
	w->at[0].reached = w->at[0].news = true;
	w->changed = true;
	for (int round = 0; w->changed; round++) {
		/* One that does not come to rest has nothing that is certain. */
		if (round == ROUNDS)
			return 1;
		w->changed = false;
		go_through(w);
	}
	return 0;
}

void flow_whole_free(struct whole *w)
{
	if (w) {
		free(w->at);
		free(w->to);
	}
	free(w);
}

/* What control goes by at this step. */
static bool goes_by_computed(struct whole *w, size_t step, const struct state *s)
{
	const struct plan_impl *p = w->body->impl;
	const struct insn *in = &w->body->steps[step].insn;
	struct effect e;
	size_t left;

	if (in->flags & INSN_BY_REGISTER)
		return is_computed(s, p->arch->goes_by(symbols_text(p->symbols, in->pc, &left),
						       in));
	e = *effect_at(w->flow, step);
	e.width = 8;
	return !e.memory || loads_computed(w, &e, s);
}

static bool begins_anew(const struct whole *w, size_t step)
{
	const struct step *s = &w->body->steps[step];

	return !step || w->flow->led[step] || s[-1].piece != s->piece || s[-1].ends;
}

/* What is known before a step. */
static struct state state_at(struct whole *w, size_t step)
{
	size_t i = step;

	while (!begins_anew(w, i))
		i--;
	struct state s = w->at[i];

	for (; i < step && s.reached; i++)
		whole_pass(w, i, &s);
	return s;
}

bool flow_is_whole(struct whole *w, size_t step)
{
	struct state s = state_at(w, step);

	return !s.reached || !goes_by_computed(w, step, &s);
}

/* By step: is the stack elsewhere than at the entry, if control came from there? */
static int mark_moved(const struct body *b, bool *ret)
{
	struct state s = { .reached = false };
	struct whole *w = NULL;
	struct flow f;
	int err = flow_make(b, &f);

	if (!err)
		err = flow_whole(&f, &w);
	for (size_t i = 0; i < b->nsteps && !err; i++) {
		if (begins_anew(w, i))
			s = w->at[i];
		ret[i] = s.reached && s.own && s.own > ELSEWHERE;
		if (s.reached)
			whole_pass(w, i, &s);
	}
	flow_whole_free(w);
	flow_clear(&f);
	return MIN(err, 0);
}

int whole_doubt_jumps(struct body *b)
{
	auto_free bool *moved = NULL;

	if (!b->impl->arch->effect)
		return 0;
	for (size_t i = 0; i < b->nsteps && !b->entry_only; i++) {
		const struct step *s = &b->steps[i];

		if (!s->exit || s->insn.kind == INSN_RETURN ||
		    goal_frame_is_gone(b, s->insn.pc) >= 0)
			continue;
		if (!moved) {
			moved = calloc(b->nsteps + 1, sizeof(*moved));
			if (!moved)
				return fail(ENOMEM, "plan %s", b->func->name);
			if (mark_moved(b, moved))
				return -ENOMEM;
		}
		if (moved[i])
			body_doubt(b, REFUSED_LEFT_OTHERWISE);
	}
	return 0;
}
