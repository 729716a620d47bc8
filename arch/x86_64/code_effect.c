/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_effect: what does an instruction do to the general registers, and to the
 * stack, as far as an address of code may come from it?
 *
 * Both answers err on one side: what is not known to keep a register is said to set it,
 * to something unknown.
 */
#include "arch/x86_64/code_effect.h"

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

/* Its index is a vector: gathers and scatters. */
static bool goes_by_vector(const struct x86_form *f)
{
	return f->coding != X86_LEGACY && f->map == X86_MAP_0F38 &&
		((f->op & 0xfc) == 0x90 || (f->op & 0xfc) == 0xa0 || (f->op & 0xfe) == 0xc6);
}

/* The memory operand: base + index * scale + number. */
static void name_memory(const uint8_t *p, const struct x86_form *f, raddr_t pc,
			struct effect *e)
{
	bool counts = f->coding == X86_EVEX && f->disp_size == 1;
	size_t by = counts ? x86_counted_by(p, f) : 1;

	e->memory = true;
	/* Where it is not known what a byte counts, or half an address is named, it is what
	 * nothing else names. */
	e->thread = f->prefixes & (X86_SEGMENT | X86_ADDRSIZE) || !by || goes_by_vector(f);
	e->number = number_at(p + f->disp_at, f->disp_size) * (int64_t)by;
	if (x86_pcrel(f)) {
		/* It wraps. */
		e->number = (int64_t)((raddr_t)e->number + pc + f->size);
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

/* reg = base + index + number, all of it in registers. */
static void effect_sum(const struct x86_form *f, struct effect *e, int reg, int other, int64_t n)
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

static void effect_move(const struct x86_form *f, struct effect *e, int to, int from)
{
	if (width_of(f) == 2) {
		e->others |= BIT(to);
		return;
	}
	set(e, is_wide(f) ? EFFECT_MOVE : EFFECT_CUT, to);
	e->base = (int8_t)from;
}

/* add, or, adc, sbb, and, sub, xor, cmp, by the number of the row, with a number behind: of
 * memory, or of this register. */
static void arithmetic_number(const uint8_t *p, const struct x86_form *f, unsigned int row,
			      int reg, struct effect *e)
{
	enum { ADD, OR, AND = 4, SUB, CMP = 7 };
	int64_t n = number_at(p + f->imm_at, f->imm_size);

	/* To add nothing is a barrier, when it is locked; of four bytes it cuts. */
	if (row == CMP || ((row == OR || row == ADD) && !n &&
			   (f->memory || f->op == 0x80 || width_of(f) != 4)))
		return;
	if (row == OR && n == -1 && !f->memory && f->op != 0x80 && width_of(f) >= 4)
		set(e, EFFECT_NUMBER, reg),
			e->number = is_wide(f) ? -1 : (int64_t)UINT32_MAX;
	else if (f->memory)
		change(f, e, f->op == 0x80);
	else if (f->op == 0x80)
		e->others |= BIT(of_byte(f, reg));
	else if (row == ADD || row == SUB)
		effect_sum(f, e, reg, NONE, row == ADD ? n : -n);
	else if (row == AND && n >= 0 && width_of(f) >= 4)
		clip(e, reg, reg, n);
	else
		e->others |= BIT(reg);
}

/* The same of two operands, or of rax and a number. */
static void arithmetic(const uint8_t *p, const struct x86_form *f, struct effect *e)
{
	enum { ADD, XOR = 6, CMP };
	unsigned int row = f->op >> 3, form = f->op & 7;
	bool to_rm = form < 2, byte = !(form & 1);

	if (row == CMP)
		return;
	if (form == 5) {
		arithmetic_number(p, f, row, RAX, e);
	} else if (form == 4) {		/* al */
		e->others |= BIT(RAX);
	} else if (to_rm && f->memory) {
		change(f, e, byte);
		e->source = (int8_t)(row == ADD && !byte && is_wide(f) ? reg_of(f) : NONE);
	} else if (byte) {		/* it may be the second byte of another */
		e->others |= BIT(of_byte(f, to_rm ? rm_of(f) : reg_of(f)));
	} else if (row == XOR && !f->memory && rm_of(f) == reg_of(f) && width_of(f) >= 4) {
		set(e, EFFECT_NUMBER, reg_of(f));
	} else if (row == XOR && f->memory && is_wide(f) &&
		   (f->prefixes & X86_SEGMENT || e->named)) {
		set(e, EFFECT_CODED, reg_of(f));
	} else if (row == ADD && f->memory && is_wide(f)) {
		set(e, EFFECT_ADD_LOAD, reg_of(f));
	} else if (row == ADD && !f->memory) {
		effect_sum(f, e, to_rm ? rm_of(f) : reg_of(f), to_rm ? reg_of(f) : rm_of(f), 0);
	} else {
		e->others |= BIT(to_rm ? rm_of(f) : reg_of(f));
	}
}

static void shift(const uint8_t *p, const struct x86_form *f, struct effect *e)
{
	enum { ROTATE = 2, LEFT = 4, LEFT_TOO = 6 };
	unsigned int row = x86_modrm_reg(f);

	if (f->memory) {
		change(f, e, !(f->op & 1));
		return;
	}
	if (!(f->op & 1)) {
		e->others |= BIT(of_byte(f, rm_of(f)));
	} else if (row < ROTATE && is_wide(f)) {
		set(e, EFFECT_CODED, rm_of(f));
	} else if ((row == LEFT || row == LEFT_TOO) && is_wide(f) && f->op == 0xc1 &&
		   p[f->imm_at] < 4) {
		set(e, EFFECT_SUM, rm_of(f));
		e->index = (int8_t)rm_of(f);
		e->scale = (uint8_t)(1 << p[f->imm_at]);
	} else if (row == LEFT && width_of(f) >= 4 && f->op == 0xc1 && p[f->imm_at] < 32) {
		set(e, EFFECT_SHIFT, rm_of(f));
		e->cut = !is_wide(f);
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
			change(f, e, f->op == 0xfe);
		else if (f->op == 0xfe)
			e->others |= BIT(of_byte(f, rm_of(f)));
		else
			effect_sum(f, e, rm_of(f), NONE, row ? -1 : 1);
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
		change(f, e, f->op == 0xf6);
}

static void effect_exchange(const struct x86_form *f, struct effect *e, int a, int b)
{
	if (f->op == 0x86) {
		e->others |= BIT(of_byte(f, a));
		change(f, e, true);
	} else if (!is_wide(f)) {
		e->others |= BIT(a) | (f->memory ? 0 : BIT(b));
		e->stores = e->computes = f->memory;
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
	bool number = e->base < 0 && e->index < 0;

	e->memory = e->thread = false;
	e->cut = !is_wide(f) || f->prefixes & X86_ADDRSIZE;
	if (width_of(f) == 2) {
		e->others |= BIT(reg_of(f));
		return;
	}
	set(e, number ? EFFECT_NUMBER : EFFECT_SUM, reg_of(f));
	if (number && e->cut)
		e->number = (uint32_t)e->number;
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

/* movs, cmps, stos, lods and scas: the registers that strings are reached by, and counted */
static void string(const struct x86_form *f, struct effect *e)
{
	uint8_t op = f->op & 0xfe;

	if (op != 0xaa && op != 0xae)
		e->others |= BIT(RSI);
	if (op != 0xac)
		e->others |= BIT(RDI);
	else
		e->others |= BIT(RAX);
	if (f->prefixes & (X86_REP | X86_REPNE))
		e->others |= BIT(RCX);
	if (f->prefixes & X86_REP && op != 0xa6 && op != 0xae && !(f->prefixes & X86_ADDRSIZE))
		set(e, EFFECT_NUMBER, RCX);
	if (op != 0xa4 && op != 0xaa)
		return;
	store(e, op == 0xaa ? RAX : NONE, f->op & 1 ? width_of(f) : 1);
	e->memory = true;
	e->thread = f->prefixes & X86_ADDRSIZE;
	e->base = RDI;
	e->copied = op == 0xa4 ? RSI : NONE;
	e->count = f->prefixes & (X86_REP | X86_REPNE) ? RCX : NONE;
}

/* Moves, and what else compilers use all the time. */
static bool effect_common(const uint8_t *p, const struct x86_form *f, struct effect *e)
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
		if (width_of(f) == 2)
			e->others |= BIT(reg_of(f));
		else if (f->memory)
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
			effect_move(f, e, rm_of(f), reg_of(f));
		return true;
	case 0x8b:
		if (!f->memory)
			effect_move(f, e, reg_of(f), rm_of(f));
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
		if (!f->memory) {
			move_number(p, f, e, rm_of(f));
			return true;
		}
		store(e, NONE, width_of(f));
		e->writes = true;
		e->written = number_at(p + f->imm_at, f->imm_size);
		return true;
	}
	return false;
}

/* Bytes that the coprocessor's instructions write, by the number of the row; 0: none. */
static size_t coprocessor_stores(const struct x86_form *f)
{
	static const uint8_t sizes[8][8] = {
		[1] = { 0, 0, 4, 4, 0, 0, 28, 2 }, [3] = { 0, 4, 4, 4, 0, 0, 0, 10 },
		[5] = { 0, 8, 8, 8, 0, 0, 108, 2 }, [7] = { 0, 2, 2, 2, 0, 0, 10, 8 },
	};

	return f->memory ? sizes[f->op & 7][x86_modrm_reg(f)] : 0;
}

static void rare(const uint8_t *p, const struct x86_form *f, struct effect *e)
{
	switch (f->op) {
	case 0x68:
	case 0x6a:
		e->pushes = e->writes = true;
		e->written = number_at(p + f->imm_at, f->imm_size);
		return;
	case 0x69:
	case 0x6b:
		e->others |= BIT(reg_of(f));
		return;
	case 0x80 ... 0x83:
		arithmetic_number(p, f, x86_modrm_reg(f), rm_of(f), e);
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
		e->pops = f->op == 0x9d;
		if (f->op >= 0xd8 && f->op <= 0xdf && coprocessor_stores(f))
			store(e, NONE, coprocessor_stores(f));
		return;
	case 0x86 ... 0x87:
		effect_exchange(f, e, reg_of(f), rm_of(f));
		return;
	case 0x88:
		if (f->memory)
			store(e, NONE, 1);
		else
			e->others |= BIT(of_byte(f, rm_of(f)));
		return;
	case 0x8a:
		e->others |= BIT(of_byte(f, reg_of(f)));
		return;
	case 0x8f:
		if (!f->memory)
			set(e, EFFECT_POP, rm_of(f));
		else
			store(e, NONE, 8);
		e->pops = f->memory;
		return;
	case 0x90 ... 0x97:
		/* nop, pause; and what is a pause to some processors, and an exchange to others */
		if (opcode_reg(f) != RAX && f->op == 0x90 && f->prefixes & X86_REP)
			e->others |= BIT(RAX) | BIT(opcode_reg(f));
		else if (opcode_reg(f) != RAX)
			effect_exchange(f, e, RAX, opcode_reg(f));
		return;
	case 0x98:
		e->others |= BIT(RAX);
		if (is_wide(f))
			set(e, EFFECT_WIDEN, RAX), e->base = RAX;
		return;
	case 0x99:
		e->others |= BIT(RDX);
		return;
	case 0xa1:
		if (width_of(f) == 2)
			e->others |= BIT(RAX);
		else
			load(e, RAX, width_of(f), false);
		return;
	case 0xa2 ... 0xa3:
		e->stores = true;
		return;
	case 0xa4 ... 0xa5:
	case 0xaa ... 0xaf:
		string(f, e);
		return;
	case 0xb0 ... 0xb7:
		e->others |= BIT(of_byte(f, opcode_reg(f)));
		return;
	case 0xc0 ... 0xc1:
	case 0xd0 ... 0xd3:
		shift(p, f, e);
		return;
	case 0xc6:
		if (f->memory)
			store(e, NONE, 1);
		else
			e->others |= BIT(of_byte(f, rm_of(f)));
		return;
	case 0xc8 ... 0xc9:		/* enter, leave */
		e->others |= BIT(RBP) | BIT(RSP);
		e->stores = f->op == 0xc8;
		e->leaves = f->op == 0xc9 && width_of(f) != 2;
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
	e->stores |= f->memory && f->op != 0x8e;	/* of a segment's register */
}

static bool is_string(const struct x86_form *f)
{
	return (f->op & 0xfc) == 0xa4 || (f->op >= 0xaa && f->op <= 0xaf);
}

/* A register that it sets to something unknown has nothing of what it held. */
static bool computes_anew(const struct x86_form *f)
{
	uint8_t op = f->op;

	if (f->coding != X86_LEGACY)
		return true;
	if (f->map == X86_MAP_0F)		/* xadd; bts, btr and btc */
		return op != 0xc1 && op != 0xab && op != 0xb3 && (op & 0xfe) != 0xba;
	if (f->map != X86_MAP_ONE)		/* adcx and adox */
		return f->map != X86_MAP_0F38 || op != 0xf6;
	/* sbb of a register from itself: the carry; xor of its low half's: what it is near to;
	 * and a difference is a number. */
	if ((!f->memory && (op & 0xd5) == 0x11 && reg_of(f) == rm_of(f)) || (op & 0xfd) == 0x29)
		return true;
	/* Arithmetic of all of it, strings too; shifts and parts are for numbers. */
	return !((op < 0x40 && op & 1) || op == 0x81 || op == 0x83 || is_string(f) ||
		 (op == 0xf7 && (x86_modrm_reg(f) & 6) == 2) || op == 0xff);
}

/* Words of two bytes: where the stack is then is not kept account of. */
static void lose_stack(struct effect *e)
{
	e->others |= BIT(RSP) | (e->reg >= 0 ? BIT(e->reg) : 0);
	e->stores |= e->pushes;
	e->memory = e->pushes = e->pops = false;
	set(e, EFFECT_KEEP, NONE);
}

/* What is most frequent, and has no prefix but REX: pushes and pops of a register, copies of one
 * to another, and what leads to one known place. */
static bool effect_short(const uint8_t *p, const struct insn *in, struct effect *e)
{
	uint8_t rex = (*p & 0xf0) == 0x40 ? *p : 0, op = p[rex != 0], modrm = p[in->size - 1];
	size_t size = in->size - (rex != 0);
	int reg = (op & 7) | (rex & X86_REX_B ? 8 : 0);

	if (in->kind == INSN_CALL) {
		set(e, EFFECT_RETURNED, RAX);
	} else if (in->kind != INSN_PLAIN) {
		return in->kind == INSN_JUMP || (in->kind == INSN_BRANCH &&
						 (op == 0x0f || (op & 0xf0) == 0x70));
	} else if (size == 1 && (op & 0xf8) == 0x58) {
		set(e, EFFECT_POP, reg);
	} else if (size == 1 && (op & 0xf8) == 0x50) {
		e->pushes = true, e->source = (int8_t)reg;
	} else if (size == 2 && (op == 0x89 || op == 0x8b) && modrm >= 0xc0) {
		int a = (modrm & 7) | (rex & X86_REX_B ? 8 : 0);
		int b = (modrm >> 3 & 7) | (rex & X86_REX_R ? 8 : 0);

		set(e, rex & X86_REX_W ? EFFECT_MOVE : EFFECT_CUT, op == 0x89 ? a : b);
		e->base = (int8_t)(op == 0x89 ? b : a);
	} else {
		return false;
	}
	return true;
}

/* Apart, for what is most frequent needs nothing of it. */
__attribute__((noinline))
static void effect_any(const uint8_t *p, size_t n, const struct insn *in, struct effect *e)
{
	struct x86_form f;

	if (x86_parse(p, n, &f)) {
		e->others = 0xffff;
		return;
	}
	if (f.coding != X86_LEGACY)
		f.rex = x86_vex_rex(p, &f);
	if (f.memory)
		name_memory(p, &f, in->pc, e);
	if (in->kind == INSN_SYSCALL)
		e->others = BIT(RAX) | BIT(RCX) | BIT(R11);
	e->forbidden = in->kind == INSN_UNKNOWN;
	if (in->kind == INSN_SYSCALL)
		return;
	if (f.coding != X86_LEGACY || f.map > X86_MAP_0F)
		x86_effect_others(p, &f, e);
	else if (f.map == X86_MAP_0F)
		x86_effect_0f(&f, e);
	else if (in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT)
		set(e, EFFECT_RETURNED, RAX);
	else if (in->kind != INSN_PLAIN)	/* loop; xbegin, where it leads */
		e->others = (f.op & 0xfc) == 0xe0 && f.op != 0xe3 ? BIT(RCX) :
			f.op == 0xc7 ? BIT(RAX) : 0;
	else if (f.op < 0x40)
		arithmetic(p, &f, e);
	else if (!effect_common(p, &f, e))
		rare(p, &f, e);
	if (width_of(&f) == 2 && (e->pushes || e->pops || e->op == EFFECT_POP))
		lose_stack(e);
	/* What is not loaded, popped or moved anew is made of what was there. */
	if (computes_anew(&f))
		e->changes = 0;
	else
		e->changes = e->others;
	e->others &= (uint16_t)~(e->reg >= 0 ? BIT(e->reg) : 0);
}

void x86_effect(const uint8_t *p, size_t n, const struct insn *in, struct effect *e)
{
	*e = (struct effect){ .reg = NONE, .base = NONE, .index = NONE, .source = NONE,
			       .vector = NONE, .stored = NONE, .copied = NONE,
			       .count = NONE };
	if (!effect_short(p, in, e))
		effect_any(p, n, in, e);
}

int x86_goes_by(const uint8_t *p, const struct insn *in)
{
	struct x86_form f;

	if (x86_parse(p, in->size, &f) || f.memory || !f.modrm_at)
		return -1;
	return rm_of(&f);
}
