/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_measure: how long is an instruction and where does it lead, if a
 * hundred megabytes of them are waiting?
 *
 * Nineteen of twenty are regular: at most one prefix and a REX, an opcode that
 * always does the same with what follows it, perhaps a ModRM. Time goes into
 * branches that are mispredicted, and into waiting for the size, which says
 * where the next one begins; so all that a regular instruction has is added up
 * from tables. code_length.c and code_classify.c, which know what bytes mean, fill them,
 * and decode all other instructions.
 */
#include "arch/x86_64/code.h"

enum {
	IMM = 7,		/* size of the immediate */
	MODRM = 8,
	KIND = 7 << 4,		/* enum insn_kind, in its place: see kind_of */
	NOP = 1 << 7,
	/* What must not be there, if it is to be regular: */
	PREFIX = 1 << 8,
	REX = 1 << 9,
	OF_LEA = 1 << 10,	/* ModRMs that this opcode does not take, or that */
	OF_MOV = 1 << 11,	/* give it another meaning */
	OF_GROUP = 1 << 12,
	ANYTHING = 1 << 13,	/* it never is */
	LEADS = 1 << 14,	/* its immediate says where it leads */
	OF_NOP = 1 << 15,	/* as the other OF_ bits */
	TAILS = 8 * 256,
};

static uint16_t opcodes[2][256];
/* Of a ModRM: ANYTHING, and of the OF_ bits those of opcodes that it is odd for. */
static uint16_t odd[256];
/* Size of ModRM, SIB and displacement, by ModRM and the low bits of the SIB. */
static uint8_t tails[TAILS];
/* Of what may stand before an opcode. */
static const uint16_t leads[256] = {
	[0x40 ... 0x4f] = REX,
	[0x64] = PREFIX, [0x65] = PREFIX, [0x66] = PREFIX, [0xf2] = PREFIX, [0xf3] = PREFIX,
};

static inline uint8_t kind_of(unsigned int has)
{
	return (has & KIND) >> 4;
}

/* It may read as many bytes as the parser does. */
static inline bool measure_regular(const uint8_t *p, raddr_t pc, struct insn *ret)
{
	uint64_t word;
	size_t at = 1;

	memcpy(&word, p, sizeof(word));
	unsigned int before = leads[word & 0xff];

	if (before & PREFIX) {
		word >>= 8;
		at++;
		before |= leads[word & 0xff] & REX;
	}
	unsigned int rex = before / REX;

	word >>= 8 * rex;
	at += rex;
	const uint16_t *map = opcodes[X86_MAP_ONE];

	if ((word & 0xff) == 0x0f) {
		word >>= 8;
		at++;
		map = opcodes[X86_MAP_0F];
	}
	unsigned int has = map[word & 0xff], modrm = word >> 8 & 0xff;

	if (has & (odd[modrm] | before))
		return false;
	bool pcrel = has & MODRM && (modrm & 0xc7) == 5;
	size_t size = at + (has & IMM) + (has & MODRM ? tails[word >> 8 & (TAILS - 1)] : 0);
	raddr_t dest = 0, ref = 0;

	if (pcrel)
		ref = pc + size + (raddr_t)x86_signed(p + at + 1, 4);
	if (has & LEADS)
		dest = pc + size + (raddr_t)x86_signed(p + at, has & IMM);
	*ret = (struct insn){ .pc = pc, .dest = dest, .ref = ref, .size = size,
			      .kind = kind_of(has),
			      .flags = (pcrel ? INSN_PCREL : 0) | (has & NOP ? INSN_NOP : 0) };
	return true;
}

/* Apart, for what is regular needs nothing of it, no place on the stack either. */
__attribute__((noinline))
static int measure_other(const uint8_t *p, size_t n, raddr_t pc, struct insn *ret)
{
	struct x86_form form;
	int err = x86_parse(p, n, &form);

	if (!err)
		x86_classify(p, &form, pc, ret);
	return err;
}

int x86_measure(const uint8_t *p, size_t n, raddr_t pc, struct insn *ret)
{
	return n >= X86_LOOKAHEAD && measure_regular(p, pc, ret) ? 0 :
		measure_other(p, n, pc, ret);
}

/* Which ModRMs this opcode does not take is up to it. */
static unsigned int odd_of(unsigned int op)
{
	return op == 0x8d ? OF_LEA : (op & 0xfe) == 0xc6 ? OF_MOV : OF_GROUP;
}

static unsigned int describe(unsigned int map, unsigned int op)
{
	struct x86_opcode o;

	if (!x86_opcode_parts(map, op, &o) || !x86_opcode_kind(map, op, &o))
		return ANYTHING;
	return o.imm_size | (o.modrm ? MODRM : 0) | (unsigned int)o.kind << 4 |
		(o.picky ? odd_of(op) : 0) | (o.nop ? NOP | (o.modrm ? OF_NOP : 0) : 0) |
		(o.by_rex || (o.nop && !o.modrm) ? REX : 0) |
		(o.kind || o.imm_size > 1 || o.nop ? PREFIX : 0) |
		(o.kind && o.kind != INSN_RETURN ? LEADS : 0);
}

/* Is this what the opcode's description says, for this ModRM? */
static bool is_plain(const uint8_t *code, uint16_t flags)
{
	struct x86_form f;
	struct insn in;

	if (x86_parse(code, X86_LOOKAHEAD, &f))
		return false;
	x86_classify(code, &f, 0, &in);
	return in.kind == INSN_PLAIN && (in.flags & ~INSN_PCREL) == flags;
}

static unsigned int odd_for(unsigned int modrm)
{
	static const uint8_t picky[] = { 0x8d, 0xc6, 0xc7, 0xfe, 0xff };
	const uint8_t nop[X86_LOOKAHEAD] = { 0x0f, 0x1f, modrm };
	unsigned int ret = ANYTHING | (is_plain(nop, INSN_NOP) ? 0 : OF_NOP);

	for (size_t k = 0; k < ARRAY_SIZE(picky); k++) {
		const uint8_t code[X86_LOOKAHEAD] = { picky[k], modrm };

		ret |= is_plain(code, 0) ? 0 : odd_of(picky[k]);
	}
	return ret;
}

__attribute__((constructor)) static void fill_tables(void)
{
	for (unsigned int i = 0; i < 256; i++) {
		opcodes[X86_MAP_ONE][i] = describe(X86_MAP_ONE, i);
		opcodes[X86_MAP_0F][i] = describe(X86_MAP_0F, i);
		odd[i] = odd_for(i);
		for (unsigned int sib = 0; sib < TAILS / 256; sib++)
			tails[sib << 8 | i] = x86_modrm_size(i, sib);
	}
}
