/* SPDX-License-Identifier: MIT */
/*
 * arm64/code_stack: what does an instruction do by the stack pointer, may it fault, and does a
 * function begin with asking whether its goroutine's stack has room?
 *
 * Where the thread's g is in x28 Go's compiler makes, for a frame that is small, larger, or huge:
 *
 *	ldr x16, [x28, #16]	cmp sp, x16					b.ls grow
 *	ldr x16, [x28, #16]	sub x17, sp, #N			cmp x17, x16	b.ls grow
 *	ldr x16, [x28, #16]	mov x27, #N	subs x17, sp, x27		b.lo grow
 *							cmp x17, x16	b.ls grow
 *
 * (#24 where the runtime is on a stack of the system's; until 1.17 with other registers, and
 * with a copy of sp in one.) Methods that the compiler makes to call others go on, or begin if
 * they have no frame, with asking whether their goroutine panics:
 *
 *	ldr x16, [x28, #32]	cbnz x16, ...
 */
#include "arch/arm64/code.h"

#include <signal.h>

enum {
	G = 28,			/* the register that has it */
	PANICS = 32,		/* in g */
	RED_ZONE = 16,		/* bytes that no recording call touches: arm64_record */
	BELOW = 3,		/* conditions of a branch: unsigned */
	BELOW_OR_EQUAL = 9,
};

static unsigned int rd(uint32_t w) { return w & 31; }
static unsigned int rn(uint32_t w) { return w >> 5 & 31; }

/* ---- memory -------------------------------------------------------------- */

static bool reaches_memory(uint32_t w)
{
	return (w >> 25 & 5) == 4;
}

/* SVE and SME, with their own ways to memory and to the stack pointer. */
static bool is_scalable(uint32_t w)
{
	return (w >> 25 & 15) == 2 || (w >> 25 & 15) == 0;
}

/* An instruction of the system that works on memory: dc, ic, at. */
static bool is_cache(uint32_t w)
{
	return (w & 0xfff80000) == 0xd5080000;
}

/* By a base and a register beside it. */
static bool has_index(uint32_t w)
{
	return (w & 0x3b200c00) == 0x38200800;
}

/* With a distance from the base: imm7 of a pair, imm9, or imm12. *writes: the base becomes the
 * sum. False: it has none. */
static bool distance(uint32_t w, int64_t *ret, bool *before, bool *writes)
{
	bool vector = w & 1 << 26;

	*writes = *before = false;
	*ret = 0;
	if ((w & 0x3a000000) == 0x28000000) {		/* ldp, stp */
		unsigned int opc = w >> 30, mode = w >> 23 & 3;
		bool tags = !vector && opc == 1 && !(w & 1 << 22);	/* stgp */
		unsigned int scale = vector ? 2 + opc : opc == 2 ? 3 : tags ? 4 : 2;

		*ret = ((int64_t)((uint64_t)w << 42) >> 57) * (1ll << scale);
		*writes = mode & 1;
		*before = mode == 3;
		return true;
	}
	if ((w & 0x3b200000) == 0x38000000) {		/* ldur, and with write-back */
		*ret = (int64_t)((uint64_t)w << 43) >> 55;
		*writes = w & 1 << 10;
		*before = *writes && w & 1 << 11;
		return true;
	}
	if ((w & 0x3b000000) == 0x39000000) {		/* ldr with imm12 */
		unsigned int scale = w >> 30 | (vector && w & 1 << 23 ? 4 : 0);

		*ret = (int64_t)(w >> 10 & 0xfff) << scale;
		return true;
	}
	return false;
}

uint64_t arm64_faults(const uint8_t *p, const struct insn *in)
{
	const uint64_t memory = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1);
	uint32_t w = arm64_word(p);

	if (in->kind != INSN_PLAIN)
		return 0;
	if (is_cache(w) || (is_scalable(w) && w >> 31))
		return memory;
	/* By the stack pointer, or the PC: what is there is the stack, or a constant. */
	if (!reaches_memory(w) || arm64_is_literal(w) || (rn(w) == ARM64_SP && !has_index(w)))
		return 0;
	return memory;
}

/* ---- the stack pointer --------------------------------------------------- */

/* add and sub with a number: sub sp, sp, #N lowers; add xN, sp, #N names what is there. */
static int by_number(uint32_t w)
{
	bool subtracts = w & 1 << 30, tells = w & 1 << 29, shifted = w & 1 << 22;
	int64_t n = (int64_t)(w >> 10 & 0xfff) << (shifted ? 12 : 0);
	bool writes = rd(w) == ARM64_SP && !tells;

	if (w & 1 << 23)		/* addg, subg */
		return rd(w) == ARM64_SP || rn(w) == ARM64_SP ? -1 : 0;
	if (writes)
		return subtracts && rn(w) == ARM64_SP && w >> 31 ? (int)n : -1;
	return rn(w) == ARM64_SP && subtracts && !tells && n > RED_ZONE ? -1 : 0;
}

