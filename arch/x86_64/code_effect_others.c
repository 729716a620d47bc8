/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_effect_others: which general registers do instructions set that are coded
 * otherwise than the oldest are, or in the later opcode maps?
 */
#include "arch/x86_64/code.h"

enum { RCX = 1, RSP = 4 };

#define BIT(reg) ((uint16_t)(1u << (reg)))

/* A register of which only the low bits are at hand: either of two. */
static uint16_t either(unsigned int low)
{
	return (uint16_t)(BIT(low) | BIT(low + 8));
}

/* Vector instructions that set a general register. */
static uint16_t set_by_vector(const struct x86_form *f)
{
	bool from_vector = (f->op & 0xfe) == 0x2c || (f->op & 0xfe) == 0x78 ||
		(f->op & 0xfe) == 0x92 || f->op == 0x50 || f->op == 0xc5 || f->op == 0xd7;

	if (from_vector)
		return either(x86_modrm_reg(f));
	return f->op == 0x7e && !f->memory ? either(x86_modrm_rm(f)) : 0;
}

/* Those that compute with the general registers: crc32, movbe, adcx; andn, bextr, bzhi,
 * pdep, pext, and shifts; of two results, or one that no ModRM names, any may be it. */
static uint16_t set_by_0f38(const struct x86_form *f)
{
	if (f->op < 0xf0 || f->op > 0xf8)
		return 0;
	return f->coding == X86_VEX && (f->op == 0xf3 || f->op == 0xf6) ? 0xffff & ~BIT(RSP) :
		either(x86_modrm_reg(f));
}

static uint16_t set_by_0f3a(const struct x86_form *f)
{
	if (f->op >= 0x14 && f->op <= 0x17)
		return f->memory ? 0 : either(x86_modrm_rm(f));
	if (f->op == 0xf0)
		return either(x86_modrm_reg(f));
	return f->op >= 0x60 && f->op <= 0x63 ? BIT(RCX) : 0;
}

void x86_effect_others(const struct x86_form *f, struct effect *e)
{
	e->stores |= f->memory;
	e->width = 16;
	if (f->coding == X86_XOP || f->map > X86_MAP_0F3A)
		e->others = f->coding == X86_XOP ? 0xffff & ~BIT(RSP) : 0;
	else if (f->map == X86_MAP_0F)
		e->others = set_by_vector(f);
	else
		e->others = f->map == X86_MAP_0F38 ? set_by_0f38(f) : set_by_0f3a(f);
}
