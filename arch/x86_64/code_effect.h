/* SPDX-License-Identifier: MIT */
/* x86_64/code_effect: what the files share that say what an instruction does to general
 * registers and memory. */
#ifndef ARCH_X86_64_CODE_EFFECT_H
#define ARCH_X86_64_CODE_EFFECT_H

#include "arch/x86_64/code.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R11 = 11, NONE = -1 };

#define BIT(reg) ((uint16_t)(1u << (reg)))

static inline int reg_of(const struct x86_form *f)
{
	return x86_modrm_reg(f) | (f->rex & X86_REX_R ? 8 : 0);
}

static inline int rm_of(const struct x86_form *f)
{
	return x86_modrm_rm(f) | (f->rex & X86_REX_B ? 8 : 0);
}

static inline int opcode_reg(const struct x86_form *f)
{
	return (f->op & 7) | (f->rex & X86_REX_B ? 8 : 0);
}

static inline bool is_wide(const struct x86_form *f)
{
	return f->rex & X86_REX_W;
}

static inline void set(struct effect *e, enum effect_op op, int reg)
{
	e->op = op;
	e->reg = (int8_t)reg;
}

/* The register that a byte is of: without REX it may be the second byte of one. */
static inline int of_byte(const struct x86_form *f, int reg)
{
	return reg & (f->rex ? 15 : 3);
}

static inline size_t width_of(const struct x86_form *f)
{
	return is_wide(f) ? 8 : f->prefixes & X86_OPSIZE ? 2 : 4;
}

/* Of two operands `rm`, of a byte or not, is written, with something unknown. */
static inline void change(const struct x86_form *f, struct effect *e, bool byte)
{
	if (f->memory)
		e->stores = e->computes = true, e->width = (uint8_t)(byte ? 1 : width_of(f));
	else
		e->others |= BIT(byte ? of_byte(f, rm_of(f)) : rm_of(f));
}

static inline void change_rm(const struct x86_form *f, struct effect *e)
{
	change(f, e, false);
}

static inline void store(struct effect *e, int source, size_t width)
{
	e->stores = true;
	e->source = (int8_t)source;
	e->width = (uint8_t)width;
}

/* The same of a vector register. */
static inline void store_of(struct effect *e, int vector, size_t width)
{
	e->stores = true;
	e->stored = (int8_t)vector;
	e->width = (uint8_t)width;
}

/* maskmovq, maskmovdqu: by rdi, those bytes that a mask says. */
static inline void x86_store_masked(const struct x86_form *f, struct effect *e)
{
	store(e, NONE, f->coding == X86_LEGACY && !(f->prefixes & X86_OPSIZE) ? 8 : 16);
	e->memory = e->computes = true;
	e->thread = f->prefixes & (X86_SEGMENT | X86_ADDRSIZE);
	e->base = RDI;
}

static inline void load(struct effect *e, int reg, size_t width, bool extends)
{
	set(e, EFFECT_LOAD, reg);
	e->width = (uint8_t)width;
	e->extends = extends;
}

static inline void clip(struct effect *e, int to, int from, int64_t most)
{
	set(e, EFFECT_CLIP, to);
	e->base = (int8_t)from;
	e->number = most;
}

/* code_effect_0f.c: behind 0f. */
void x86_effect_0f(const struct x86_form *, struct effect *);
/* code_effect_others.c: of VEX, EVEX and XOP, and behind 0f 38 and 0f 3a. */
void x86_effect_others(const uint8_t *p, const struct x86_form *, struct effect *);
/* Of EVEX: how many bytes one of a displacement of one byte stands for (Intel SDM 2.7.5); 0: not
 * known. */
size_t x86_counted_by(const uint8_t *p, const struct x86_form *);

#endif
