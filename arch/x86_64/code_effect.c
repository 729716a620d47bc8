/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_effect: what does an instruction do to the general registers, and to the
 * stack, as far as an address of code may come from it?
 *
 * Both answers err on one side: what is not known to keep a register is said to set it,
 * to something unknown.
 */
#include "arch/x86_64/code.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R11 = 11, REGS = 16, NONE = -1 };

#define BIT(reg) ((uint16_t)(1u << (reg)))

static int reg_of(const struct x86_form *f)
{
	return x86_modrm_reg(f) | (f->rex & X86_REX_R ? 8 : 0);
}

static int rm_of(const struct x86_form *f)
{
	return x86_modrm_rm(f) | (f->rex & X86_REX_B ? 8 : 0);
}

static int opcode_reg(const struct x86_form *f)
{
	return (f->op & 7) | (f->rex & X86_REX_B ? 8 : 0);
}

static bool is_wide(const struct x86_form *f)
{
	return f->rex & X86_REX_W;
}

/* A number of up to 8 bytes, sign-extended. */
static int64_t number_at(const uint8_t *p, size_t size)
{
	int64_t n = 0;

	if (size == 8) {
		memcpy(&n, p, 8);
		return n;
	}
	return size ? x86_signed(p, size) : 0;
}

/* The memory operand: base + index * scale + number. */
static void name_memory(const uint8_t *p, const struct x86_form *f, raddr_t pc,
			struct effect *e)
{
	bool far = f->prefixes & X86_SEGMENT;

	e->memory = true;
	e->thread = far;
	e->number = number_at(p + f->disp_at, f->disp_size);
	if (x86_pcrel(f)) {
		e->number += (int64_t)pc + f->size;
		e->named = true;
		return;
	}
	if (!x86_has_sib(f)) {
		e->base = (int8_t)rm_of(f);
		return;
	}
	int index = (f->sib >> 3 & 7) | (f->rex & X86_REX_X ? 8 : 0);

	if (index != RSP) {
		e->index = (int8_t)index;
		e->scale = (uint8_t)(1 << (f->sib >> 6));
	}
	if ((f->sib & 7) != RBP || x86_modrm_mod(f))
		e->base = (int8_t)((f->sib & 7) | (f->rex & X86_REX_B ? 8 : 0));
}

static void set(struct effect *e, enum effect_op op, int reg)
{
	e->op = op;
	e->reg = (int8_t)reg;
}

/* Of two operands `rm` is written, with something unknown. */
static void change_rm(const struct x86_form *f, struct effect *e)
{
	if (f->memory)
		e->stores = e->computes = true;
	else
		e->others |= BIT(rm_of(f));
}

static void store(struct effect *e, int source, size_t width)
{
	e->stores = true;
	e->source = (int8_t)source;
	e->width = (uint8_t)width;
}

static void load(struct effect *e, int reg, size_t width, bool extends)
{
	set(e, EFFECT_LOAD, reg);
	e->width = (uint8_t)width;
	e->extends = extends;
}

static size_t width_of(const struct x86_form *f)
{
	return is_wide(f) ? 8 : f->prefixes & X86_OPSIZE ? 2 : 4;
}

/* reg = base + index + number, all of it in registers. */
static void sum(const struct x86_form *f, struct effect *e, int reg, int other, int64_t n)
{
	if (width_of(f) == 2) {
		e->others |= BIT(reg);
		return;
	}
	e->cut = !is_wide(f);
	set(e, EFFECT_SUM, reg);
	e->base = (int8_t)reg;
	e->index = (int8_t)other;
	e->scale = other >= 0;
	e->number = n;
}

static void clip(struct effect *e, int to, int from, int64_t most)
{
	set(e, EFFECT_CLIP, to);
	e->base = (int8_t)from;
	e->number = most;
}

static void move(const struct x86_form *f, struct effect *e, int to, int from)
{
	if (width_of(f) == 2) {
		e->others |= BIT(to);
		return;
	}
	set(e, is_wide(f) ? EFFECT_MOVE : EFFECT_CUT, to);
	e->base = (int8_t)from;
}

