/* SPDX-License-Identifier: MIT */
/* whole_make: room for what is found of a function, which is found once it is asked for. */
#include <errno.h>

#include "plan/flow/whole.h"

/* Is anything taken from a vector register, or a vector written to the frame? By an index it may be
 * by any register that is given an address of the stack. */
static bool has_vectors(struct flow *f)
{
	for (size_t i = 0; i < f->body->nsteps; i++) {
		const struct effect *e = effect_at(f, i);

		if (e->op == EFFECT_BACK ||
		    (e->stored >= 0 && (e->index < 0 ||
					(e->base >= 0 && flow_copies(f) >> e->base & 1))))
			return true;
	}
	return false;
}

/* Room for a state of each place where ways meet, and here and there between, so that what is known
 * of a step is found near by. */
static int make_states(struct whole *w)
{
	const size_t n = w->body->nsteps;
	size_t last = 0;

	w->at = calloc(n + 1, sizeof(*w->at));
	for (size_t i = 0; i < n && w->at; i++)
		if (!i || w->flow->led[i] || i - last == STATE_NEAR) {
			w->at[i] = (uint32_t)++w->nstates;
			last = i;
		}
	const size_t words = w->nstates / 64 + 1;

	w->states = calloc(w->nstates + 1, sizeof(*w->states));
	w->news = calloc(2 * words, sizeof(*w->news));
	if (!w->at || !w->states || !w->news)
		return -ENOMEM;
	w->fixed = w->news + words;
	for (size_t i = 0; i < n; i++) {
		if (!w->at[i])
			continue;
		w->states[w->at[i]].step = (uint32_t)i;
		if (i && w->flow->led[i] && ground_comes_to(w->body->impl, &w->body->steps[i].insn))
			bit_set(w->fixed, w->at[i]);
	}
	return 0;
}

/* 0; 1: it comes to no answer; or -ENOMEM. To be freed in any case. */
static int whole_make(struct flow *f, struct whole **ret)
{
	struct whole *w = calloc(1, sizeof(*w));

	if (!w)
		return fail(ENOMEM, "plan %s", f->body->func->name);
	*w = (struct whole){ .body = f->body, .flow = f, .nslots = 1,
			     .sp = f->arch->stack, .fp = f->arch->frame,
			     .vectors = has_vectors(f) };
	for (size_t i = 0; i < f->nwanted; i++)
		w->slots[w->nslots++] = f->wanted[i];
	w->anywhere.reached = true;
	w->anywhere.high = STACK_NOT;
	stack_begin(f->arch, &w->anywhere.stack);
	*ret = w;
	if (make_states(w))
		return fail(ENOMEM, "plan %s", f->body->func->name);
	if (f->body->nsteps) {
		w->states[1].reached = true;
		bit_set(w->news, 1);
		w->states[1].high = STACK_NOT;
		whole_begin_stack(w, 0, &w->states[1].stack);
	}
	w->changed = true;
	return whole_rest(w);
}

static void whole_free(struct whole *w)
{
	if (w) {
		free(w->at);
		free(w->states);
		free(w->news);
	}
	free(w);
}

struct whole *flow_known(struct flow *f)
{
	if (f->hurried)
		return NULL;
	if (!f->whole && !f->lost)
		f->lost = whole_make(f, &f->whole) != 0, f->forget = whole_free;
	return f->lost ? NULL : f->whole;
}
