/* SPDX-License-Identifier: MIT */
/* goal: what does an indirect jump, or a return, go by, and with what stack? */
#include <errno.h>

#include "plan/text/tables.h"

enum { SET_NEAR = 16 };		/* instructions before a jump in which the register that it
				 * goes by is set */

enum goal goal_find(const struct body *b, size_t step, size_t *ret)
{
	const struct plan_impl *p = b->impl;
	const struct insn *jump = &b->steps[step].insn;
	size_t left;
	const uint8_t *to = symbols_text(p->symbols, jump->pc, &left);

	for (size_t i = step + 1; p->arch->goal && to && i-- > 0 && step - i <= SET_NEAR; ) {
		const struct step *s = &b->steps[i];
		const uint8_t *at = symbols_text(p->symbols, s->insn.pc, &left);
		bool passes = i == step || (s->piece == b->steps[step].piece && !s->ends);
		enum goal goal = at && passes ? p->arch->goal(at, &s->insn, to, jump) : GOAL_OTHER;

		*ret = i;
		if (goal)
			return goal;
	}
	return GOAL_NONE;
}

bool goal_is_alone(const struct body *b, size_t set, size_t jump)
{
	raddr_t from = b->steps[set].insn.pc + 1;

	return !ground_any(b->impl, LAYER_TARGET, from, b->steps[jump].insn.pc + 1 - from);
}

raddr_t goal_table(const struct body *b, size_t step)
{
	const struct insn *in = &b->steps[step].insn;
	size_t set;

	if (!(in->flags & INSN_INDEXED))
		return 0;
	if (in->ref || goal_find(b, step, &set) != GOAL_TABLE)
		return in->ref;
	return goal_is_alone(b, set, step) ? b->steps[set].insn.ref : 0;
}

int goal_frame_is_gone(const struct body *b, raddr_t pc)
{
	const struct symbols *syms = b->impl->symbols;
	int64_t here, entry;
	int err = symbols_cfa_offset(syms, pc, &here);

	if (err == -ENOTSUP)	/* a frame pointer is in use */
		return 0;
	if (err || symbols_cfa_offset(syms, b->func->range.start, &entry))
		return -ENOENT;
	return here == entry;
}

static const uint8_t *bytes_of(const struct body *b, size_t step)
{
	size_t left;

	return symbols_text(b->impl->symbols, b->steps[step].insn.pc, &left);
}

static enum stacked stacked(const struct body *b, size_t step)
{
	const struct arch *arch = b->impl->arch;
	const uint8_t *p = arch->stacked ? bytes_of(b, step) : NULL;

	return p ? arch->stacked(p, &b->steps[step].insn) : STACKED_NOT;
}

static bool goes_below(const struct body *b, size_t step)
{
	const struct arch *arch = b->impl->arch;
	const uint8_t *p = arch->goes_below ? bytes_of(b, step) : NULL;

	return p && arch->goes_below(p, &b->steps[step].insn);
}

/*
 * Where the frame is gone, the innermost word is the way back, and those above are
 * arguments. Where frames are not told each may be the way back, or another's.
 */
static bool takes_way_back(const struct body *b, size_t step)
{
	enum stacked how = stacked(b, step);
	int gone;

	if (how != STACKED_TAKEN && how != STACKED_LOADED)
		return false;
	gone = goal_frame_is_gone(b, b->steps[step].insn.pc);
	return gone < 0 || (gone && how == STACKED_TAKEN);
}

/* Has it gone over to another stack shortly before? Where its frames are told it has
 * one of its own. */
static bool has_changed_stack(const struct body *b, size_t step)
{
	const struct step *s = b->steps;

	if (goal_frame_is_gone(b, s[step].insn.pc) >= 0)
		return false;
	for (size_t i = step; i-- > 0 && step - i <= SET_NEAR; ) {
		if (s[i].piece != s[step].piece || s[i].ends)
			return false;
		if (stacked(b, i) == STACKED_ELSEWHERE)
			return true;
	}
	return false;
}

bool goal_is_elsewhere(const struct body *b, size_t step)
{
	size_t set;

	if (b->steps[step].insn.kind == INSN_RETURN)
		return step && b->steps[step - 1].piece == b->steps[step].piece &&
			stacked(b, step - 1) == STACKED_PUSHED;
	if (goes_below(b, step))
		return true;
	if (b->runtime->one_stack)
		return false;
	return (goal_find(b, step, &set) != GOAL_NONE && set < step && takes_way_back(b, set)) ||
		has_changed_stack(b, step);
}
