/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_of_stack: may an instruction write to the stack, or change or copy what reaches it?
 *
 * It is asked of each of millions, most of which do not: by their first bytes.
 */
#include "arch/x86_64/code.h"

enum { RSP = 4, RBP = 5 };

/* What a ModRM says: memory that is reached by the stack's register or the frame's (those that
 * REX makes of them, too), or one of the two for an operand. */
static bool modrm_is_of_stack(const uint8_t *p, size_t left)
{
	unsigned int modrm = left ? *p : 0, rm = modrm & 7, reg = modrm >> 3 & 7;

	if (modrm >= 0xc0)
		return rm == RSP || reg == RSP || rm == RBP || reg == RBP;
	if (rm == RSP && left > 1)
		rm = p[1] & 7;
	return (rm == RSP || rm == RBP) && (modrm & 0xc7) != 5;
}

/* What an opcode may have to do with the stack. */
enum {
	STACK_NONE,
	STACK_OF,		/* pushes, pops, exchanges with %rax; or %rsp and %rbp are set */
	STACK_MODRM,		/* what its ModRM says */
	STACK_TO,		/* it writes to no memory, but to a register: loads, comparisons */
	STACK_BOTH,		/* what its ModRM says, or it sets the register: lea, exchanges */
	STACK_FF,		/* of the last group one pushes */
	STACK_LONGER,		/* other opcodes begin so */
	STACK_BEFORE,		/* a prefix */
};

static const uint8_t of_stack[256] = {
	[0x00 ... 0x01] = STACK_MODRM, [0x02 ... 0x03] = STACK_TO,
	[0x08 ... 0x09] = STACK_MODRM, [0x0a ... 0x0b] = STACK_TO,
	[0x10 ... 0x11] = STACK_MODRM, [0x12 ... 0x13] = STACK_TO,
	[0x18 ... 0x19] = STACK_MODRM, [0x1a ... 0x1b] = STACK_TO,
	[0x20 ... 0x21] = STACK_MODRM, [0x22 ... 0x23] = STACK_TO,
	[0x28 ... 0x29] = STACK_MODRM, [0x2a ... 0x2b] = STACK_TO,
	[0x30 ... 0x31] = STACK_MODRM, [0x32 ... 0x33] = STACK_TO, [0x38 ... 0x3b] = STACK_TO,
	[0x50 ... 0x5f] = STACK_OF, [0x68] = STACK_OF, [0x6a] = STACK_OF,
	[0x63] = STACK_TO, [0x69] = STACK_TO, [0x6b] = STACK_TO,
	[0x80 ... 0x83] = STACK_MODRM, [0x84 ... 0x85] = STACK_TO,
	[0x86 ... 0x87] = STACK_BOTH, [0x88 ... 0x89] = STACK_MODRM,
	[0x8a ... 0x8b] = STACK_TO, [0x8c] = STACK_MODRM, [0x8d] = STACK_BOTH, [0x8e] = STACK_MODRM,
	[0x91 ... 0x97] = STACK_OF, [0x9c ... 0x9d] = STACK_OF, [0xc8 ... 0xc9] = STACK_OF,
	[0xb4 ... 0xb5] = STACK_OF, [0xbc ... 0xbd] = STACK_OF,
	[0xc0 ... 0xc1] = STACK_MODRM, [0xc6 ... 0xc7] = STACK_MODRM,
	[0xd0 ... 0xd3] = STACK_MODRM, [0xd8 ... 0xdf] = STACK_MODRM,
	[0xf6 ... 0xf7] = STACK_MODRM, [0xfe] = STACK_MODRM, [0xff] = STACK_FF,
	[0x0f] = STACK_LONGER, [0xc4 ... 0xc5] = STACK_LONGER, [0x62] = STACK_LONGER,
	[0x8f] = STACK_LONGER,
	[0x26] = STACK_BEFORE, [0x2e] = STACK_BEFORE, [0x36] = STACK_BEFORE, [0x3e] = STACK_BEFORE,
	[0x64 ... 0x67] = STACK_BEFORE,
	[0xf0] = STACK_BEFORE, [0xf2 ... 0xf3] = STACK_BEFORE,
};

/* Opcodes of two bytes, by the second: pushes and pops of segments, byte swaps, and what may set
 * the register that its ModRM names. Of those below 0x40 nothing is said. */
