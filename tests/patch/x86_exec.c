/* SPDX-License-Identifier: MIT */
/*
 * Does a relocated x86-64 instruction do, when it runs, what the original does?
 *
 * Each case is one instruction. It is run where it stands and as its relocated
 * copy a megabyte away, from the same registers, flags, stack and data, for
 * every combination of the status flags; registers (xmm too), flags, data, the
 * stack from its pointer up, and the way out must be the same afterwards.
 */
#include "arch/arch.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef __x86_64__
int main(void)
{
	printf("skipped: runs x86-64 code\n");
	return 77;
}
#else

enum {
	RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R15 = 15, GPRS,
	COPY = 1 << 20,		/* from the original to its copy */
	NEAR = 96,		/* the destination of branches, that far */
	DATA = 4096, STACK = 8192, PAGES = 4 << 20,
	WORDS = 64,		/* of data and stack that are compared */
};

/* What a thread has. Laid out for the assembly below. */
struct state {
	uint64_t gpr[GPRS];
	uint64_t flags;		/* offset 128 */
	uint64_t way;		/* offset 136: which way out, 0 or 1 */
	uint64_t pad[6];
	uint8_t fx[512];	/* offset 192 */
} __attribute__((aligned(64)));

struct state exec_in, exec_out;
uint64_t exec_host_sp;
void *exec_code;

void exec_run(void);
extern char exec_way0[], exec_way1[];

/* Load exec_in, jump to exec_code; the code comes back through one of the two
 * ways, and exec_out holds what it left. */
__asm__(
"	.text\n"
"	.globl exec_run, exec_way0, exec_way1\n"
"exec_run:\n"
"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
"	pushfq\n"
"	mov %rsp, exec_host_sp(%rip)\n"
"	fxrstor64 exec_in+192(%rip)\n"
"	push exec_in+128(%rip)\n"
"	popfq\n"
"	mov exec_in+0(%rip), %rax\n"
"	mov exec_in+8(%rip), %rcx\n"
"	mov exec_in+16(%rip), %rdx\n"
"	mov exec_in+24(%rip), %rbx\n"
"	mov exec_in+32(%rip), %rsp\n"
"	mov exec_in+40(%rip), %rbp\n"
"	mov exec_in+48(%rip), %rsi\n"
"	mov exec_in+56(%rip), %rdi\n"
"	mov exec_in+64(%rip), %r8\n"
"	mov exec_in+72(%rip), %r9\n"
"	mov exec_in+80(%rip), %r10\n"
"	mov exec_in+88(%rip), %r11\n"
"	mov exec_in+96(%rip), %r12\n"
"	mov exec_in+104(%rip), %r13\n"
"	mov exec_in+112(%rip), %r14\n"
"	mov exec_in+120(%rip), %r15\n"
"	jmp *exec_code(%rip)\n"
"exec_way0:\n"
"	movq $0, exec_out+136(%rip)\n"
"	jmp exec_capture\n"
"exec_way1:\n"
"	movq $1, exec_out+136(%rip)\n"
"exec_capture:\n"
"	mov %rax, exec_out+0(%rip)\n"
"	mov %rcx, exec_out+8(%rip)\n"
"	mov %rdx, exec_out+16(%rip)\n"
"	mov %rbx, exec_out+24(%rip)\n"
"	mov %rsp, exec_out+32(%rip)\n"
"	mov %rbp, exec_out+40(%rip)\n"
"	mov %rsi, exec_out+48(%rip)\n"
"	mov %rdi, exec_out+56(%rip)\n"
"	mov %r8, exec_out+64(%rip)\n"
"	mov %r9, exec_out+72(%rip)\n"
"	mov %r10, exec_out+80(%rip)\n"
"	mov %r11, exec_out+88(%rip)\n"
"	mov %r12, exec_out+96(%rip)\n"
"	mov %r13, exec_out+104(%rip)\n"
"	mov %r14, exec_out+112(%rip)\n"
"	mov %r15, exec_out+120(%rip)\n"
"	mov exec_host_sp(%rip), %rsp\n"
"	pushfq\n"
"	popq exec_out+128(%rip)\n"
"	fxsave64 exec_out+192(%rip)\n"
"	popfq\n"
"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
"	ret\n"
);

