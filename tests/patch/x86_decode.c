/* SPDX-License-Identifier: MIT */
/* What does each class of x86-64 instruction decode to, and what is refused? */
#include "tests/patch/golden.h"

#include <pthread.h>

#define PC 0x401000ull

static const struct golden_insn insns[] = {
	{ "zeros", "00 00", 2, INSN_PLAIN, 0, 0, 0 },
	{ "push", "55", 1, INSN_PLAIN, 0, 0, 0 },
	{ "mov_reg", "48 89 e5", 3, INSN_PLAIN, 0, 0, 0 },
	{ "movabs", "48 b8 01 02 03 04 05 06 07 08", 10, INSN_PLAIN, 0, 0, 0 },
	{ "mov_moffs", "48 a1 01 02 03 04 05 06 07 08", 10, INSN_PLAIN, 0, 0, 0 },
	{ "mov_moffs_addr32", "67 a1 01 02 03 04", 6, INSN_PLAIN, 0, 0, 0 },
	{ "enter", "c8 10 00 01", 4, INSN_PLAIN, 0, 0, 0 },
	{ "test_imm8", "f6 c3 01", 3, INSN_PLAIN, 0, 0, 0 },
	{ "test_imm32", "f7 c3 01 02 03 04", 6, INSN_PLAIN, 0, 0, 0 },
	{ "test_imm16", "66 f7 c3 01 02", 5, INSN_PLAIN, 0, 0, 0 },
	{ "not", "f7 d3", 2, INSN_PLAIN, 0, 0, 0 },
	{ "push_imm16", "66 68 01 02", 4, INSN_PLAIN, 0, 0, 0 },
	{ "mov_imm32_rexw_opsize", "66 48 c7 c0 01 02 03 04", 8, INSN_PLAIN, 0, 0, 0 },
	{ "stack_protector", "64 48 8b 04 25 28 00 00 00", 9, INSN_PLAIN, 0, 0, 0 },
	{ "lea_rip", "48 8d 05 f9 0f 00 00", 7, INSN_PLAIN, INSN_PCREL, 0, 0x402000 },
	{ "cmpb_rip_imm8", "80 3d f9 0f 00 00 07", 7, INSN_PLAIN, INSN_PCREL, 0, 0x402000 },
	{ "lea_eip", "67 48 8d 05 f8 0f 00 00", 8, INSN_PLAIN,
	  INSN_PCREL | INSN_PINNED, 0, 0x402000 },
	{ "vmovups_rip", "c5 f8 10 05 f8 0f 00 00", 8, INSN_PLAIN, INSN_PCREL, 0, 0x402000 },
	{ "evex_rip", "62 f1 7c 48 10 05 f6 0f 00 00", 10, INSN_PLAIN,
	  INSN_PCREL, 0, 0x402000 },
	{ "vpblendd_vex3", "c4 e3 7d 02 c1 0f", 6, INSN_PLAIN, 0, 0, 0 },
	{ "vzeroupper", "c5 f8 77", 3, INSN_PLAIN, 0, 0, 0 },
	{ "3dnow", "0f 0f c1 9e", 4, INSN_PLAIN, 0, 0, 0 },
	{ "xop_imm32", "8f ea 78 10 c0 01 02 03 04", 9, INSN_PLAIN, 0, 0, 0 },
	{ "pop_mem", "8f 00", 2, INSN_PLAIN, 0, 0, 0 },
	{ "insertq", "f2 0f 78 c1 08 10", 6, INSN_PLAIN, 0, 0, 0 },

	{ "jmp_rel8", "eb fe", 2, INSN_JUMP, 0, PC, 0 },
	{ "jmp_rel32", "e9 fb 0f 00 00", 5, INSN_JUMP, 0, 0x402000, 0 },
	{ "jmp_bnd", "f2 e9 fa 0f 00 00", 6, INSN_JUMP, 0, 0x402000, 0 },
	{ "je_rel8", "74 10", 2, INSN_BRANCH, 0, PC + 18, 0 },
	{ "jne_rel32", "0f 85 fa 0f 00 00", 6, INSN_BRANCH, 0, 0x402000, 0 },
	{ "loop", "e2 fe", 2, INSN_BRANCH, 0, PC, 0 },
	{ "loope", "e1 fe", 2, INSN_BRANCH, 0, PC, 0 },
	{ "loopne", "e0 fe", 2, INSN_BRANCH, 0, PC, 0 },
	{ "jo_lock", "f0 f3 67 4a 70 fa", 6, INSN_BRANCH, INSN_PINNED, PC, 0 },
	{ "loopne_rep", "f3 e0 fd", 3, INSN_BRANCH, INSN_PINNED, PC, 0 },
	{ "jrcxz", "e3 00", 2, INSN_BRANCH, 0, PC + 2, 0 },
	{ "jecxz", "67 e3 00", 3, INSN_BRANCH, 0, PC + 3, 0 },
	{ "xbegin", "c7 f8 fa 0f 00 00", 6, INSN_BRANCH, INSN_PINNED, 0x402000, 0 },
	{ "xabort", "c6 f8 01", 3, INSN_PLAIN, INSN_PINNED, 0, 0 },
	{ "call_rel32", "e8 fb 0f 00 00", 5, INSN_CALL, 0, 0x402000, 0 },
	{ "call_tls", "66 66 48 e8 f8 0f 00 00", 8, INSN_CALL, 0, 0x402000, 0 },
	{ "call_relaxed", "67 e8 fa 0f 00 00", 6, INSN_CALL, 0, 0x402000, 0 },

	{ "call_reg", "ff d0", 2, INSN_CALL_INDIRECT, INSN_BY_REGISTER, 0, 0 },
	{ "call_got", "ff 15 fa 0f 00 00", 6, INSN_CALL_INDIRECT,
	  INSN_PCREL | INSN_SLOT, 0, 0x402000 },
	{ "call_tls_mem", "64 ff 14 25 10 00 00 00", 8, INSN_CALL_INDIRECT, 0, 0, 0 },
	{ "jmp_reg", "ff e0", 2, INSN_JUMP_INDIRECT, INSN_BY_REGISTER, 0, 0 },
	{ "jmp_notrack", "3e ff e0", 3, INSN_JUMP_INDIRECT, INSN_NOTRACK | INSN_BY_REGISTER,
	  0, 0 },
	{ "jmp_got", "ff 25 fa 0f 00 00", 6, INSN_JUMP_INDIRECT,
	  INSN_PCREL | INSN_SLOT, 0, 0x402000 },
	{ "jmp_got_bnd", "f2 ff 25 f9 0f 00 00", 7, INSN_JUMP_INDIRECT,
	  INSN_PCREL | INSN_SLOT, 0, 0x402000 },
	{ "jmp_table", "ff 24 c5 00 20 40 00", 7, INSN_JUMP_INDIRECT,
	  INSN_INDEXED, 0, 0x402000 },
	{ "jmp_table_r12", "42 ff 24 e5 00 20 40 00", 8, INSN_JUMP_INDIRECT,
	  INSN_INDEXED, 0, 0x402000 },
	{ "jmp_table_notrack", "3e ff 24 c5 00 20 40 00", 8, INSN_JUMP_INDIRECT,
	  INSN_INDEXED | INSN_NOTRACK, 0, 0x402000 },
	{ "jmp_base_index", "ff 24 c2", 3, INSN_JUMP_INDIRECT, INSN_INDEXED, 0, 0 },
	{ "jmp_absolute_word", "ff 24 25 00 20 40 00", 7, INSN_JUMP_INDIRECT, 0, 0, 0 },

	{ "ret", "c3", 1, INSN_RETURN, 0, 0, 0 },
	{ "ret_rep", "f3 c3", 2, INSN_RETURN, 0, 0, 0 },
	{ "ret_bnd", "f2 c3", 2, INSN_RETURN, 0, 0, 0 },
	{ "ret_imm16", "c2 08 00", 3, INSN_RETURN, 0, 0, 0 },
	{ "ret_far", "cb", 1, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "iretq", "48 cf", 2, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "call_far", "ff 18", 2, INSN_UNKNOWN, INSN_PINNED, 0, 0 },

	{ "syscall", "0f 05", 2, INSN_SYSCALL, 0, 0, 0 },
	{ "sysenter", "0f 34", 2, INSN_SYSCALL, 0, 0, 0 },
	{ "int_80", "cd 80", 2, INSN_SYSCALL, 0, 0, 0 },
	{ "ud2", "0f 0b", 2, INSN_STOP, 0, 0, 0 },
	{ "ud1_of_a_sanitizer", "67 0f b9 40 0d", 5, INSN_STOP, 0, 0, 0 },
	{ "hlt", "f4", 1, INSN_STOP, 0, 0, 0 },
	{ "int3", "cc", 1, INSN_STOP, 0, 0, 0 },

	{ "nop", "90", 1, INSN_PLAIN, INSN_NOP, 0, 0 },
	{ "nop5", "0f 1f 44 00 00", 5, INSN_PLAIN, INSN_NOP, 0, 0 },
	{ "nop_data16_cs", "66 66 2e 0f 1f 84 00 00 00 00 00", 11, INSN_PLAIN, INSN_NOP, 0, 0 },
	{ "xchg_ax_ax", "66 90", 2, INSN_PLAIN, INSN_NOP, 0, 0 },
	{ "xchg_r8_rax", "49 90", 2, INSN_PLAIN, 0, 0, 0 },
	{ "pause", "f3 90", 2, INSN_PLAIN, 0, 0, 0 },
	{ "endbr64", "f3 0f 1e fa", 4, INSN_PLAIN, INSN_LANDING, 0, 0 },
};

