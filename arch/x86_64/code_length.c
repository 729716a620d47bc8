/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_length: where does this instruction end, and where are its parts?
 *
 * A table-driven parser for 64-bit mode: it knows the shape of every encoding
 * (legacy, VEX, EVEX, XOP, 3DNow!), not the meaning of each opcode. What is
 * reserved inside the maps 0F38 and 0F3A and behind VEX and EVEX is accepted,
 * since its shape is fixed and new processors fill those holes: an instruction
 * that is newer than this program keeps its length. APX (REX2, and EVEX with
 * the bits that it gives a new meaning) is not known and is refused.
 */
#include "arch/x86_64/code.h"

#include <errno.h>

/*
 * The shapes of what follows an opcode, one letter per opcode, sixteen to the
 * row.
 *
 *	-  nothing		m  ModRM
 *	b  imm8			B  ModRM, imm8
 *	w  imm16		z  imm16 or imm32 by operand size
 *	Z  ModRM, as z		v  imm16, imm32 or imm64 by operand size
 *	e  imm16, imm8 (enter)	o  address by address size (moffs)
 *	j  rel8			J  rel32
 *	g  ModRM, and imm8 if its reg is 0 or 1 (group 3)
 *	G  ModRM, and as z if its reg is 0 or 1
 *	k, K, h  as m, Z, B; but not every ModRM is legal
 *	c  ModRM that always names registers
 *	s  ModRM; two imm8 with a 66 or f2 prefix (extrq, insertq)
 *	P  legacy prefix	R  REX
 *	E  escape to another map	V  VEX, EVEX, XOP or their look-alikes
 *	.  not in 64-bit mode
 */
static const char one_byte[] =
	/* 00 */ "mmmmbz.." "mmmmbz.E"
	/* 10 */ "mmmmbz.." "mmmmbz.."
	/* 20 */ "mmmmbzP." "mmmmbzP."
	/* 30 */ "mmmmbzP." "mmmmbzP."
	/* 40 */ "RRRRRRRR" "RRRRRRRR"
	/* 50 */ "--------" "--------"
	/* 60 */ "..VmPPPP" "zZbB----"
	/* 70 */ "jjjjjjjj" "jjjjjjjj"
	/* 80 */ "BZ.Bmmmm" "mmmmmkmV"
	/* 90 */ "--------" "--.-----"
	/* a0 */ "oooo----" "bz------"
	/* b0 */ "bbbbbbbb" "vvvvvvvv"
	/* c0 */ "BBw-VVhK" "e-w--b.-"
	/* d0 */ "mmmm...-" "mmmmmmmm"
	/* e0 */ "jjjjbbbb" "JJ.j----"
	/* f0 */ "P-PP--gG" "------kk";

static const char two_byte[] =
	/* 00 */ "mmmm.---" "--.-.m-B"
	/* 10 */ "mmmmmmmm" "mmmmmmmm"
	/* 20 */ "cccc...." "mmmmmmmm"
	/* 30 */ "------.-" "E.E....."
	/* 40 */ "mmmmmmmm" "mmmmmmmm"
	/* 50 */ "mmmmmmmm" "mmmmmmmm"
	/* 60 */ "mmmmmmmm" "mmmmmmmm"
	/* 70 */ "BBBBmmm-" "sm..mmmm"
	/* 80 */ "JJJJJJJJ" "JJJJJJJJ"
	/* 90 */ "mmmmmmmm" "mmmmmmmm"
	/* a0 */ "---mBmmm" "---mBmmm"
	/* b0 */ "mmmmmmmm" "mmBmmmmm"
	/* c0 */ "mmBmBBBm" "--------"
	/* d0 */ "mmmmmmmm" "mmmmmmmm"
	/* e0 */ "mmmmmmmm" "mmmmmmmm"
	/* f0 */ "mmmmmmmm" "mmmmmmmm";

_Static_assert(sizeof(one_byte) == 257 && sizeof(two_byte) == 257,
	       "one letter for each opcode");

/*
 * What a letter says: the size of the immediate in the low bits, and these. A
 * sweep spends its time in mispredicted branches, so what is frequent is
 * computed from the table, and only what is rare is SPECIAL.
 */