/*
 * A case: one instruction, in small hex digits. Placeholders: D1 and D4 are branch
 * displacements of 1 and 4 bytes to the destination, M4 is a PC-relative
 * displacement of 4 bytes to the data; `imm` bytes follow M4 in the
 * instruction. The destination's address is put into the register `reg` or, if
 * `slot` is not negative, into that word of the data (reg then points to the
 * data) or of the stack (reg is RSP).
 */
struct snippet {
	const char *name;
	const char *bytes;
	int reg, slot, imm;
};

static const struct snippet snippets[] = {
	{ "lea_rip", "48 8d 05 M4", -1, -1, 0 },
	{ "load_rip", "48 8b 1d M4", -1, -1, 0 },
	{ "store_rip", "4c 89 05 M4", -1, -1, 0 },
	{ "add_rip", "48 01 05 M4", -1, -1, 0 },
	{ "cmpb_rip_imm8", "80 3d M4 07", -1, -1, 1 },
	{ "cmpl_rip_imm32", "81 3d M4 78 56 34 12", -1, -1, 4 },
	{ "movw_rip_imm16", "66 c7 05 M4 34 12", -1, -1, 2 },
	{ "imul_rip_imm32", "48 69 05 M4 78 56 34 12", -1, -1, 4 },
	{ "xchg_rip", "48 87 0d M4", -1, -1, 0 },
	{ "lock_xadd_rip", "f0 48 0f c1 05 M4", -1, -1, 0 },
	{ "movups_rip", "0f 10 05 M4", -1, -1, 0 },
	{ "pshufd_rip_imm8", "66 0f 70 0d M4 1b", -1, -1, 1 },
	{ "pshufb_rip", "66 0f 38 00 05 M4", -1, -1, 0 },
	{ "setcc_rip", "0f 9f 05 M4", -1, -1, 0 },
	{ "nop_rip", "0f 1f 05 M4", -1, -1, 0 },
	{ "push_rip", "ff 35 M4", -1, -1, 0 },
	{ "push", "41 57", -1, -1, 0 },
	{ "pop", "5b", -1, -1, 0 },
	{ "sub_rsp", "48 83 ec 18", -1, -1, 0 },
	{ "endbr64", "f3 0f 1e fa", -1, -1, 0 },
	{ "jmp_rel8", "eb D1", -1, -1, 0 },
	{ "jmp_rel32", "e9 D4", -1, -1, 0 },
	{ "jmp_reg", "ff e1", RCX, -1, 0 },
	{ "jmp_reg_notrack", "3e 41 ff e0", R8, -1, 0 },
	{ "jmp_rip", "ff 25 M4", -1, 0, 0 },
	{ "bnd_jmp_rip", "f2 ff 25 M4", -1, 0, 0 },
	{ "jmp_rsp", "ff 64 24 10", RSP, 2, 0 },
	{ "loop", "e2 D1", -1, -1, 0 },
	{ "loope", "e1 D1", -1, -1, 0 },
	{ "loopne", "e0 D1", -1, -1, 0 },
	{ "loop_ecx", "67 e2 D1", -1, -1, 0 },
	{ "jrcxz", "e3 D1", -1, -1, 0 },
	{ "jecxz", "67 e3 D1", -1, -1, 0 },
	{ "jcc_hint", "3e 75 D1", -1, -1, 0 },
	{ "jcc_rel32_hint", "2e 0f 84 D4", -1, -1, 0 },
	{ "call_rel32", "e8 D4", -1, -1, 0 },
	{ "call_rel32_data16_rexw", "66 66 48 e8 D4", -1, -1, 0 },
	{ "call_rel32_addr32", "67 e8 D4", -1, -1, 0 },
	{ "call_rip", "ff 15 M4", -1, 0, 0 },
	{ "call_rip_notrack", "3e ff 15 M4", -1, 0, 0 },
	{ "call_mem", "ff 13", RBX, 0, 0 },
	{ "call_mem_disp8", "ff 53 18", RBX, 3, 0 },
	{ "call_mem_disp32", "41 ff 90 18 00 00 00", R8, 3, 0 },
	{ "call_mem_rbp", "ff 55 08", RBP, 1, 0 },
	{ "call_mem_r12", "41 ff 54 24 08", R8 + 4, 1, 0 },
	{ "call_mem_r13", "41 ff 55 08", R8 + 5, 1, 0 },
	{ "call_mem_rsp", "ff 14 24", RSP, 0, 0 },
	{ "call_mem_rsp_disp8", "ff 54 24 08", RSP, 1, 0 },
	{ "call_mem_rsp_disp8_grows", "ff 54 24 78", RSP, 15, 0 },
	{ "call_mem_rsp_disp32", "ff 94 24 00 01 00 00", RSP, 32, 0 },
};

