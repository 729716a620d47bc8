/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_vector: which vector registers does an instruction make its result of?
 *
 * Compilers add up two addresses, or more, at a time. Registers above 15 are taken for those
 * of the same low bits; that of what is not known is a result of all its operands.
 */
#include "arch/x86_64/code.h"

struct operands {
	unsigned int reg, rm, second;	/* `second` is of VEX and EVEX only */
	unsigned int prefix;		/* 0: none, 1: 66, 2: f3, 3: f2 */
	bool memory, three, wide;
};

static void name_operands(const uint8_t *p, const struct x86_form *f, struct operands *o)
{
	uint8_t rex = f->rex;

	*o = (struct operands){ .memory = f->memory, .three = f->coding != X86_LEGACY };
	if (o->three) {
		const uint8_t *last = p + f->op_at - (f->coding == X86_EVEX ? 2 : 1);

		rex = x86_vex_rex(p, f);
		o->second = ~*last >> 3 & 15;
		o->prefix = *last & 3;
	} else {
		o->prefix = f->prefixes & X86_REPNE ? 3 : f->prefixes & X86_REP ? 2 :
			f->prefixes & X86_OPSIZE ? 1 : 0;
	}
	o->wide = rex & X86_REX_W;
	o->reg = x86_modrm_reg(f) | (rex & X86_REX_R ? 8 : 0);
	o->rm = x86_modrm_rm(f) | (rex & X86_REX_B ? 8 : 0);
}

static void result(const struct operands *o, unsigned int to, bool others, struct vectors *v)
{
	v->to = (int8_t)to;
	v->of = o->memory ? 0 : 1u << (to == o->rm && to != o->reg ? o->reg : o->rm);
	if (others)
		v->of |= 1u << (o->three ? o->second : o->reg);
}

/* The general register that is moved there, if it is all of it. */
static int8_t from_rm(const struct operands *o)
{
	return (int8_t)(o->memory || !o->wide ? -1 : (int)o->rm);
}

/* Of one operand only: moves, shuffles, conversions. */
static bool is_of_one(unsigned int op, const struct operands *o)
{
	switch (op) {
	case 0x10: case 0x11:
		return o->memory || o->prefix < 2;
	case 0x12: case 0x16:
		return o->prefix >= 2;
	case 0x28: case 0x29: case 0x5a: case 0x5b: case 0x6f: case 0x70: case 0x7e: case 0x7f:
	case 0xd6: case 0xe6:
		return true;
	}
	return false;
}

/* Sums, differences, bits of both, and parts that are put in: what is no move of whole words. */
static bool computes(unsigned int op)
{
	switch (op) {
	case 0xc4: case 0xd4: case 0xdb: case 0xdf: case 0xeb: case 0xef:
	case 0xf8 ... 0xfe:
		return true;
	}
	return false;
}

static void of_0f(const struct x86_form *f, const struct operands *o, struct vectors *v)
{
	unsigned int op = f->op;

	switch (op) {
	case 0x11: case 0x29: case 0x7f: case 0xd6:
		if (!o->memory)
			result(o, o->rm, !is_of_one(op, o), v);
		return;
	case 0x13: case 0x17: case 0x2b: case 0xe7:	/* to memory; */
	case 0x2c ... 0x2f: case 0x50: case 0xc5: case 0xd7: case 0x77: /* no vector */
		return;
	case 0x6e:
		v->to = (int8_t)o->reg;
		v->from = from_rm(o);
		return;
	case 0x7e:
		if (o->prefix == 2)
			result(o, o->reg, false, v);
		return;
	case 0x71 ... 0x73:		/* by a number */
		v->to = (int8_t)(o->three ? o->second : o->rm);
		v->of = 1u << o->rm;
		return;
	case 0x10: case 0x12: case 0x14 ... 0x16: case 0x28: case 0x2a:
	case 0x51 ... 0x6d: case 0x6f ... 0x70: case 0x74 ... 0x76: case 0x78 ... 0x7d:
	case 0xc2: case 0xc4: case 0xc6: case 0xd0 ... 0xd5: case 0xd8 ... 0xe6:
	case 0xe8 ... 0xfe:
		result(o, o->reg, !is_of_one(op, o), v);
	}
	/* Of a register and itself that is nothing. */
	if ((op == 0xef || op == 0x57) && !o->memory && o->rm == (o->three ? o->second : o->reg))
		v->of = 0;
	v->computes = computes(op) && v->of;
	v->adds = op == 0xd4 || op == 0xfb;
}

