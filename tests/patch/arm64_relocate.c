/* SPDX-License-Identifier: MIT */
/* Which words does each arm64 instruction become elsewhere? And the pieces
 * that stubs are made of: jumps, skips, recording calls, padding. */
#include "tests/patch/golden.h"

#define PC 0x401008ull
#define TO 0x801000ull		/* beyond what a literal load reaches */
#define NEAR 0x402008ull
#define FAR (PC + (1ull << 33))

static const struct { const char *name, *in, *out; } moved[] = {
	{ "mov", "aa0103e0", "aa0103e0" },
	{ "bti_c", "d503245f", "d503245f" },
	{ "paciasp", "d503233f", "d503233f" },
	{ "ret", "d65f03c0", "d65f03c0" },
	{ "retaa", "d65f0bff", "d65f0bff" },
	{ "br", "d61f0060", "d61f0060" },
	{ "adr", "30000207", "90ffe007 910124e7" },
	{ "adr_xzr", "3000021f", "d503201f" },
	{ "adrp", "b0000007", "b0ffe007" },
	{ "adrp_back", "90ffffe7", "90ffdfe7" },
	{ "b", "14000010", "17f00012" },
	{ "bl", "94000010", "90ffe01e 910033de 17f00010" },
	{ "b_eq", "54000200", "54000041 17f00011" },
	{ "b_le", "5400020d", "5400004c 17f00011" },
	{ "b_lt", "5400020b", "5400004a 17f00011" },
	{ "b_eq_back", "54ffffe0", "54000041 17f00000" },
	{ "b_al", "5400020e", "17f00012" },
	{ "bc_ne", "54000211", "54000050 17f00011" },
	{ "cbz_x", "b4000203", "b5000043 17f00011" },
	{ "cbnz_w", "35000203", "34000043 17f00011" },
	{ "cbz_x27_back", "b4fffffb", "b500005b 17f00000" },
	{ "tbz_33", "b6080205", "b7080045 17f00011" },
	{ "tbnz_back", "371fffe5", "36180045 17f00000" },
	{ "ldr_w", "18000201", "90ffe001 91012021 b9400021" },
	{ "ldr_w2", "18000202", "90ffe002 91012042 b9400042" },
	{ "ldr_x", "58000201", "90ffe001 91012021 f9400021" },
	{ "ldr_sw", "98000201", "90ffe001 91012021 b9800021" },
	{ "ldr_sw2", "98000202", "90ffe002 91012042 b9800042" },
	{ "ldr_xzr", "5800021f", "f81e0ff0 90ffe010 91012210 f940021f f84207f0" },
	{ "ldr_s", "1c000201", "f81e0ff0 90ffe010 91012210 bd400201 f84207f0" },
	{ "ldr_s2", "1c000202", "f81e0ff0 90ffe010 91012210 bd400202 f84207f0" },
	{ "ldr_d", "5c000201", "f81e0ff0 90ffe010 91012210 fd400201 f84207f0" },
	{ "ldr_q", "9c000201", "f81e0ff0 90ffe010 91012210 3dc00201 f84207f0" },
	{ "prfm", "d8000200", "f81e0ff0 90ffe010 91012210 f9800200 f84207f0" },
	{ "blr", "d63f0060", "90ffe01e 910033de d61f0060" },
	{ "blraa", "d73f0864", "90ffe01e 910033de d71f0864" },
	{ "blraa_sp", "d73f087f", "90ffe01e 910033de d71f087f" },
	{ "blraaz", "d63f087f", "90ffe01e 910033de d61f087f" },
};

static const struct {
	const char *name, *in;
	raddr_t to;
	const char *out;
} near[] = {
	{ "near_ldr_x", "58000201", NEAR, "58ff8201" },
	{ "near_ldr_x_back", "58ffffe1", PC - 8, "58000021" },
	{ "near_ldr_q", "9c000201", NEAR, "9cff8201" },
	{ "near_prfm", "d8000200", NEAR, "d8ff8200" },
	{ "near_adr", "30000207", NEAR, "f0ffffe7 910124e7" },
	{ "same_page_adrp", "b0000007", PC + 16, "b0000007" },
	{ "brk_of_clang", "d4200020", TO, "d4200020" },
	{ "brk_of_gcc", "d4207d00", TO, "d4207d00" },
};