static bool two_bytes_are_of_stack(const uint8_t *op, size_t n)
{
	unsigned int reg = n > 2 ? op[2] >> 3 & 7 : 0;
	bool sets = (op[1] & 0xf0) == 0x40 || (op[1] & 0xe0) == 0xa0 || (op[1] & 0xfe) == 0xc0;

	return op[1] < 0x40 || (op[1] & 0xf6) == 0xa0 || (op[1] & 0xfe) == 0xcc ||
		(sets && (reg == RSP || reg == RBP)) || modrm_is_of_stack(op + 2, n - 2);
}

/* Behind the first byte of an opcode. Some of VEX's say by themselves which register they set. */
static bool longer_is_of_stack(const uint8_t *op, const uint8_t *last)
{
	size_t at = *op == 0xc5 ? 3 : 4, n = (size_t)(last + 1 - op);

	if (n < 2 || *op == 0x62 || *op == 0x8f)
		return true;
	if (*op == 0x0f)
		return two_bytes_are_of_stack(op, n);
	return n < at || op[at - 1] >= 0xf0 || (op[at - 1] & 0xfe) == 0x2c ||
		modrm_is_of_stack(op + at, n - at);
}

/* By the bytes of its ModRM: a bit for each way in which an opcode may have to do with the stack;
 * or only its SIB says. */
enum { STACK_BY_SIB = 1 << 7 };

static uint8_t touching[256];

static bool modrm_touches(unsigned int how, uint8_t modrm)
{
	unsigned int reg = modrm >> 3 & 7;
	bool of = modrm_is_of_stack(&modrm, 1);

	switch (how) {
	case STACK_OF:
		return true;
	case STACK_MODRM:
		return of;
	case STACK_TO:
		return reg == RSP || reg == RBP || (modrm >= 0xc0 && of);
	case STACK_BOTH:
		return reg == RSP || reg == RBP || of;
	case STACK_FF:
		return reg == 6 || of;
	}
	return false;
}

__attribute__((constructor)) static void fill_touching(void)
{
	for (unsigned int i = 0; i < 256; i++) {
		bool sib = i < 0xc0 && (i & 7) == RSP;

		for (unsigned int how = 0; how < STACK_LONGER; how++)
			touching[i] |= modrm_touches(how, sib ? i & ~7u : i) << how;
		touching[i] |= sib ? STACK_BY_SIB : 0;
	}
}

/* lea, and what moves, adds or exchanges two registers of eight bytes. What follows the opcode is a
 * ModRM, or of a longer one the rest. */
static bool copies(uint8_t op, uint8_t next)
{
	if (op == 0x0f)			/* cmov, xadd */
		return (next & 0xf0) == 0x40 || next == 0xc1;
	return op == 0x8d || (op & 0xf8) == 0x90 ||
		(next >= 0xc0 && ((op & 0xfc) == 0x00 || (op & 0xfc) == 0x88 || op == 0x87));
}

static bool is_rex(uint8_t byte)
{
	return (byte & 0xf0) == 0x40;
}

/* Prefixes behind a REX, of which the last one counts. */
__attribute__((noinline))
static bool copies_at_last(const uint8_t *p, const uint8_t *last)
{
	while (p < last && (of_stack[*p] == STACK_BEFORE ||
			    (is_rex(*p) && (is_rex(p[1]) || of_stack[p[1]] == STACK_BEFORE))))
		p++;
	return is_rex(*p) && *p & X86_REX_W && p < last && copies(p[1], p + 1 < last ? p[2] : 0);
}

unsigned int x86_glance(const uint8_t *p, const struct insn *in)
{
	const uint8_t *last = p + in->size - 1, *op = p;
	unsigned int ret = 0;

	while (of_stack[*op] == STACK_BEFORE && op < last)
		op++;
	const uint8_t *rex = is_rex(*op) && op < last ? op++ : NULL;
	unsigned int how = of_stack[*op], modrm = op < last ? op[1] : 0;
	unsigned int by = touching[modrm];

	if (rex && (how == STACK_BEFORE || is_rex(*op)))
		return GLANCE_STACK | (copies_at_last(rex, last) ? GLANCE_COPIES : 0);
	if (rex && *rex & X86_REX_W && copies(*op, modrm))
		ret = GLANCE_COPIES;
	if (how == STACK_LONGER)
		return ret | (longer_is_of_stack(op, last) ? GLANCE_STACK : 0);
	if (by & 1u << how || (by & STACK_BY_SIB && how && how != STACK_TO &&
			       modrm_is_of_stack(op + 1, (size_t)(last - op))))
		ret |= GLANCE_STACK;
	if (how == STACK_TO && modrm < 0xc0 && by & (STACK_BY_SIB | 1u << STACK_MODRM))
		ret |= GLANCE_LOADS;
	return ret;
}

