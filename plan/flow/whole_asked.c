/* SPDX-License-Identifier: MIT */
/* whole_asked: what is told of a function of which whole.c has found what it may compute. */
#include <errno.h>

#include "plan/flow/whole.h"

static bool whole_begins_anew(const struct whole *w, size_t step)
{
	const struct step *s = &w->body->steps[step];

	return w->at[step] || s[-1].piece != s->piece || s[-1].ends;
}

/* What is known before a step. */
static struct state whole_at(struct whole *w, size_t step)
{
	size_t i = step;

	while (!whole_begins_anew(w, i))
		i--;
	struct state s = w->states[w->at[i]];

	for (; i < step && s.reached; i++)
		whole_pass(w, i, &s);
	return s;
}

/* All is gone through once more, for a word of which nothing was asked before. False: it comes to
 * no answer any more. */
static bool go_again(struct whole *w)
{
	whole_go_again(w);
	w->flow->lost = whole_rest(w) != 0;
	return !w->flow->lost;
}

/* The same, once what control goes by there is asked for: mostly it was before. */
static struct state state_asked(struct whole *w, size_t step)
{
	struct state s = whole_at(w, step);
	size_t n = w->nslots;

	if (s.reached)
		(void)whole_goes_by_computed(w, step, &s);
	if (w->nslots == n)
		return s;
	if (go_again(w))
		return whole_at(w, step);
	s.computed = s.put = s.pushed = ~(bits)0;
	return s;
}

bool flow_slot_has_others(struct flow *f, size_t step, const struct slot *slot)
{
	struct whole *w = flow_known(f);
	struct state s = { .reached = false };

	if (w)
		s = whole_at(w, step);
	if (!s.reached || !stack_is_known(&s.stack, slot->base))
		return !w || (s.reached && slot->base == w->sp);
	size_t n = w->nslots;
	bits bit = whole_slot(w, s.stack.at[slot->base] + slot->number);

	if (w->nslots != n && !go_again(w))
		return true;
	bits others = w->by_others | (slot->base == w->sp ? w->by_frame : w->by_stack);

	return !bit || bit == whole_bit(0) || others & bit;
}

/* There was no room for this word, or for one that was copied to where it is asked: all is found
 * anew, with room for it first. False: there was, or that was done too often. */
static bool makes_room(struct flow *f, struct whole *w, const struct effect *e,
		       const struct state *s)
{
	struct effect first = *e;
	int64_t at;

	first.index = -1;
	if (!s->reached || !stack_reaches(&first, &s->stack, &at))
		return false;
	if (whole_slot(w, at)) {
		if (!w->nlacked || !whole_slot_computed(w, at, s))
			return false;
	} else {
		w->lacked[0] = at;
		w->nlacked = 1;
	}
	if (f->nwanted == WANTED_MOST || !crew_spend(f->body->impl, f->body->nsteps))
		return false;
	for (size_t i = 0; i < w->nlacked && f->nwanted < WANTED_MOST; i++)
		f->wanted[f->nwanted++] = w->lacked[i];
	f->forget(w);
	f->whole = NULL;
	return true;
}

bool flow_load_is_whole(struct flow *f, size_t step, const struct effect *e)
{
	struct whole *w = flow_known(f);
	struct state s = { .reached = true };
	size_t n = w ? w->nslots : 0;

	if (w)
		s = whole_at(w, step);
	if (w && s.reached)
		(void)whole_loads_computed(w, e, &s);	/* it is asked for */
	if (w && w->nslots != n) {
		if (!go_again(w))
			return false;
		s = whole_at(w, step);
	}
	if (w && makes_room(f, w, e, &s))
		return flow_load_is_whole(f, step, e);
	return w && (!s.reached || !whole_loads_computed(w, e, &s));
}

bool flow_slot_is_whole(struct flow *f, size_t step, const struct slot *slot)
{
	return flow_load_is_whole(f, step, &(struct effect){
		.memory = true, .base = (int8_t)slot->base, .index = -1,
		.number = slot->number, .width = WORD });
}

/* Is anything but a word of memory pushed right before, by instructions that control falls
 * through? Code whose calls take their arguments from the stack (V8's) pushes its way back so. */
static bool has_pushed(struct flow *f, size_t step)
{
	const struct step *s = f->body->steps;

	while (step && !f->led[step] && s[step - 1].piece == s[step].piece &&
	       s[step - 1].insn.kind == INSN_PLAIN)
		if (effect_at(f, --step)->pushes)
			return !effect_at(f, step)->memory;
	return false;
}

bool flow_has_put(struct flow *f, size_t step, int64_t above)
{
	const struct insn *in = &f->body->steps[step].insn;
	struct whole *w = flow_known(f);
	struct state s = { .reached = true };
	bool jumps = in->kind == INSN_JUMP;
	int64_t at, cfa;
	int err = jumps ? symbols_cfa_offset(f->body->impl->symbols, in->pc, &cfa) : -ENOENT;

	if (!w)
		return true;
	s = state_asked(w, step);
	if (!whole_find_top(w, step, &s, &at))
		return !above && !f->body->runtime->one_stack && !jumps && (w->pushes || w->stores);
	/* Where the frame is not gone, it may be a word of that: such jumps do not leave it to be
	 * returned by, but for what they push. */
	bool up = at && (err == -ENOTSUP || (!err && WORD - cfa == at));
	if (jumps && at && !has_pushed(f, step))
		return false;
	size_t n = w->nslots;
	bits bit = whole_slot(w, at + above);

	if (w->nslots != n) {
		if (!go_again(w))
			return true;
		s = whole_at(w, step);
	}
	if (above)
		return s.reached && s.pushed & bit;
	return s.reached && (!bit || whole_is_buried(at, &s) || (up ? s.pushed : s.put) & bit);
}

/* Is all that the body has left on the stack to be returned by certainly whole? */
static bool is_put_whole(struct flow *f, size_t step, struct whole *w)
{
	for (int64_t n = 0; f->backs && flow_has_put(f, step, n); n += WORD) {
		struct state s = whole_at(w, step);	/* now that it is asked for */
		int64_t at;

		if (f->lost || !whole_find_top(w, step, &s, &at) ||
		    whole_slot_computed(w, at + n, &s))
			return false;
	}
	return true;
}

bool flow_is_whole(struct flow *f, size_t step)
{
	struct whole *w = flow_known(f);
	struct state s = { .reached = true };

	if (w)
		s = state_asked(w, step);
	if (!w || !s.reached)
		return w;
	uint8_t kind = f->body->steps[step].insn.kind;

	return !whole_goes_by_computed(w, step, &s) &&
		((kind != INSN_RETURN && kind != INSN_JUMP) || is_put_whole(f, step, w));
}

/* By step: is the stack elsewhere than at the entry, if control came from there? */
static int mark_moved(const struct body *b, bool *ret)
{
	struct state s = { .reached = false };
	struct flow f;
	int err = flow_make(b, &f);
	struct whole *w = err ? NULL : flow_known(&f);

	for (size_t i = 0; i < b->nsteps && w; i++) {
		if (whole_begins_anew(w, i))
			s = w->states[w->at[i]];
		int32_t at = s.stack.at[w->sp];

		ret[i] = s.reached && !s.guessed && at && stack_is_known(&s.stack, w->sp) &&
			at < STACK_ANEW / 2;
		if (s.reached)
			whole_pass(w, i, &s);
	}
	flow_clear(&f);
	return err;
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
