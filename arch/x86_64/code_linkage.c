/* SPDX-License-Identifier: MIT */
/* x86_64/code_linkage: is this a stub of the linkage table? */
#include "arch/x86_64/code.h"

/*
 *	endbr64
 *	jmp	*slot(%rip)		or bnd, or notrack
 *
 * With or without the landing pad.
 */
size_t x86_linkage(const uint8_t *p, size_t n, raddr_t pc, raddr_t *slot)
{
	struct insn in;
	size_t at = 0;

	if (x86_measure(p, n, pc, &in))
		return 0;
	if (in.flags & INSN_LANDING) {
		at = in.size;
		if (x86_measure(p + at, n - at, pc + at, &in))
			return 0;
	}
	*slot = in.ref;
	return in.kind == INSN_JUMP_INDIRECT && in.flags & INSN_SLOT ? at + in.size : 0;
}