static uint8_t *pages;		/* original, copy, data, stack */
static uint8_t *dest, *data;
static uint64_t *stack;
static unsigned int failed, runs;

static uint64_t random_word(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static size_t put_abs_jump(uint8_t *at, const void *to)
{
	static const uint8_t jump[] = { 0xff, 0x25, 0, 0, 0, 0 };

	memcpy(at, jump, sizeof(jump));
	memcpy(at + sizeof(jump), &to, sizeof(to));
	return sizeof(jump) + sizeof(to);
}

static raddr_t addr(const void *p)
{
	return (raddr_t)(uintptr_t)p;
}

/* Append the bytes that `text` spells, placeholders filled in. */
static size_t assemble(const struct snippet *s, uint8_t *at)
{
	size_t n = 0;

	for (const char *t = s->bytes; *t; t += strcspn(t, " "), t += *t == ' ') {
		const uint8_t *to = *t == 'M' ? data : dest;
		bool hole = *t == 'M' || *t == 'D';
		int size = hole ? t[1] - '0' : 1;
		int32_t value = strtoul(t, NULL, 16);

		if (hole)
			value = to - (at + n + size + (*t == 'M' ? s->imm : 0));
		memcpy(at + n, &value, size);
		n += size;
	}
	return n;
}

/* Everything that a run starts from. */
static void set_up(const struct snippet *s, uint64_t flags, uint64_t rcx)
{
	static uint64_t seed[WORDS * 2];
	uint64_t to = addr(dest), where;

	if (!seed[0])
		for (size_t i = 0; i < ARRAY_SIZE(seed); i++)
			seed[i] = random_word();
	memcpy(data, seed, WORDS * 8);
	memcpy(stack - WORDS, seed, WORDS * 16);
	for (int i = 0; i < GPRS; i++)
		exec_in.gpr[i] = seed[i] | 1ull << 60;
	exec_in.gpr[RSP] = addr(stack);
	exec_in.gpr[RCX] = rcx;
	exec_in.flags = flags;
	where = s->reg == RSP ? addr(stack) : addr(data);
	if (s->slot >= 0)
		memcpy((void *)(uintptr_t)(where + s->slot * 8), &to, 8);
	if (s->reg >= 0)
		exec_in.gpr[s->reg] = s->slot >= 0 ? where : to;
}

struct outcome {
	struct state state;
	uint64_t data[WORDS], stack[WORDS];
};

static void run(const struct snippet *s, uint8_t *code, uint64_t flags,
		uint64_t rcx, struct outcome *ret)
{
	set_up(s, flags, rcx);
	exec_code = code;
	exec_run();
	ret->state = exec_out;
	memcpy(ret->data, data, sizeof(ret->data));
	/* What is below the pointer is free. */
	memset(ret->stack, 0, sizeof(ret->stack));
	uint64_t *sp = (uint64_t *)(uintptr_t)exec_out.gpr[RSP];

	if (sp >= stack - 8 && sp <= stack + 8)
		memcpy(ret->stack, sp, (WORDS - 8) * 8);
	runs++;
}

static void complain(const struct snippet *s, const char *what, uint64_t flags,
		     const struct outcome *a, const struct outcome *b)
{
	printf("FAIL %s %s, flags %#lx: way %lu or %lu, flags %#lx or %#lx\n",
	       s->name, what, flags, a->state.way, b->state.way,
	       a->state.flags, b->state.flags);
	for (int i = 0; i < GPRS; i++)
		if (a->state.gpr[i] != b->state.gpr[i])
			printf("  register %d: %#lx or %#lx\n", i,
			       a->state.gpr[i], b->state.gpr[i]);
	for (int i = 0; i < WORDS; i++)
		if (a->stack[i] != b->stack[i])
			printf("  stack %d: %#lx or %#lx\n", i, a->stack[i],
			       b->stack[i]);
	failed++;
}

/* Bits of the six status flags and the direction, one combination each. */
static uint64_t flags_of(unsigned int i)
{
	static const uint16_t bits[] = { 1, 4, 16, 64, 128, 2048, 1024 };
	uint64_t flags = 0x202;

	for (size_t b = 0; b < ARRAY_SIZE(bits); b++)
		if (i >> b & 1)
			flags |= bits[b];
	return flags;
}

static void compare(const struct snippet *s, const char *what, uint8_t *copy)
{
	static const uint64_t counts[] = { 0, 1, 2, 1ull << 32 };
	struct outcome a, b;

	for (unsigned int i = 0; i < 128; i++) {
		for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
			run(s, pages, flags_of(i), counts[c], &a);
			run(s, copy, flags_of(i), counts[c], &b);
			if (memcmp(&a, &b, sizeof(a))) {
				complain(s, what, flags_of(i), &a, &b);
				return;
			}
		}
	}
}