/* Known to the table only: the size is found, and they are never moved. */
static const struct golden_insn unknown[] = {
	{ "vpopcntb_rip", "62 f2 7d 48 54 05 f6 0f 00 00", 10, INSN_UNKNOWN,
	  INSN_PCREL | INSN_PINNED, 0, 0x402000 },
	{ "evex_imm8", "62 f3 fd 48 25 c0 ff", 7, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "wrpkru", "0f 01 ef", 3, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
	{ "kmovd", "c5 fb 93 c1", 4, INSN_UNKNOWN, INSN_PINNED, 0, 0 },
};

static const struct { const char *name, *bytes; } refused[] = {
	{ "push_es", "06" },
	{ "decimal_adjust", "27" },
	{ "pusha", "60" },
	{ "call_far_direct", "9a 01 02 03 04 05 06" },
	{ "salc", "d6" },
	{ "group_ff_7", "ff f8" },
	{ "group_ff_3_of_register", "ff d8" },
	{ "group_fe_2", "fe d0" },
	{ "group_8f_4", "8f e0" },
	{ "xop_map_11", "8f eb 78 10 c0" },
	{ "lea_of_register", "8d c0" },
	{ "two_byte_hole", "0f 04" },
	{ "vex_with_opsize", "66 c5 f8 77" },
	{ "vex_with_rex", "48 c5 f8 77" },
	{ "vex_map_31", "c4 ff 78 10 c0" },
	{ "evex_reserved_bit", "62 f9 7c 48 10 00" },
	{ "jmp_rel16_or_rel32", "66 e9 01 02 03 04" },
	{ "only_prefixes", "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66" },
	{ "sixteen_bytes", "66 66 66 66 66 66 66 66 66 66 66 0f 1f 44 00 00" },
};

/* An instruction that ends where the bytes end, and one byte less. */
static void check_truncated(const char *name, const uint8_t *p, size_t n)
{
	auto_free uint8_t *exact = malloc(n);	/* sanitizers watch its end */
	struct insn in;

	if (!exact)
		abort();
	memcpy(exact, p, n);
	golden_true(name, arch_x86_64.measure(exact, n, PC, &in) == 0);
	for (size_t i = 0; i < n; i++) {
		int err = arch_x86_64.decode(exact + n - i, i, PC, &in);

		golden_true(name, err || in.size <= i);
		err = arch_x86_64.decode(exact, i, PC, &in);
		/* A prefix of the bytes may be a shorter instruction only if
		 * it ended there anyway: none of these does. */
		golden_true(name, err == -EILSEQ);
	}
}

static void check_decoded(const struct golden_insn *want)
{
	uint8_t bytes[GOLDEN_MAX] = { 0 };
	size_t n = golden_bytes(want->bytes, bytes);
	struct insn in = { 0 };
	int err = arch_x86_64.decode(bytes, sizeof(bytes), PC, &in);

	golden_insn(want, &in, err);
	check_truncated(want->name, bytes, n);
}

/* Each thread has a decoder of its own, freed with it (by which a leak checker
 * knows). */
static void *decode_all(void *wrong)
{
	uint8_t bytes[GOLDEN_MAX];
	struct insn in;

	for (size_t i = 0; i < ARRAY_SIZE(insns) * 100; i++) {
		const struct golden_insn *want = &insns[i % ARRAY_SIZE(insns)];

		memset(bytes, 0, sizeof(bytes));
		golden_bytes(want->bytes, bytes);
		if (arch_x86_64.decode(bytes, sizeof(bytes), PC, &in) ||
		    in.size != want->size || in.kind != want->kind)
			*(bool *)wrong = true;
	}
	return NULL;
}

static void check_threads(void)
{
	pthread_t threads[4];
	bool wrong[ARRAY_SIZE(threads)] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		if (pthread_create(&threads[i], NULL, decode_all, &wrong[i]))
			abort();
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		pthread_join(threads[i], NULL);
		golden_true("threads", !wrong[i]);
	}
}

