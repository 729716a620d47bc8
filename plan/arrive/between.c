/* SPDX-License-Identifier: MIT */
/* between: which bytes of a function are no code, though they stand between its instructions? */
#include "plan/arrive/between.h"

struct unseen between_from(const struct plan_impl *p, raddr_t a)
{
	const struct hidden *h = p->hidden;
	size_t first = vec_prefix(p->nhidden, i, h[i].at < a);

	return (struct unseen){ .next = h ? h + first : NULL, .end = h ? h + p->nhidden : NULL,
				.reached = true };
}

/* May control come to `pc`, behind the last step? It may stand behind an end to which nothing
 * leads: then data are there. (Something leads to where a piece begins, as a rule.) */
static bool is_reached(struct body *b, struct unseen *u, size_t piece, raddr_t pc)
{
	bool reached = !b->unowned;
	size_t i = b->nsteps;

	for (;; pc = b->steps[--i].insn.pc) {
		if (i < b->nsteps ? ground_leads_to(b->impl, LAYER_TARGET, &b->steps[i].insn) :
		    ground_any(b->impl, LAYER_TARGET, pc, 1)) {
			reached = true;
			break;
		}
		if (!i || b->steps[i - 1].piece != piece)
			break;
		if (b->steps[i - 1].ends) {
			reached = false;
			break;
		}
		if (i == u->known) {
			reached = u->reached;
			break;
		}
	}
	u->known = b->nsteps;
	return u->reached = reached;
}

/* Does a call stand right before, and nothing lead to here? Where something surely leads into the
 * middle of what follows a call, that call never comes back. */
static bool is_behind_call(const struct body *b, const struct unseen *u, const struct step *s)
{
	const struct step *before = b->nsteps ? s - 1 : s;

	return before->piece == s->piece && u->next->kind != HIDDEN_DOUBTFUL &&
		(before->insn.kind == INSN_CALL || before->insn.kind == INSN_CALL_INDIRECT) &&
		before->insn.pc + before->insn.size == s->insn.pc &&
		!ground_any(b->impl, LAYER_TARGET, s->insn.pc, 1);
}

/* Other readings of it differ. */
static void doubt_reading(struct body *b)
{
	if (b->unowned)
		return;
	b->parted |= !b->entry_only;
	body_doubt(b, REFUSED_UNREADABLE);
}

/*
 * An instruction is found inside of this one. What is read so may be data, up to there: then they
 * end what stands before. If not, one of the readings is not that of the code.
 */
void between_part(struct body *b, struct unseen *u, struct step *s)
{
	struct insn *in = &s->insn;
	raddr_t end = in->pc + in->size;

	while (u->next < u->end && u->next->at <= in->pc)
		u->next++;
	if (u->next == u->end || u->next->at >= end)
		return;
	b->unsure = true;
	if (!b->runtime->all_live &&
	    (is_behind_call(b, u, s) || !is_reached(b, u, s->piece, in->pc))) {
		*in = (struct insn){ .pc = in->pc, .size = (uint8_t)(u->next->at - in->pc),
				     .kind = INSN_STOP };
		s->ends = u->parted = b->has_data = true;
		return;
	}
	for (; u->next < u->end && u->next->at < end; u->next++) {
		b->hides |= u->next->kind == HIDDEN_GOAL;
		b->hides_making |= u->next->kind == HIDDEN_MAKES;
	}
	doubt_reading(b);
}

void between_check(struct body *b, const struct step *s)
{
	const struct plan_impl *p = b->impl;
	raddr_t end = s->insn.pc + s->insn.size;
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, s->insn.pc, &left);

	/* Behind its prefix it is the same. */
	for (raddr_t a = s->insn.pc + 1 + p->arch->is_prefix(*bytes); a < end; a++)
		if (ground_any(p, LAYER_TARGET, a, 1) || words_lead_to(p, a)) {
			doubt_reading(b);
			return;
		}
}

/* Does control that comes there come to an end before it comes to `to`, where no instruction is? */
static bool ends_before(const struct body *b, raddr_t pc, raddr_t to)
{
	size_t left;
	struct insn in;

	for (; pc < to; pc += in.size) {
		const uint8_t *p = symbols_text(b->impl->symbols, pc, &left);

		if (!p || b->impl->arch->measure(p, left, pc, &in))
			return false;
		if (insn_ends(&in))
			return true;
	}
	return false;
}

/* The branches that it seems to have itself are data, too; and an address in it that code names is
 * that of data if what runs from there comes to no end. */
bool between_is_data(const struct body *b, size_t piece, raddr_t pc, raddr_t end)
{
	const struct plan_impl *p = b->impl;
	size_t i = b->nsteps;

	while (i && b->steps[i - 1].piece == piece && !b->steps[i - 1].ends)
		i--;
	if (!i || b->steps[i - 1].piece != piece || b->runtime->all_live)
		return false;
	raddr_t from = i < b->nsteps ? b->steps[i].insn.pc : pc;

	for (size_t k = ground_edge(p, from, pc - from + 1);
	     k < p->nedges && p->edges[k].to <= pc; k++)
		if (edge_from(&p->edges[k]) < from || edge_from(&p->edges[k]) >= end)
			return false;
	for (raddr_t a = from; a <= pc; a++)
		if (ground_any(p, LAYER_FIXED, a, 1) && ends_before(b, a, pc))
			return false;
	return true;
}
