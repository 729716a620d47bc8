/* SPDX-License-Identifier: MIT */
/* What does an arm64 instruction do by the stack pointer, may it fault, and what tells Go's code of
 * its stack and of registers that are free? */
#include <signal.h>
#include <stdio.h>

#include "arch/arm64/code.h"
#include "tests/unit/check.h"

enum { NO = -1, MEMORY = 1 };

static const struct {
	const char *name;
	uint32_t word;
	int lowers;
	int faults;
} words[] = {
	{ "stp x29, x30, [sp, #-32]!", 0xa9be7bfd, 32, 0 },
	{ "ldp x29, x30, [sp], #32", 0xa8c27bfd, NO, 0 },
	{ "str x30, [sp, #-48]!", 0xf81d0ffe, 48, 0 },
	{ "stp q8, q9, [sp, #-64]!", 0xadbe27e8, 64, 0 },
	{ "stur x29, [sp, #-8]", 0xf81f83fd, 0, 0 },
	{ "stp x19, x20, [sp, #-24]", 0xa93ed3f3, NO, 0 },
	{ "str x0, [sp, #16]", 0xf9000be0, 0, 0 },
	{ "ldr x0, [sp, x1]", 0xf8616be0, NO, MEMORY },
	{ "ldr x0, [x1]", 0xf9400020, 0, MEMORY },
	{ "ldr x0, [x1], #8", 0xf8408420, 0, MEMORY },
	{ "ldrsb x27, [x0]", 0x3980001b, 0, MEMORY },
	{ "ldr x0, 1f", 0x58000040, 0, 0 },
	{ "ldadd x1, x2, [x0]", 0xf8210002, 0, MEMORY },
	{ "ldaxr x1, [x0]", 0xc85ffc01, 0, MEMORY },
	{ "ld1 {v0.16b}, [x0]", 0x4c407000, 0, MEMORY },
	{ "dc zva, x0", 0xd50b7420, 0, MEMORY },
	{ "ld1b {z0.b}, p0/z, [x0]", 0xa400a000, NO, MEMORY },
	{ "sub sp, sp, #0x20", 0xd10083ff, 32, 0 },
	{ "sub sp, sp, #0x1000", 0xd14007ff, 4096, 0 },
	{ "sub sp, x29, #0x20", 0xd10083bf, NO, 0 },
	{ "add sp, sp, #0x20", 0x910083ff, NO, 0 },
	{ "mov sp, x9", 0x9100013f, NO, 0 },
	{ "mov x29, sp", 0x910003fd, 0, 0 },
	{ "sub x29, sp, #8", 0xd10023fd, 0, 0 },
	{ "sub x20, sp, #64", 0xd10103f4, NO, 0 },
	{ "cmp sp, x16", 0xeb3063ff, 0, 0 },
	{ "sub sp, sp, x1", 0xcb2163ff, NO, 0 },
	{ "and sp, x9, #-16", 0x927ced3f, NO, 0 },
	{ "ands xzr, x9, #-16", 0xf27ced3f, 0, 0 },
	{ "udiv x0, x0, x1", 0x9ac10800, 0, 0 },
	{ "fadd d0, d0, d1", 0x1e612800, 0, 0 },
	{ "irg sp, sp", 0x9adf13ff, NO, 0 },
	{ "sub x20, sp, #16", 0xd10043f4, 0, 0 },
	{ "sub x20, sp, #24", 0xd10063f4, NO, 0 },
	{ "stur x0, [sp, #-16]", 0xf81f03e0, 0, 0 },
	{ "stur x0, [sp, #-17]", 0xf81ef3e0, NO, 0 },
	{ "ldrsw x0, [sp, x1]", 0xb8a16be0, NO, MEMORY },
	{ "stp w0, w1, [sp, #-16]!", 0x29be07e0, 16, 0 },
	{ "stp d8, d9, [sp, #-32]!", 0x6dbe27e8, 32, 0 },
	{ "stp s8, s9, [sp, #-16]!", 0x2dbe27e8, 16, 0 },
	{ "stgp x0, x1, [sp, #-32]!", 0x69bf07e0, 32, 0 },
	{ "ldpsw x0, x1, [sp, #-24]", 0x697d07e0, NO, 0 },
	{ "str x0, [sp], #-16", 0xf81f07e0, NO, 0 },
	{ "str q0, [sp, #-32]!", 0x3c9e0fe0, 32, 0 },
	{ "stp x0, x1, [sp], #-32", 0xa8be07e0, NO, 0 },
	{ "stp x29, x30, [sp, #-512]!", 0xa9a07bfd, 512, 0 },
	{ "subs x0, sp, #0x40", 0xf10103e0, 0, 0 },
	{ "cmp sp, #0x40", 0xf10103ff, 0, 0 },
	{ "add w20, wsp, #1", 0x110007f4, 0, 0 },
	{ "sub wsp, wsp, #0x20", 0x510083ff, NO, 0 },
	{ "addg sp, sp, #16, #1", 0x918107ff, NO, 0 },
	{ "subg x0, sp, #16, #1", 0xd18107e0, NO, 0 },
	{ "orr sp, x9, #0xf0", 0xb27c0d3f, NO, 0 },
	{ "eor x0, x9, #0xf0", 0xd27c0d20, 0, 0 },
	{ "add sp, sp, x1", 0x8b2163ff, NO, 0 },
	{ "subs x0, sp, x1", 0xeb2163e0, 0, 0 },
	{ "add x0, sp, x1", 0x8b2163e0, NO, 0 },
	{ "sub sp, sp, #0xfff000", 0xd17fffff, 0xfff000, 0 },
};

