/* SPDX-License-Identifier: MIT */
/* flow: the links and the effects of a body of which values are asked. */
#include "plan/flow/flow.h"

#include <errno.h>
#include <string.h>

/* Indirect jumps, and calls that an exception may leave. */
static void find_leavers(struct flow *f)
{
	const struct body *b = f->body;
	bool pads = b->func->flags & FUNC_LSDA;

	for (size_t i = 0; i < b->nsteps; i++) {
		uint8_t kind = b->steps[i].insn.kind;
		bool calls = kind == INSN_CALL || kind == INSN_CALL_INDIRECT;

		if (step_is_indirect(&b->steps[i]) || (pads && calls))
			f->leavers[f->nleavers++] = (uint32_t)i;
	}
}

static void flow_forget(struct flow *f)
{
	if (f->whole)
		f->forget(f->whole);
	f->whole = NULL;
	f->lost = false;
}

/* What is kept by step, in one piece. False: there is no memory. */
static bool lay_out(struct flow *f)
{
	const size_t n = f->body->nsteps + 1;

	f->effects = malloc(n * (sizeof(*f->effects) + sizeof(*f->touches) + sizeof(*f->led) +
				 sizeof(*f->to) + sizeof(*f->leavers) + sizeof(*f->leads)));
	if (!f->effects)
		return false;
	f->touches = (uint32_t *)(f->effects + n);
	f->led = f->touches + n;
	f->to = f->led + n;
	f->leavers = f->to + n;
	f->leads = (uint8_t *)(f->leavers + n);
	memset(f->touches, UINT8_MAX, n * sizeof(*f->touches));
	memset(f->to, 0, n * sizeof(*f->to));
	memset(f->leads, 0, n * sizeof(*f->leads));
	return true;
}

int flow_make(const struct body *b, struct flow *ret)
{
	*ret = (struct flow){ .body = b, .arch = b->impl->arch };
	if (!lay_out(ret))
		return fail(ENOMEM, "plan %s", b->func->name);
	find_leavers(ret);
	ground_mark_led(b->impl, b->steps, b->nsteps, ret->led);
	for (size_t i = 0; i < b->nsteps; i++)
		if (b->steps[i].insn.dest && body_has(b, b->steps[i].insn.dest) &&
		    flow_link(ret, i, b->steps[i].insn.dest))
			return -ENOMEM;
	flow_ready(ret);
	return 0;
}

int flow_link(struct flow *f, size_t step, raddr_t to)
{
	struct link *l = vec_push(f->links, f->nlinks, f->links_cap);

	if (!l)
		return -ENOMEM;
	*l = (struct link){ to, (uint32_t)step, 0 };
	return 0;
}

/* The steps that links lead to. Behind its prefix a step is the same but for that: so it is said
 * to begin where the prefix does. */
static void find_steps(struct flow *f)
{
	const struct body *b = f->body;
	raddr_t last = 0;
	bool moved = false;

	for (size_t i = 0; i < f->nlinks; i++) {
		struct link *l = &f->links[i];
		raddr_t to = l->to;

		if (i && to == last) {
			l->to = l[-1].to;
			l->at = l[-1].at;
			continue;
		}
		l->at = (uint32_t)body_step(b, to);
		if (l->at == b->nsteps && to && body_step(b, to - 1) < b->nsteps) {
			l->to = to - 1;
			l->at = (uint32_t)body_step(b, to - 1);
			moved = true;
		}
		last = to;
	}
	if (moved)
		base_sort(f->links, f->nlinks, sizeof(*f->links));
}

void flow_ready(struct flow *f)
{
	flow_forget(f);
	base_sort(f->links, f->nlinks, sizeof(*f->links));
	find_steps(f);
	for (size_t i = 0; i < f->nlinks; i++) {
		const struct link *l = &f->links[i];

		if (!i || l->to != l[-1].to) {
			f->led[l->at] = 2 + (uint32_t)i;
			if (l->at)
				f->touches[l->at - 1] |= TOUCHES_ALL;
		}
		if (f->body->steps[l->step].insn.dest)
			f->to[l->step] = 1 + l->at;
	}
}

void flow_clear(struct flow *f)
{
	flow_forget(f);
	free(f->links);
	free(f->effects);
	free(f->vectors);
	free(f->stores);
	free(f->answers);
	for (size_t i = 0; i < DEPTH; i++) {
		free(f->seen[i]);
		free(f->touched[i]);
	}
}

/* Room for one more search; false: there is none. */
bool flow_enter(struct flow *f)
{
	unsigned int d = f->depth;

	if (d == DEPTH)
		return false;
	if (!f->seen[d]) {
		f->seen[d] = calloc(f->body->nsteps + 1, sizeof(*f->seen[d]));
		f->touched[d] = malloc((f->body->nsteps + 1) * sizeof(*f->touched[d]));
		if (!f->seen[d] || !f->touched[d])
			return false;
	}
	f->from_jumps[d] = 0;
	f->depth++;
	return true;
}

