/* SPDX-License-Identifier: MIT */
/* What does a jump by a register of arm64 go by, and which instructions before it may have set
 * that register? */
#include <stdio.h>

#include "arch/arm64/code.h"
#include "tests/unit/check.h"

#define PC 0x401000ull		/* of the first word */
#define BR_X5 0xd61f00a0u

static enum jump_by by(const uint32_t *words, size_t n, raddr_t *base)
{
	uint8_t p[4 * 8];
	struct insn in;

	for (size_t i = 0; i < n; i++)
		arm64_put_word(p + 4 * i, words[i]);
	MUST(!arm64_decode(p + 4 * (n - 1), 4, PC + 4 * (n - 1), &in));
	*base = 0;
	return arm64_jump_by(p + 4 * (n - 1), 4 * (n - 1), &in, base);
}

/* Between a load of x5 and the jump: has it set x5, for all that is known? */
static const struct { const char *name; uint32_t word; bool sets; } setters[] = {
	{ "add x5, x6, #1", 0x910004c5, true },
	{ "add x6, x5, #1", 0x910004a6, false },
	{ "cmp x5, #1", 0xf10004bf, false },
	{ "mov x5, #1", 0xd2800025, true },
	{ "madd x5, x6, x7, x8", 0x9b0720c5, true },
	{ "madd x6, x5, x5, x5", 0x9b0514a6, false },
	{ "csel x5, x6, x7, eq", 0x9a8700c5, true },
	{ "mov w5, v0.s[0]", 0x0e043c05, true },
	{ "fmov x5, d0", 0x9e660005, true },
	{ "fadd d6, d5, d5", 0x1e6528a6, false },
	{ "adr x6", 0x10000046, false },
	{ "adrp x6", 0x90000006, false },
	{ "cntd x6, of which nothing is known", 0x04e0e3e6, true },

	{ "ldrsw x5, [x6]", 0xb98000c5, true },
	{ "ldr x6, [x7]", 0xf94000e6, false },
	{ "ldr x6, [x5], #8", 0xf84084a6, true },
	{ "ldr x6, [x7, #40]", 0xf94014e6, false },
	{ "ldr x6, [x7, x5]", 0xf86568e6, false },
	{ "ldr x6, 1f", 0x58000046, false },
	{ "ldp w6, w5, [x7]", 0x294014e6, true },
	{ "ldp x6, x7, [x8]", 0xa9401d06, false },
	{ "ldp x6, x7, [x5], #16", 0xa8c11ca6, true },
	{ "stp x6, x7, [x8]", 0xa9001d06, false },
	{ "ld1 {v0.16b}, [x5], #16", 0x4cdf70a0, true },
	{ "ld1 {v0.16b}, [x6], #16", 0x4cdf70c0, false },
	{ "ldxr x5, [x6]", 0xc85f7cc5, true },
	{ "ldxr x6, [x7]", 0xc85f7ce6, false },
	{ "ldxp x6, x5, [x7]", 0xc87f14e6, true },
	{ "stxr w5, x6, [x7]", 0xc8057ce6, true },
	{ "stxr w8, x6, [x7]", 0xc8087ce6, false },
	{ "ldadd x6, x5, [x7]", 0xf82600e5, true },
	{ "ldadd x5, x6, [x7]", 0xf82500e6, false },
	{ "cas x5, x6, [x7]", 0xc8a57ce6, true },
	{ "cas x8, x6, [x7]", 0xc8a87ce6, false },
	{ "casp x4, x5, x6, x7, [x8]", 0x48247d06, true },
	{ "casp x8, x9, x6, x7, [x10]", 0x48287d46, false },
	{ "ldg x5, [x6]", 0xd96000c5, true },
	{ "ldg x6, [x7]", 0xd96000e6, false },
	{ "ldclrp x6, x5, [x7]", 0x192510e6, true },
	{ "cpyfp [x6]!, [x5]!, x7!", 0x190504e6, true },

	{ "bl", 0x94000000, true },
	{ "blr x7", 0xd63f00e0, true },
	{ "svc", 0xd4000001, true },
	{ "mrs x6, tpidr_el0", 0xd53bd046, true },
	{ "nop", 0xd503201f, false },
	{ "bti j", 0xd503249f, false },
	{ "b.eq", 0x540000a5, false },
	{ "cbz x5", 0xb4000005, false },
	{ "tbz x5, #1", 0x36080005, false },
};