/* add, or, adc, sbb, and, sub, xor, cmp: by the number of the row. */
static void arithmetic(const struct x86_form *f, struct effect *e)
{
	enum { ADD, XOR = 6, CMP };
	unsigned int row = f->op >> 3, form = f->op & 7;
	bool to_rm = form < 2, byte = !(form & 1);

	if (row == CMP)
		return;
	if (form >= 4)			/* al or rax, and a number */
		e->others |= BIT(RAX);
	else if (to_rm && f->memory)
		change_rm(f, e);
	else if (byte)			/* it may be the second byte of another */
		e->others |= BIT(to_rm ? rm_of(f) & (f->rex ? 15 : 3) :
				 reg_of(f) & (f->rex ? 15 : 3));
	else if (row == XOR && !f->memory && rm_of(f) == reg_of(f))
		set(e, EFFECT_NUMBER, reg_of(f));
	else if (row == XOR && f->memory && is_wide(f) && (e->thread || e->named))
		set(e, EFFECT_CODED, reg_of(f));
	else if (row == ADD && f->memory && is_wide(f))
		set(e, EFFECT_ADD_LOAD, reg_of(f));
	else if (row == ADD && !f->memory)
		sum(f, e, to_rm ? rm_of(f) : reg_of(f), to_rm ? reg_of(f) : rm_of(f), 0);
	else
		e->others |= BIT(to_rm ? rm_of(f) : reg_of(f));
}

/* The same with a number behind: 80, 81, 83. */
static void arithmetic_number(const uint8_t *p, const struct x86_form *f, struct effect *e)
{
	enum { ADD, OR, AND = 4, SUB, CMP = 7 };
	unsigned int row = x86_modrm_reg(f);
	int64_t n = number_at(p + f->imm_at, f->imm_size);

	/* To add nothing is a barrier, when it is locked. */
	if (row == CMP || ((row == OR || row == ADD) && !n))
		return;
	if (row == OR && n == -1 && !f->memory && width_of(f) >= 4)
		set(e, EFFECT_NUMBER, rm_of(f)),
			e->number = is_wide(f) ? -1 : (int64_t)UINT32_MAX;
	else if (f->memory)
		change_rm(f, e);
	else if (f->op == 0x80)
		e->others |= BIT(rm_of(f) & (f->rex ? 15 : 3));
	else if (row == ADD || row == SUB)
		sum(f, e, rm_of(f), NONE, row == ADD ? n : -n);
	else if (row == AND && n >= 0 && width_of(f) >= 4)
		clip(e, rm_of(f), rm_of(f), n);
	else
		e->others |= BIT(rm_of(f));
}

static void shift(const uint8_t *p, const struct x86_form *f, struct effect *e)
{
	enum { ROTATE = 2, LEFT = 4, LEFT_TOO = 6 };
	unsigned int row = x86_modrm_reg(f);

	if (f->memory) {
		change_rm(f, e);
		return;
	}
	if (!(f->op & 1)) {
		e->others |= BIT(rm_of(f) & (f->rex ? 15 : 3));
	} else if (row < ROTATE && is_wide(f)) {
		set(e, EFFECT_CODED, rm_of(f));
	} else if ((row == LEFT || row == LEFT_TOO) && is_wide(f) && f->op == 0xc1 &&
		   p[f->imm_at] < 4) {
		set(e, EFFECT_SUM, rm_of(f));
		e->index = (int8_t)rm_of(f);
		e->scale = (uint8_t)(1 << p[f->imm_at]);
	} else if (row == LEFT && width_of(f) >= 4 && f->op == 0xc1 && p[f->imm_at] < 32) {
		set(e, EFFECT_SHIFT, rm_of(f));
		e->base = (int8_t)rm_of(f);
		e->number = p[f->imm_at];
	} else {
		e->others |= BIT(rm_of(f));
	}
}

static void group_ff(const struct x86_form *f, struct effect *e)
{
	unsigned int row = x86_modrm_reg(f);

	if (row < 2) {			/* inc, dec */
		if (f->memory)
			change_rm(f, e);
		else if (f->op == 0xfe)
			e->others |= BIT(rm_of(f) & (f->rex ? 15 : 3));
		else
			sum(f, e, rm_of(f), NONE, row ? -1 : 1);
	} else if (row == 6) {
		e->pushes = true;
		e->source = (int8_t)(f->memory ? NONE : rm_of(f));
	}
}

