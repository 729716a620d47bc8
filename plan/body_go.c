/* SPDX-License-Identifier: MIT */
/* body_go: where may a function of Go's be recorded? */
#include "plan/impl.h"

/* What sets the thread pointer is entered without one, or with another thread's. */
static void find_ready(struct body *b)
{
	const struct arch *arch = b->impl->arch;
	size_t left;

	for (size_t i = 1; i < b->nsteps && arch->is_thread_call; i++) {
		const struct insn *in = &b->steps[i - 1].insn;
		const uint8_t *p = symbols_text(b->impl->symbols, in->pc, &left);

		if (b->steps[i].insn.kind == INSN_SYSCALL && p && arch->is_thread_call(p, in))
			b->ready = i + 1;
	}
}

/* The first function of a goroutine returns into goexit, behind its first byte, which
 * no other code enters: nothing else of Go's begins with a nop and a call. */
static size_t returned_into(const struct body *b)
{
	return b->nsteps > 1 && b->steps[0].insn.flags & INSN_NOP &&
		b->steps[1].insn.kind == INSN_CALL;
}

/*
 * A function of Go's that asks for room on its stack has what the recording takes
 * behind that, and behind its return. Others may be called with the last eight bytes
 * of a stack; and those that have to load g have it in its register no longer when
 * they return.
 */
void body_find_check(struct body *b)
{
	const struct arch *arch = b->impl->arch;
	size_t left;
	const uint8_t *p = symbols_text(b->impl->symbols, b->func->range.start, &left);
	bool loads = false;
	int size = p && arch->stack_check ?
		arch->stack_check(p, MIN(left, range_size(b->func->range)), &loads) : 0;
	raddr_t end = b->func->range.start + (raddr_t)size;

	while (b->ncheck < b->nsteps && b->steps[b->ncheck].insn.pc < end)
		b->ncheck++;
	b->tight = !size || loads;
	if (b->entry || b->ncheck == b->nsteps || b->steps[b->ncheck].insn.pc != end ||
	    (b->tight && !b->impl->g))
		b->refusal = REFUSED_GO;
	b->entry = returned_into(b);
	find_ready(b);
}
