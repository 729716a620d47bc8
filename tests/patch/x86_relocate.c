/* SPDX-License-Identifier: MIT */
/* Which bytes does each x86-64 instruction become elsewhere? And the pieces
 * that stubs are made of: jumps, skips, recording calls, padding. */
#include "tests/patch/golden.h"

#define PC 0x401000ull
#define TO 0x501000ull
/* What puts the original return address on the stack, `lea` displacement in
 * the middle. */
#define PUSH_RETURN(rel) "e8 01 00 00 00 cc 50 48 8d 05 " rel " 48 89 44 24 08 58 "

static const struct { const char *name, *in, *out; } moved[] = {
	{ "push", "55", "55" },
	{ "stack_protector", "64 48 8b 04 25 28 00 00 00",
	  "64 48 8b 04 25 28 00 00 00" },
	{ "endbr64", "f3 0f 1e fa", "f3 0f 1e fa" },
	{ "ret", "c3", "c3" },
	{ "ret_rep", "f3 c3", "f3 c3" },
	{ "ret_imm16", "c2 08 00", "c2 08 00" },
	{ "ud2", "0f 0b", "0f 0b" },

	{ "rip_lea", "48 8d 05 f9 0f 00 00", "48 8d 05 f9 0f f0 ff" },
	{ "rip_before_imm8", "80 3d f9 0f 00 00 07", "80 3d f9 0f f0 ff 07" },
	{ "rip_before_imm32", "81 3d f6 0f 00 00 78 56 34 12",
	  "81 3d f6 0f f0 ff 78 56 34 12" },
	{ "rip_vex", "c5 f8 10 05 f8 0f 00 00", "c5 f8 10 05 f8 0f f0 ff" },
	{ "rip_nop", "0f 1f 05 00 00 00 00", "0f 1f 05 00 00 f0 ff" },
	{ "rip_tls", "64 48 8b 05 f8 0f 00 00", "64 48 8b 05 f8 0f f0 ff" },

	{ "jmp_rel8", "eb 10", "e9 0d 00 f0 ff" },
	{ "jmp_rel32", "e9 fb 0f 00 00", "e9 fb 0f f0 ff" },
	{ "jmp_reg", "ff e0", "ff e0" },
	{ "jmp_notrack", "3e ff e0", "3e ff e0" },
	{ "jmp_got", "ff 25 fa 0f 00 00", "ff 25 fa 0f f0 ff" },
	{ "jmp_table", "ff 24 c5 00 20 40 00", "ff 24 c5 00 20 40 00" },
	{ "je_rel8", "74 10", "0f 84 0c 00 f0 ff" },
	{ "jg_rel32", "0f 8f fa 0f 00 00", "0f 8f fa 0f f0 ff" },
	{ "jne_hint", "3e 75 10", "0f 85 0d 00 f0 ff" },
	{ "loop", "e2 10", "e2 02 eb 05 e9 09 00 f0 ff" },
	{ "jrcxz", "e3 10", "e3 02 eb 05 e9 09 00 f0 ff" },
	{ "jecxz", "67 e3 10", "67 e3 02 eb 05 e9 09 00 f0 ff" },

	{ "call_rel32", "e8 fb 0f 00 00",
	  PUSH_RETURN("f7 ff ef ff") "e9 e7 0f f0 ff" },
	{ "call_tls", "66 66 48 e8 f8 0f 00 00",
	  PUSH_RETURN("fa ff ef ff") "e9 e7 0f f0 ff" },
	{ "call_reg", "ff d0", PUSH_RETURN("f4 ff ef ff") "ff e0" },
	{ "call_r11", "41 ff d3", PUSH_RETURN("f5 ff ef ff") "41 ff e3" },
	{ "call_got", "ff 15 fa 0f 00 00",
	  PUSH_RETURN("f8 ff ef ff") "ff 25 e6 0f f0 ff" },
	{ "call_mem", "ff 50 18", PUSH_RETURN("f5 ff ef ff") "ff 60 18" },
	{ "call_stack", "ff 14 24", PUSH_RETURN("f5 ff ef ff") "ff 64 24 08" },
	{ "call_stack_disp8", "ff 54 24 10",
	  PUSH_RETURN("f6 ff ef ff") "ff 64 24 18" },
	{ "call_stack_disp8_grows", "ff 54 24 78",
	  PUSH_RETURN("f6 ff ef ff") "ff a4 24 80 00 00 00" },
	{ "call_stack_index", "ff 54 c4 10",
	  PUSH_RETURN("f6 ff ef ff") "ff 64 c4 18" },
	{ "call_r12_is_not_stack", "41 ff 14 24",
	  PUSH_RETURN("f6 ff ef ff") "41 ff 24 24" },
};

