/* SPDX-License-Identifier: MIT */
/*
 * arm64/code_decode: what does this instruction do to the flow of control, and
 * may it be moved?
 *
 * By mask, and without capstone, whose version 4 misses pointer authentication,
 * atomics and SVE. Every instruction is one word, so a sweep never loses its
 * step, and only two small groups of the encoding can name the PC: branches and
 * PC-relative addressing. In these a word that is not known is not moved;
 * elsewhere it may be, whatever it means.
 */
#include "arch/arm64/code.h"

#include <errno.h>

/* Bits `at` and up, `bits` of them, as a signed count of words: bytes. */
static int64_t offset(uint32_t w, unsigned int at, unsigned int bits)
{
	return ((int64_t)((uint64_t)w << (64 - at - bits)) >> (64 - bits)) * 4;
}

/* The signed 21 bits of adr and adrp: immhi, immlo. */
static int64_t adr_offset(uint32_t w)
{
	return offset(w, 5, 19) | (w >> 29 & 3);
}

static void arm64_set(struct insn *ret, uint8_t kind)
{
	ret->kind = kind;
	if (kind == INSN_UNKNOWN)
		ret->flags |= INSN_PINNED;
}

static void set_dest(struct insn *ret, uint8_t kind, int64_t off)
{
	ret->kind = kind;
	ret->dest = ret->pc + off;
}

static void set_ref(struct insn *ret, raddr_t ref)
{
	ret->flags |= INSN_PCREL;
	ret->ref = ref;
}

/* ldr and ldrsw with a label; prfm loads nothing. */
static void set_constant(uint32_t w, struct insn *ret)
{
	bool vector = w & 1 << 26;
	unsigned int opc = w >> 30;

	set_ref(ret, ret->pc + offset(w, 5, 19));
	if (!vector && opc == 3)
		return;
	ret->flags |= INSN_CONSTANT;
	ret->dest = ret->ref + (vector ? 4u << opc : opc == 1 ? 8 : 4);
}

/* d6 and d7: bit 24 and bits 10-11 tell the authenticated forms apart. */
static uint8_t register_branch_kind(uint32_t w)
{
	switch (w >> 21 & 7) {
	case 0:
		return INSN_JUMP_INDIRECT;
	case 1:
		return INSN_CALL_INDIRECT;
	case 2:
		return INSN_RETURN;
	default:		/* eret, drps */
		return INSN_UNKNOWN;
	}
}

static uint8_t exception_kind(uint32_t w)
{
	switch (w & 0xffe0001f) {
	case 0xd4000001:	/* svc */
		return INSN_SYSCALL;
	case 0xd4200000:	/* brk */
	case 0xd4400000:	/* hlt */
		return INSN_STOP;
	default:
		return INSN_UNKNOWN;
	}
}

/* ldxr and stxr and their kind, of one register or two; casp has bit 21, too, but not bit 31. */
static void decode_exclusive(uint32_t w, struct insn *ret)
{
	bool pair = w & 1 << 21, loads = w & 1 << 22;

	if (!pair || w >> 31)
		ret->flags |= loads ? INSN_RESERVES : INSN_COMMITS;
}

static void decode_system(uint32_t w, struct insn *ret)
{
	if ((w & 0xfffff0ff) == 0xd503305f)	/* clrex */
		ret->flags |= INSN_RESERVES;
	switch (w) {
	case ARM64_NOP:
		ret->flags |= INSN_NOP;
		break;
	case 0xd503233f:	/* paciasp, a landing pad by itself */
	case 0xd503237f:	/* pacibsp */
	case 0xd503241f:	/* bti, bti c, bti j, bti jc */
	case 0xd503245f:
	case 0xd503249f:
	case 0xd50324df:
		ret->flags |= INSN_LANDING;
		break;
	}
}

/* Branches, exceptions, system instructions: bits 26-28 are 101. */
static void decode_branch(uint32_t w, struct insn *ret)
{
	uint8_t top = w >> 24;

	if (arm64_is_b(w))
		set_dest(ret, INSN_JUMP, offset(w, 0, 26));
	else if (arm64_is_bl(w))
		set_dest(ret, INSN_CALL, offset(w, 0, 26));
	else if (arm64_is_bcond(w))
		set_dest(ret, arm64_is_always(w) ? INSN_JUMP : INSN_BRANCH,
			 offset(w, 5, 19));
	else if (arm64_is_cbz(w))
		set_dest(ret, INSN_BRANCH, offset(w, 5, 19));
	else if (arm64_is_tbz(w))
		set_dest(ret, INSN_BRANCH, offset(w, 5, 14));
	else if (top == 0xd6 || top == 0xd7)
		arm64_set(ret, register_branch_kind(w));
	else if (top == 0xd4)
		arm64_set(ret, exception_kind(w));
	else if (top == 0xd5)
		decode_system(w, ret);
	else
		arm64_set(ret, INSN_UNKNOWN);
}

/* autiasppc and its kind: the PC is signed into the return address, or the
 * operand is a label. */
static bool signs_pc(uint32_t w)
{
	return (w & 0xffc0001f) == 0xf380001f || (w & 0xffff8000) == 0xdac18000;
}

/* What belongs to no group: bits 25-28 are 0000 without the SME bit, 0001 or
 * 0011. */
static bool is_unallocated(uint32_t w)
{
	uint8_t group = w >> 25 & 15;

	return group == 1 || group == 3 || (group == 0 && !(w >> 31));
}

static void decode_word(uint32_t w, struct insn *ret)
{
	if ((w >> 16) == 0)
		arm64_set(ret, INSN_STOP);	/* udf */
	else if ((w >> 26 & 7) == 5)
		decode_branch(w, ret);
	else if (arm64_is_adr(w))
		set_ref(ret, ret->pc + adr_offset(w));
	else if (arm64_is_adrp(w))
		set_ref(ret, ALIGN_DOWN(ret->pc, 4096) +
			     adr_offset(w) * 4096);
	else if (arm64_is_literal(w))
		set_constant(w, ret);
	else if (is_unallocated(w) || (w & 0x3b000000) == 0x18000000)
		arm64_set(ret, INSN_UNKNOWN);
	else if (signs_pc(w))
		ret->flags |= INSN_PINNED;
	else if ((w & 0x3f800000) == 0x08000000)
		decode_exclusive(w, ret);
}

int arm64_decode(const uint8_t *p, size_t n, raddr_t pc, struct insn *ret)
{
	if (n < 4 || pc & 3)
		return -EILSEQ;
	*ret = (struct insn){ .pc = pc, .size = 4, .kind = INSN_PLAIN };
	decode_word(arm64_word(p), ret);
	return 0;
}
