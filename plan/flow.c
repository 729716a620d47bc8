/* SPDX-License-Identifier: MIT */
/*
 * flow: a search backwards, from where a register is used to all that sets it.
 *
 * Where ways meet all of them are gone back; a place that is arrived at otherwise is
 * come to from the body's own indirect jumps, or from a call that an exception leaves.
 * What would take too long is VALUE_ANY, as is what no rule knows.
 */
#include "plan/flow.h"

#include <errno.h>
#include <string.h>

/* ---- where control comes from ---------------------------------------------- */

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

int flow_make(const struct body *b, struct flow *ret)
{
	*ret = (struct flow){ .body = b };
	ret->leads = calloc(b->nsteps + 1, sizeof(*ret->leads));
	ret->led = malloc((b->nsteps + 1) * sizeof(*ret->led));
	ret->touches = malloc((b->nsteps + 1) * sizeof(*ret->touches));
	ret->effects = malloc((b->nsteps + 1) * sizeof(*ret->effects));
	ret->leavers = malloc((b->nsteps + 1) * sizeof(*ret->leavers));
	if (!ret->leads || !ret->led || !ret->touches || !ret->effects || !ret->leavers)
		return fail(ENOMEM, "plan %s", b->func->name);
	find_leavers(ret);
	memset(ret->touches, UINT8_MAX, (b->nsteps + 1) * sizeof(*ret->touches));
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
	*l = (struct link){ to, step };
	return 0;
}

void flow_ready(struct flow *f)
{
	base_sort(f->links, f->nlinks, sizeof(*f->links));
	for (size_t i = 0; i < f->nlinks; i++)
		if (!i || f->links[i].to != f->links[i - 1].to)
			f->led[body_step(f->body, f->links[i].to)] = 2 + (uint32_t)i;
}