static void test_setters(void)
{
	raddr_t base;

	for (size_t i = 0; i < ARRAY_SIZE(setters); i++) {
		const uint32_t words[] = { 0xf94000c5, setters[i].word, BR_X5 };
		enum jump_by got = by(words, 3, &base);

		if (got != (setters[i].sets ? JUMP_BY_UNKNOWN : JUMP_BY_WORD)) {
			printf("%s: %d\n", setters[i].name, got);
			failures++;
		}
	}
}

/* ldr xN, [x6]; the word; br xN: what calls, and what a hint, may do to the registers. */
static void test_kept(void)
{
	static const struct { uint32_t word, reg; bool sets; } kept[] = {
		{ 0x94000000, 18, true }, { 0x94000000, 19, false }, { 0x94000000, 29, false },
		{ 0x94000000, 30, true }, { 0xd63f00e0, 19, false }, { 0xd63f00e0, 0, true },
		{ 0xd50323bf, 30, true },	/* autiasp */
		{ 0xd503233f, 30, true },	/* paciasp */
		{ 0xd50323bf, 17, false },
		{ 0xd503219f, 17, true },	/* autia1716 */
		{ 0xd503219f, 16, false }, { 0xd503219f, 30, false },
		{ 0xd50320ff, 30, true },	/* xpaclri */
		{ 0xd50320ff, 17, false }, { 0xd50320ff, 7, false },
		{ 0xd503251f, 16, true },	/* chkfeat x16 */
		{ 0xd503251f, 17, false }, { 0xd503201f, 30, false }, { 0xd503245f, 30, false },
	};
	raddr_t base;

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		const uint32_t words[] = { 0xf94000c0 | kept[i].reg, kept[i].word,
					   0xd61f0000 | kept[i].reg << 5 };
		enum jump_by got = by(words, 3, &base);

		if (got != (kept[i].sets ? JUMP_BY_UNKNOWN : JUMP_BY_WORD)) {
			printf("%#x of x%u: %d\n", kept[i].word, kept[i].reg, got);
			failures++;
		}
	}
}