static const struct { const char *name, *in; raddr_t to; int err; } refused[] = {
	{ "rip_out_of_reach", "48 8d 05 f9 0f 00 00", PC + (3ull << 30), -ERANGE },
	{ "jmp_out_of_reach", "e9 fb 0f 00 00", PC + (3ull << 30), -ERANGE },
	{ "je_out_of_reach", "74 10", PC + (3ull << 30), -ERANGE },
	{ "loop_out_of_reach", "e2 10", PC + (3ull << 30), -ERANGE },
	{ "call_out_of_reach", "ff d0", PC + (3ull << 30), -ERANGE },
	{ "call_rsp", "ff d4", TO, -ENOTSUP },
	{ "call_below_stack", "ff 54 24 f8", TO, -ENOTSUP },
	{ "call_eip", "67 ff 15 f9 0f 00 00", TO, -ENOTSUP },
	{ "lea_eip", "67 48 8d 05 f8 0f 00 00", TO, -ENOTSUP },
	{ "je_opsize", "66 74 10", TO, -ENOTSUP },
	{ "xbegin", "c7 f8 fa 0f 00 00", TO, -ENOTSUP },
	{ "xabort", "c6 f8 01", TO, -ENOTSUP },
	{ "syscall", "0f 05", TO, -ENOTSUP },
	{ "int_80", "cd 80", TO, -ENOTSUP },
	{ "int3", "cc", TO, -ENOTSUP },
	{ "ret_far", "cb", TO, -ENOTSUP },
	{ "wrpkru", "0f 01 ef", TO, -ENOTSUP },
};

static int relocate(const char *text, raddr_t to, uint8_t *out, size_t cap)
{
	uint8_t bytes[GOLDEN_MAX] = { 0 };
	struct insn in;
	int err;

	golden_bytes(text, bytes);
	err = arch_x86_64.decode(bytes, sizeof(bytes), PC, &in);
	return err ? err : arch_x86_64.relocate(bytes, &in, to, out, cap);
}

static void check_moved(const char *name, const char *in, const char *want)
{
	uint8_t out[GOLDEN_MAX], bytes[GOLDEN_MAX];
	int n = golden_bytes(want, bytes);

	golden_check(name, out, relocate(in, TO, out, ARCH_RELOCATED_MAX),
		     bytes, n);
	golden_check(name, out, relocate(in, TO, out, n), bytes, n);
	for (int cap = 0; cap < n; cap++) {
		auto_free uint8_t *tight = malloc(cap + 1);

		golden_check(name, tight, relocate(in, TO, tight, cap), NULL,
			     -ENOSPC);
	}
}

static void check_jumps(void)
{
	const struct arch *a = &arch_x86_64;
	const raddr_t far = PC + 5 + INT32_MAX, back = PC + 5 + INT32_MIN;
	uint8_t out[ARCH_JUMP_MAX];

	golden_check("jump", out, a->jump(PC, 0x402000, out),
		     (const uint8_t *)"\xe9\xfb\x0f\x00\x00", 5);
	golden_check("jump_farthest", out, a->jump(PC, far, out),
		     (const uint8_t *)"\xe9\xff\xff\xff\x7f", 5);
	golden_check("jump_too_far", out, a->jump(PC, far + 1, out), NULL,
		     -ERANGE);
	golden_check("jump_farthest_back", out, a->jump(PC, back, out),
		     (const uint8_t *)"\xe9\x00\x00\x00\x80", 5);
	golden_check("jump_too_far_back", out, a->jump(PC, back - 1, out), NULL,
		     -ERANGE);
	golden_check("jump_reach", out, a->jump(PC, PC + a->reach, out),
		     (const uint8_t *)"\xe9\xea\xff\xff\x7f", 5);
	golden_check("short", out, a->jump_short(PC, PC + 2, out),
		     (const uint8_t *)"\xeb\x00", 2);
	golden_check("short_farthest", out, a->jump_short(PC, PC + 129, out),
		     (const uint8_t *)"\xeb\x7f", 2);
	golden_check("short_too_far", out, a->jump_short(PC, PC + 130, out),
		     NULL, -ERANGE);
	golden_check("short_farthest_back", out,
		     a->jump_short(PC, PC - 126, out),
		     (const uint8_t *)"\xeb\x80", 2);
	golden_check("short_too_far_back", out,
		     a->jump_short(PC, PC - 127, out), NULL, -ERANGE);
}

static const struct {
	const char *name, *in;
	size_t distance;
	const char *out;	/* NULL: -ENOTSUP */
} skips[] = {
	{ "skip_je", "74 10", 22, "75 16" },
	{ "skip_jne_rel32", "0f 85 00 01 00 00", 22, "74 16" },
	{ "skip_jg", "7f 10", 127, "7e 7f" },
	{ "skip_loop", "e2 10", 22, "e2 02 eb 16" },
	{ "skip_jecxz", "67 e3 10", 22, "67 e3 02 eb 16" },
	{ "skip_too_far", "74 10", 128, NULL },
	{ "skip_jmp", "eb 10", 22, NULL },
	{ "skip_xbegin", "c7 f8 fa 0f 00 00", 22, NULL },
};

static void check_skip(const char *name, const char *text, size_t distance,
		       const char *want)
{
	uint8_t bytes[GOLDEN_MAX] = { 0 }, out[ARCH_JUMP_MAX];
	uint8_t wanted[GOLDEN_MAX];
	struct insn in;

	golden_bytes(text, bytes);
	arch_x86_64.decode(bytes, sizeof(bytes), PC, &in);
	golden_check(name, out,
		     arch_x86_64.skip_unless(bytes, &in, distance, out), wanted,
		     want ? (int)golden_bytes(want, wanted) : -ENOTSUP);
}

