/* SPDX-License-Identifier: MIT */
/* Are all forms read that arguments of places for tracers (USDT) have, and nothing else? */
#include <elf.h>

#include "tests/unit/check.h"
#include "values/usdt_args.h"

static struct usdt_args args;

static const struct usdt_arg *parse(const char *text, uint16_t machine)
{
	usdt_args_parse(text, machine, &args);
	if (args.n != 1)
		fprintf(stderr, "%s: %zu arguments\n", text, args.n);
	CHECK_EQ(args.n, 1);
	return &args.v[0];
}

/* By the text that it is shown as, which has all of it. */
static void shown(const char *text, uint16_t machine, const char *want)
{
	char buf[256];
	const char *got = usdt_arg_text(parse(text, machine), machine, buf, sizeof(buf));

	if (strcmp(got, want)) {
		failures++;
		fprintf(stderr, "%s is shown as '%s', not '%s'\n", text, got, want);
	}
}

static void x86(const char *text, const char *want)
{
	shown(text, EM_X86_64, want);
}

static void x86_unknown(const char *text)
{
	CHECK_EQ(parse(text, EM_X86_64)->from, USDT_UNKNOWN);
}

static void registers(void)
{
	x86("-4@%eax", "i32 %eax");
	x86("8@%rdi", "u64 %rdi");
	x86("2@%ax", "u16 %ax");
	x86("1@%al", "u8 %al");
	x86("-1@%ah", "i8 %ah");
	x86("1@%sil", "u8 %sil");
	x86("4@%r8d", "u32 %r8d");
	x86("8@%r15", "u64 %r15");
	x86("-2@%r9w", "i16 %r9w");
	x86("1@%r10b", "u8 %r10b");
	x86("8f@%xmm0", "f64 %xmm0");
	x86("16@%xmm31", "u128 %xmm31");
	x86("%rax", "%rax");
	const struct usdt_arg *a = parse("1@%bh", EM_X86_64);

	CHECK(a->from == USDT_GENERAL && a->reg == 3 && a->part == 1 && a->size == 1);
	a = parse("8@%rsp", EM_X86_64);
	CHECK_EQ(a->reg, 7);
	a = parse("8@%xmm3", EM_X86_64);
	CHECK(a->from == USDT_VECTOR && a->reg == 20);
	for (const char *const *t = (const char *const[]){ "8@%r16", "8@%r7", "8@%raxx", "8@%",
	     "8@rax", "8@%xmm32", "8@%st(0)", "8@%fs:0", "4@%r8dd", "8@%rip", NULL }; *t; t++)
		CHECK(parse(*t, EM_X86_64)->from != USDT_GENERAL);
}

static void numbers(void)
{
	x86("4@$5", "u32 5");
	x86("-4@$-5", "i32 -5");
	x86("8@$0x10", "u64 16");
	x86("8@$18446744073709551615", "u64 -1");
	x86("8@$foo", "u64 &foo");
	x86("8@$foo+8", "u64 &foo+8");
	x86("8@$.LC0", "u64 &.LC0");
	x86_unknown("8@$");
	x86_unknown("8@$18446744073709551616");
	x86_unknown("8@$0x");
	x86_unknown("8@$5x");
}

static void memory(void)
{
	x86("8@-24(%rbp)", "u64 -24(%rbp)");
	x86("-4@8(%rsp)", "i32 8(%rsp)");
	x86("8@(%rax)", "u64 (%rax)");
	x86("8@(%rax,%rbx,8)", "u64 (%rax,%rbx,8)");
	x86("8@-0x10(%rax,%rbx,8)", "u64 -16(%rax,%rbx,8)");
	x86("8@(%rax,%rbx)", "u64 (%rax,%rbx,1)");
	x86("8@(,%rbx,4)", "u64 (,%rbx,4)");
	x86("8@foo(%rip)", "u64 foo(%rip)");
	x86("8@foo+4(%rip)", "u64 foo+4(%rip)");
	x86("-4@40+CheckpointStats(%rip)", "i32 CheckpointStats+40(%rip)");
	x86("4@foo", "u32 foo");
	x86("4@table(,%rax,4)", "u32 table(,%rax,4)");
	x86("4@table+16(%r12)", "u32 table+16(%r12)");
	const struct usdt_arg *a = parse("-8@-24(%rbp,%r9,2)", EM_X86_64);

	CHECK(a->from == USDT_MEMORY && a->base == 6 && a->index == 9 && a->scale == 2 &&
	      a->number == -24 && a->is_signed && a->size == 8 && a->reg == -1);
	a = parse("8@foo(%rip)", EM_X86_64);
	CHECK(a->by_pc && a->base == -1 && !strcmp(a->symbol, "foo"));
	x86_unknown("8@(%rax,%rbx,3)");
	x86_unknown("8@(%rax,%rsp,1)");
	x86_unknown("8@(%xmm0)");
	x86_unknown("8@()");
	x86_unknown("8@(");
	x86_unknown("8@8(%rax");
	x86_unknown("8@8");
	x86_unknown("8@8(%rip)");
	x86_unknown("8@(%rax,%rbx,8");
	x86_unknown("8@%fs:(%rax)");
}