/* not and neg; mul, imul, div and idiv, which set rax and rdx */
static void group_f7(const struct x86_form *f, struct effect *e)
{
	unsigned int row = x86_modrm_reg(f);

	if (row >= 4)
		e->others |= BIT(RAX) | BIT(RDX);
	else if (row >= 2)
		change_rm(f, e);
}

static void exchange(const struct x86_form *f, struct effect *e, int a, int b)
{
	if (f->op == 0x86 || !is_wide(f)) {
		e->others |= BIT(a);
		change_rm(f, e);
	} else if (f->memory) {
		load(e, a, 8, false);
		store(e, a, 8);
	} else {
		set(e, EFFECT_SWAP, a);
		e->base = (int8_t)b;
	}
}

static void lea(const struct x86_form *f, struct effect *e)
{
	e->memory = false;
	e->cut = !is_wide(f);
	if (width_of(f) == 2 || f->prefixes & (X86_ADDRSIZE | X86_SEGMENT))
		e->others |= BIT(reg_of(f));
	else
		set(e, e->base < 0 && e->index < 0 ? EFFECT_NUMBER : EFFECT_SUM, reg_of(f));
}

static void move_number(const uint8_t *p, const struct x86_form *f, struct effect *e, int reg)
{
	int64_t n = number_at(p + f->imm_at, f->imm_size);

	if (width_of(f) == 2) {
		e->others |= BIT(reg);
		return;
	}
	set(e, EFFECT_NUMBER, reg);
	e->number = is_wide(f) ? n : (int64_t)(uint32_t)n;
	e->named = false;
}

/* rep and the registers that strings are reached by */
static void string(const struct x86_form *f, struct effect *e)
{
	e->others |= BIT(RSI) | BIT(RDI) | BIT(RCX);
	if ((f->op & 0xfe) == 0xac)
		e->others |= BIT(RAX);
	e->stores = true;
}

/* Moves, and what else compilers use all the time. */
static bool common(const uint8_t *p, const struct x86_form *f, struct effect *e)
{
	switch (f->op) {
	case 0x50 ... 0x57:
		e->pushes = true;
		e->source = (int8_t)opcode_reg(f);
		return true;
	case 0x58 ... 0x5f:
		set(e, EFFECT_POP, opcode_reg(f));
		return true;
	case 0x63:
		if (f->memory)
			load(e, reg_of(f), 4, is_wide(f));
		else
			set(e, is_wide(f) ? EFFECT_WIDEN : EFFECT_CUT, reg_of(f));
		if (!f->memory)
			e->base = (int8_t)rm_of(f);
		return true;
	case 0x89:
		if (f->memory)
			store(e, reg_of(f), width_of(f));
		else
			move(f, e, rm_of(f), reg_of(f));
		return true;
	case 0x8b:
		if (!f->memory)
			move(f, e, reg_of(f), rm_of(f));
		else if (width_of(f) == 2)
			e->others |= BIT(reg_of(f));
		else
			load(e, reg_of(f), width_of(f), false);
		return true;
	case 0x8d:
		lea(f, e);
		return true;
	case 0xb8 ... 0xbf:
		move_number(p, f, e, opcode_reg(f));
		return true;
	case 0xc7:
		if (f->memory)
			store(e, NONE, width_of(f));
		else
			move_number(p, f, e, rm_of(f));
		return true;
	}
	return false;
}

