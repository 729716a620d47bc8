/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_effect_others: what do instructions set and write that are coded otherwise
 * than the oldest are, or in the later opcode maps?
 */
#include "arch/x86_64/code_effect.h"

/* What the map 0F has, for halves of singles; and what 0F38 has, of which nothing sets a general
 * register or writes memory. */
enum { MAP_HALVES = 5, MAP_HALVES_38 = 6 };

/* What stands for a prefix in VEX and its kin. */
enum { BY_66 = 1, BY_F3 = 2, BY_F2 = 3 };

/* ---- where its parts are --------------------------------------------------- */

/* Of VEX, EVEX and XOP the byte that has W, a further register and what stands for a
 * prefix. */
static uint8_t payload(const uint8_t *p, const struct x86_form *f)
{
	return p[f->op_at - (f->coding == X86_EVEX ? 2 : 1)];
}

/* The register that no ModRM names. */
static uint16_t bit_of_third(const uint8_t *p, const struct x86_form *f)
{
	return BIT(~payload(p, f) >> 3 & 15);
}

/* Only the parts of a vector that a mask says. */
static bool is_masked(const uint8_t *p, const struct x86_form *f)
{
	return f->coding == X86_EVEX && p[f->op_at - 1] & 7;
}

/* ---- what it sets ---------------------------------------------------------- */

/* Vector instructions that set a general register. */
static uint16_t set_by_vector(const struct x86_form *f)
{
	bool from_vector = (f->op & 0xfe) == 0x2c || (f->op & 0xfe) == 0x78 ||
		(f->op & 0xfe) == 0x92 || f->op == 0x50 || f->op == 0xc5 || f->op == 0xd7;

	if (from_vector)
		return BIT(reg_of(f));
	return f->op == 0x7e && !f->memory ? BIT(rm_of(f)) : 0;
}

/* Those that compute with the general registers: crc32, movbe, adcx; andn, bextr, bzhi,
 * pdep, pext, mulx, and shifts; and compare and add. */
static uint16_t set_by_0f38(const uint8_t *p, const struct x86_form *f)
{
	bool third = f->coding == X86_VEX && (f->op == 0xf3 || f->op == 0xf6);

	if (f->op < (f->coding == X86_VEX ? 0xe0 : 0xf0) || f->op > 0xf8)
		return 0;
	/* urdmsr has its operands the other way around. */
	return BIT(reg_of(f)) | (third ? bit_of_third(p, f) : 0) |
		(f->op == 0xf8 && !f->memory ? BIT(rm_of(f)) : 0);
}

static uint16_t set_by_0f3a(const struct x86_form *f)
{
	if (f->op >= 0x14 && f->op <= 0x17)
		return f->memory ? 0 : BIT(rm_of(f));
	if (f->op == 0xf0)
		return BIT(reg_of(f));
	return f->op >= 0x60 && f->op <= 0x63 ? BIT(RCX) : 0;
}

static uint16_t set_by_xop(const uint8_t *p, const struct x86_form *f)
{
	return BIT(reg_of(f)) | bit_of_third(p, f) | (f->memory ? 0 : BIT(rm_of(f)));
}

/* ---- what it writes -------------------------------------------------------- */

/* Bytes of the vectors that it is of. */
static size_t vector_length(const uint8_t *p, const struct x86_form *f)
{
	if (f->coding == X86_EVEX)
		return (size_t)16 << (p[f->op_at - 1] >> 5 & 3);
	return payload(p, f) & 4 ? 32 : 16;
}

/* vextractf128 and its kin: a quarter, or half, of a vector. */
static bool is_part(const struct x86_form *f)
{
	return f->map == X86_MAP_0F3A && (f->op & 0xdd) == 0x19;
}

static uint8_t part_size(const struct x86_form *f)
{
	return f->op & 2 ? 32 : 16;
}

size_t x86_counted_by(const uint8_t *p, const struct x86_form *f)
{
	uint8_t by = payload(p, f) & 3;

	/* Of what a mask lets through it is not told how far it reaches. */
	if (is_masked(p, f))
		return 0;
	if (is_part(f))
		return part_size(f);
	if (f->map != X86_MAP_0F)
		return 0;
	switch (f->op) {
	case 0x10:
	case 0x11:
		return by == BY_F3 ? 4 : by == BY_F2 ? 8 : vector_length(p, f);
	case 0x12:			/* of a part that is doubled it depends on which */
	case 0x16:
		return by <= BY_66 ? 8 : 0;
	case 0x13:
	case 0x17:
	case 0xd6:
		return 8;
	case 0x28:
	case 0x29:
	case 0x2b:
	case 0x6f:
	case 0x7f:
	case 0xe7:
		return vector_length(p, f);
	case 0x6e:
	case 0x7e:
		return by == BY_F3 || is_wide(f) ? 8 : 4;
	}
	return 0;
}

