/* SPDX-License-Identifier: MIT */
/* x86_64/code: what the files of the pure half share: the anatomy of one
 * instruction, and what it does. */
#ifndef ARCH_X86_64_CODE_H
#define ARCH_X86_64_CODE_H

#include "arch/arch.h"

#include <string.h>

/* Legacy prefixes seen; a set. */
enum {
	X86_OPSIZE = 1,		/* 66 */
	X86_ADDRSIZE = 2,	/* 67 */
	X86_REPNE = 4,		/* f2: repne, bnd, xacquire, mandatory */
	X86_REP = 8,		/* f3: rep, xrelease, mandatory */
	X86_LOCK = 16,		/* f0 */
	X86_DS = 32,		/* 3e: notrack, or a hint */
	X86_SEGMENT = 64,	/* 64 or 65: fs or gs; moves the address */
};

/* How the opcode is written. */
enum {
	X86_LEGACY,
	X86_VEX,
	X86_EVEX,
	X86_XOP,
};

/* The opcode map, numbered as VEX does. */
enum {
	X86_MAP_ONE = 0,
	X86_MAP_0F = 1,
	X86_MAP_0F38 = 2,
	X86_MAP_0F3A = 3,
};

enum {
	X86_REX_B = 1,
	X86_REX_X = 2,
	X86_REX_R = 4,
	X86_REX_W = 8,
};

/* Where the parts of one instruction are. Offsets are from its first byte, and
 * mean something only if the part is there. */
struct x86_form {
	uint8_t size;
	uint8_t prefixes;
	uint8_t rex;		/* the byte, 0: none; LEGACY only */
	uint8_t coding;		/* X86_LEGACY ... */
	uint8_t map;
	uint8_t op;		/* last opcode byte */
	uint8_t op_at;
	uint8_t modrm_at, modrm; /* modrm_at is 0 if there is none */
	uint8_t sib;
	bool memory;		/* ModRM names memory */
	uint8_t disp_at, disp_size;
	uint8_t imm_at, imm_size; /* also a branch's displacement */
};

static inline uint8_t x86_modrm_mod(const struct x86_form *f)
{
	return f->modrm >> 6;
}

static inline uint8_t x86_modrm_reg(const struct x86_form *f)
{
	return f->modrm >> 3 & 7;
}

static inline uint8_t x86_modrm_rm(const struct x86_form *f)
{
	return f->modrm & 7;
}

/* The memory operand is relative to the PC. */
static inline bool x86_pcrel(const struct x86_form *f)
{
	return f->memory && x86_modrm_mod(f) == 0 && x86_modrm_rm(f) == 5;
}

/* The memory operand's address is built with a SIB byte. */
static inline bool x86_has_sib(const struct x86_form *f)
{
	return f->memory && x86_modrm_rm(f) == 4;
}

/* A little-endian, signed number of 1 or 4 bytes; of 2 in xbegin. */
static inline int64_t x86_signed(const uint8_t *p, size_t size)
{
	int32_t word;
	int16_t half;

	if (size == 1)
		return (int8_t)*p;
	if (size == 2) {
		memcpy(&half, p, sizeof(half));
		return half;
	}
	memcpy(&word, p, sizeof(word));
	return word;
}

/* The opcode of an instruction of map ONE without legacy prefixes, as most are; 0x0f: it may be
 * any other. */
static inline uint8_t x86_opcode_of_one(const uint8_t *p, size_t n)
{
	uint8_t op = p[n > 1 && (p[0] & 0xf0) == 0x40];

	switch (op) {
	case 0x26: case 0x2e: case 0x36: case 0x3e:	/* prefixes */
	case 0x40 ... 0x4f:
	case 0x64 ... 0x67:
	case 0xf0:
	case 0xf2 ... 0xf3:
	case 0x62:					/* EVEX, XOP, VEX */
	case 0x8f:
	case 0xc4 ... 0xc5:
		return 0x0f;
	}
	return op;
}

/* What an opcode has behind it, and does, whatever else an instruction has. */
struct x86_opcode {
	uint8_t imm_size;	/* if no 66 prefix makes it smaller */
	bool modrm;
	bool picky;		/* not every ModRM is legal */
	bool by_rex;		/* REX.W makes the immediate larger */
	bool nop;		/* it does nothing, but with a REX that makes it another one, a
				 * prefix, or most ModRMs */
	uint8_t kind;		/* enum insn_kind */
};

/* More than a legal instruction and what the parser may read behind it before
 * it knows that it is too long. */
