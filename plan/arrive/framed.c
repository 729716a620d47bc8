/* SPDX-License-Identifier: MIT */
/*
 * framed: may a function go by a word of its frame that another register reaches?
 *
 * Most functions give addresses of their frame away, and many go by words of memory: by a register
 * that has nothing of the stack. Which may have is told by all moves and sums of the function,
 * whatever their order.
 */
#include "plan/arrive/framed.h"

bool framed_by_memory(const struct insn *in)
{
	return (in->kind == INSN_JUMP_INDIRECT || in->kind == INSN_CALL_INDIRECT) &&
		!(in->flags & (INSN_SLOT | INSN_BY_REGISTER));
}

bool framed_pass(struct framed *f, const struct arch *arch, const struct insn *in,
		 const uint8_t *bytes, size_t left, unsigned int glance)
{
	bool goes = framed_by_memory(in);
	struct effect e;

	if (!arch->effect || (!goes && !(glance & GLANCE_COPIES)))
		return false;
	arch->effect(bytes, left, in, &e);
	if (!goes)
		effect_note_copies(&e, f->copies);
	else if (e.base >= 0)
		f->bases |= 1u << e.base;
	return f->bases && effect_copied(1u << arch->stack, f->copies) & f->bases &
		~(1u << arch->stack | 1u << arch->frame);
}