#define MEMORY (1 << 10 | 1 << 6)	/* SIGSEGV, SIGBUS */
#define DIVISION (1 << 7)		/* SIGFPE */

static const struct {
	const char *name, *bytes;
	uint64_t signals;
} faults[] = {
	{ "load", "48 8b 07", MEMORY },
	{ "store", "48 89 43 08", MEMORY },
	{ "load_rbp", "48 8b 45 f8", MEMORY },
	{ "load_r12", "49 8b 04 24", MEMORY },
	{ "load_rsp_index", "48 8b 04 cc", MEMORY },
	{ "vector_load", "0f 28 07", MEMORY },
	{ "avx_load", "c5 fc 28 07", MEMORY },
	{ "push_memory", "ff 37", MEMORY },
	{ "call_memory", "ff 57 08", MEMORY },
	{ "rep_stos", "f3 48 ab", MEMORY },
	{ "moffs", "a1 01 02 03 04 05 06 07 08", MEMORY },
	{ "divide", "f7 f6", DIVISION },
	{ "divide_memory", "48 f7 37", MEMORY | DIVISION },
	{ "multiply", "f7 e6", 0 },
	{ "load_rsp", "48 8b 44 24 08", 0 },
	{ "load_rip", "48 8b 05 f9 0f 00 00", 0 },
	{ "load_tls", "64 48 8b 04 25 28 00 00 00", 0 },
	{ "lea", "48 8d 47 08", 0 },
	{ "nopl", "0f 1f 40 00", 0 },
	{ "prefetch", "0f 18 0f", 0 },
	{ "push", "55", 0 },
	{ "mov_reg", "48 89 e5", 0 },
	{ "leave", "c9", 0 },
};