static void arm64(void)
{
	shown("-4@w0", EM_AARCH64, "i32 w0");
	shown("8@x30", EM_AARCH64, "u64 x30");
	shown("8@sp", EM_AARCH64, "u64 sp");
	shown("8f@d1", EM_AARCH64, "f64 d1");
	shown("4@5", EM_AARCH64, "u32 5");
	shown("8@[sp, 12]", EM_AARCH64, "u64 [sp, 12]");
	shown("-4@[x19, #-8]", EM_AARCH64, "i32 [x19, -8]");
	shown("8@[x0]", EM_AARCH64, "u64 [x0]");
	shown("8@[x0, x1, lsl 3]", EM_AARCH64, "u64 [x0, x1, lsl 3]");
	shown("8@foo", EM_AARCH64, "u64 &foo");
	CHECK_EQ(parse("8@[sp, 12]", EM_AARCH64)->base, 31);
	for (const char *const *t = (const char *const[]){ "8@x31", "8@[", "8@[]", "8@[d0]",
	     "8@[x0, x1, lsl 9]", "8@[x0, ]", "8@[x0, x1, lsl]", "8@[x0", NULL }; *t; t++)
		if (parse(*t, EM_AARCH64)->from == USDT_GENERAL || args.v[0].from == USDT_MEMORY) {
			failures++;
			fprintf(stderr, "%s is taken for an argument\n", *t);
		}
}

static void several(void)
{
	usdt_args_parse("", EM_X86_64, &args);
	CHECK_EQ(args.n, 0);
	usdt_args_parse("  -4@%eax   8@-24(%rbp) 4@$5 ", EM_X86_64, &args);
	CHECK_EQ(args.n, 3);
	CHECK(args.v[0].from == USDT_GENERAL && args.v[1].from == USDT_MEMORY &&
	      args.v[2].from == USDT_NUMBER && !args.more);
	/* What is not known between others stands in its place. */
	usdt_args_parse("8@%rax 8@%what(#) -4@%eax", EM_X86_64, &args);
	CHECK(args.n == 3 && args.v[1].from == USDT_UNKNOWN && args.v[1].size == 8 &&
	      args.v[2].from == USDT_GENERAL);
	usdt_args_parse("1@$1 1@$2 1@$3 1@$4 1@$5 1@$6 1@$7 1@$8 1@$9 1@$10 1@$11 1@$12 1@$13",
			EM_X86_64, &args);
	CHECK(args.n == USDT_ARGS_MAX && args.more && args.v[11].number == 12);
	/* Of no machine that is known. */
	usdt_args_parse("8@%rax", EM_RISCV, &args);
	CHECK(args.n == 1 && args.v[0].from == USDT_UNKNOWN);
}

/* Whatever there is: nothing behind the text is read. */
static void hostile(void)
{
	static const char letters[] = "-0148@%$()[],+xfrabsipdlmw# .\xff";
	char buf[64];
	uint32_t seed = 7;

	for (int i = 0; i < 300000; i++) {
		size_t n = seed % 24;
		char *text = malloc(n + 1);

		MUST(text != NULL);
		for (size_t k = 0; k < n; k++) {
			seed = seed * 1103515245 + 12345;
			text[k] = letters[(seed >> 16) % (sizeof(letters) - 1)];
		}
		text[n] = '\0';
		seed = seed * 1103515245 + 12345;
		uint16_t machine = i & 1 ? EM_AARCH64 : EM_X86_64;

		usdt_args_parse(text, machine, &args);
		for (size_t k = 0; k < args.n; k++)
			usdt_arg_text(&args.v[k], machine, buf, sizeof(buf));
		free(text);
	}
	static char most[5000];

	memset(most, 'x', sizeof(most) - 1);
	usdt_args_parse(most, EM_X86_64, &args);
	CHECK(args.n == 1 && args.v[0].from == USDT_UNKNOWN);
}

int main(void)
{
	registers();
	numbers();
	memory();
	arm64();
	several();
	hostile();
	return failures != 0;
}