static const struct { const char *name, *in; raddr_t to; int err; } refused[] = {
	{ "b_out_of_reach", "14000010", PC + (1 << 28), -ERANGE },
	{ "bl_out_of_reach", "94000010", PC + (1 << 28), -ERANGE },
	{ "cbz_out_of_reach", "b4000203", PC + (1 << 28), -ERANGE },
	{ "adr_out_of_reach", "30000207", FAR, -ERANGE },
	{ "adrp_out_of_reach", "b0000007", FAR, -ERANGE },
	{ "ldr_out_of_reach", "58000201", FAR, -ERANGE },
	{ "ldr_q_out_of_reach", "9c000201", FAR, -ERANGE },
	{ "blr_x30", "d63f03c0", TO, -ENOTSUP },
	{ "blraa_x30_modifier", "d73f087e", TO, -ENOTSUP },
	{ "svc", "d4000001", TO, -ENOTSUP },
	{ "brk", "d4200000", TO, -ENOTSUP },
	{ "udf", "00000000", TO, -ENOTSUP },
	{ "eret", "d69f03e0", TO, -ENOTSUP },
	{ "autiasppc", "f380001f", TO, -ENOTSUP },
};

static int relocate(const char *text, raddr_t to, uint8_t *out, size_t cap)
{
	uint8_t bytes[GOLDEN_MAX];
	struct insn in;

	golden_words(text, bytes);
	int err = arch_arm64.decode(bytes, 4, PC, &in);

	return err ? err : arch_arm64.relocate(bytes, &in, to, out, cap);
}

static void check_moved(const char *name, const char *in, raddr_t to,
			const char *want)
{
	uint8_t out[GOLDEN_MAX], bytes[GOLDEN_MAX];
	int n = golden_words(want, bytes);

	golden_check(name, out, relocate(in, to, out, ARCH_RELOCATED_MAX),
		     bytes, n);
	golden_check(name, out, relocate(in, to, out, n), bytes, n);
	for (int cap = 0; cap < n; cap++) {
		auto_free uint8_t *tight = malloc(cap + 1);

		golden_check(name, tight, relocate(in, to, tight, cap), NULL,
			     -ENOSPC);
	}
}

static void check_word(const char *name, const uint8_t *out, int n,
		       const char *want)
{
	uint8_t bytes[GOLDEN_MAX];

	golden_check(name, out, n, bytes, golden_words(want, bytes));
}

static void check_jumps(void)
{
	const struct arch *a = &arch_arm64;
	const raddr_t far = PC + (1 << 27);
	uint8_t out[ARCH_JUMP_MAX];

	check_word("jump", out, a->jump(PC, PC + 64, out), "14000010");
	check_word("jump_farthest", out, a->jump(PC, far - 4, out), "15ffffff");
	check_word("jump_farthest_back", out,
		   a->jump(far, PC, out), "16000000");
	golden_check("jump_too_far", out, a->jump(PC, far, out), NULL, -ERANGE);
	golden_check("jump_too_far_back", out, a->jump(far + 4, PC, out), NULL,
		     -ERANGE);
	for (int off = 1; off < 4; off++)
		golden_check("jump_misaligned", out, a->jump(PC, PC + off, out), NULL, -ERANGE);
	golden_true("jump_reach", a->jump(PC, PC + a->reach, out) == 4);
	golden_true("jump_reach_back", a->jump(PC + a->reach, PC, out) == 4);
	golden_true("no_short_jump", a->short_size == 0 &&
		    a->jump_short(PC, PC + 4, out) == -ERANGE);
}

static const struct {
	const char *name, *in;
	size_t distance;
	const char *out;	/* NULL: -ENOTSUP */
} skips[] = {
	{ "skip_b_eq", "54000200", 40, "54000161" },
	{ "skip_cbz", "b4000203", 40, "b5000163" },
	{ "skip_tbnz", "37180205", 40, "36180165" },
	{ "skip_tbz_farthest", "b6080205", 32760, "b70bffe5" },
	{ "skip_tbz_too_far", "b6080205", 32764, NULL },
	{ "skip_misaligned", "54000200", 41, NULL },
	{ "skip_b_al", "5400020e", 40, NULL },
	{ "skip_b", "14000010", 40, NULL },
};

static void check_skip(const char *name, const char *text, size_t distance,
		       const char *want)
{
	uint8_t bytes[GOLDEN_MAX], out[ARCH_JUMP_MAX];
	struct insn in;

	golden_words(text, bytes);
	arch_arm64.decode(bytes, 4, PC, &in);
	int n = arch_arm64.skip_unless(bytes, &in, distance, out);

	if (want)
		check_word(name, out, n, want);
	else
		golden_check(name, out, n, NULL, -ENOTSUP);
}