static const struct insn plain = { .size = 4, .kind = INSN_PLAIN };

static void test_words(void)
{
	uint8_t p[4];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		arm64_put_word(p, words[i].word);
		int lowers = arm64_lowers_stack(p, &plain, true);
		bool faults = arm64_faults(p, &plain) == (1ull << (SIGSEGV - 1) |
							  1ull << (SIGBUS - 1));

		if (lowers != words[i].lowers || faults != (words[i].faults == MEMORY)) {
			printf("%s: lowers %d, faults %d\n", words[i].name, lowers, faults);
			failures++;
		}
	}
}

/* Does it put what a callee keeps above the stack pointer? */
static void test_saves(void)
{
	static const uint32_t saves[] = {
		0xf9000bf3,	/* str x19, [sp, #16] */
		0xf9000bfc,	/* str x28, [sp, #16] */
		0xfd000be8,	/* str d8, [sp, #16] */
		0xfd3fffef,	/* str d15, [sp, #32760] */
		0xa90153f3,	/* stp x19, x20, [sp, #16] */
		0xa9014ffc,	/* stp x28, x19, [sp, #16] */
		0x6d0127e8,	/* stp d8, d9, [sp, #16] */
		0x6d0123ef,	/* stp d15, d8, [sp, #16] */
	}, others[] = {
		0xf9000bf2,	/* str x18, [sp, #16] */
		0xf9000bfd,	/* str x29, [sp, #16] */
		0xf9000be8,	/* str x8, [sp, #16] */
		0xfd000be7,	/* str d7, [sp, #16] */
		0xfd000bf0,	/* str d16, [sp, #16] */
		0xfd000bf3,	/* str d19, [sp, #16] */
		0xa9014bf3,	/* stp x19, x18, [sp, #16] */
		0xa90177f3,	/* stp x19, x29, [sp, #16] */
		0x6d011fe8,	/* stp d8, d7, [sp, #16] */
		0x6d0143e8,	/* stp d8, d16, [sp, #16] */
		0xa9015013,	/* stp x19, x20, [x0, #16] */
		0xf9000813,	/* str x19, [x0, #16] */
		0xa93f53f3,	/* stp x19, x20, [sp, #-16] */
		0xb90013f3,	/* str w19, [sp, #16] */
		0xf9400bf3,	/* ldr x19, [sp, #16] */
		0xa94153f3,	/* ldp x19, x20, [sp, #16] */
		0xa9bf53f3,	/* stp x19, x20, [sp, #-16]! */
		0x290253f3,	/* stp w19, w20, [sp, #16] */
		0xad00a7e8,	/* stp q8, q9, [sp, #16] */
		0xbd0013e8,	/* str s8, [sp, #16] */
		0xf80083f3,	/* stur x19, [sp, #8] */
	};
	uint8_t p[4];

	for (size_t i = 0; i < ARRAY_SIZE(saves); i++) {
		arm64_put_word(p, saves[i]);
		CHECK(arch_arm64.saves(p, &plain));
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		arm64_put_word(p, others[i]);
		CHECK(!arch_arm64.saves(p, &plain));
	}
}

