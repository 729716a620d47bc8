/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_effect_of: what does that come from which an instruction sets a general register
 * to, where it is not told, or which it leaves in memory where something was before?
 *
 * What only says which bits, or how many, does not count, nor does what leaves less than three
 * bytes of an operand.
 */
#include "arch/x86_64/code_effect.h"

enum { ROW_SBB = 3, ROW_SUB = 5, ROW_XOR = 6 };

/* The operand that ModRM names, a register or memory. */
static uint32_t rm_bit(const struct x86_form *f, bool byte)
{
	return f->memory ? 1u << EFFECT_MEMORY : BIT(byte ? of_byte(f, rm_of(f)) : rm_of(f));
}

static uint16_t reg_bit(const struct x86_form *f, bool byte)
{
	return BIT(byte ? of_byte(f, reg_of(f)) : reg_of(f));
}

/* Of bytes and words of two bytes the rest of the register stays. */
static void set_parts(const struct x86_form *f, const struct effect *e, struct effect_of *ret,
		      bool byte)
{
	if (byte || width_of(f) == 2)
		ret->parts |= e->others;
	if (e->computes)
		ret->width = (uint8_t)(byte ? 1 : width_of(f));
}

static void of_arithmetic(const struct x86_form *f, const struct effect *e, struct effect_of *ret)
{
	unsigned int row = f->op >> 3, form = f->op & 7;
	bool byte = !(form & 1), same = !f->memory && rm_of(f) == reg_of(f);

	set_parts(f, e, ret, byte);
	if (form >= 4)
		ret->of = BIT(RAX);
	else if (!same || (row != ROW_SBB && row != ROW_SUB && row != ROW_XOR))
		ret->of = rm_bit(f, byte) | reg_bit(f, byte);
	ret->differs = row == ROW_SUB && form < 4 && !byte;
	ret->hashes = row == ROW_XOR && form < 4 && !byte && !f->memory;
}

static void of_group_f7(const struct x86_form *f, const struct effect *e, struct effect_of *ret)
{
	bool byte = f->op == 0xf6;
	unsigned int row = x86_modrm_reg(f);

	ret->of = rm_bit(f, byte) | (row >= 4 ? BIT(RAX) : 0) | (row >= 6 ? BIT(RDX) : 0);
	ret->hashes = row == 4 || row == 5;
	if (row < 4)
		set_parts(f, e, ret, byte);
}

static void of_one(const struct x86_form *f, const struct effect *e, struct effect_of *ret)
{
	bool byte = !(f->op & 1);

	switch (f->op) {
	case 0x69:
	case 0x6b:
		ret->of = rm_bit(f, false);
		ret->hashes = !e->computes;
		return;
	case 0x80 ... 0x83:
	case 0xc0 ... 0xc1:
	case 0xd0 ... 0xd3:
	case 0xfe ... 0xff:
		ret->of = rm_bit(f, byte && f->op != 0x82);
		set_parts(f, e, ret, byte);
		return;
	case 0x86 ... 0x87:
		if (!byte)
			ret->of = rm_bit(f, false) | reg_bit(f, false);
		set_parts(f, e, ret, byte);
		return;
	case 0x88:
	case 0x8a:
	case 0xb0 ... 0xb7:
	case 0xc6:
		ret->parts |= e->others;
		return;
	case 0x63:
	case 0x89:
	case 0x8b:
	case 0x8d:
	case 0xa1:
	case 0xb8 ... 0xbf:
	case 0xc7:
		set_parts(f, e, ret, false);
		return;
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
		ret->of = e->others & (BIT(RSI) | BIT(RDI));
		return;
	case 0xf6 ... 0xf7:
		of_group_f7(f, e, ret);
	}
}

static void of_0f(const struct x86_form *f, const struct effect *e, struct effect_of *ret)
{
	switch (f->op) {
	case 0x90 ... 0x9f:
	case 0xb0:
	case 0xc0:
		set_parts(f, e, ret, true);
		return;
	case 0xb6 ... 0xb7:
	case 0xbe ... 0xbf:
		set_parts(f, e, ret, false);
		return;
	case 0x40 ... 0x4f:
	case 0xa4 ... 0xa5:
	case 0xac ... 0xad:
	case 0xaf:
	case 0xc1:
		ret->of = rm_bit(f, false) | reg_bit(f, false);
		ret->hashes = f->op == 0xaf;
		set_parts(f, e, ret, false);
		return;
	case 0xab:
	case 0xb3:
	case 0xba ... 0xbb:
		ret->of = rm_bit(f, false);
		set_parts(f, e, ret, false);
		return;
	case 0xc8 ... 0xcf:
		ret->of = BIT(opcode_reg(f));
	}
}

/* andn; bextr, bzhi, pdep, pext and shifts; mulx; adcx and adox */
static void of_0f38(const uint8_t *p, const struct x86_form *f, struct effect_of *ret)
{
	uint16_t third = BIT(~p[f->op_at - 1] >> 3 & 15);

	if (f->op < 0xf2 || f->op > 0xf7)
		return;
	if (f->coding == X86_LEGACY)
		ret->of = f->op == 0xf6 ? rm_bit(f, false) | reg_bit(f, false) : 0;
	else
		ret->of = rm_bit(f, false) | (f->op == 0xf2 || f->op == 0xf5 ? third : 0) |
			(f->op == 0xf6 ? BIT(RDX) : 0);
}

/* Is bit 31 set, of four bytes of a register? */
static bool is_high(const uint8_t *p, const struct x86_form *f)
{
	bool ors = f->op == 0x0d || (f->op == 0x81 && !f->memory && x86_modrm_reg(f) == 1);

	return f->map == X86_MAP_ONE && ors && width_of(f) == 4 && f->imm_size == 4 &&
		x86_signed(p + f->imm_at, 4) < 0;
}

void x86_effect_of(const uint8_t *p, size_t n, const struct effect *e, struct effect_of *ret)
{
	struct x86_form f;

	*ret = (struct effect_of){ 0 };
	if (x86_parse(p, n, &f) || f.coding == X86_XOP || f.coding == X86_EVEX)
		return;
	if (f.coding != X86_LEGACY)
		f.rex = x86_vex_rex(p, &f);
	ret->cut = !is_wide(&f);
	ret->high = f.coding == X86_LEGACY && is_high(p, &f);
	if (f.map == X86_MAP_0F38)
		of_0f38(p, &f, ret);
	else if (f.map == X86_MAP_0F3A)
		ret->of = f.op == 0xf0 ? rm_bit(&f, false) : 0;
	else if (f.coding != X86_LEGACY)
		return;
	else if (f.map == X86_MAP_0F)
		of_0f(&f, e, ret);
	else if (f.map == X86_MAP_ONE && f.op < 0x40)
		of_arithmetic(&f, e, ret);
	else if (f.map == X86_MAP_ONE)
		of_one(&f, e, ret);
}
