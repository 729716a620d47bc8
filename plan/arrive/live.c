/* SPDX-License-Identifier: MIT */
/* live: to which instructions of a function can control come, and which may be data? */
#include "plan/arrivals.h"

bool body_has_word_to(const struct body *b, size_t step, bool prefix)
{
	const struct plan_impl *p = b->impl;
	const struct insn *in = &b->steps[step].insn;
	size_t left;

	if (words_lead_to(p, in->pc))
		return true;
	/* What pads is what it looks like. */
	return prefix && in->size > 1 && !(in->flags & INSN_NOP) &&
		p->arch->is_prefix && words_lead_to(p, in->pc + 1) &&
		!ground_any(p, LAYER_TARGET, in->pc, 1) &&
		p->arch->is_prefix(*symbols_text(p->symbols, in->pc, &left));
}

static bool is_direct(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_BRANCH;
}

/* Does code name it, or data, but where an exception lands? */
static bool may_be_data(const struct body *b, raddr_t a)
{
	const struct symbols *syms = b->impl->symbols;
	size_t i = vec_prefix(syms->npointers, k, syms->pointers[k] < a);

	return ground_is_named(b->impl, a) || ground_is_stray(b->impl, a) ||
		ground_is_listed(b->impl, a) ||
		(i < syms->npointers && syms->pointers[i] == a && !(b->func->flags & FUNC_LSDA));
}

/*
 * Where can control be? What nothing leads to may be data, or was never
 * linked to: a return there is no exit, and must not be written over. Some compilers
 * put nothing but code there, to some of which only their runtime leads: by it a
 * function returns that has recovered from a panic (`all_live`). `all`: so does a jump of
 * which no more is known than that it stays inside. What something names, and nothing leads to, may
 * be either.
 */
void live_mark(struct body *b, bool all)
{
	bool falls = false, guessed = false;

	for (size_t i = 0; i < b->nsteps; i++) {
		struct step *s = &b->steps[i];

		if (i && b->steps[i - 1].piece != s->piece)
			falls = false;
		/* Of what is certain nothing else is asked. */
		bool led = (guessed || !falls) &&
			ground_leads_to(b->impl, LAYER_TARGET, &s->insn);

		s->live = falls || all || led || b->runtime->all_live ||
			body_has_word_to(b, i, !falls);
		if (falls ? guessed && led : s->live)
			guessed = i && (!led || may_be_data(b, s->insn.pc));
		s->guessed = guessed;
		falls = s->live && !s->ends;
	}
}

/* Does a branch lead there that is no data itself? */
static bool is_led_surely(const struct body *b, raddr_t a)
{
	size_t edge = ground_edge(b->impl, a);

	for (size_t i = 0; i < b->nsteps; i++)
		if (b->steps[i].insn.dest == a && b->steps[i].live && !b->steps[i].guessed)
			return true;
	return edge < b->impl->nedges && b->impl->edges[edge].to == a;
}

/* Is what begins at this step data, perhaps? What only data name is none where the function jumps
 * within itself by addresses (`inside`), nor is what words seem to lead to. */
static bool is_guess(const struct body *b, size_t step, bool inside)
{
	raddr_t a = b->steps[step].insn.pc;

	return (!inside || ground_is_named(b->impl, a) || ground_is_stray(b->impl, a)) &&
		!is_led_surely(b, a);
}

bool live_may_leave(const struct body *b, const struct insn *in)
{
	return is_direct(in) ? !body_has(b, in->dest) || body_is_entry(b, in->dest) :
		insn_ends(in) || in->kind == INSN_UNKNOWN;
}

/*
 * Where data stand, and how far, is not known: they must not be written over, and what is read
 * behind them need not be what stands there. So no exit is certain, but behind what words seem to
 * lead to, as long as nothing leaves there.
 */
void live_doubt(struct body *b, const enum indirect *indirect)
{
	bool guess = false, inside = false;

	/* Where they end is not certain, nor what the others are that look like code. */
	if (b->has_data)
		body_doubt(b, REFUSED_UNREADABLE);
	for (size_t i = 0; i < b->njumps; i++)
		inside |= indirect[i] == INDIRECT_INSIDE;
	if (b->runtime->all_live || !b->impl->arch->effect)
		return;
	for (size_t i = 1; i < b->nsteps; i++) {
		struct step *s = &b->steps[i], *before = s - 1;

		if (s->guessed &&
		    (!before->guessed || before->ends || before->piece != s->piece))
			guess = is_guess(b, i, inside);
		s->guessed &= guess;
		if (!s->guessed)
			continue;
		s->live = false;
		if (live_may_leave(b, &s->insn) || ground_is_named(b->impl, s->insn.pc))
			body_doubt(b, REFUSED_UNREADABLE);
		if (is_direct(&s->insn) && body_is_entry(b, s->insn.dest))
			b->refusal = REFUSED_LOOP_ENTRY;
	}
}
