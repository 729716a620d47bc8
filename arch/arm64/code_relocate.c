/* SPDX-License-Identifier: MIT */
/*
 * arm64/code_relocate: which words do elsewhere what this one does here?
 *
 * No register and no flag differs, not even x16 and x17, which the procedure
 * call standard would allow: a tail call may hold its destination there. An
 * address out of a word's reach is made with adrp and add, which work on pages
 * of 4 KiB; a module is loaded at a multiple of those, so they stay exact.
 */
#include "arch/arm64/code.h"

#include <errno.h>

/* Words under construction. Once something went wrong the rest is a no-op. */
struct output {
	uint8_t *bytes;
	size_t used, cap;
	raddr_t to;		/* address of bytes[0] */
	int err;
};

static raddr_t here(const struct output *o)
{
	return o->to + o->used;
}

static void arm64_put(struct output *o, uint32_t word)
{
	if (!o->err && o->cap - o->used < 4)
		o->err = -ENOSPC;
	if (o->err)
		return;
	arm64_put_word(o->bytes + o->used, word);
	o->used += 4;
}

static void put_b(struct output *o, raddr_t dest)
{
	uint32_t word = 0;

	if (!o->err)
		o->err = arm64_branch(here(o), dest, false, &word);
	arm64_put(o, word);
}

static void put_adrp(struct output *o, unsigned int reg, raddr_t page)
{
	int64_t pages = (int64_t)(page - ALIGN_DOWN(here(o), 4096)) >> 12;
	uint32_t word = 0x90000000 | reg;

	if (!arm64_field(pages >> 2, 19, 5, &word) && !o->err)
		o->err = -ERANGE;
	arm64_put(o, word | (uint32_t)(pages & 3) << 29);
}

/* reg = address; reg is not 31, which here is the stack pointer. */
static void put_address(struct output *o, unsigned int reg, raddr_t address)
{
	put_adrp(o, reg, ALIGN_DOWN(address, 4096));
	/* add reg, reg, #low 12 bits */
	arm64_put(o, 0x91000000 | (uint32_t)(address & 4095) << 10 | reg << 5 | reg);
}

/* Conditional branches reach less than the stub is far: turn the condition
 * round and step over a b. */
static void put_bcond(struct output *o, uint32_t w, raddr_t dest)
{
	uint32_t skip = arm64_invert(w);

	arm64_field(2, arm64_is_tbz(w) ? 14 : 19, 5, &skip);
	arm64_put(o, skip);
	put_b(o, dest);
}

static void put_adr(struct output *o, uint32_t w, raddr_t ref)
{
	unsigned int reg = w & 31;

	if (reg == ARM64_SP)	/* a write to xzr */
		arm64_put(o, ARM64_NOP);
	else if (arm64_is_adrp(w))
		put_adrp(o, reg, ref);
	else
		put_address(o, reg, ref);
}

/* The load or prefetch with a base register that does what this one does with
 * its label. */
static uint32_t literal_by_register(uint32_t w, unsigned int base)
{
	static const uint32_t general[] = {
		0xb9400000,	/* ldr w */
		0xf9400000,	/* ldr x */
		0xb9800000,	/* ldrsw */
		0xf9800000,	/* prfm */
	};
	static const uint32_t vector[] = {
		0xbd400000,	/* ldr s */
		0xfd400000,	/* ldr d */
		0x3dc00000,	/* ldr q */
	};
	unsigned int opc = w >> 30;

	return (w & 1 << 26 ? vector[opc] : general[opc]) | base << 5 |
	       (w & 31);
}

/* Does it leave its result in a general register that can hold the address
 * before? prfm has an operation there instead. */
static bool has_general_target(uint32_t w)
{
	return !(w & 1 << 26) && w >> 30 != 3 && (w & 31) != ARM64_SP;
}

static void put_literal(struct output *o, uint32_t w, raddr_t ref)
{
	uint32_t near = w & ~(0x7ffffu << 5);
	int64_t off = (int64_t)(ref - here(o));

	if (arm64_field(off >> 2, 19, 5, &near)) {
		arm64_put(o, near);
	} else if (has_general_target(w)) {
		put_address(o, w & 31, ref);
		arm64_put(o, literal_by_register(w, w & 31));
	} else {
		/* Not right below the stack pointer: code of Go's has a word there. */
		arm64_put(o, 0xf81e0ff0);	/* str x16, [sp, #-32]! */
		put_address(o, 16, ref);
		arm64_put(o, literal_by_register(w, 16));
		arm64_put(o, 0xf84207f0);	/* ldr x16, [sp], #32 */
	}
}

/* blr, blraa ... become br, braa ... behind x30 = the return address. */
static void put_call_register(struct output *o, uint32_t w, raddr_t back)
{
	bool authenticated = w & 1 << 11;
	bool has_modifier = w & 1 << 24;

	if ((w >> 5 & 31) == ARM64_LR ||
	    (authenticated && has_modifier && (w & 31) == ARM64_LR)) {
		o->err = -ENOTSUP;	/* x30 is read after it is set */
		return;
	}
	put_address(o, ARM64_LR, back);
	/* From a page without BTI, as stubs are in, br may land on `bti c`
	 * through any register. */
	arm64_put(o, w & ~(1u << 21));
}

static void put_pcrel(struct output *o, uint32_t w, raddr_t ref)
{
	if (arm64_is_literal(w))
		put_literal(o, w, ref);
	else
		put_adr(o, w, ref);
}

int arm64_relocate(const uint8_t *p, const struct insn *in, raddr_t to,
		   uint8_t *out, size_t cap)
{
	struct output o = { .bytes = out, .cap = cap, .to = to };
	uint32_t w = arm64_word(p);

	if (in->flags & INSN_PINNED)
		return -ENOTSUP;
	switch (in->kind) {
	case INSN_JUMP:
		put_b(&o, in->dest);
		break;
	case INSN_BRANCH:
		put_bcond(&o, w, in->dest);
		break;
	case INSN_CALL:
		put_address(&o, ARM64_LR, in->pc + 4);
		put_b(&o, in->dest);
		break;
	case INSN_CALL_INDIRECT:
		put_call_register(&o, w, in->pc + 4);
		break;
	case INSN_SYSCALL:	/* a restarted one has its PC on itself */
	case INSN_UNKNOWN:
		return -ENOTSUP;
	case INSN_STOP:
		if (!arm64_is_trap(w))
			return -ENOTSUP;
		arm64_put(&o, w);
		break;
	default:
		if (in->flags & INSN_PCREL)
			put_pcrel(&o, w, in->ref);
		else
			arm64_put(&o, w);
	}
	return o.err ? o.err : (int)o.used;
}
