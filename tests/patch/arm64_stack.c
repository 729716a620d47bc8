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
	test_begins();
	test_spared();
	test_g();
	test_g_place();
	return failures != 0;
}