static void check_record(void)
{
	struct record_call call = {
		.word = 0x1122334455667788, .routine = 0x402000, .gate = 0x7f0012345678,
	};
	uint8_t out[ARCH_RECORD_MAX], want[GOLDEN_MAX];
	int n = golden_bytes("51 | 50 | a0 78 56 34 12 00 7f 00 00 | 0f b6 c8 | e3 0f |"
			     "48 b8 88 77 66 55 44 33 22 11 | e8 e1 0f 00 00 | 58 | 59", want);

	golden_check("record", out, arch_x86_64.record(PC, &call, out), want, n);
	call.returns = true;
	n = golden_bytes("51 | 50 | a0 78 56 34 12 00 7f 00 00 | 0f b6 c8 | e3 16 |"
			 "48 8d 0d 0f 00 00 00 | 48 b8 88 77 66 55 44 33 22 11 |"
			 "e9 da 0f 00 00 | 58 | 59", want);
	golden_check("record_returns", out, arch_x86_64.record(PC, &call, out), want, n);
	for (int i = 0; i < 2; i++) {
		call.returns = i;
		call.routine = PC + (3ull << 30);
		golden_check("record_out_of_reach", out,
			     arch_x86_64.record(PC, &call, out), NULL, -ERANGE);
	}
}

/* What a routine may do for a stub: what returns, and nothing else. */
static const struct { const char *name, *bytes; bool returns; } returning[] = {
	{ "returns_ret", "c3", true },
	{ "returns_repz_ret", "f3 c3", true },
	{ "returns_bnd_ret", "f2 c3", false },
	{ "returns_short_ret", "66 c3", false },
	{ "returns_ret_pops", "c2 08 00", false },
	{ "returns_far", "cb", false },
	{ "returns_jump", "e9 c3 00 00 00", false },
};

static bool returns(const char *text)
{
	uint8_t bytes[GOLDEN_MAX] = { 0 };
	struct insn in;

	golden_bytes(text, bytes);
	return !arch_x86_64.decode(bytes, sizeof(bytes), PC, &in) &&
		arch_x86_64.returns(bytes, &in);
}

static const struct { const char *name, *bytes; bool padding; } paddings[] = {
	{ "nop", "90", true },
	{ "nops", "90 90 90", true },
	{ "nop2", "66 90", true },
	{ "nop3", "0f 1f 00", true },
	{ "nop8", "0f 1f 84 00 00 00 00 00", true },
	{ "nop_cs", "66 2e 0f 1f 84 00 00 00 00 00", true },
	{ "nop15", "66 66 66 66 66 66 2e 0f 1f 84 00 00 00 00 00", true },
	{ "int3", "cc cc cc", true },
	{ "zeros", "00 00 00", true },
	{ "mixed", "90 cc 0f 1f 00 00 66 90", true },
	{ "nop_cut_short", "90 0f 1f 44 00", false },
	{ "prefix_alone", "66", false },
	{ "endbr64", "f3 0f 1e fa", false },
	{ "pause", "f3 90", false },
	{ "xchg_r8_rax", "49 90", false },
	{ "ret", "c3", false },
	{ "nop_then_code", "90 90 55", false },
};

static const struct {
	const char *name, *bytes;
	bool foreign;
} foreigners[] = {
	{ "jmp rel32", "e9 00 00 00 00", true },
	{ "jmp *slot", "ff 25 00 00 00 00", true },
	{ "int3 behind", "90 cc", true },
	{ "call *slot", "ff 15 00 00 00 00", false },
	{ "push", "55 48", false },
};

int main(void)
{
	uint8_t bytes[GOLDEN_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(moved); i++)
		check_moved(moved[i].name, moved[i].in, moved[i].out);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		golden_check(refused[i].name, bytes,
			     relocate(refused[i].in, refused[i].to, bytes,
				      ARCH_RELOCATED_MAX), NULL, refused[i].err);
	check_jumps();
	for (size_t i = 0; i < ARRAY_SIZE(skips); i++)
		check_skip(skips[i].name, skips[i].in, skips[i].distance,
			   skips[i].out);
	check_record();
	for (size_t i = 0; i < ARRAY_SIZE(returning); i++)
		golden_true(returning[i].name,
			    returns(returning[i].bytes) == returning[i].returns);
	for (size_t i = 0; i < ARRAY_SIZE(paddings); i++) {
		size_t n = golden_bytes(paddings[i].bytes, bytes);

		golden_true(paddings[i].name,
			    arch_x86_64.is_padding(bytes, n) ==
			    paddings[i].padding);
	}
	for (size_t i = 0; i < ARRAY_SIZE(foreigners); i++) {
		size_t n = golden_bytes(foreigners[i].bytes, bytes);

		golden_true(foreigners[i].name,
			    arch_x86_64.is_foreign(bytes, n) == foreigners[i].foreign);
	}
	return golden_end();
}