static void check_faults(void)
{
	uint8_t bytes[GOLDEN_MAX];
	struct insn in;

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		golden_bytes(faults[i].bytes, bytes);
		int err = arch_x86_64.decode(bytes, sizeof(bytes), PC, &in);

		golden_true(faults[i].name,
			    !err && arch_x86_64.faults(bytes, &in) == faults[i].signals);
	}
}

struct question {
	uint8_t bytes[ARCH_INSN_MAX + 1];
	struct insn answer;
};

static void *ask(void *arg)
{
	struct question *q = arg;

	if (arch_x86_64.decode(q->bytes, sizeof(q->bytes), PC, &q->answer))
		q->answer = (struct insn){ 0 };
	return NULL;
}

/* A thread that has decoded thousands of others says the same as one that decodes for the first
 * time, which is what a new thread does. */
static void check_remembered(void)
{
	static struct question questions[3000], first;
	size_t unknown_ones = 0;
	pthread_t thread;

	srandom(1);
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		for (size_t k = 0; k < sizeof(first.bytes); k++)
			questions[i].bytes[k] = (uint8_t)random();
		/* Of these capstone knows the fewest. */
		if (i % 2)
			questions[i].bytes[0] = i % 4 == 1 ? 0xc5 : 0x0f;
	}
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
			ask(&questions[i]);
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		first = questions[i];
		if (pthread_create(&thread, NULL, ask, &first) || pthread_join(thread, NULL))
			exit(1);
		golden_true("remembered", !memcmp(&first, &questions[i], sizeof(first)));
		unknown_ones += first.answer.kind == INSN_UNKNOWN;
	}
	golden_true("some of them unknown", unknown_ones > 100);
}

int main(void)
{
	uint8_t bytes[GOLDEN_MAX];
	struct insn in;

	for (size_t i = 0; i < ARRAY_SIZE(insns); i++) {
		check_decoded(&insns[i]);
		/* The fast decoder says the same of what capstone knows. */
		golden_bytes(insns[i].bytes, bytes);
		int err = arch_x86_64.measure(bytes, sizeof(bytes), PC, &in);

		golden_insn(&insns[i], &in, err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		check_decoded(&unknown[i]);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		size_t n = golden_bytes(refused[i].bytes, bytes);

		memset(bytes + n, 0, sizeof(bytes) - n);
		golden_true(refused[i].name,
			    arch_x86_64.decode(bytes, sizeof(bytes), PC, &in) ==
			    -EILSEQ);
	}
	check_faults();
	check_threads();
	check_remembered();
	return golden_end();
}
