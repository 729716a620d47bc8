/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_reach: which register does an instruction reach memory by, and which does
 * it leave alone?
 *
 * Code that has reached memory by a register can do so again while the register is as it
 * was. So both answers err on the side of no.
 */
#include "arch/x86_64/code.h"

enum { RSP = 4, RBP = 5 };

/* String instructions, absolute addresses and xlat: memory without a ModRM. */
bool x86_is_implicit(const struct x86_form *f)
{
	return f->coding == X86_LEGACY && f->map == X86_MAP_ONE &&
		((f->op >= 0xa0 && f->op <= 0xa7) || (f->op >= 0xaa && f->op <= 0xaf) ||
		 f->op == 0xd7);
}

/* lea, and what only looks ahead. */
bool x86_only_names(const struct x86_form *f)
{
	if (f->coding != X86_LEGACY)
		return false;
	return (f->map == X86_MAP_ONE && f->op == 0x8d) || x86_is_nop(f) ||
		(f->map == X86_MAP_0F && (f->op == 0x18 || f->op == 0x0d));
}

static bool is_map(const struct x86_form *f, unsigned int map)
{
	return f->coding == X86_LEGACY && f->map == map;
}

/* Moves and arithmetic that read and write what they name, and %rax if they say so in
 * the opcode. */
static bool is_simple_one(const struct x86_form *f)
{
	uint8_t reg = x86_modrm_reg(f);

	switch (f->op) {
	case 0x00 ... 0x3f:
		return (f->op & 7) < 6;
	case 0x50 ... 0x5f:
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x80 ... 0x8b:
	case 0x8d:
	case 0xb0 ... 0xc1:
	case 0xd0 ... 0xd3:
		return true;
	case 0x90:
		return x86_is_nop(f);
	case 0xc6 ... 0xc7:
		return reg == 0;
	case 0xf6 ... 0xf7:
		return reg < 4;
	case 0xfe ... 0xff:
		return reg < 2;
	default:
		return false;
	}
}

/* Of the other map those whose memory need not be aligned, and which do not take an
 * operand for a place in a string of bits. */
static bool is_simple_0f(uint8_t op)
{
	return (op & 0xfe) == 0x10 || (op & 0xf0) == 0x40 || (op & 0xf0) == 0x90 ||
		op == 0x1f || op == 0xaf || (op & 0xf6) == 0xb6;
}

static bool is_simple(const struct x86_form *f)
{
	return is_map(f, X86_MAP_ONE) ? is_simple_one(f) :
		is_map(f, X86_MAP_0F) && is_simple_0f(f->op);
}

static int base_of(const struct x86_form *f)
{
	uint8_t rm = x86_has_sib(f) ? f->sib & 7 : x86_modrm_rm(f);

	if (x86_has_sib(f) && ((f->sib >> 3 & 7) != RSP || f->rex & X86_REX_X))
		return -1;
	if (x86_modrm_mod(f) == 0 && rm == RBP)	/* none, or the PC */
		return -1;
	return rm | (f->rex & X86_REX_B ? 8 : 0);
}

int x86_reaches(const uint8_t *p, const struct insn *in)
{
	const uint8_t odd = X86_LOCK | X86_SEGMENT | X86_ADDRSIZE | X86_REP | X86_REPNE;
	struct x86_form f;

	if (in->kind != INSN_PLAIN || x86_parse(p, in->size, &f) < 0 || !f.memory ||
	    f.prefixes & odd || x86_is_implicit(&f) || x86_only_names(&f) || !is_simple(&f))
		return -1;
	return base_of(&f);
}

/* Is this number of a register that of `reg`, or of its second byte? */
static bool is_of(const struct x86_form *f, uint8_t number, int reg)
{
	return number == (reg & 7) || (!f->rex && number == reg + 4);
}

/* In the opcode itself: pop, push, mov of a number; %rax, by which some do arithmetic. A push
 * or pop moves %rsp. */
static bool names_in_opcode(const struct x86_form *f, int reg)
{
	bool stack = (f->op & 0xf0) == 0x50, any = stack || (f->op & 0xf0) == 0xb0;
	bool rax = f->op < 0x40 && (f->op & 7) >= 4;

	return is_map(f, X86_MAP_ONE) &&
		((any && is_of(f, f->op & 7, reg)) || (rax && reg == 0) ||
		 (stack && reg == RSP));
}

/* What it names otherwise than to reach memory it may change. */
bool x86_keeps(const uint8_t *p, const struct insn *in, int reg)
{
	struct x86_form f;

	if (in->kind != INSN_PLAIN || x86_parse(p, in->size, &f) < 0 || !is_simple(&f) ||
	    names_in_opcode(&f, reg))
		return false;
	return !f.modrm_at || (!is_of(&f, x86_modrm_reg(&f), reg) &&
			       (f.memory || !is_of(&f, x86_modrm_rm(&f), reg)));
}

/* mov $158, %eax or %rax: arch_prctl */
bool x86_is_thread_call(const uint8_t *p, const struct insn *in)
{
	static const uint8_t number[] = { 158, 0, 0, 0 };

	if (in->size == 5)
		return p[0] == 0xb8 && !memcmp(p + 1, number, sizeof(number));
	return in->size == 7 && !memcmp(p, (uint8_t[]){ 0x48, 0xc7, 0xc0 }, 3) &&
		!memcmp(p + 3, number, sizeof(number));
}
