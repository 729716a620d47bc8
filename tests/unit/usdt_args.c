/* SPDX-License-Identifier: MIT */
/* Are all forms read that arguments of places for tracers (USDT) have, and nothing else? */
#include <elf.h>

#include "tests/unit/check.h"
#include "values/compile.h"
#include "values/hand.h"
#include "values/text.h"
#include "values/usdt_args.h"
#include "values/usdt_signature.h"

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

static bool found(void *ctx, const char *symbol, uint64_t *ret)
{
	*ret = 0x5555deadbeef0000;
	return *symbol != 'w';
}

/* ---- plans --------------------------------------------------------------- */

static struct signature signature;
static struct read_plan plan;

/* Compile a note's text; `types` by hand, or NULL. */
static void compiled(const char *text, const char *types, uint16_t machine)
{
	const struct usdt_symbols symbols = { found, NULL };
	const struct compile_options options = { 0 };
	struct hand_error error;
	size_t name;

	MUST(!(types ? hand_parse(types, machine, &signature, &name, &error) :
	       signature_begin(&signature, machine)));
	usdt_settle(&signature, text, &symbols);
	reads_compile(&signature, &options, &plan);
	CHECK(!reads_check(&plan));
}

static size_t ask(void *ctx, uint64_t at, void *buf, size_t n)
{
	const char *text = "abc";

	if (at == 0x1000)
		memcpy(buf, text, MIN(n, (size_t)4));
	else
		memset(buf, (int)(at & 0x7f), n);
	return n;
}

/* Is that what is shown, where register n holds 0x100 * n, and memory the low byte of its
 * address? */
static void reads_as(const char *text, const char *types, uint16_t machine, const char *want)
{
	static struct reads_registers r;
	static struct reads_state state;
	const struct reads_memory memory = { ask, NULL };
	struct capture capture;
	char line[256];

	for (unsigned int i = 0; i < READS_GENERAL; i++)
		r.general[i] = 0x100 * i;
	memset(r.vector, 0, sizeof(r.vector));
	for (unsigned int i = 0; i < READS_VECTOR; i++)
		memcpy(r.vector[i], &(double){ i + 0.5 }, sizeof(double));
	memset(&state, 0, sizeof(state));
	compiled(text, types, machine);
	reads_run(&plan, false, &r, &memory, &state);
	CHECK(!capture_parse(&signature, &plan, state.capture, state.used, NULL, 0, &capture));
	values_args(&capture, line, sizeof(line));
	if (strcmp(line, want)) {
		failures++;
		fprintf(stderr, "%s (%s): %s, not %s\n", text, types ? types : "", line, want);
	}
	signature_clear(&signature);
}

static void plans(void)
{
	/* %rdx has number 1, %rcx 2, %rbx 3, %rsp 7. */
	reads_as("8@%rdx -4@%ecx 1@%bh 2@%r8w", NULL, EM_X86_64, "256, 512, 3, 2048");
	reads_as("8@$-5 -8@$-5 1@$300 4@$0x10", NULL, EM_X86_64,
		 "18446744073709551611, -5, 44, 16");
	reads_as("1@5(%rdx) 1@(%rsp) 1@-1(%rbx)", NULL, EM_X86_64, "5, 0, 127");
	reads_as("1@3(%rdx,%rcx,8) 1@(,%rdx,4) 1@foo+7(%rip) 1@foo(%rdx)", NULL, EM_X86_64,
		 "3, 0, 7, 0");
	reads_as("8f@%xmm0 8f@%xmm9 8@%xmm15", NULL, EM_X86_64, "0.5, 9.5, 4624915342332788736");
	/* What no register of ours has; a symbol that there is not; a form that is none. */
	reads_as("8f@%xmm16 8@what(%rip) 8@%what", NULL, EM_X86_64,
		 "<unknown>, <unknown>, <unknown>");
	reads_as("8@$foo", NULL, EM_X86_64, "6149065704058322944");
	reads_as("8@$4096 4@%edx -4@$1", "p:n(s:str, m:x64, b:bool, none:int)", EM_X86_64,
		 "s=\"abc\", m=0x100, b=true, none=<unknown>");
	/* No pointer has four bytes; an address that is none. */
	reads_as("4@$4096 8@$0", "p:n(s:str, t:str)", EM_X86_64, "s=4096, t=NULL");
	reads_as("8@%rdx 8@%rcx", "p:n(arg2:x16)", EM_X86_64, "arg2=0x200");
	reads_as("8@x1 -4@w2 8@sp 1@[sp, 8] 1@[x0, x1] 1@[x2, x3, lsl 2] 8f@d31 8@5", NULL,
		 EM_AARCH64, "256, 512, 7936, 8, 0, 0, 31.5, 5");
	reads_as("1@foo", "p:n(c:char)", EM_AARCH64, "c='\\x00'");
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
		compiled(text, i & 2 ? "p:n(s:str, m:buf(n), n:int)" : NULL, machine);
		CHECK(plan.nentry == plan.nops);
		signature_clear(&signature);
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
	plans();
	hostile();
	return failures != 0;
}