static const struct {
	const char *name;
	enum jump_by by;
	raddr_t base;
	uint32_t words[5];
} jumps[] = {
	{ "ldr x5, [x6]", JUMP_BY_WORD, 0, { 0xf94000c5, BR_X5 } },
	{ "ldur x5, [x6, #-8]", JUMP_BY_WORD, 0, { 0xf85f80c5, BR_X5 } },
	{ "ldr x5, [x6], #8", JUMP_BY_WORD, 0, { 0xf84084c5, BR_X5 } },
	{ "ldr x5, [x6, #8]!", JUMP_BY_WORD, 0, { 0xf8408cc5, BR_X5 } },
	{ "ldr x5, [x6, x7, lsl #3]", JUMP_BY_WORD, 0, { 0xf86778c5, BR_X5 } },
	{ "ldr x5, 1f", JUMP_BY_WORD, 0, { 0x58000045, BR_X5 } },
	{ "ldp x5, x6, [x7]", JUMP_BY_WORD, 0, { 0xa94018e5, BR_X5 } },
	{ "ldp x6, x5, [x7], #16", JUMP_BY_WORD, 0, { 0xa8c114e6, BR_X5 } },
	{ "eor x5, x6, x7", JUMP_BY_WORD, 0, { 0xca0700c5, BR_X5 } },
	{ "braa x5, x6", JUMP_BY_WORD, 0, { 0xf94000c5, 0xd71f08a6 } },
	{ "ldr w5, [x6]", JUMP_BY_UNKNOWN, 0, { 0xb94000c5, BR_X5 } },
	{ "ldr w5, 1f", JUMP_BY_UNKNOWN, 0, { 0x18000045, BR_X5 } },
	{ "prfm #5, 1f", JUMP_BY_UNKNOWN, 0, { 0xd8000045, BR_X5 } },
	{ "prfm #5, [x6]", JUMP_BY_UNKNOWN, 0, { 0xf98000c5, BR_X5 } },
	{ "ldr d5, [x6]", JUMP_BY_UNKNOWN, 0, { 0xfd4000c5, BR_X5 } },
	{ "str x5, [x6]", JUMP_BY_UNKNOWN, 0, { 0xf90000c5, BR_X5 } },
	{ "stp x5, x6, [x7]", JUMP_BY_UNKNOWN, 0, { 0xa90018e5, BR_X5 } },
	{ "ldxr x5, [x6]", JUMP_BY_UNKNOWN, 0, { 0xc85f7cc5, BR_X5 } },
	{ "ldp w5, w6, [x7]", JUMP_BY_UNKNOWN, 0, { 0x294018e5, BR_X5 } },
	{ "eor w5, w6, w7", JUMP_BY_UNKNOWN, 0, { 0x4a0700c5, BR_X5 } },
	{ "eon x5, x6, x7", JUMP_BY_UNKNOWN, 0, { 0xca2700c5, BR_X5 } },
	{ "ands x5, x6, x7", JUMP_BY_UNKNOWN, 0, { 0xea0700c5, BR_X5 } },
	{ "nothing", JUMP_BY_EARLIER, 0, { BR_X5 } },
	{ "nothing of x5", JUMP_BY_EARLIER, 0, { 0xf94000e6, BR_X5 } },

	{ "mov x5, x6", JUMP_BY_EARLIER, 0, { 0xaa0603e5, BR_X5 } },
	{ "ldr x6, [x7]; mov x5, x6", JUMP_BY_WORD, 0, { 0xf94000e6, 0xaa0603e5, BR_X5 } },
	{ "adr x6; ldr x7; mov x6, x7; mov x5, x6", JUMP_BY_WORD, 0,
	  { 0x10000046, 0xf94000e7, 0xaa0703e6, 0xaa0603e5, BR_X5 } },
	{ "adr x6; mov x5, x6; ldr x6, [x7]", JUMP_BY_NAME, PC + 8,
	  { 0x10000046, 0xaa0603e5, 0xf94000e6, BR_X5 } },
	{ "mov w5, w6", JUMP_BY_UNKNOWN, 0, { 0x10000046, 0x2a0603e5, BR_X5 } },
	{ "orr x5, x6, x7", JUMP_BY_UNKNOWN, 0, { 0x10000046, 0xaa0700c5, BR_X5 } },
	{ "orr x5, xzr, x6, lsl #4", JUMP_BY_UNKNOWN, 0, { 0x10000046, 0xaa0613e5, BR_X5 } },
	{ "orr x5, xzr, x6, lsl #16", JUMP_BY_UNKNOWN, 0, { 0x10000046, 0xaa0643e5, BR_X5 } },
	{ "adds x5, xzr, x6", JUMP_BY_UNKNOWN, 0, { 0x10000046, 0xab0603e5, BR_X5 } },

	{ "adr x5", JUMP_BY_NAME, PC + 8, { 0x10000045, BR_X5 } },
	{ "nop; adr x5", JUMP_BY_NAME, PC + 12, { 0xd503201f, 0x10000045, BR_X5 } },
	{ "adrp x5", JUMP_BY_NAME, PC, { 0x90000005, BR_X5 } },
	{ "adrp x5; add x5, x5, #16", JUMP_BY_NAME, PC + 16, { 0x90000005, 0x910040a5, BR_X5 } },
	{ "adrp x6; add x5, x6, #16", JUMP_BY_NAME, PC + 16, { 0x90000006, 0x910040c5, BR_X5 } },
	{ "adrp x6; add x5, x6, #0xfff", JUMP_BY_NAME, PC + 0xfff,
	  { 0x90000006, 0x913ffcc5, BR_X5 } },
	{ "adrp x6; add x5, x6, #1, lsl #12", JUMP_BY_UNKNOWN, 0,
	  { 0x90000006, 0x914004c5, BR_X5 } },
	{ "add x5, x6, #16", JUMP_BY_UNKNOWN, 0, { 0x910040c5, BR_X5 } },
	{ "adrp x6; sub x5, x6, #16", JUMP_BY_UNKNOWN, 0, { 0x90000006, 0xd10040c5, BR_X5 } },
	{ "ldr x6, [x7]; add x5, x6, #16", JUMP_BY_UNKNOWN, 0,
	  { 0xf94000e6, 0x910040c5, BR_X5 } },

	{ "adr x6; add x5, x6, x7", JUMP_BY_TABLE, PC + 8, { 0x10000046, 0x8b0700c5, BR_X5 } },
	{ "adr x6; add x5, x7, x6", JUMP_BY_TABLE, PC + 8, { 0x10000046, 0x8b0600e5, BR_X5 } },
	{ "adr x6; add x5, x6, w7, sxtw #2", JUMP_BY_TABLE, PC + 8,
	  { 0x10000046, 0x8b27c8c5, BR_X5 } },
	{ "adr x6; add x5, x6, x7, lsl #2", JUMP_BY_TABLE, PC + 8,
	  { 0x10000046, 0x8b0708c5, BR_X5 } },
	{ "adr x6; add x5, x6, x7; adr x6", JUMP_BY_TABLE, PC + 8,
	  { 0x10000046, 0x8b0700c5, 0x10000046, BR_X5 } },
	{ "adrp x6; add x6, x6, #16; ldrsw x7, [x8]; add x5, x6, x7", JUMP_BY_TABLE, PC + 16,
	  { 0x90000006, 0x910040c6, 0xb9800107, 0x8b0700c5, BR_X5 } },
	{ "add x5, x6, x7", JUMP_BY_SUM, 0, { 0x8b0700c5, BR_X5 } },
	{ "ldr x6, [x7]; add x5, x6, x7", JUMP_BY_SUM, 0, { 0xf94000e6, 0x8b0700c5, BR_X5 } },
	{ "add w5, w6, w7", JUMP_BY_UNKNOWN, 0, { 0x10000046, 0x0b0700c5, BR_X5 } },
	{ "adds x5, x6, x7", JUMP_BY_UNKNOWN, 0, { 0x10000046, 0xab0700c5, BR_X5 } },
	{ "adds x5, x6, w7, sxtw #2", JUMP_BY_UNKNOWN, 0, { 0x10000046, 0xab27c8c5, BR_X5 } },
	{ "smaddl x5, w6, w7, x8", JUMP_BY_UNKNOWN, 0, { 0x10000046, 0x9b2720c5, BR_X5 } },
	{ "sub x5, x6, x7", JUMP_BY_UNKNOWN, 0, { 0x10000046, 0xcb0700c5, BR_X5 } },
};

static void test_jumps(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(jumps); i++) {
		bool named = jumps[i].by == JUMP_BY_TABLE || jumps[i].by == JUMP_BY_NAME;
		size_t n = 1;
		raddr_t base;

		while ((jumps[i].words[n - 1] & 0xfe000000) != 0xd6000000)
			n++;
		enum jump_by got = by(jumps[i].words, n, &base);

		if (got != jumps[i].by || (named && base != jumps[i].base)) {
			printf("%s: %d, %#llx\n", jumps[i].name, got, (unsigned long long)base);
			failures++;
		}
	}
}

int main(void)
{
	test_setters();
	test_kept();
	test_jumps();
	return failures != 0;
}