enum { X86_LOOKAHEAD = 32 };

/* code_length.c: take an instruction apart. 0, or -EILSEQ. */
int x86_parse(const uint8_t *p, size_t n, struct x86_form *ret);
/* All of an opcode of map ONE or 0F but its kind; false: it is none, or there is
 * more to it. */
bool x86_opcode_parts(unsigned int map, unsigned int op, struct x86_opcode *ret);
/* Size of a ModRM, its SIB and displacement. */
size_t x86_modrm_size(uint8_t modrm, uint8_t sib);

/* code_classify.c: what does it do? Fills all of `ret` without capstone. */
void x86_classify(const uint8_t *p, const struct x86_form *, raddr_t pc,
		  struct insn *ret);
/* It does nothing: any form of nop. */
bool x86_is_nop(const struct x86_form *);
/* The kind of an opcode of map ONE or 0F; false: it has a flag other than PCREL, or
 * more destinations than one. A picky one's is that of most ModRMs. */
bool x86_opcode_kind(unsigned int map, unsigned int op, struct x86_opcode *ret);

/* code_measure.c */
int x86_measure(const uint8_t *p, size_t n, raddr_t pc, struct insn *ret);

/* code_decode.c */
int x86_decode(const uint8_t *p, size_t n, raddr_t pc, struct insn *ret);

/* code_jump.c: the 32-bit displacement that leads from the byte after an
 * instruction to `to`. 0, or -ERANGE. */
int x86_displacement(raddr_t next, raddr_t to, uint8_t *out);
/* Sizes of what was written, or -ERANGE. */
int x86_jump(raddr_t from, raddr_t to, uint8_t *out);
int x86_jump_short(raddr_t from, raddr_t to, uint8_t *out);
int x86_call(raddr_t from, raddr_t to, uint8_t *out);

/* code_linkage.c: see struct arch. */
size_t x86_linkage(const uint8_t *p, size_t n, raddr_t pc, raddr_t *slot);

/* code_relocate.c */
int x86_relocate(const uint8_t *p, const struct insn *in, raddr_t to,
		 uint8_t *out, size_t cap);

/* code_pun.c */
enum { X86_PUN_PREFIXES = 2 };
int x86_pun_set(raddr_t from, size_t prefix, const uint8_t *p, uint16_t given,
		struct jump_set *ret);
int x86_pun(raddr_t from, size_t prefix, raddr_t to, uint8_t *out);

/* code_stack.c */
int x86_stack_check(const uint8_t *p, size_t n, bool *loads);
bool x86_reads_g(const uint8_t *p, size_t n);
uint16_t x86_equals(const uint8_t *p, const struct insn *compare, const struct insn *branch);

/* code_effect.c */
void x86_effect(const uint8_t *p, size_t n, const struct insn *in, struct effect *ret);
void x86_effect_of(const uint8_t *p, size_t n, const struct effect *, struct effect_of *ret);
unsigned int x86_glance(const uint8_t *p, const struct insn *in);
bool x86_loads(const uint8_t *p, const struct insn *in, struct only_stores *ret);
bool x86_only_stores(const uint8_t *p, const struct insn *in, struct only_stores *ret);
int x86_goes_by(const uint8_t *p, const struct insn *in);
/* code_vector.c */
void x86_vectors(const uint8_t *p, size_t n, const struct insn *in, struct vectors *ret);

/* The bits of a REX prefix that VEX, EVEX and XOP carry, of which those of registers are
 * inverted. */
static inline uint8_t x86_vex_rex(const uint8_t *p, const struct x86_form *f)
{
	const uint8_t *last = p + f->op_at - (f->coding == X86_EVEX ? 2 : 1);

	if (f->op_at >= 2 && f->coding == X86_VEX && last[-1] == 0xc5)
		return *last & 0x80 ? 0 : X86_REX_R;
	return (uint8_t)((~last[-1] >> 5 & 7) | (*last & 0x80 ? X86_REX_W : 0));
}

/* code_reach.c */
int x86_reaches(const uint8_t *p, const struct insn *in);
bool x86_keeps(const uint8_t *p, const struct insn *in, int reg);
bool x86_is_thread_call(const uint8_t *p, const struct insn *in);
/* String instructions and the like, and what does not reach what it names. */
bool x86_is_implicit(const struct x86_form *);
bool x86_only_names(const struct x86_form *);

/* code_tight.c */
int x86_record_tight(raddr_t at, const struct record_call *, uint8_t *out);
int32_t x86_g_place(const uint8_t *p, size_t n);

#endif