/* A conditional tail jump as a stub has it: skip, jump, or fall through. */
static void compare_skip(const struct snippet *s, const struct insn *in,
			 uint8_t *copy)
{
	int n = arch_x86_64.skip_unless(pages, in, 5, copy);

	if (n < 0) {
		printf("FAIL %s: skip_unless: %d\n", s->name, n);
		failed++;
		return;
	}
	arch_x86_64.jump(addr(copy + n), in->dest, copy + n);
	arch_x86_64.jump(addr(copy + n + 5), in->pc + in->size, copy + n + 5);
	compare(s, "skip_unless", copy);
}

/* `returns`: a return stands at the destination, instead of a way out. */
static void try(const struct snippet *s, bool returns)
{
	uint8_t *copy = pages + COPY;
	struct insn in;
	size_t n = assemble(s, pages);

	put_abs_jump(pages + n, exec_way0);
	if (returns)
		*dest = 0xc3;
	else
		put_abs_jump(dest, exec_way1);
	int err = arch_x86_64.decode(pages, 32, addr(pages), &in);
	int size = err ? err : arch_x86_64.relocate(pages, &in, addr(copy), copy,
						    ARCH_RELOCATED_MAX);

	if (size < 0 || in.size != n) {
		printf("FAIL %s: %u of %zu bytes, kind %u: %d\n", s->name,
		       in.size, n, in.kind, size);
		failed++;
		return;
	}
	arch_x86_64.jump(addr(copy + size), in.pc + in.size, copy + size);
	compare(s, returns ? "with return" : "relocated", copy);
	if (in.kind == INSN_BRANCH)
		compare_skip(s, &in, copy);
}