static void rare(const uint8_t *p, const struct x86_form *f, struct effect *e)
{
	switch (f->op) {
	case 0x68:
	case 0x6a:
		e->pushes = true;
		return;
	case 0x69:
	case 0x6b:
		e->others |= BIT(reg_of(f));
		return;
	case 0x80 ... 0x83:
		arithmetic_number(p, f, e);
		return;
	case 0x84 ... 0x85:		/* test */
	case 0x9b ... 0x9e:		/* flags, and the coprocessor */
	case 0xa6 ... 0xa9:
	case 0xd8 ... 0xdf:
	case 0xf5:
	case 0xf8 ... 0xf9:
	case 0xfc ... 0xfd:
		if ((f->op & 0xfe) == 0xa6)
			string(f, e);
		else if (f->op == 0xdf && f->modrm == 0xe0)	/* fnstsw %ax */
			e->others |= BIT(RAX);
		e->pushes = f->op == 0x9c;
		e->stores |= f->memory && f->op >= 0xd8 && f->op <= 0xdf;
		return;
	case 0x86 ... 0x87:
		exchange(f, e, reg_of(f), rm_of(f));
		return;
	case 0x88:
		if (f->memory)
			store(e, NONE, 1);
		else
			e->others |= BIT(rm_of(f) & (f->rex ? 15 : 3));
		return;
	case 0x8a:
		e->others |= BIT(reg_of(f) & (f->rex ? 15 : 3));
		return;
	case 0x8f:
		if (!f->memory)
			set(e, EFFECT_POP, rm_of(f));
		else
			store(e, NONE, 8);
		e->pops = f->memory;
		return;
	case 0x90 ... 0x97:
		if (!x86_is_nop(f) && !(f->op == 0x90 && f->prefixes & X86_REP))
			exchange(f, e, RAX, opcode_reg(f));
		return;
	case 0x98:
		set(e, is_wide(f) ? EFFECT_WIDEN : EFFECT_KEEP, RAX);
		e->base = RAX;
		if (!is_wide(f))
			e->others |= BIT(RAX);
		return;
	case 0x99:
		e->others |= BIT(RDX);
		return;
	case 0xa1:
		load(e, RAX, width_of(f), false);
		return;
	case 0xa2 ... 0xa5:
	case 0xaa ... 0xaf:
		string(f, e);
		return;
	case 0xb0 ... 0xb7:
		e->others |= BIT(opcode_reg(f) & (f->rex ? 15 : 3));
		return;
	case 0xc0 ... 0xc1:
	case 0xd0 ... 0xd3:
		shift(p, f, e);
		return;
	case 0xc6:
		e->stores |= f->memory;
		e->others |= f->memory ? 0 : BIT(rm_of(f) & (f->rex ? 15 : 3));
		return;
	case 0xc8 ... 0xc9:		/* enter, leave */
		e->others |= BIT(RBP) | BIT(RSP);
		return;
	case 0xf6 ... 0xf7:
		group_f7(f, e);
		return;
	case 0xfe ... 0xff:
		group_ff(f, e);
		return;
	}
	/* in and out, by a number or by dx; of strings; cli and sti */
	e->forbidden = (f->op & 0xf4) == 0xe4 || (f->op & 0xfc) == 0x6c ||
		(f->op & 0xfe) == 0xfa;
	e->others |= BIT(RAX) | BIT(RDX) | (f->modrm_at && !f->memory ? BIT(rm_of(f)) : 0);
	e->stores |= f->memory;
}