/* By loads and stores: stp x29, x30, [sp, #-N]! lowers. */
static int by_memory(uint32_t w)
{
	bool before, writes;
	int64_t n;

	if (rn(w) != ARM64_SP || arm64_is_literal(w))
		return 0;
	if (!distance(w, &n, &before, &writes))
		return -1;
	if (writes)
		return before && n < 0 ? (int)-n : -1;
	return n < -RED_ZONE ? -1 : 0;
}

/* There is no zone below the stack pointer that code may rely on but the 16 bytes of Go's. */
int arm64_lowers_stack(const uint8_t *p, const struct insn *in, bool zone)
{
	uint32_t w = arm64_word(p);
	bool extended = (w & 0x1fe00000) == 0x0b200000, tells = w & 1 << 29;

	(void)zone;
	if (in->kind != INSN_PLAIN || is_scalable(w))
		return -1;
	if (reaches_memory(w))
		return by_memory(w);
	if ((w & 0x1f000000) == 0x11000000)
		return by_number(w);
	if (extended)			/* add sp, sp, x1; cmp sp, x1 */
		return (rd(w) == ARM64_SP && !tells) || (rn(w) == ARM64_SP && !tells) ? -1 : 0;
	if ((w & 0x1f800000) == 0x12000000)	/* and sp, x9, #-16 */
		return rd(w) == ARM64_SP && (w >> 29 & 3) != 3 ? -1 : 0;
	if ((w & 0xffe0f000) == 0x9ac01000)	/* irg */
		return -1;
	return 0;
}

/* ---- Go ------------------------------------------------------------------ */

/* ldr xN, [x28, #at] */
static bool loads_of_g(uint32_t w, unsigned int at, unsigned int *reg)
{
	*reg = rd(w);
	return (w & 0xffffffe0) == (0xf9400000 | at / 8 << 10 | G << 5) && *reg < G;
}

/* movz, movk, movn, or orr of a number; mov xN, sp; sub xN, sp or xN, #M. */
static bool prepares(uint32_t w)
{
	bool moves = (w & 0x1f800000) == 0x12800000 || (w & 0xff8003e0) == 0xb20003e0;
	bool copies = (w & 0xffffffe0) == 0x910003e0;
	bool subtracts = (w & 0xff800000) == 0xd1000000 &&
		(rn(w) == ARM64_SP || rn(w) == rd(w));

	return (moves || copies || subtracts) && rd(w) < G;
}

/* cmp xM, xN, or cmp sp, xN */
static bool compares_with(uint32_t w, unsigned int reg)
{
	return (w & 0xfffffc1f) == (0xeb00001f | reg << 16) || w == (0xeb2063ff | reg << 16);
}

static bool branches_if(uint32_t w, unsigned int condition)
{
	return arm64_is_bcond(w) && (w & 31) == condition;
}

int arm64_stack_check(const uint8_t *p, size_t n, bool *loads)
{
	enum { MOST = 8, GUARD = 16, SYSTEM_GUARD = 24 };
	size_t words = MIN(n / 4, (size_t)MOST);
	unsigned int guard;

	*loads = false;
	if (!words || (!loads_of_g(arm64_word(p), GUARD, &guard) &&
		       !loads_of_g(arm64_word(p), SYSTEM_GUARD, &guard)))
		return 0;
	for (size_t i = 1; i + 1 < words; i++) {
		uint32_t w = arm64_word(p + i * 4), next = arm64_word(p + i * 4 + 4);
		/* subs xN, sp, xM; b.lo */
		bool huge = (w & 0xffe0ffe0) == 0xeb2063e0 && branches_if(next, BELOW);

		if (compares_with(w, guard))
			return branches_if(next, BELOW_OR_EQUAL) ? (int)(i * 4 + 8) : 0;
		i += huge;
		if (!huge && (!prepares(w) || rd(w) == guard))
			return 0;
	}
	return 0;
}

bool arm64_reads_g(const uint8_t *p, size_t n)
{
	unsigned int reg;

	/* cbnz */
	return n >= 8 && loads_of_g(arm64_word(p), PANICS, &reg) &&
		(arm64_word(p + 4) & 0xff00001f) == (0xb5000000 | reg);
}