void flow_clear(struct flow *f)
{
	free(f->links);
	free(f->leads);
	free(f->led);
	free(f->touches);
	free(f->effects);
	free(f->stores);
	free(f->leavers);
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
		f->touched[d] = calloc(f->body->nsteps + 1, sizeof(*f->touched[d]));
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

/* Was it asked before in this search? Then it adds nothing. */
static bool is_seen(struct flow *f, size_t step, int reg)
{
	unsigned int d = f->depth - 1;
	uint64_t bit = 1ull << reg;

	if (f->seen[d][step] & bit)
		return true;
	if (!f->seen[d][step])
		f->touched[d][f->ntouched[d]++] = (uint32_t)step;
	f->seen[d][step] |= bit;
	return false;
}

/* What a search may have to stop at, behind a step. */
static uint32_t touched_by(const struct body *b, size_t step, const struct effect *e)
{
	uint32_t frame = 1u << STACK | 1u << FRAME, ret = e->others;

	if (e->reg >= 0)
		ret |= 1u << e->reg;
	if (e->op == EFFECT_SWAP)
		ret |= 1u << e->base;
	if (e->op == EFFECT_RETURNED)
		ret |= 1u << SECOND;
	if (ret & frame || e->pushes || e->pops || e->op == EFFECT_POP || e->stores)
		ret |= TOUCHES_SLOTS;
	if (b->steps[step].ends || step + 1 == b->nsteps ||
	    b->steps[step].piece != b->steps[step + 1].piece)
		ret |= TOUCHES_ALL;
	return ret;
}

const struct effect *effect_at(const struct flow *f, size_t step)
{
	const struct plan_impl *p = f->body->impl;
	const struct insn *in = &f->body->steps[step].insn;
	struct effect *e = &f->effects[step];

	if (f->touches[step] & TOUCHES_UNKNOWN) {
		size_t left;
		const uint8_t *bytes = symbols_text(p->symbols, in->pc, &left);

		p->arch->effect(bytes, left, in, e);
		f->touches[step] = touched_by(f->body, step, e);
	}
	return e;
}

/* A search of its own. */
void flow_ask(struct flow *f, size_t step, int reg, struct values *ret)
{
	ret->n = 0;
	if (reg < 0) {
		values_add(ret, value_number(f, 0, false));
		return;
	}
	/* A sum that is judged where it is made has, in a loop, no other origin than its first
	 * round has; but how much was added by then is not known. */
	if (!flow_enter(f)) {
		f->rounds = true;
		if (!f->near_only)
			values_add(ret, value_any);
		return;
	}
	flow_search(f, step, reg, ret);
	flow_leave(f);
}

/*
 * The body's own indirect jumps, and calls that an exception may leave. What they have in
 * their registers is passed on like arguments: where it was computed there it is judged
 * there, if it is an address.
 */
static void search_jumps(struct flow *f, int reg, struct values *ret)
{
	unsigned int d = f->depth - 1;
	struct values from = { .n = 0 };

	if (f->from_jumps[d] >> reg & 1)
		return;
	f->from_jumps[d] |= 1ull << reg;
	for (size_t i = 0; i < f->nleavers; i++)
		if (!f->leads[f->leavers[i]])
			flow_search(f, f->leavers[i], reg, &from);
	if (!from.n)
		values_add(ret, value_word);
	for (size_t i = 0; i < from.n; i++)
		values_add(ret, from.v[i].kind == VALUE_ANY ? value_word : from.v[i]);
}

/* Does a piece begin here that compilers have moved away? Only jumps lead there. */
static bool is_piece(const struct body *b, raddr_t pc)
{
	for (size_t i = 1; i < b->npieces; i++)
		if (b->pieces[i].start == pc)
			return true;
	return false;
}

/* All that lead here, but for falling in. */
static void search_ways(struct flow *f, size_t step, int reg, struct values *ret)
{
	const struct plan_impl *p = f->body->impl;
	raddr_t pc = f->body->steps[step].insn.pc;
	size_t n = 0;

	for (size_t i = flow_first_link(f, step);
	     i < f->nlinks && f->links[i].to == pc; i++, n++)
		/* A function that is called has a frame of its own. */
		if (reg >= REGISTERS && f->body->steps[f->links[i].step].insn.kind == INSN_CALL)
			values_add(ret, value_word);
		else
			flow_search(f, f->links[i].step, reg, ret);
	if (step == 0)
		return;
	const struct step *before = &f->body->steps[step - 1];
	bool falls = before->piece == before[1].piece && !before->ends;

	/* Where a way is known an address that is added to is followed along that one only. */
	if (f->near_only && (n || falls))
		return;
	if (f->near_only)
		values_add(ret, value_word);
	else if (ground_any(p, LAYER_FIXED, pc, 1) && !(n && is_piece(f->body, pc)))
		search_jumps(f, reg, ret);
	else if (!n)
		values_add(ret, value_word);
}

/* Back over what has nothing to do with a place; the step before the one that is returned may
 * have. */
static size_t pass_back(struct flow *f, size_t step, int reg)
{
	uint32_t mask = TOUCHES_ALL | (reg < REGISTERS ? 1u << reg : TOUCHES_SLOTS);
	size_t most = MIN(step, f->budget), n = 0;

	while (n < most && !f->led[step - n] && !(f->touches[step - n - 1] & mask))
		n++;
	f->budget -= n;
	return step - n;
}

void flow_search(struct flow *f, size_t step, int reg, struct values *ret)
{
	const struct body *b = f->body;

	for (;; step--) {
		if (reg != STACK)
			step = pass_back(f, step, reg);
		if (f->budget == 0) {
			values_add(ret, value_any);
			return;
		}
		f->budget--;
		if (reg == STACK) {
			values_add(ret, value_any);
			return;
		}
		if (step == 0 || f->led[step] ||
		    b->steps[step - 1].piece != b->steps[step].piece) {
			if (is_seen(f, step, reg))
				return;
			search_ways(f, step, reg, ret);
		}
		if (step == 0)
			values_add(ret, value_word);
		if (step == 0 || b->steps[step - 1].piece != b->steps[step].piece ||
		    b->steps[step - 1].ends || !flow_back(f, step - 1, &reg, ret))
			return;
	}
}
