/* SPDX-License-Identifier: MIT */
/* live: to which instructions of a function can control come, and which may be data? */
#include "plan/arrivals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_direct(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_BRANCH;
}

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

/* Does code name it, or data, but where an exception lands? */
static bool may_be_data(const struct body *b, raddr_t a)
{
	const struct symbols *syms = b->impl->symbols;
	if (ground_is_named(b->impl, a) || ground_is_stray(b->impl, a) ||
	    ground_is_listed(b->impl, a))
		return true;
	/* What a pointer leads to is fixed. */
	if (b->func->flags & FUNC_LSDA || !ground_any(b->impl, LAYER_FIXED, a, 1))
		return false;
	size_t i = vec_prefix(syms->npointers, k, syms->pointers[k] < a);

	return i < syms->npointers && syms->pointers[i] == a;
}

/* Does anything lead there but jumps and branches that a reading of this function finds? */
static bool is_led_otherwise(const struct body *b, const struct insn *in)
{
	const struct plan_impl *p = b->impl;

	if (ground_leads_to(p, LAYER_FIXED, in))
		return true;
	size_t edge = ground_edge(p, in->pc, 2);

	return edge < p->nedges && p->edges[edge].to - in->pc <= 1;
}

/* The step to which control comes there, or behind its prefix. */
static size_t step_to(const struct body *b, raddr_t a)
{
	size_t at = body_step(b, a), left;
	const uint8_t *before = at < b->nsteps || !b->impl->arch->is_prefix ? NULL :
		symbols_text(b->impl->symbols, a - 1, &left);

	return before && b->impl->arch->is_prefix(*before) ? body_step(b, a - 1) : at;
}

/* Where control comes from a step on. */
struct come {
	bool *here;	/* to this step, */
	bool *led;	/* by a jump or branch of these */
	uint32_t *todo;	/* led to, and not gone on from yet */
};

/* False if it comes to what is no step. */
static bool come_from(const struct body *b, struct come *c, size_t first)
{
	size_t n = 0;

	c->todo[n++] = (uint32_t)first;
	while (n) {
		for (size_t i = c->todo[--n]; i < b->nsteps && !c->here[i]; i++) {
			const struct step *s = &b->steps[i];
			bool inside = is_direct(&s->insn) && body_has(b, s->insn.dest);
			size_t to = inside ? step_to(b, s->insn.dest) : i;

			c->here[i] = true;
			if (to == b->nsteps)
				return false;
			if (inside && !c->led[to])
				c->todo[n++] = (uint32_t)to;
			c->led[to] |= inside;
			if (s->ends || (i + 1 < b->nsteps && s[1].piece != s->piece))
				break;
		}
	}
	return true;
}

/* Where jumps and branches of a function lead within it. */
enum { LATER = 32 };

struct own {
	bool *led;	/* by step: one of those leads there that control comes to, */
	bool all;	/* wherever they stand; else of those to which it is known to come */
	bool certain;	/* and that are no data, as far as that is known */
	bool asks;	/* control may come to none that leads to something */
	bool sure;	/* control is known to come to this step, without those that stand behind */
	uint32_t later[LATER];	/* to these it comes only if it comes to one of those */
	size_t nlater;
};

/* A jump or branch to which control is known to come, or not (`sure`). False: it leads to what is
 * no step. */
static bool note_led(const struct body *b, const struct insn *in, struct own *own)
{
	if (!body_has(b, in->dest))
		return true;
	size_t to = step_to(b, in->dest);

	if (to < b->nsteps)
		own->led[to] |= own->sure;
	return to < b->nsteps;
}

/* Mostly control is known to come to all jumps, and one of them leads to what is led to. `begins`:
 * control does not fall through to this step. */
static void ask_own(const struct body *b, size_t step, bool begins, bool led, struct own *own)
{
	const struct step *s = &b->steps[step];

	if (begins && led && !own->led[step] && !is_led_otherwise(b, &s->insn)) {
		own->sure = false;
		own->asks = own->nlater == LATER;
		own->later[own->nlater++ % LATER] = (uint32_t)step;
	} else if (begins || own->led[step]) {
		own->sure = true;
	}
	if (own->certain && is_direct(&s->insn) && !own->asks)
		own->asks = !s->live || !note_led(b, &s->insn, own);
}

/*
 * Where can control be? What nothing leads to may be data, or was never
 * linked to: a return there is no exit, and must not be written over. Some compilers
 * put nothing but code there, to some of which only their runtime leads: by it a
 * function returns that has recovered from a panic (`all_live`). `all`: so does a jump of
 * which no more is known than that it stays inside. What something names, and nothing leads to, may
 * be either. Jumps of its own lead only where `own` says, if that is known. Else: is there what
 * only they lead to? Data may look like a branch to others.
 */
static void mark(struct body *b, bool all, struct own *own)
{
	bool falls = false, guessed = false;

	for (size_t i = 0; i < b->nsteps; i++) {
		struct step *s = &b->steps[i];

		if (i && b->steps[i - 1].piece != s->piece)
			falls = false;
		/* Of what is certain nothing else is asked. */
		bool led = (guessed || !falls) &&
			ground_leads_to(b->impl, LAYER_TARGET, &s->insn) &&
			(!own->all || own->led[i] || is_led_otherwise(b, &s->insn));

		s->live = falls || all || led || b->runtime->all_live ||
			body_has_word_to(b, i, !falls);
		if (falls ? guessed && led : s->live)
			guessed = i && (!led || may_be_data(b, s->insn.pc));
		s->guessed = guessed;
		if (!own->all && !own->asks)
			ask_own(b, i, !falls, led, own);
		falls = s->live && !s->ends;
	}
	for (size_t i = 0; i < own->nlater && !own->asks; i++)
		own->asks = !own->led[own->later[i]];
}

/* Jumps to which control never comes lead nowhere. */
static int mark_reached(struct body *b, bool all, struct own *own)
{
	auto_free bool *here = calloc(b->nsteps, sizeof(*here));
	auto_free uint32_t *todo = calloc(b->nsteps + 1, sizeof(*todo));
	struct come c = { here, own->led, todo };
	bool known = true, differs = false;

	if (!here || !todo)
		return fail(ENOMEM, "plan %s", b->func->name);
	memset(own->led, 0, b->nsteps * sizeof(*own->led));
	for (size_t i = 0; i < b->nsteps && known; i++)
		if (!here[i] && (is_led_otherwise(b, &b->steps[i].insn) ||
				 body_has_word_to(b, i, true)))
			known = come_from(b, &c, i);
	/* What lives whatever leads there lives on. */
	for (size_t i = 0; i < b->nsteps; i++)
		differs |= !here[i] && ((b->steps[i].live && !b->runtime->all_live) ||
					is_direct(&b->steps[i].insn));
	own->all = true;
	if (known && differs)
		mark(b, all, own);
	return 0;
}

int live_mark(struct body *b, bool all)
{
	auto_free bool *led = calloc(b->nsteps, sizeof(*led));
	struct own own = { .led = led, .certain = !all && !b->runtime->all_live };

	if (!led)
		return fail(ENOMEM, "plan %s", b->func->name);
	mark(b, all, &own);
	/* What is not read may lead there, too. */
	return own.asks && !b->open ? mark_reached(b, all, &own) : 0;
}

/* Does a branch lead there that is no data itself? */
static bool is_led_surely(const struct body *b, raddr_t a)
{
	size_t edge = ground_edge(b->impl, a, 1);

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