/* Behind 0f: those that set a general register. The others move vectors and flags. */
static void of_0f(const struct x86_form *f, struct effect *e)
{
	switch (f->op) {
	case 0x40 ... 0x4f:
		if (!is_wide(f)) {
			e->others |= BIT(reg_of(f));
			return;
		}
		set(e, f->memory ? EFFECT_MAY_LOAD : EFFECT_MAY_MOVE, reg_of(f));
		e->width = 8;
		if (!f->memory)
			e->base = (int8_t)rm_of(f);
		return;
	case 0xb6 ... 0xb7:
	case 0xbe ... 0xbf:
		if (f->memory)
			load(e, reg_of(f), f->op & 1 ? 2 : 1, f->op >= 0xbe);
		else if (f->op < 0xbe && width_of(f) >= 4)
			clip(e, reg_of(f), rm_of(f) & (f->op & 1 || f->rex ? 15 : 3),
			     f->op & 1 ? UINT16_MAX : UINT8_MAX);
		else
			e->others |= BIT(reg_of(f));
		return;
	case 0x7e:			/* of a vector: what was put there for a while */
		if (f->prefixes & X86_REP)
			return;
		if (f->memory)
			store(e, NONE, width_of(f));
		else if (is_wide(f))
			set(e, EFFECT_BACK, rm_of(f)), e->vector = (int8_t)reg_of(f);
		else
			e->others |= BIT(rm_of(f));
		return;
	case 0x6e:
		e->vector = (int8_t)reg_of(f);
		e->source = (int8_t)(f->memory || !is_wide(f) ? NONE : rm_of(f));
		return;
	case 0x2c ... 0x2d:
	case 0x50:
	case 0xaf:
	case 0xb8:
	case 0xbc ... 0xbd:
	case 0xc5:
	case 0xd7:
	case 0x02 ... 0x03:
		e->others |= BIT(reg_of(f));
		return;
	case 0x90 ... 0x9f:
	case 0xa4 ... 0xa5:
	case 0xac ... 0xad:
	case 0xab:
	case 0xb3:
	case 0xba ... 0xbb:
	case 0xc0 ... 0xc1:
	case 0xb0 ... 0xb1:
	case 0xc7:
	case 0x00 ... 0x01:
	case 0xae:
		change_rm(f, e);
		if ((f->op & 0xfe) == 0xc0)
			e->others |= BIT(reg_of(f));
		if ((f->op & 0xfe) == 0xb0)
			e->others |= BIT(RAX);
		if (f->op == 0x01 || (f->op == 0xc7 && f->memory))
			e->others |= BIT(RAX) | BIT(RDX) | BIT(RCX);
		return;
	case 0xc8 ... 0xcf:
		e->others |= BIT(opcode_reg(f));
		return;
	case 0x30 ... 0x37:
	case 0xa2:
		e->others |= BIT(RAX) | BIT(RBX) | BIT(RCX) | BIT(RDX);
		return;
	case 0xa0:
	case 0xa8:
		e->pushes = true;
		return;
	case 0xa1:
	case 0xa9:
		e->pops = true;
		return;
	case 0x20 ... 0x23:
		e->others |= BIT(rm_of(f));
		return;
	case 0x11 ... 0x17:
	case 0x29:
	case 0x2b:
	case 0xc3:
	case 0xe7:
	case 0xd6:
	case 0x7f:
		e->stores |= f->memory;
		e->width = 16;		/* or 8, but never of a general register */
	}
}

/* A register that it sets to something unknown has nothing of what it held. */
static bool computes_anew(const struct x86_form *f)
{
	bool one = f->coding == X86_LEGACY && f->map == X86_MAP_ONE;

	/* sbb of a register from itself: the carry; and a difference is a number. */
	if (one && ((!f->memory && (f->op & 0xfd) == 0x19 && reg_of(f) == rm_of(f)) ||
		    (f->op & 0xfd) == 0x29))
		return true;
	/* Arithmetic of all of it; shifts and parts are for numbers. */
	return !one || !((f->op < 0x40 && f->op & 1) || f->op == 0x81 || f->op == 0x83 ||
			 (f->op == 0xf7 && (x86_modrm_reg(f) & 6) == 2) || f->op == 0xff);
}

void x86_effect(const uint8_t *p, const struct insn *in, struct effect *e)
{
	struct x86_form f;

	*e = (struct effect){ .reg = NONE, .base = NONE, .index = NONE, .source = NONE,
			       .vector = NONE };
	if (x86_parse(p, in->size, &f)) {
		e->others = 0xffff;
		return;
	}
	if (f.memory)
		name_memory(p, &f, in->pc, e);
	if (in->kind == INSN_SYSCALL)
		e->others = BIT(RAX) | BIT(RCX) | BIT(R11);
	e->forbidden = in->kind == INSN_UNKNOWN;
	if (in->kind == INSN_SYSCALL)
		return;
	if (f.coding != X86_LEGACY || f.map > X86_MAP_0F)
		x86_effect_others(&f, e);
	else if (f.map == X86_MAP_0F)
		of_0f(&f, e);
	else if (in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT)
		set(e, EFFECT_RETURNED, RAX);
	else if (in->kind != INSN_PLAIN)
		e->others = (f.op & 0xfc) == 0xe0 && f.op != 0xe3 ? BIT(RCX) : 0;
	else if (f.op < 0x40)
		arithmetic(&f, e);
	else if (!common(p, &f, e))
		rare(p, &f, e);
	/* What is not loaded, popped or moved anew is made of what was there. */
	if (computes_anew(&f))
		e->changes = 0;
	else
		e->changes = e->others;
	e->others &= (uint16_t)~(e->reg >= 0 ? BIT(e->reg) : 0);
}

int x86_goes_by(const uint8_t *p, const struct insn *in)
{
	struct x86_form f;

	if (x86_parse(p, in->size, &f) || f.memory || !f.modrm_at)
		return -1;
	return rm_of(&f);
}