/* Which breakpoints are compilers', and so may be moved? */
static void test_raises(void)
{
	uint8_t p[4];

	for (uint32_t number = 0; number < 0x10000; number++) {
		arm64_put_word(p, ARM64_BRK(number));
		CHECK_EQ(arch_arm64.raises(p, &plain), number == 1 || number == 1000 ? SIGTRAP : 0);
	}
	arm64_put_word(p, 0);
	CHECK_EQ(arch_arm64.raises(p, &plain), 0);
}

/* Bytes of the instructions that ask; 0: they do not. */
static const struct {
	const char *name;
	int asks;
	uint32_t words[7];
} begins[] = {
	{ "small", 12, { 0xf9400b90, 0xeb3063ff, 0x54000549 } },
	{ "small, on the system's stack", 12, { 0xf9400f90, 0xeb3063ff, 0x54000549 } },
	{ "larger", 16, { 0xf9400b90, 0xd10083f1, 0xeb10023f, 0x54000549 } },
	{ "huge", 24, { 0xf9400b90, 0xd283f61b, 0xeb3b63f1, 0x540006a3, 0xeb10023f,
			0x54000669 } },
	{ "until 1.17", 16, { 0xf9400b81, 0x910003e2, 0xeb01005f, 0x54000549 } },
	{ "another word of g", 0, { 0xf9401390, 0xeb3063ff, 0x54000549 } },
	{ "by another register", 0, { 0xf9400b50, 0xeb3063ff, 0x54000549 } },
	{ "with another word", 0, { 0xf9400b90, 0xeb3163ff, 0x54000549 } },
	{ "the other way round", 0, { 0xf9400b90, 0xeb3063ff, 0x54000548 } },
	{ "what it compares with is set anew", 0,
	  { 0xf9400b90, 0xd2800010, 0xeb3063ff, 0x54000549 } },
	{ "with a store between", 0, { 0xf9400b90, 0xf90003e0, 0xeb3063ff, 0x54000549 } },
};

static void put_words(uint8_t *p, const uint32_t *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		arm64_put_word(p + 4 * i, w[i]);
}

static void test_begins(void)
{
	uint8_t p[28];
	bool loads;

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		put_words(p, begins[i].words, 7);
		int asks = arm64_stack_check(p, sizeof(p), &loads);

		if (asks != begins[i].asks || loads) {
			printf("%s: asks %d\n", begins[i].name, asks);
			failures++;
		}
		if (asks)	/* and cut off in the middle */
			CHECK_EQ(arm64_stack_check(p, (size_t)asks - 4, &loads), 0);
	}
}

static enum spared spared(uint32_t word, uint8_t kind)
{
	struct insn in = { .size = 4, .kind = kind };
	uint8_t p[4];

	arm64_put_word(p, word);
	return arm64_spared(p, &in);
}

/* x27 and x18: what keeps them, sets them, jumps by them, and needs them. */
static void test_spared(void)
{
	static const uint32_t address[] = { 0xb000001b, 0x9100037b, 0xf9400360 },
		number[] = { 0xd28fb61b, 0xaa1b0000 }, set[] = { 0xd10083f4, 0xd283f61b },
		branch[] = { 0x14000360, 0x9100037b };
	uint8_t p[12];

	CHECK_EQ(spared(0xf9000ffb, INSN_PLAIN), SPARED_KEPT);	/* str x27, [sp, #24] */
	CHECK_EQ(spared(0xa9016ffa, INSN_PLAIN), SPARED_KEPT);	/* stp x26, x27, [sp, #16] */
	CHECK_EQ(spared(0x3980001b, INSN_PLAIN), SPARED_SET);	/* ldrsb x27, [x0] */
	CHECK_EQ(spared(0xb000001b, INSN_PLAIN), SPARED_SET);	/* adrp x27 */
	CHECK_EQ(spared(0xf9000fe0, INSN_PLAIN), SPARED_FREE);
	CHECK_EQ(spared(0xd61f0360, INSN_JUMP_INDIRECT), SPARED_GONE_BY);	/* br x27 */
	CHECK_EQ(spared(0xd61f0240, INSN_JUMP_INDIRECT), SPARED_GONE_BY);	/* br x18 */
	CHECK_EQ(spared(0xd61f0200, INSN_JUMP_INDIRECT), SPARED_FREE);

	put_words(p, address, 3);
	CHECK(!arm64_needs_spared(p, 12));
	CHECK(arm64_needs_spared(p + 4, 8) && arm64_needs_spared(p + 8, 4));
	put_words(p, number, 2);
	CHECK(!arm64_needs_spared(p, 8) && arm64_needs_spared(p + 4, 4));
	put_words(p, set, 2);
	CHECK(!arm64_needs_spared(p, 8));
	put_words(p, branch, 2);
	CHECK(!arm64_needs_spared(p, 8));
}