/* ---- what is no more than a store, or not even that ------------------------- */

enum {
	SIMPLE_NOT,
	SIMPLE_NOTHING,		/* it sets no general register, and writes to no memory */
	SIMPLE_STORE,		/* but to its operand, if that is memory: 8 bytes at most, */
	SIMPLE_WIDE,		/* or 16 */
	SIMPLE_GROUP,		/* the last of the group compares; the others are not simple */
};

static const uint8_t simple[2][256] = {
	{
		[0x38 ... 0x3b] = SIMPLE_NOTHING, [0x84 ... 0x85] = SIMPLE_NOTHING,
		[0x80 ... 0x81] = SIMPLE_GROUP, [0x83] = SIMPLE_GROUP,
		[0x88 ... 0x89] = SIMPLE_STORE, [0xc6 ... 0xc7] = SIMPLE_STORE,
	}, {
		[0x10] = SIMPLE_NOTHING, [0x12] = SIMPLE_NOTHING, [0x14 ... 0x16] = SIMPLE_NOTHING,
		[0x1f] = SIMPLE_NOTHING, [0x28] = SIMPLE_NOTHING, [0x2a] = SIMPLE_NOTHING,
		[0x2e ... 0x2f] = SIMPLE_NOTHING, [0x51] = SIMPLE_NOTHING,
		[0x54 ... 0x5f] = SIMPLE_NOTHING, [0x6f] = SIMPLE_NOTHING,
		[0xef] = SIMPLE_NOTHING,
		[0x11] = SIMPLE_WIDE, [0x13] = SIMPLE_WIDE, [0x17] = SIMPLE_WIDE,
		[0x29] = SIMPLE_WIDE, [0x7f] = SIMPLE_WIDE, [0xd6] = SIMPLE_WIDE,
	},
};

/* Memory at a register and a number: the register; -1: another operand. */
static int simple_operand(const uint8_t *p, size_t left, unsigned int rex, int64_t *number)
{
	unsigned int modrm = left ? *p : 0xff, mod = modrm >> 6, base = modrm & 7;
	size_t at = 1;

	if (base == RSP && left > at) {
		if ((p[at] & 0x38) != RSP << 3 || rex & X86_REX_X)
			return -1;
		base = p[at++] & 7;
	}
	*number = 0;
	if (mod == 3 || (!mod && base == RBP) || left < at + (mod == 1 ? 1 : mod ? 4 : 0))
		return -1;
	if (mod)
		*number = x86_signed(p + at, mod == 1 ? 1 : 4);
	return (int)(base | (rex & X86_REX_B ? 8 : 0));
}

bool x86_only_stores(const uint8_t *p, const struct insn *in, struct only_stores *ret)
{
	size_t n = in->size, at = 0;
	unsigned int rex = 0;

	while (at + 1 < n && (p[at] == 0x66 || (p[at] & 0xfe) == 0xf2))
		at++;
	if (at + 1 < n && (p[at] & 0xf0) == 0x40)
		rex = p[at++];
	bool longer = p[at] == 0x0f && at + 2 < n;

	at += longer;
	uint8_t how = simple[longer][p[at++]];
	unsigned int modrm = at < n ? p[at] : 0;

	if (how == SIMPLE_GROUP)
		how = (modrm >> 3 & 7) == 7 ? SIMPLE_NOTHING : SIMPLE_NOT;
	*ret = (struct only_stores){ .base = -1, .most = how == SIMPLE_WIDE ? 16 : 8 };
	if (how == SIMPLE_STORE || how == SIMPLE_WIDE)
		ret->base = (int8_t)simple_operand(p + at, n - at, rex, &ret->number);
	return how == SIMPLE_NOTHING || ret->base >= 0;
}

bool x86_loads(const uint8_t *p, const struct insn *in, struct only_stores *ret)
{
	size_t n = in->size, at = 0;
	unsigned int rex = 0;

	if ((p[at] & 0xf0) == 0x40)
		rex = p[at++];
	if (at + 1 >= n || of_stack[p[at]] != STACK_TO || p[at + 1] >= 0xc0 ||
	    !modrm_is_of_stack(p + at + 1, n - at - 1))
		return false;
	ret->base = (int8_t)simple_operand(p + at + 1, n - at - 1, rex, &ret->number);
	return ret->base >= 0;
}