enum {
	IMM = 15,
	MODRM = 16,
	BY_OPSIZE = 32,		/* the immediate has 2 or 4 bytes more */
	CHECKED = 64,		/* ask group_is_legal() */
	NEAR = 128,		/* rel32 */
	SPECIAL = 256,		/* ask special_shape() */
};

static const uint16_t shapes[128] = {
	['-'] = 0, ['b'] = 1, ['w'] = 2, ['e'] = 3,
	['j'] = 1, ['J'] = NEAR | 4,
	['m'] = MODRM, ['k'] = MODRM | CHECKED, ['B'] = MODRM | 1,
	['z'] = BY_OPSIZE, ['Z'] = BY_OPSIZE | MODRM,
	['K'] = BY_OPSIZE | MODRM | CHECKED, ['h'] = MODRM | CHECKED | 1,
	['v'] = SPECIAL, ['o'] = SPECIAL, ['c'] = SPECIAL, ['s'] = SPECIAL,
	['g'] = SPECIAL, ['G'] = SPECIAL, ['.'] = SPECIAL,
	['P'] = SPECIAL, ['R'] = SPECIAL, ['E'] = SPECIAL, ['V'] = SPECIAL,
};

static uint8_t prefix_of(uint8_t byte)
{
	switch (byte) {
	case 0x66:
		return X86_OPSIZE;
	case 0x67:
		return X86_ADDRSIZE;
	case 0xf2:
		return X86_REPNE;
	case 0xf3:
		return X86_REP;
	case 0xf0:
		return X86_LOCK;
	case 0x3e:
		return X86_DS;
	case 0x64:
	case 0x65:
		return X86_SEGMENT;
	default:
		return 0;	/* cs, es, ss: no effect in 64-bit mode */
	}
}

/* The offset of the first byte behind the prefixes, or ARCH_INSN_MAX. A REX
 * counts only when it is the last of them. */
static inline size_t parse_prefixes(const uint8_t *p, struct x86_form *f)
{
	size_t at = 0;

	while (at < ARCH_INSN_MAX) {
		bool rex = (p[at] & 0xf0) == 0x40;

		f->rex = p[at] & -rex;
		at += rex;
		if (one_byte[p[at]] == 'P')
			f->prefixes |= prefix_of(p[at++]);
		else if (!rex || one_byte[p[at]] != 'R')
			break;
	}
	return at;
}

/* VEX, EVEX and XOP, from the byte that announces them at `at`: the offset of
 * the opcode, or -EILSEQ. They carry REX and the mandatory prefix themselves,
 * so neither may stand before them. */
static int parse_vex(const uint8_t *p, size_t at, struct x86_form *f)
{
	enum { CARRIED = X86_OPSIZE | X86_REPNE | X86_REP | X86_LOCK };

	if (f->rex || f->prefixes & CARRIED)
		return -EILSEQ;
	f->coding = X86_VEX;
	switch (p[at]) {
	case 0xc5:
		f->map = X86_MAP_0F;
		return at + 2;
	case 0xc4:
		f->map = p[at + 1] & 31;
		return at + 3;
	case 0x8f:
		f->coding = X86_XOP;
		f->map = p[at + 1] & 31;
		return at + 3;
	default:
		/* One bit is fixed in each of the first two payload bytes. */
		if (p[at + 1] & 8 || !(p[at + 2] & 4))
			return -EILSEQ;
		f->coding = X86_EVEX;
		f->map = p[at + 1] & 7;
		return at + 4;
	}
}

static bool vex_0f_has_imm8(uint8_t op)
{
	return (op >= 0x70 && op <= 0x73) || op == 0xc2 ||
	       (op >= 0xc4 && op <= 0xc6);
}

/* What follows the opcode of a VEX, EVEX or XOP instruction: a shape, or
 * -EILSEQ for a map that no processor has. */
static int vex_shape(const struct x86_form *f)
{
	if (f->coding == X86_XOP)
		return f->map == 8 ? MODRM | 1 : f->map == 9 ? MODRM :
		       f->map == 10 ? MODRM | 4 : -EILSEQ;
	switch (f->map) {
	case X86_MAP_0F:
		if (f->coding == X86_VEX && f->op == 0x77) /* vzeroupper */
			return 0;
		return vex_0f_has_imm8(f->op) ? MODRM | 1 : MODRM;
	case X86_MAP_0F38:
		return MODRM;
	case X86_MAP_0F3A:
		return MODRM | 1;
	case 5:			/* the half-precision maps */
	case 6:
		return f->coding == X86_EVEX ? MODRM : -EILSEQ;
	default:
		return -EILSEQ;
	}
}

