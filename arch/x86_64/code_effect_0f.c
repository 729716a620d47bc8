/* SPDX-License-Identifier: MIT */
/* x86_64/code_effect_0f: what do instructions behind 0f do to general registers, and to
 * memory that they name? */
#include "arch/x86_64/code_effect.h"

/* One of sixteen; behind them those of the oldest kind. */
static int8_t vector_of(const struct x86_form *f)
{
	return (int8_t)(f->prefixes & X86_OPSIZE ? reg_of(f) : 16 + x86_modrm_reg(f));
}

/* The same of moves that a repetition's prefix makes others of. */
static int moved_of(const struct x86_form *f)
{
	return f->prefixes & X86_REP ? reg_of(f) : vector_of(f);
}

/* Of a vector: a single, a half, all of one of the oldest kind, or all of it. */
static size_t width_stored(const struct x86_form *f)
{
	bool whole = f->prefixes & (X86_OPSIZE | X86_REP);

	switch (f->op) {
	case 0x11:
	case 0x2b:			/* of AMD's, one number of a vector: SSE4a */
		return f->prefixes & X86_REP ? 4 : f->prefixes & X86_REPNE ? 8 : 16;
	case 0x13:
	case 0x17:
	case 0xd6:
		return 8;
	case 0x7f:
	case 0xe7:
		return whole ? 16 : 8;
	}
	return 16;
}

/* Behind 0f: those that set a general register. The others move vectors and flags. */
void x86_effect_0f(const struct x86_form *f, struct effect *e)
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
		/* By its sign, but not all of it, or two bytes only. */
		if (width_of(f) == 2 || (f->op >= 0xbe && !(f->memory && is_wide(f))))
			e->others |= BIT(reg_of(f));
		else if (f->memory)
			load(e, reg_of(f), f->op & 1 ? 2 : 1, f->op >= 0xbe);
		else
			clip(e, reg_of(f), f->op & 1 ? rm_of(f) : of_byte(f, rm_of(f)),
			     f->op & 1 ? UINT16_MAX : UINT8_MAX);
		return;
	case 0x7e:			/* of a vector: what was put there for a while */
		if (f->prefixes & X86_REP)
			return;
		if (f->memory)
			store_of(e, vector_of(f), is_wide(f) ? 8 : 4);
		else if (is_wide(f))
			set(e, EFFECT_BACK, rm_of(f)), e->vector = vector_of(f);
		else
			e->others |= BIT(rm_of(f));
		return;
	case 0x6e:
		e->vector = vector_of(f);
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
	case 0xb2:			/* a segment's and a register */
	case 0xb4 ... 0xb5:
		e->others |= BIT(reg_of(f));
		return;
	case 0x1e:			/* rdssp; a landing pad or a nop */
		if (f->prefixes & X86_REP && !f->memory && x86_modrm_reg(f) == 1)
			e->others |= BIT(rm_of(f));
		return;
	case 0x90 ... 0x9f:
	case 0xb0:
	case 0xc0:
		change(f, e, true);
		if (f->op == 0xb0)
			e->others |= BIT(RAX);
		if (f->op == 0xc0)
			e->others |= BIT(of_byte(f, reg_of(f)));
		return;
	case 0xa4 ... 0xa5:
	case 0xac ... 0xad:
	case 0xab:
	case 0xb3:
	case 0xba ... 0xbb:
	case 0xc1:
	case 0xb1:
	case 0xc7:
	case 0x00 ... 0x01:
	case 0xae:
		if (f->op == 0xba && x86_modrm_reg(f) == 4)	/* bt */
			return;
		change_rm(f, e);
		e->stores |= f->op == 0x01;	/* clzero */
		if (f->op == 0xc1)
			e->others |= BIT(reg_of(f));
		if (f->op == 0xb1)
			e->others |= BIT(RAX);
		if (f->op == 0x01 || (f->op == 0xc7 && f->memory))
			e->others |= BIT(RAX) | BIT(RDX) | BIT(RCX);
		return;
	case 0xc8 ... 0xcf:
		e->others |= BIT(opcode_reg(f));
		return;
	case 0x30 ... 0x33:		/* rdtsc and its kin */
		e->others |= BIT(RAX) | BIT(RDX);
		return;
	case 0x34 ... 0x37:
	case 0xa2:
		e->others |= BIT(RAX) | BIT(RBX) | BIT(RCX) | BIT(RDX);
		return;
	case 0xa6 ... 0xa7:		/* ciphers of one maker of processors */
		e->others |= BIT(RAX) | BIT(RCX) | BIT(RDX) | BIT(RBX) | BIT(RSI) | BIT(RDI);
		e->stores = true;
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
	case 0xc3:
		store(e, reg_of(f), is_wide(f) ? 8 : 4);
		return;
	case 0xf7:			/* by rdi, what a mask says */
		x86_store_masked(f, e);
		return;
	case 0x11:
	case 0x13:
	case 0x17:
	case 0x29:
	case 0x2b:
	case 0xe7:
	case 0xd6:
	case 0x7f:			/* 16 or 8, but never of a general register */
		if (f->memory)
			store_of(e, f->op == 0x7f || f->op == 0xe7 ?
				 moved_of(f) : reg_of(f), width_stored(f));
		e->word = f->op == 0x17;
	}
}
