/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_refs: which bytes may lead to a place, or name it, whichever of them
 * an instruction begins with?
 *
 * Whatever leads further than a short branch, and whatever names an address, has its
 * distance in 32 bits, and before them the opcode of a branch or a ModRM byte that
 * says "relative to the PC". So who looks for those two needs no instructions. He
 * finds more than there is, for any bytes may look so; but never less.
 */
#include "arch/x86_64/code.h"

enum {
	NOTHING,
	BRANCH,			/* e8, e9 */
	BRANCH_0F,		/* the second byte of one with two */
	TRANSACTION,		/* the second byte of xbegin */
	OPERAND,		/* ModRM; an immediate may follow the distance */
	DISTANCE = 4,
};

static const uint8_t kinds[256] = {
	[0xe8] = BRANCH, [0xe9] = BRANCH,
	[0x80 ... 0x8f] = BRANCH_0F,
	[0xf8] = TRANSACTION,
	[0x05] = OPERAND, [0x0d] = OPERAND, [0x15] = OPERAND, [0x1d] = OPERAND,
	[0x25] = OPERAND, [0x2d] = OPERAND, [0x35] = OPERAND, [0x3d] = OPERAND,
};

/* Is what precedes a distance, with its last byte p[at], what it has to be? */
static bool leads_in(const uint8_t *p, size_t at, uint8_t kind)
{
	switch (kind) {
	case BRANCH_0F:
		return at && p[at - 1] == 0x0f;
	case TRANSACTION:
		return at && p[at - 1] == 0xc7;
	default:
		return true;
	}
}

size_t x86_find_ref(const uint8_t *p, size_t n, raddr_t pc, size_t from, struct range to,
		    raddr_t *ret)
{
	raddr_t low = to.start - ARCH_REF_SLACK;
	uint64_t size = range_size(to) + ARCH_REF_SLACK;

	for (size_t at = from; at + DISTANCE < n; at++) {
		uint8_t kind = kinds[p[at]];

		if (kind == NOTHING)
			continue;
		*ret = pc + at + 1 + DISTANCE + (raddr_t)x86_signed(p + at + 1, DISTANCE);
		if (*ret - low < size && leads_in(p, at, kind))
			return at;
	}
	return n;
}