/* 8f is `pop r/m`, whose reg is 0, or XOP, whose map is never below 8. */
static bool starts_vex(const uint8_t *p)
{
	return p[0] != 0x8f || (p[1] & 31) >= 8;
}

/* Displacement sizes by mod and rm; 8 says that a SIB follows the ModRM. */
static const uint8_t modrm_shapes[4][8] = {
	{ 0, 0, 0, 0, 8, 4, 0, 0 },
	{ 1, 1, 1, 1, 9, 1, 1, 1 },
	{ 4, 4, 4, 4, 12, 4, 4, 4 },
};

/* Size of the displacement. */
static inline uint8_t disp_size(uint8_t modrm, uint8_t sib)
{
	uint8_t shape = modrm_shapes[modrm >> 6][modrm & 7];

	/* Without a base there is only a displacement. */
	return shape & 8 && (sib & 7) == 5 && modrm < 0x40 ? 4 : shape & 7;
}

size_t x86_modrm_size(uint8_t modrm, uint8_t sib)
{
	return 1 + (modrm_shapes[modrm >> 6][modrm & 7] & 8 ? 1 : 0) + disp_size(modrm, sib);
}

/* ModRM, SIB and displacement at `at`; the offset behind them. */
static inline size_t parse_modrm(const uint8_t *p, size_t at,
				 struct x86_form *f)
{
	uint8_t modrm = p[at];
	bool sib = modrm_shapes[modrm >> 6][modrm & 7] & 8;

	f->modrm = modrm;
	f->modrm_at = at++;
	f->memory = modrm < 0xc0;
	f->sib = sib ? p[at] : 0;
	at += sib;
	f->disp_size = disp_size(modrm, f->sib);
	f->disp_at = at;
	return at + f->disp_size;
}

/* Immediate size where the operand size decides between 2 and 4. */
static inline size_t imm_z(const struct x86_form *f)
{
	bool half = f->prefixes & X86_OPSIZE && !(f->rex & X86_REX_W);

	return 4 - 2 * half;
}

/* Is this ModRM legal behind this one-byte opcode? */
static bool group_is_legal(const struct x86_form *f)
{
	uint8_t reg = x86_modrm_reg(f);
	bool half = f->prefixes & X86_OPSIZE && !(f->rex & X86_REX_W);

	switch (f->op) {
	case 0x8d:		/* lea of a register */
		return f->memory;
	case 0xc6:		/* mov; f8 is xabort */
		return reg == 0 || f->modrm == 0xf8;
	case 0xc7:		/* and xbegin, which with a 66 has no use */
		return reg == 0 || (f->modrm == 0xf8 && !half);
	case 0xfe:		/* inc, dec */
		return reg < 2;
	default:		/* ff: the far forms go through memory only */
		return reg != 7 && (f->memory || (reg != 3 && reg != 5));
	}
}

/* A shape that needs a look at prefixes or ModRM: what it amounts to here, or
 * -EILSEQ. */
static int special_shape(char shape, uint8_t modrm, const struct x86_form *f)
{
	bool wide = f->rex & X86_REX_W, test = (modrm & 0x30) == 0;

	switch (shape) {
	case 'v':
		return wide ? 8 : imm_z(f);
	case 'o':
		return f->prefixes & X86_ADDRSIZE ? 4 : 8;
	case 'g':
		return MODRM | (test ? 1 : 0);
	case 'G':
		return MODRM | (test ? imm_z(f) : 0);
	case 'c':
		return 1;	/* that byte and no more, whatever mod says */
	case 's':
		return MODRM | (f->prefixes & (X86_OPSIZE | X86_REPNE) ? 2 : 0);
	default:
		return -EILSEQ;
	}
}

/* The opcode's offset and map behind prefixes of `at` bytes, and what follows
 * it; or -EILSEQ. */