void flow_leave(struct flow *f)
{
	unsigned int d = --f->depth;

	while (f->ntouched[d])
		f->seen[d][f->touched[d][--f->ntouched[d]]] = 0;
}

int flow_slot(struct flow *f, int base, int64_t number)
{
	size_t i = 0;

	while (i < f->nslots && (f->slots[i].base != base || f->slots[i].number != number))
		i++;
	if (i == ARRAY_SIZE(f->slots)) {
		f->met = UINT64_MAX;
		return -1;
	}
	if (i == f->nslots)
		f->slots[f->nslots++] = (struct slot){ number, base };
	f->met |= 1ull << i;
	return REGISTERS + (int)i;
}

/* What a search may have to stop at, behind a step. */
static uint32_t touched_by(const struct flow *f, size_t step, const struct effect *e)
{
	const struct body *b = f->body;
	uint32_t frame = 1u << f->arch->stack | 1u << f->arch->frame, ret = e->others;

	if (e->reg >= 0)
		ret |= 1u << e->reg;
	if (e->op == EFFECT_SWAP)
		ret |= 1u << e->base;
	if (e->op == EFFECT_RETURNED)
		ret |= 1u << f->arch->second;
	if (ret & frame || e->pushes || e->pops || e->op == EFFECT_POP || e->stores)
		ret |= TOUCHES_SLOTS;
	if (b->steps[step].ends || step + 1 == b->nsteps || f->led[step + 1] ||
	    b->steps[step].piece != b->steps[step + 1].piece)
		ret |= TOUCHES_ALL;
	return ret;
}

const struct effect *effect_find(const struct flow *f, size_t step)
{
	const struct plan_impl *p = f->body->impl;
	const struct insn *in = &f->body->steps[step].insn;
	struct effect *e = &f->effects[step];
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, in->pc, &left);

	f->arch->effect(bytes, left, in, e);
	/* Half of an address that only the loader knows is none. */
	if (e->op == EFFECT_NUMBER && e->named && e->cut && p->symbols->is_pie) {
		e->others |= (uint16_t)(1u << e->reg);
		e->op = EFFECT_KEEP;
		e->reg = -1;
	}
	f->touches[step] = touched_by(f, step, e);
	return e;
}

bool effect_lowers(const struct effect *e, int stack, int64_t *ret)
{
	*ret = 0;
	if (e->pushes)
		*ret = 8;
	else if (e->op == EFFECT_POP || e->pops)
		*ret = -8;
	else if (e->op == EFFECT_SUM && e->reg == stack && e->base == stack && e->index < 0)
		*ret = -e->number;
	else
		return e->reg != stack && !(e->others >> stack & 1);
	return e->reg != stack || e->op == EFFECT_SUM;
}

void effect_note_copies(const struct effect *e, uint32_t *copies)
{
	bool copies_it = e->op == EFFECT_MOVE || e->op == EFFECT_MAY_MOVE ||
		e->op == EFFECT_CUT || e->op == EFFECT_SUM || e->op == EFFECT_SWAP;

	if (copies_it && e->base >= 0)
		copies[e->base] |= 1u << e->reg;
	if (copies_it && e->index >= 0)
		copies[e->index] |= 1u << e->reg;
	if (e->op == EFFECT_SWAP)
		copies[e->reg] |= 1u << e->base;
}

uint32_t effect_copied(uint32_t regs, const uint32_t *copies)
{
	uint32_t before;

	do {
		before = regs;
		for (int i = 0; i < ARCH_REGISTERS_MAX; i++)
			regs |= regs >> i & 1 ? copies[i] : 0;
	} while (regs != before);
	return regs;
}

bool flow_is_own_address(const struct flow *f, size_t step)
{
	const struct step *s = &f->body->steps[step];
	struct effect e;

	if (!step || s[-1].insn.kind != INSN_CALL || s[-1].insn.dest != s->insn.pc)
		return false;
	e = *effect_at(f, step);
	return e.op == EFFECT_POP;
}

/* Registers that a step gives an address of the stack, of those that may have one before it. */
static uint32_t copied_by(const struct effect *e, uint32_t have)
{
	bool base = e->base >= 0 && have >> e->base & 1;
	bool index = e->index >= 0 && have >> e->index & 1;

	switch (e->op) {
	case EFFECT_MOVE:
	case EFFECT_MAY_MOVE:
		return (base ? 1u : 0) << e->reg;
	case EFFECT_SUM:
		return (base || index ? 1u : 0) << e->reg;
	case EFFECT_SWAP:
		return base || have >> e->reg & 1 ? 1u << e->reg | 1u << e->base : 0;
	}
	return 0;
}

uint32_t flow_copies(struct flow *f)
{
	const uint32_t frame = 1u << f->arch->stack | 1u << f->arch->frame;
	uint32_t have = frame, before = 0;

	while (!f->copies_known && have != before) {
		before = have;
		for (size_t i = 0; i < f->body->nsteps; i++)
			have |= copied_by(effect_at(f, i), have);
	}
	if (!f->copies_known)
		f->copies = have;
	f->copies_known = true;
	return f->copies;
}