/* Moves of vectors are of whole words, whatever is in them. */
static void store_vector(const uint8_t *p, const struct x86_form *f, struct effect *e)
{
	uint8_t by = payload(p, f) & 3;
	size_t length = vector_length(p, f);

	switch (f->op) {
	case 0x11:
		store_of(e, reg_of(f), f->map == MAP_HALVES ? 2 : by == BY_F3 ? 4 :
			 by == BY_F2 ? 8 : length);
		break;
	case 0x13:
	case 0x17:
	case 0xd6:
		store_of(e, reg_of(f), 8);
		e->word = f->op == 0x17;
		break;
	case 0x29:
	case 0x2b:
	case 0x7f:
	case 0xe7:
		store_of(e, reg_of(f), length);
		break;
	case 0x7e:
		if (by == BY_66)
			store_of(e, reg_of(f), f->map == MAP_HALVES ? 2 : is_wide(f) ? 8 : 4);
		break;
	case 0x91:			/* a mask */
		store(e, NONE, 0);
		break;
	case 0xae:			/* how is rounded: stmxcsr, ldmxcsr */
		if (x86_modrm_reg(f) == 3)
			store(e, NONE, 4);
	}
	e->computes = e->stores && is_masked(p, f);
}

/* Of the general registers, or what a mask says. */
static void store_0f38(const uint8_t *p, const struct x86_form *f, struct effect *e)
{
	static const uint8_t masked[] = { 0x2e, 0x2f, 0x49, 0x4b, 0x8e };
	static const uint8_t packed[] = { 0x63, 0x8a, 0x8b, 0xa0, 0xa1, 0xa2, 0xa3 };
	uint8_t row = f->op >> 4;
	bool shorter = f->op < 0x40 && row >= 1 && (f->op & 15) < 6;

	if (f->coding == X86_VEX)
		e->computes = row == 0xe || memchr(masked, f->op, sizeof(masked));
	else if (f->coding == X86_EVEX)
		e->computes = (shorter && (payload(p, f) & 3) == BY_F3) ||
			memchr(packed, f->op, sizeof(packed));
	else
		e->computes = f->op == 0xf5 || f->op == 0xf6 || f->op == 0xfc ||
			(f->op == 0xf1 && !(f->prefixes & X86_REPNE));
	e->stores = e->computes;
	if (f->coding == X86_LEGACY && f->op == 0xf9)
		store(e, reg_of(f), is_wide(f) ? 8 : 4);
	/* To where a register says, not to the operand. */
	if (f->coding == X86_LEGACY && f->op == 0xf8)
		e->stores = true, e->memory = false;
}

/* One element, or a part; halves and quarters are of whole words. */
static void store_0f3a(const uint8_t *p, const struct x86_form *f, struct effect *e)
{
	static const uint8_t sizes[] = { 1, 2, 4, 4 };
	uint8_t which = p[f->size - 1];

	if (is_part(f)) {
		store_of(e, reg_of(f), part_size(f));
		e->word = (which & (part_size(f) == 16 ? 3 : 1)) * part_size(f) / 8;
	} else if (f->op >= 0x14 && f->op <= 0x17) {
		store_of(e, reg_of(f), f->op == 0x16 && is_wide(f) ? 8 : sizes[f->op & 3]);
		e->word = e->width == 8 ? which & 1 : 0;
	}
	if (f->op == 0x1d)
		store(e, NONE, 0);
	e->computes = e->stores && is_masked(p, f);
}

void x86_effect_others(const uint8_t *p, const struct x86_form *f, struct effect *e)
{
	if (f->coding == X86_XOP) {
		e->others = set_by_xop(p, f);
	} else if (f->map == X86_MAP_0F38) {
		e->others = set_by_0f38(p, f);
		if (f->memory)
			store_0f38(p, f, e);
	} else if (f->map == X86_MAP_0F3A) {
		e->others = set_by_0f3a(f);
		if (f->memory)
			store_0f3a(p, f, e);
	} else if (f->map != MAP_HALVES_38) {
		e->others = set_by_vector(f);
		if (f->memory)
			store_vector(p, f, e);
		else if (f->op == 0xf7)
			x86_store_masked(f, e);
	}
}