static inline int parse_opcode(const uint8_t *p, size_t at, struct x86_form *f)
{
	char shape = one_byte[p[at]];

	if (shape == 'V' && starts_vex(p + at)) {
		int op_at = parse_vex(p, at, f);

		if (op_at < 0)
			return op_at;
		f->op_at = op_at;
		f->op = p[op_at];
		return vex_shape(f);
	}
	if (shape == 'V') {		/* pop; else reserved for XOP */
		shape = (p[at + 1] >> 3 & 7) == 0 ? 'm' : '.';
	} else if (shape == 'E') {
		f->map = X86_MAP_0F;
		shape = two_byte[p[++at]];
		if (shape == 'E') {
			f->map = p[at++] == 0x38 ? X86_MAP_0F38 : X86_MAP_0F3A;
			shape = f->map == X86_MAP_0F38 ? 'm' : 'B';
		}
	}
	f->op_at = at;
	f->op = p[at];

	unsigned int known = shapes[(uint8_t)shape];

	if (known & SPECIAL)
		return special_shape(shape, p[at + 1], f);
	/* With a 66, Intel reads rel32 and AMD reads rel16. */
	if (known & NEAR && imm_z(f) == 2)
		return -EILSEQ;
	return known + (known & BY_OPSIZE ? imm_z(f) : 0);
}

/* Most have at most a REX before an opcode of one byte, or of two, after which nothing depends on
 * prefixes. False: this one is to be parsed as any other. */
static inline bool parse_plain(const uint8_t *p, struct x86_form *f)
{
	uint8_t rex = (*p & 0xf0) == 0x40 ? *p : 0;
	size_t at = rex != 0;
	bool longer = p[at] == 0x0f;

	at += longer;
	uint8_t op = p[at];
	unsigned int shape = shapes[(uint8_t)(longer ? two_byte : one_byte)[op]];

	if (shape & SPECIAL)
		return false;
	*f = (struct x86_form){ .rex = rex, .map = longer ? X86_MAP_0F : X86_MAP_ONE, .op = op,
				.op_at = (uint8_t)at, .coding = X86_LEGACY };
	at++;
	if (shape & MODRM)
		at = parse_modrm(p, at, f);
	f->imm_size = (shape & IMM) + (shape & BY_OPSIZE ? 4 : 0);
	f->imm_at = at;
	f->size = at + f->imm_size;
	return !(shape & CHECKED) || group_is_legal(f);
}

/* `p` has X86_LOOKAHEAD bytes. */
static inline int parse(const uint8_t *p, struct x86_form *f)
{
	size_t at = parse_prefixes(p, f);

	if (at >= ARCH_INSN_MAX)
		return -EILSEQ;
	int shape = parse_opcode(p, at, f);

	if (shape < 0)
		return shape;
	at = f->op_at + 1;
	if (shape & MODRM)
		at = parse_modrm(p, at, f);
	if (shape & CHECKED && !group_is_legal(f))
		return -EILSEQ;
	f->imm_size = shape & IMM;
	f->imm_at = at;
	f->size = at + f->imm_size;
	return f->size <= ARCH_INSN_MAX ? 0 : -EILSEQ;
}

/* Too near to the end to look ahead: parse a copy. */
static int parse_last(const uint8_t *p, size_t n, struct x86_form *f)
{
	uint8_t padded[X86_LOOKAHEAD] = { 0 };

	memcpy(padded, p, n);
	int err = parse(padded, f);

	return err ? err : f->size <= n ? 0 : -EILSEQ;
}

int x86_parse(const uint8_t *p, size_t n, struct x86_form *ret)
{
	if (n >= X86_LOOKAHEAD && parse_plain(p, ret))
		return 0;
	*ret = (struct x86_form){ 0 };
	return n < X86_LOOKAHEAD ? parse_last(p, n, ret) : parse(p, ret);
}

bool x86_opcode_parts(unsigned int map, unsigned int op, struct x86_opcode *ret)
{
	static const struct x86_form bare;
	char letter = map == X86_MAP_0F ? two_byte[op] : one_byte[op];
	unsigned int shape = shapes[(uint8_t)letter];

	if (strchr("PREV", letter) || (shape & SPECIAL && letter != 'v'))
		return false;
	*ret = (struct x86_opcode){ .modrm = shape & MODRM, .picky = shape & CHECKED,
				    .by_rex = letter == 'v' };
	ret->imm_size = (shape & IMM) +
		(shape & BY_OPSIZE || letter == 'v' ? imm_z(&bare) : 0);
	return true;
}
