/* SPDX-License-Identifier: MIT */
/*
 * arm64/code_goal: what does a jump by a register go by?
 *
 * Compilers make a switch of a sum: an address that the code names (adr, or adrp and add), and a
 * distance that is loaded from a table. What is called through a pointer was loaded whole. Both
 * stand in the instructions right before the jump, which are read backwards.
 */
#include "arch/arm64/code.h"

/* Registers of a word. */
static int rd(uint32_t w) { return w & 31; }
static int rn(uint32_t w) { return w >> 5 & 31; }
static int ra(uint32_t w) { return w >> 10 & 31; }
static int rm(uint32_t w) { return w >> 16 & 31; }

/* Bits 25 to 28: data processing with a number, or by registers; and vectors', of which some
 * set a general register. */
static bool computes(uint32_t w)
{
	uint8_t group = w >> 25 & 15;

	return (group & 14) == 8 || (group & 7) == 5 || (group & 7) == 7;
}

/* Loads and stores. They set a register or two, or a base that moves on. Exclusive ones say in
 * another whether they have stored; those that compare and swap have there what was in memory,
 * which may be a pair. So have some that are rare, and those that copy. */
static bool reaches_memory(uint32_t w)
{
	return (w >> 25 & 5) == 4;
}

static bool may_load(uint32_t w, int reg)
{
	bool exclusive = (w & 0x3f000000) == 0x08000000, pair = (w & 0x3a000000) == 0x28000000;
	bool rare = (w & 0x3b000000) == 0x19000000;

	return rd(w) == reg || rn(w) == reg || ((pair || exclusive) && ra(w) == reg) ||
		((exclusive || rare) && rm(w) >> 1 == reg >> 1);
}

static bool is_call(uint32_t w)
{
	return arm64_is_bl(w) || (w & 0xfe000000) == 0xd6000000;
}

/* nop, landing pads and their kind. Of these what signs and checks pointers sets x30 or x17, and
 * chkfeat x16. */
static bool hint_sets(uint32_t w, int reg)
{
	uint8_t number = w >> 5 & 127;

	if (number == 40)
		return reg == 16;
	if (number >> 3 == 1)
		return reg == 17;
	return (number >> 3 == 3 || number == 7) && reg == ARM64_LR;
}

static bool may_set(uint32_t w, int reg)
{
	if (arm64_is_bcond(w) || arm64_is_cbz(w) || arm64_is_tbz(w))
		return false;
	if ((w & 0xfffff01f) == ARM64_NOP)
		return hint_sets(w, reg);
	if (is_call(w))		/* what a callee keeps: AAPCS64 6.1.1 */
		return reg < 19 || reg > 29;
	if (reaches_memory(w))
		return may_load(w, reg);
	return !computes(w) || rd(w) == reg;
}

/* The last of `n` words at `p` that may set the register; `n`: none does. */
static size_t set_by(const uint8_t *p, size_t n, int reg)
{
	for (size_t i = n; i-- > 0; )
		if (may_set(arm64_word(p + 4 * i), reg))
			return i;
	return n;
}

/* The address that code at `pc` names, if the register holds one there. */
static bool named(const uint8_t *p, size_t n, raddr_t pc, int reg, raddr_t *ret)
{
	size_t at = set_by(p, n, reg);
	uint32_t w = at < n ? arm64_word(p + 4 * at) : 0;
	struct insn in;

	if (at == n || arm64_decode(p + 4 * at, 4, pc + 4 * at, &in))
		return false;
	*ret = in.ref;
	if (arm64_is_adr(w) || arm64_is_adrp(w))
		return true;
	/* add Xd, Xn, #imm */
	if ((w & 0xffc00000) != 0x91000000 || !named(p, at, pc, rn(w), ret))
		return false;
	*ret += w >> 10 & 0xfff;
	return true;
}

/* mov Xd, Xm */
static bool is_move(uint32_t w)
{
	return (w & 0xffe0ffe0) == 0xaa0003e0;
}

/* add Xd, Xn, Xm: shifted, or extended from a half of it */
static bool is_sum(uint32_t w)
{
	return (w & 0xff200000) == 0x8b000000 || (w & 0xffe00000) == 0x8b200000;
}

/* eor Xd, Xn, Xm: with the secret that a pointer was kept with */
static bool is_uncoded(uint32_t w)
{
	return (w & 0xff200000) == 0xca000000;
}

/* ldr or ldp of whole words, into this one */
static bool loads_word(uint32_t w, int reg)
{
	bool one = (w & 0xffc00000) == 0xf9400000 || (w & 0xffe00000) == 0xf8400000 ||
		(w & 0xffe00c00) == 0xf8600800 || (w & 0xff000000) == 0x58000000;
	bool pair = (w & 0xfe400000) == 0xa8400000;

	return (one && rd(w) == reg) || (pair && (rd(w) == reg || ra(w) == reg));
}

enum jump_by arm64_jump_by(const uint8_t *p, size_t before, const struct insn *in, raddr_t *base)
{
	size_t n = before / 4;
	const uint8_t *from = p - 4 * n;
	raddr_t pc = in->pc - 4 * n;
	int reg = rn(arm64_word(p));
	size_t at = set_by(from, n, reg);

	for (; at < n && is_move(arm64_word(from + 4 * at)); at = set_by(from, at, reg)) {
		reg = rm(arm64_word(from + 4 * at));
		n = at;
	}
	if (at == n)
		return JUMP_BY_EARLIER;
	uint32_t w = arm64_word(from + 4 * at);

	if (named(from, at + 1, pc, reg, base))
		return JUMP_BY_NAME;
	if (is_sum(w))
		return named(from, at, pc, rn(w), base) || named(from, at, pc, rm(w), base) ?
			JUMP_BY_TABLE : JUMP_BY_SUM;
	return loads_word(w, reg) || is_uncoded(w) ? JUMP_BY_WORD : JUMP_BY_UNKNOWN;
}