/* ldr x16, [x28, #32]; cbnz x16 */
static void test_reads_g(void)
{
	static const struct { uint32_t words[2]; bool reads; } asks[] = {
		{ { 0xf9401390, 0xb5000070 }, true },
		{ { 0xf9401790, 0xb5000070 }, false },	/* another word of it */
		{ { 0xf9401370, 0xb5000070 }, false },	/* by x27 */
		{ { 0xf9401390, 0xb4000070 }, false },	/* cbz */
		{ { 0xf9401390, 0xb5000071 }, false },	/* cbnz x17 */
	};
	uint8_t p[8];

	for (size_t i = 0; i < ARRAY_SIZE(asks); i++) {
		put_words(p, asks[i].words, 2);
		CHECK_EQ(arm64_reads_g(p, 8), asks[i].reads);
		CHECK(!arm64_reads_g(p, 4));
	}
}

/* Does it leave x28 alone? */
static void test_g(void)
{
	static const uint32_t keeps[] = {
		0xaa0103e0,	/* mov x0, x1 */
		0xf9400000,	/* ldr x0, [x0] */
		0xf90003fc,	/* str x28, [sp] */
		0xd65f03c0,	/* ret */
		0x94000000,	/* bl */
		0xd53be040,	/* mrs x0, cntvct_el0 */
	}, sets[] = {
		0xaa0103fc,	/* mov x28, x1 */
		0xf94003fc,	/* ldr x28, [sp] */
		0xa94173fb,	/* ldp x27, x28, [sp, #16] */
		0xf8408780,	/* ldr x0, [x28], #8 */
		0xd53be05c,	/* mrs x28, cntvct_el0 */
		0x9100077c,	/* add x28, x27, #1 */
		0xb000001c,	/* adrp x28 */
	};
	uint8_t p[4];

	for (size_t i = 0; i < ARRAY_SIZE(keeps); i++) {
		arm64_put_word(p, keeps[i]);
		CHECK(arm64_keeps_g(p));
	}
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		arm64_put_word(p, sets[i]);
		CHECK(!arm64_keeps_g(p));
	}
}

/* mrs x0, tpidr_el0; movz x27, #0, lsl #16; movk x27, #0x10; ldr x28, [x0, x27] */
static void test_g_place(void)
{
	static const uint32_t two[] = { 0xd503201f, 0xd53bd040, 0xd2a0001b, 0xf280021b,
					0xf87b681c },
		one[] = { 0xd53bd040, 0xd280021b, 0xf87b681c, 0xd503201f },
		other[] = { 0xd53bd040, 0xd280021b, 0xf87b681d, 0xd503201f };
	uint8_t p[20];

	put_words(p, two, 5);
	CHECK_EQ(arm64_g_place(p, 20), 16);
	CHECK_EQ(arm64_g_place(p, 16), 0);
	put_words(p, one, 4);
	CHECK_EQ(arm64_g_place(p, 16), 16);
	put_words(p, other, 4);
	CHECK_EQ(arm64_g_place(p, 16), 0);
}

int main(void)
{
	test_words();
	test_saves();
	test_raises();
	test_begins();
	test_spared();
	test_reads_g();
	test_g();
	test_g_place();
	return failures != 0;
}