static void of_0f38(const struct x86_form *f, const struct operands *o, struct vectors *v)
{
	bool one = (f->op >= 0x18 && f->op <= 0x1e) || (f->op >= 0x20 && f->op <= 0x25) ||
		(f->op >= 0x30 && f->op <= 0x35) || (f->op >= 0x58 && f->op <= 0x5b) ||
		(f->op >= 0x78 && f->op <= 0x7c);

	if (f->op >= 0xf0)
		return;
	result(o, o->reg, !one, v);
	v->of |= one ? 0 : 1u << o->reg;
	v->computes = !f->op;			/* its bytes are picked */
	if (f->op >= 0x7a && f->op <= 0x7c) {	/* of a general register, to all of it */
		v->of = 0;
		v->from = from_rm(o);
	}
}

static void of_0f3a(const struct x86_form *f, const struct operands *o, struct vectors *v)
{
	if ((f->op >= 0x14 && f->op <= 0x17) || f->op == 0xf0)
		return;
	if (f->op == 0x19 || f->op == 0x39) {	/* a half of it */
		if (!o->memory)
			result(o, o->rm, false, v);
		return;
	}
	result(o, o->reg, true, v);
	if (f->op == 0x20 || f->op == 0x22) {	/* a part of it, of a general register */
		v->of = 1u << (o->three ? o->second : o->reg);
		v->from = from_rm(o);
		v->computes = f->op == 0x20 || !o->wide;
	}
}

/* Is it of more than 16 bytes, perhaps, or of those that a mask says? */
static bool is_long(const uint8_t *p, const struct x86_form *f)
{
	return f->coding == X86_EVEX || (f->coding == X86_VEX && p[f->op_at - 1] & 4);
}

/* Moves, and what puts two low words together: of longer vectors two of each half. */
static void name_words(const uint8_t *p, const struct x86_form *f, const struct operands *o,
		       struct vectors *v)
{
	unsigned int other = v->to == (int)o->rm && v->to != (int)o->reg ? o->reg : o->rm;

	v->low = v->high = -1;
	if (f->map != X86_MAP_0F || f->coding == X86_EVEX)
		return;
	switch (f->op) {
	case 0x10: case 0x11:
		v->words = o->memory || o->prefix < 2 ? VECTOR_SAME : VECTOR_MIXED;
		break;
	case 0x28: case 0x29: case 0x6f: case 0x7f: case 0x7e: case 0xd6:
		v->words = VECTOR_SAME;
		break;
	case 0x6e:
		v->words = VECTOR_SAME;
		return;
	case 0x14: case 0x16: case 0x6c:
		if (o->prefix > 1 || (f->op == 0x14 && o->prefix != 1) || is_long(p, f))
			return;
		v->words = VECTOR_LOW;
		v->low = (int8_t)(o->three ? o->second : o->reg);
		v->high = (int8_t)(o->memory ? -1 : (int)o->rm);
		return;
	}
	v->low = (int8_t)(o->memory ? -1 : (int)other);
}

/* Bytes that are loaded for it, at most. */
static uint8_t most_loaded(const uint8_t *p, const struct x86_form *f, const struct operands *o)
{
	uint8_t op = f->op;

	if (f->coding == X86_EVEX)
		return 64;
	if (f->map == X86_MAP_0F && (op == 0x10 || op == 0x2a || (op >= 0x51 && op <= 0x5f)) &&
	    o->prefix > 1)
		return 8;
	if (f->map == X86_MAP_0F && (op == 0x6e || op == 0x7e || op == 0xc4 ||
				     ((op == 0x12 || op == 0x16) && o->prefix != 2)))
		return 8;
	if (f->map == X86_MAP_0F3A && op >= 0x20 && op <= 0x22)
		return 8;
	return is_long(p, f) ? 32 : 16;
}

void x86_vectors(const uint8_t *p, size_t n, const struct insn *in, struct vectors *v)
{
	struct operands o;
	struct x86_form f;

	*v = (struct vectors){ .to = -1, .from = -1 };
	/* Those have nothing to do with vector registers. */
	if (x86_opcode_of_one(p, in->size) != 0x0f)
		return;
	if (x86_parse(p, n, &f) || f.coding == X86_XOP || !f.modrm_at)
		return;
	name_operands(p, &f, &o);
	if (f.map == X86_MAP_0F)
		of_0f(&f, &o, v);
	else if (f.map == X86_MAP_0F38)
		of_0f38(&f, &o, v);
	else if (f.map == X86_MAP_0F3A)
		of_0f3a(&f, &o, v);
	name_words(p, &f, &o, v);
	if (o.memory && v->to >= 0)
		v->loads = most_loaded(p, &f, &o);
}
