/* SPDX-License-Identifier: MIT */
/*
 * What filters are said to answer is what the kernel answers for them: made-up programs,
 * each of which a child of ours puts itself under, and calls of a number that no system call
 * has. With arguments that are not told the answer is among those that are said to be possible.
 */
#include "injector/ptrace/cbpf.h"
#include "injector/ptrace/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "tests/unit/check.h"

enum {
	PROGRAMS = 400,
	CALLS = 6,		/* that are tried with each */
	NUMBER = 2000,		/* of no system call: ENOSYS if it is allowed */
	MOST = 40,		/* instructions */
	MOST_ANSWERS = 4096,
};

static struct sock_filter code[MOST];
static size_t ncode;

struct answers {
	size_t n;
	uint32_t v[MOST_ANSWERS];
};

static void note(void *ctx, uint32_t answer)
{
	struct answers *a = ctx;

	if (a->n < MOST_ANSWERS)
		a->v[a->n++] = answer;
}

static uint32_t some(uint32_t n)
{
	return (uint32_t)random() % n;
}

/* Words that arguments are made of, so that comparisons are true now and then. */
static uint32_t word(void)
{
	static const uint32_t words[] = { 0, 1, 2, 3, 7, 0x80, 0xffff, 0x80000000, 0xffffffff };

	return words[some(ARRAY_SIZE(words))];
}

static uint32_t where_from(void)
{
	uint32_t w = some(CBPF_WORDS - 2);	/* all but the instruction pointer */

	return 4 * (w < 2 ? w : w + 2);
}

static struct sock_filter operation(void)
{
	static const uint16_t ops[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_AND, BPF_OR, BPF_XOR,
					BPF_NEG, BPF_DIV, BPF_LSH, BPF_RSH };
	uint16_t op = ops[some(ARRAY_SIZE(ops))];
	uint16_t src = some(2) && op != BPF_DIV && op < BPF_LSH && op != BPF_NEG ? BPF_X : BPF_K;
	uint32_t k = op == BPF_DIV ? 1 + some(9) : op == BPF_LSH || op == BPF_RSH ? some(32) :
		op == BPF_NEG ? 0 : word();

	return (struct sock_filter)BPF_STMT(BPF_ALU | op | src, src == BPF_X ? 0 : k);
}

static struct sock_filter jump(size_t left)
{
	static const uint16_t ops[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };
	uint8_t most = (uint8_t)MIN(left + 7, 12);

	if (some(8) == 0)
		return (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, some(most));
	return (struct sock_filter)BPF_JUMP(BPF_JMP | ops[some(4)] | (some(4) ? BPF_K : BPF_X),
					    word(), (uint8_t)some(most), (uint8_t)some(most));
}

/* Memory is read only where it was written: the kernel insists. */
static struct sock_filter instruction(size_t left)
{
	switch (some(10)) {
	case 0: case 1: case 2:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, where_from());
	case 3:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, word());
	case 4:
		return (struct sock_filter)BPF_STMT(BPF_LDX | BPF_IMM, word());
	case 5:
		return (struct sock_filter)BPF_STMT(BPF_MISC | (some(2) ? BPF_TAX : BPF_TXA), 0);
	case 6:
		return (struct sock_filter)BPF_STMT(some(2) ? BPF_ST : BPF_STX, some(2));
	case 7:
		return (struct sock_filter)BPF_STMT(some(2) ? BPF_LD | BPF_MEM :
						    BPF_LDX | BPF_MEM, some(2));
	case 8:
		return operation();
	default:
		return jump(left);
	}
}

/* Each end is another answer: a made-up error, or that it is allowed. */
static void make_up(void)
{
	size_t body = 8 + some(20);

	ncode = 0;
	code[ncode++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	code[ncode++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NUMBER, 1, 0);
	code[ncode++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[ncode++] = (struct sock_filter)BPF_STMT(BPF_ST, 0);
	code[ncode++] = (struct sock_filter)BPF_STMT(BPF_ST, 1);
	for (size_t i = 0; i < body; i++)
		code[ncode++] = instruction(body - i);
	for (uint32_t i = 0; i < 8; i++)
		code[ncode++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, i == 7 ?
			SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (100 + i));
}

static void lay_out(const uint64_t args[6], unsigned int known, struct cbpf_data *d)
{
	*d = (struct cbpf_data){ 0 };
	d->word[0] = (struct cbpf_word){ NUMBER, true };
	d->word[1] = (struct cbpf_word){ arch_host()->audit, true };
	for (int i = 0; i < 12; i++)
		d->word[4 + i] = (struct cbpf_word){ (uint32_t)(args[i / 2] >> (i % 2 * 32)),
						     known >> (i / 2) & 1 };
}

static uint32_t answer_of(int err)
{
	return err == ENOSYS ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (uint32_t)err;
}

static bool is_among(const struct answers *a, uint32_t answer)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i] == answer)
			return true;
	return false;
}