static void check_record(void)
{
	struct record_call call = {
		.word = 0x1122334455667788, .routine = TO + 0x118, .gate = 0x7f0012345678,
	};
	uint8_t out[ARCH_RECORD_MAX];

	check_word("record", out, arch_arm64.record(TO, &call, out),
		   "a9bd7bf1 f9000bf0 d28acf10 f2a24690 f2cfe010 f2e00010 "
		   "39400210 340000d0 d28ef110 f2aaacd0 f2c66890 f2e22450 "
		   "9400003a f9400bf0 a8c37bf1");
	call.gate = call.word = 0;
	check_word("record_zeros", out, arch_arm64.record(TO, &call, out),
		   "a9bd7bf1 f9000bf0 d2800010 f2a00010 f2c00010 f2e00010 "
		   "39400210 340000d0 d2800010 f2a00010 f2c00010 f2e00010 "
		   "9400003a f9400bf0 a8c37bf1");
	call.gate = call.word = UINT64_MAX;
	check_word("record_ones", out, arch_arm64.record(TO, &call, out),
		   "a9bd7bf1 f9000bf0 d29ffff0 f2bffff0 f2dffff0 f2fffff0 "
		   "39400210 340000d0 d29ffff0 f2bffff0 f2dffff0 f2fffff0 "
		   "9400003a f9400bf0 a8c37bf1");
	call.gate = 0x7f0012345678, call.word = 0x1122334455667788;
	call.below = 16;
	check_word("record_below", out, arch_arm64.record(TO, &call, out),
		   "d10043ff "
		   "a9bd7bf1 f9000bf0 d28acf10 f2a24690 f2cfe010 f2e00010 "
		   "39400210 340000d0 d28ef110 f2aaacd0 f2c66890 f2e22450 "
		   "94000039 f9400bf0 a8c37bf1 "
		   "910043ff");
	call.routine = TO + (1 << 28);
	golden_check("record_out_of_reach", out,
		     arch_arm64.record(TO, &call, out), NULL, -ERANGE);
}

/* adr x16, behind; b */
static void check_call(void)
{
	const struct arch *a = &arch_arm64;
	const raddr_t far = TO + 4 + (1 << 27);
	uint8_t out[ARCH_RELOCATED_MAX];

	check_word("call", out, a->call(TO, TO + 0x100, out), "10000050 1400003f");
	check_word("call_back", out, a->call(TO, TO - 4, out), "10000050 17fffffe");
	check_word("call_farthest", out, a->call(TO, far - 4, out), "10000050 15ffffff");
	golden_check("call_too_far", out, a->call(TO, far, out), NULL, -ERANGE);
}

static const struct { const char *name, *words; bool padding; } paddings[] = {
	{ "nops", "d503201f d503201f", true },
	{ "zeros", "00000000 00000000", true },
	{ "brk_of_lld", "d4200020", true },
	{ "mixed", "d503201f 00000000 d4200020", true },
	{ "ret", "d65f03c0", false },
	{ "nop_then_code", "d503201f aa0103e0", false },
	{ "bti", "d503245f", false },
	{ "half_a_word", "d503", false },
};

static const struct {
	const char *name, *words;
	bool foreign;
} foreigners[] = {
	{ "b", "14000010", true },
	{ "brk behind", "d503201f d4200000", true },
	{ "b back", "17ffffff", true },
	{ "brk of any number", "d43fffe0", true },
	{ "bl", "94000010", false },
	{ "bl back", "97ffffff", false },
	{ "b.eq", "54000200", false },
	{ "cbz", "34000203", false },
	{ "ldr of a constant", "1c000201", false },
	{ "b behind", "d503201f 14000010", false },
	{ "hlt", "d4400000", false },
	{ "svc", "d4000001", false },
	{ "nops", "d503201f d503201f", false },
};

int main(void)
{
	uint8_t bytes[GOLDEN_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(moved); i++)
		check_moved(moved[i].name, moved[i].in, TO, moved[i].out);
	for (size_t i = 0; i < ARRAY_SIZE(near); i++)
		check_moved(near[i].name, near[i].in, near[i].to, near[i].out);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		golden_check(refused[i].name, bytes,
			     relocate(refused[i].in, refused[i].to, bytes,
				      ARCH_RELOCATED_MAX), NULL, refused[i].err);
	check_jumps();
	for (size_t i = 0; i < ARRAY_SIZE(skips); i++)
		check_skip(skips[i].name, skips[i].in, skips[i].distance,
			   skips[i].out);
	check_record();
	check_call();
	for (size_t i = 0; i < ARRAY_SIZE(paddings); i++) {
		size_t n = golden_words(paddings[i].words, bytes);

		golden_true(paddings[i].name,
			    arch_arm64.is_padding(bytes, n) ==
			    paddings[i].padding);
	}
	for (size_t i = 0; i < ARRAY_SIZE(foreigners); i++) {
		size_t n = golden_words(foreigners[i].words, bytes);

		golden_true(foreigners[i].name,
			    arch_arm64.is_foreign(bytes, n) == foreigners[i].foreign);
	}
	return golden_end();
}
