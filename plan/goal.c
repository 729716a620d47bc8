/* SPDX-License-Identifier: MIT */
/* goal: what does an indirect jump go by, and with what stack? */
#include <errno.h>

#include "plan/tables.h"

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