static void try_call(void)
{
	static struct answers exact, vague;
	uint64_t args[6];
	struct cbpf_data d;

	for (int i = 0; i < 6; i++)
		args[i] = word() | (uint64_t)word() << 32;
	errno = 0;
	syscall(NUMBER, args[0], args[1], args[2], args[3], args[4], args[5]);
	uint32_t truth = answer_of(errno);

	exact.n = vague.n = 0;
	lay_out(args, ~0u, &d);
	CHECK(cbpf_answers(code, ncode, &d, note, &exact));
	CHECK_EQ(exact.n, 1);
	CHECK_EQ(exact.v[0], truth);
	lay_out(args, some(64), &d);
	bool all = cbpf_answers(code, ncode, &d, note, &vague);
	CHECK(!all || vague.n == MOST_ANSWERS || is_among(&vague, truth));
}

static int under(const struct sock_filter *c, size_t n)
{
	struct sock_fprog program = { (unsigned short)n, (struct sock_filter *)c };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void test_like_the_kernel(void)
{
	for (int i = 0; i < PROGRAMS; i++) {
		int status;

		srandom((unsigned int)i);
		make_up();
		pid_t child = fork();
		if (!child) {
			CHECK(under(code, ncode) == 0);
			for (int j = 0; j < CALLS; j++)
				try_call();
			fflush(stdout);
			_exit(failures != 0);
		}
		waitpid(child, &status, 0);
		CHECK_EQ(status, 0);
	}
}

/* What no kernel would take is no reason to read beyond it. */
static void test_senseless(void)
{
	static const struct sock_filter bad[][2] = {
		{ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 3), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_LD | BPF_MEM, 16), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_ST, 16), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_JMP | BPF_JA, 9), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32), BPF_STMT(BPF_RET | BPF_A, 0) },
		{ BPF_STMT(BPF_LD | BPF_IMM, 0), BPF_STMT(BPF_LD | BPF_IMM, 0) },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16), BPF_STMT(BPF_RET | BPF_A, 0) },
	};
	struct cbpf_data d = { 0 };
	struct answers a = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(!cbpf_answers(bad[i], 2, &d, note, &a));
}

/* Two ways at each of many jumps: they are not all followed, and no other answer than
 * "it may do harm" comes of that. */
static void test_many_ways(void)
{
	static struct sock_filter many[2001];
	struct sock_fprog program = { ARRAY_SIZE(many), many };
	const struct seccomp_filters f = { 1, &program, 1 };
	static const uint64_t args[6];

	for (size_t i = 0; i < 2000; i += 2) {
		many[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16);
		many[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (uint32_t)i, 0, 0);
	}
	many[2000] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	CHECK(seccomp_ask(&f, SYS_mmap, args, 0) & SECCOMP_HARMS);
	CHECK_EQ(seccomp_ask(&f, SYS_mmap, args, 1), SECCOMP_PASSES);
}

/* A call that is said to have been made, and was not, is worse than one that fails. */
static void test_feigned(void)
{
	static struct sock_filter feign = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO);
	static struct sock_filter fail = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	struct sock_fprog feigns = { 1, &feign }, fails = { 1, &fail };
	static const uint64_t args[6];

	CHECK_EQ(seccomp_ask(&(struct seccomp_filters){ 1, &feigns, 1 }, SYS_socketpair, args, 0),
		 SECCOMP_HARMS);
	CHECK_EQ(seccomp_ask(&(struct seccomp_filters){ 1, &fails, 1 }, SYS_socketpair, args, 0),
		 SECCOMP_DENIES);
}

/* The filters of a stopped child, in the order in which they were installed. */
static void test_read(void)
{
	static const struct sock_filter first[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	static const struct sock_filter second[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG),
	};
	static const uint64_t args[6];
	struct seccomp_filters f;
	const char *call, *why;
	bool harm;
	int status;
	pid_t child = fork();

	if (!child) {
		CHECK(under(first, 1) == 0 && under(second, 4) == 0);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(child, &status, __WALL);
	CHECK(WIFSTOPPED(status));
	int err = seccomp_read(child, &f);
	if (!seccomp_readable(&why)) {
		CHECK(err < 0);
		printf("filters cannot be read here: %s\n", why);
	} else {
		CHECK_EQ(err, 0);
		CHECK_EQ(f.n, 2);
		CHECK_EQ(f.v[1].len, 4);
		CHECK(memcmp(f.v[0].filter, first, sizeof(first)) == 0);
		CHECK(memcmp(f.v[1].filter, second, sizeof(second)) == 0);
		CHECK_EQ(seccomp_ask(&f, SYS_mmap, args, 0), SECCOMP_PASSES);
		CHECK(seccomp_ask(&f, SYS_memfd_create, args, 0) & SECCOMP_DENIES);
		CHECK(!seccomp_lends(&f, &call, &harm) && !harm);
		CHECK(strcmp(call, "memfd_create") == 0);
		seccomp_forget(&f);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, __WALL);
}

int main(void)
{
	test_senseless();
	test_many_ways();
	test_feigned();
	test_read();
	test_like_the_kernel();
	return failures != 0;
}
