/* SPDX-License-Identifier: MIT */
/* What does each class of arm64 instruction decode to? */
#include "tests/patch/golden.h"

#define PC 0x401008ull
#define CONSTANT (INSN_PCREL | INSN_CONSTANT)

static const struct golden_insn insns[] = {
	{ "mov", "aa0103e0", 4, INSN_PLAIN, 0, 0, 0 },
	{ "and_w", "0a020020", 4, INSN_PLAIN, 0, 0, 0 },
	{ "stp_frame", "a9be7bfd", 4, INSN_PLAIN, 0, 0, 0 },
	{ "atomic", "f8210062", 4, INSN_PLAIN, 0, 0, 0 },
	{ "sve_ptrue", "2518e3e0", 4, INSN_PLAIN, 0, 0, 0 },
	{ "sme_rdsvl", "04bf5820", 4, INSN_PLAIN, 0, 0, 0 },
	{ "sme_fmopa", "80800000", 4, INSN_PLAIN, 0, 0, 0 },
	{ "mrs_tpidr", "d53bd040", 4, INSN_PLAIN, 0, 0, 0 },
	{ "autiasp", "d50323bf", 4, INSN_PLAIN, 0, 0, 0 },
	{ "pacia", "dac10020", 4, INSN_PLAIN, 0, 0, 0 },
	{ "nop", "d503201f", 4, INSN_PLAIN, INSN_NOP, 0, 0 },
	{ "bti_c", "d503245f", 4, INSN_PLAIN, INSN_LANDING, 0, 0 },
	{ "bti_j", "d503249f", 4, INSN_PLAIN, INSN_LANDING, 0, 0 },
	{ "bti_jc", "d50324df", 4, INSN_PLAIN, INSN_LANDING, 0, 0 },
	{ "bti", "d503241f", 4, INSN_PLAIN, INSN_LANDING, 0, 0 },
	{ "paciasp", "d503233f", 4, INSN_PLAIN, INSN_LANDING, 0, 0 },
	{ "pacibsp", "d503237f", 4, INSN_PLAIN, INSN_LANDING, 0, 0 },

	{ "ldxr", "c85f7c20", 4, INSN_PLAIN, INSN_RESERVES, 0, 0 },
	{ "ldaxrb", "085ffc20", 4, INSN_PLAIN, INSN_RESERVES, 0, 0 },
	{ "ldxp", "c87f0801", 4, INSN_PLAIN, INSN_RESERVES, 0, 0 },
	{ "ldxp_x0", "c87f0800", 4, INSN_PLAIN, INSN_RESERVES, 0, 0 },
	{ "clrex", "d5033f5f", 4, INSN_PLAIN, INSN_RESERVES, 0, 0 },
	{ "stxr", "c8027c20", 4, INSN_PLAIN, INSN_COMMITS, 0, 0 },
	{ "stlxrh", "4802fc20", 4, INSN_PLAIN, INSN_COMMITS, 0, 0 },
	{ "stlxp", "8822fc01", 4, INSN_PLAIN, INSN_COMMITS, 0, 0 },
	{ "casp", "48207c82", 4, INSN_PLAIN, 0, 0, 0 },
	{ "cas", "c8a07c41", 4, INSN_PLAIN, 0, 0, 0 },
	{ "stlr", "c89ffc20", 4, INSN_PLAIN, 0, 0, 0 },
	{ "dmb", "d5033bbf", 4, INSN_PLAIN, 0, 0, 0 },
	{ "isb", "d5033fdf", 4, INSN_PLAIN, 0, 0, 0 },
	{ "ld1", "4c407000", 4, INSN_PLAIN, 0, 0, 0 },
	{ "stnp", "a8000440", 4, INSN_PLAIN, 0, 0, 0 },

	{ "adr", "30000207", 4, INSN_PLAIN, INSN_PCREL, 0, PC + 0x41 },
	{ "adr_back", "10ffffe0", 4, INSN_PLAIN, INSN_PCREL, 0, PC - 4 },
	{ "adr_farthest", "707fffe7", 4, INSN_PLAIN, INSN_PCREL, 0, PC + 0xfffff },
	{ "adrp", "b0000007", 4, INSN_PLAIN, INSN_PCREL, 0, 0x402000 },
	{ "adrp_back", "90ffffe7", 4, INSN_PLAIN, INSN_PCREL, 0, 0x3fd000 },
	{ "adrp_farthest", "f07fffe7", 4, INSN_PLAIN, INSN_PCREL, 0, 0x401000 + 0xfffff000ull },
	{ "ldr_w_literal", "18000201", 4, INSN_PLAIN, CONSTANT, PC + 68, PC + 64 },
	{ "ldr_x_literal", "58000201", 4, INSN_PLAIN, CONSTANT, PC + 72, PC + 64 },
	{ "ldr_x_farthest", "587fffe1", 4, INSN_PLAIN, CONSTANT, PC + 0x100004, PC + 0xffffc },
	{ "ldrsw_literal", "98ffffe1", 4, INSN_PLAIN, CONSTANT, PC, PC - 4 },
	{ "prfm_literal", "d8000200", 4, INSN_PLAIN, INSN_PCREL, 0, PC + 64 },
	{ "ldr_q_literal", "9c000201", 4, INSN_PLAIN, CONSTANT, PC + 80, PC + 64 },
	{ "ldapur_is_no_literal", "99400041", 4, INSN_PLAIN, 0, 0, 0 },

	{ "b", "14000010", 4, INSN_JUMP, 0, PC + 64, 0 },
	{ "b_back", "17ffffff", 4, INSN_JUMP, 0, PC - 4, 0 },
	{ "b_farthest", "15ffffff", 4, INSN_JUMP, 0, PC + (1 << 27) - 4, 0 },
	{ "bl", "94000010", 4, INSN_CALL, 0, PC + 64, 0 },
	{ "bl_farthest", "95ffffff", 4, INSN_CALL, 0, PC + (1 << 27) - 4, 0 },
	{ "b_eq", "54000200", 4, INSN_BRANCH, 0, PC + 64, 0 },
	{ "b_eq_back", "54ffffe0", 4, INSN_BRANCH, 0, PC - 4, 0 },
	{ "b_eq_farthest", "547fffe0", 4, INSN_BRANCH, 0, PC + 0xffffc, 0 },
	{ "bc_ne", "54000211", 4, INSN_BRANCH, 0, PC + 64, 0 },
	{ "b_al", "5400020e", 4, INSN_JUMP, 0, PC + 64, 0 },
	{ "b_nv_is_always", "5400020f", 4, INSN_JUMP, 0, PC + 64, 0 },
	{ "cbz_x", "b4000203", 4, INSN_BRANCH, 0, PC + 64, 0 },
	{ "cbnz_w", "35000203", 4, INSN_BRANCH, 0, PC + 64, 0 },
	{ "cbz_farthest", "b47fffe3", 4, INSN_BRANCH, 0, PC + 0xffffc, 0 },
	{ "tbz_33", "b6080205", 4, INSN_BRANCH, 0, PC + 64, 0 },
	{ "tbnz_back", "371fffe5", 4, INSN_BRANCH, 0, PC - 4, 0 },
	{ "tbz_farthest", "b603ffe5", 4, INSN_BRANCH, 0, PC + 0x7ffc, 0 },

	{ "br", "d61f0060", 4, INSN_JUMP_INDIRECT, 0, 0, 0 },
	{ "braa", "d71f0864", 4, INSN_JUMP_INDIRECT, 0, 0, 0 },
	{ "braaz", "d61f087f", 4, INSN_JUMP_INDIRECT, 0, 0, 0 },
	{ "blr", "d63f0060", 4, INSN_CALL_INDIRECT, 0, 0, 0 },
	{ "blraa", "d73f0864", 4, INSN_CALL_INDIRECT, 0, 0, 0 },
	{ "blrabz", "d63f0c7f", 4, INSN_CALL_INDIRECT, 0, 0, 0 },
	{ "ret", "d65f03c0", 4, INSN_RETURN, 0, 0, 0 },
	{ "ret_x1", "d65f0020", 4, INSN_RETURN, 0, 0, 0 },
	{ "retaa", "d65f0bff", 4, INSN_RETURN, 0, 0, 0 },
	{ "retab", "d65f0fff", 4, INSN_RETURN, 0, 0, 0 },

	{ "svc", "d4000001", 4, INSN_SYSCALL, 0, 0, 0 },
	{ "svc_most", "d41fffe1", 4, INSN_SYSCALL, 0, 0, 0 },
	{ "brk", "d4200020", 4, INSN_STOP, 0, 0, 0 },
	{ "hlt", "d4400000", 4, INSN_STOP, 0, 0, 0 },
	{ "udf", "00000123", 4, INSN_STOP, 0, 0, 0 },
	{ "udf_most", "0000ffff", 4, INSN_STOP, 0, 0, 0 },
	{ "behind_udf", "00010000", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "eret", "d69f03e0", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "drps", "d6bf03e0", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "hvc", "d4000002", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "compare_and_branch", "74000200", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "retaasppc", "5500001f", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "autiasppc", "f380001f", 4, INSN_PLAIN, INSN_PINNED, 0, 0 },
	{ "autibsppc_farthest", "f3bfffff", 4, INSN_PLAIN, INSN_PINNED, 0, 0 },
	{ "paciasppc", "dac1a3fe", 4, INSN_PLAIN, INSN_PINNED, 0, 0 },
	{ "literal_hole", "dc000201", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "literal_hole_most", "dcffffe1", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "unallocated", "02000000", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "unallocated_3", "06000000", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "unallocated_0", "01000000", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "unallocated_0_64", "41000000", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
};

static const struct {
	const char *name, *bytes;
	bool faults;
} accesses[] = {
	{ "faults_ldr", "f9400020", true },
	{ "faults_stp", "a9010440", true },
	{ "faults_ldr_q", "3dc00020", true },
	{ "faults_ldxr", "c85f7c20", true },
	{ "faults_casal", "c8e0fc41", true },
	{ "faults_ldadd", "f8210062", true },
	{ "faults_ld1d_sve", "a5e0a020", true },
	{ "faults_ldr_z", "85804020", true },
	{ "faults_dc_zva", "d50b7420", true },
	{ "faults_ldraa", "f8200420", true },
	{ "stack_stp", "a9bf7bfd", false },
	{ "stack_ldr", "f9400be0", false },
	{ "literal", "58000201", false },
	{ "mov", "aa0103e0", false },
	{ "udiv", "9ac10800", false },
	{ "fadd", "1e622820", false },
	{ "sve_ptrue", "2518e3e0", false },
	{ "sve_add", "04210000", false },
	{ "mrs_tpidr", "d53bd040", false },
	{ "msr_fpcr", "d51b4400", false },
	{ "svc", "d4000001", false },
	{ "ret", "d65f03c0", false },
};

static void check_faults(void)
{
	uint8_t bytes[GOLDEN_MAX];
	struct insn in = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(accesses); i++) {
		golden_words(accesses[i].bytes, bytes);
		int err = arch_arm64.decode(bytes, 4, PC, &in);

		golden_true(accesses[i].name,
			    !err && !arch_arm64.faults(bytes, &in) == !accesses[i].faults);
	}
}

int main(void)
{
	uint8_t bytes[GOLDEN_MAX];
	struct insn in = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(insns); i++) {
		golden_words(insns[i].bytes, bytes);
		int err = arch_arm64.decode(bytes, 4, PC, &in);

		golden_insn(&insns[i], &in, err);
		err = arch_arm64.measure(bytes, 4, PC, &in);
		golden_insn(&insns[i], &in, err);
		golden_true("cut_short",
			    arch_arm64.decode(bytes, 3, PC, &in) == -EILSEQ);
		for (int off = 1; off < 4; off++)
			golden_true("misaligned",
				    arch_arm64.decode(bytes, 4, PC + off, &in) == -EILSEQ);
	}
	check_faults();
	golden_true("by_machine", arch_by_machine(183) == &arch_arm64 &&
				  arch_by_machine(62) == &arch_x86_64 &&
				  !arch_by_machine(3));
	return golden_end();
}