static void try_conditions(void)
{
	for (int cc = 0; cc < 16; cc++) {
		char near[16], far[16];

		snprintf(near, sizeof(near), "%x D1", 0x70 + cc);
		snprintf(far, sizeof(far), "0f %x D4", 0x80 + cc);
		try(&(struct snippet){ "jcc_rel8", near, -1, -1, 0 }, false);
		try(&(struct snippet){ "jcc_rel32", far, -1, -1, 0 }, false);
	}
}

/* Calls of every register, to a callee that leaves and to one that returns. */
static void try_calls(void)
{
	for (int reg = 0; reg < GPRS; reg++) {
		char text[16];

		if (reg == RSP)
			continue;
		snprintf(text, sizeof(text), "%x ff %x", 0x40 | reg >> 3,
			 0xd0 | (reg & 7));
		struct snippet s = { "call_reg", text, reg, -1, 0 };

		try(&s, false);
		try(&s, true);
	}
	for (size_t i = 0; i < ARRAY_SIZE(snippets); i++)
		if (!strncmp(snippets[i].name, "call", 4))
			try(&snippets[i], true);
}

/* The recording call, before an exit: nothing changes, and the routine sees
 * the word, rax, rcx and the stack as promised; or nothing, if the gate is closed. */
static void try_record(bool open, bool returns)
{
	static const struct snippet s = { "record", "90", -1, -1, 0 };
	uint8_t *routine = pages + COPY / 2, *copy = pages + COPY, *r = routine;
	uint64_t *seen = (uint64_t *)(data + DATA / 2);
	static const uint8_t steps[][5] = {
		{ 0 },				/* rax: the word */
		{ 0x48, 0x8b, 0x44, 0x24, 8 },	/* mov 8(%rsp),%rax */
		{ 0x48, 0x8b, 0x44, 0x24, 16 },	/* mov 16(%rsp),%rax */
		{ 0x48, 0x8d, 0x44, 0x24, 24 },	/* lea 24(%rsp),%rax */
	};
	uint8_t gate = open;
	struct record_call call = {
		.word = 0x123456789abcdef1, .routine = addr(routine), .gate = addr(&gate),
		.returns = returns,
	};
	uint64_t wanted[] = { call.word, exec_in.gpr[RAX], exec_in.gpr[RCX], addr(stack) };

	memset(seen, 0, sizeof(wanted));
	if (returns)
		*r++ = 0x51;			/* push %rcx: the way back */
	for (int i = 0; i < 4; i++) {
		uint64_t to = addr(&seen[i]);

		memcpy(r, steps[i], i ? 5 : 0);
		r += i ? 5 : 0;
		memcpy(r, "\x48\xa3", 2);	/* mov %rax,address */
		memcpy(r + 2, &to, 8);
		r += 10;
	}
	*r = 0xc3;
	*pages = 0x90;
	put_abs_jump(pages + 1, exec_way0);
	int n = arch_x86_64.record(addr(copy), &call, copy);

	put_abs_jump(copy + n, exec_way0);
	compare(&s, open ? "recorded" : "gated", copy);
	for (int i = 0; i < 4; i++) {
		if (seen[i] == (open ? wanted[i] : 0))
			continue;
		printf("FAIL record: saw %#lx at %d\n", seen[i], i);
		failed++;
	}
}

int main(void)
{
	pages = mmap(NULL, PAGES, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED) {
		printf("skipped: no memory that is writable and executable\n");
		return 77;
	}
	dest = pages + NEAR;
	data = pages + 2 * COPY;
	stack = (uint64_t *)(pages + 3 * COPY);
	__asm__ volatile("fxsave64 %0" : "=m"(exec_in.fx));
	for (int i = 160; i < 416; i++)		/* xmm0-15 */
		exec_in.fx[i] = random_word();
	for (size_t i = 0; i < ARRAY_SIZE(snippets); i++)
		try(&snippets[i], false);
	try_conditions();
	try_calls();
	for (int i = 0; i < 4; i++)
		try_record(i & 1, i & 2);
	munmap(pages, PAGES);
	printf("%u runs, %u failures\n", runs, failed);
	return failed > 0;
}
#endif
