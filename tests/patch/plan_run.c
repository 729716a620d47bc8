/* SPDX-License-Identifier: MIT */
/*
 * Do functions do what they did, once their jumps are written, and is every
 * call recorded with its end?
 *
 * The test plans functions of its own, places the stubs, writes the jumps into
 * its own text and calls; then takes all of it back. What is recorded must
 * nest: an exit closes the innermost open entry and names its function.
 */
#include "plan/placement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "payload/abi.h"
#include "tests/unit/check.h"

#ifndef __x86_64__
int main(void)
{
	printf("skipped: runs x86-64 code\n");
	return 77;
}
#else

enum { LOG = 1 << 16, ARENA = 1 << 20 };

uint64_t run_log[LOG], run_n;
void run_record(void), run_leave(void);

/* What a stub calls: the word is in rax, the caller's rax on the stack. Or jumps to, with
 * its way back in rcx. */
__asm__(
"	.text\n"
"	.globl run_record, run_leave\n"
"run_leave:\n"
"	push %rcx\n"
"run_record:\n"
"	pushfq; push %rcx; push %rdx\n"
"	mov run_n(%rip), %rcx\n"
"	lea run_log(%rip), %rdx\n"
"	mov %rax, (%rdx,%rcx,8)\n"
"	inc %rcx\n"
"	and $0xffff, %rcx\n"
"	mov %rcx, run_n(%rip)\n"
"	pop %rdx; pop %rcx; popfq\n"
"	ret\n"
"	.size run_record, . - run_record\n"
/* a conditional tail jump and a return in one window */
"	.globl run_cond\n	.type run_cond, @function\n	.p2align 4\n"
"run_cond:\n"
"	.cfi_startproc\n"
"	lea 7(%rdi), %rax\n"
"	test $3, %edi\n"
"	je run_leaf\n"
"	add %rdi, %rax\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size run_cond, . - run_cond\n"
/* a loop, a call through a register, an indirect tail call */
"	.globl run_tail\n	.type run_tail, @function\n	.p2align 4\n"
"run_tail:\n"
"	.cfi_startproc\n"
"	push %rdi\n	.cfi_adjust_cfa_offset 8\n"
"	and $15, %edi\n"
"	inc %edi\n"
"1:	dec %edi\n"
"	jne 1b\n"
"	lea run_leaf(%rip), %rax\n"
"	call *%rax\n"
"	pop %rdi\n	.cfi_adjust_cfa_offset -8\n"
"	lea (%rdi,%rax), %rdi\n"
"	lea run_cond(%rip), %rax\n"
"	jmp *%rax\n"
"	.cfi_endproc\n"
"	.size run_tail, . - run_tail\n"
/* left by a jump, or by falling into the next one */
"	.globl run_fall\n	.type run_fall, @function\n	.p2align 4\n"
"run_fall:\n"
"	.cfi_startproc\n"
"	cmp $7, %rdi\n"
"	je run_cond\n"
"	.cfi_endproc\n"
"	.size run_fall, . - run_fall\n"
/* a loop back to the entry */
"	.globl run_loop\n	.type run_loop, @function\n	.p2align 4\n"
"run_loop:\n"
"	.cfi_startproc\n"
"	mov %rdi, %rax\n"
"	shr $2, %rdi\n"
"	jne run_loop\n"
"	lea 3(%rax), %rax\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size run_loop, . - run_loop\n"
/* a loop head that the entry's jump covers, and a jump to it from afar */
"	.globl run_head\n	.type run_head, @function\n	.p2align 4\n"
"run_head:\n"
"	.cfi_startproc\n"
"	push %rdi\n	.cfi_adjust_cfa_offset 8\n"
"1:	shr $1, %rdi\n"
"	test $4, %dil\n"
"	jne 2f\n"
"	test %rdi, %rdi\n"
"	jne 1b\n"
"	pop %rax\n	.cfi_remember_state\n	.cfi_adjust_cfa_offset -8\n"
"	lea 5(%rax), %rax\n"
"	ret\n"
"	.cfi_restore_state\n"
"	.skip 200\n"
"2:	shr $1, %rdi\n"
"	jmp 1b\n"
"	.cfi_endproc\n"
"	.size run_head, . - run_head\n"
"	.long 0, 0\n"
/* returns that are jumped to, the second one from the entry's window */
"	.globl run_back\n	.type run_back, @function\n	.p2align 4\n"
"run_back:\n"
"	.cfi_startproc\n"
"	push %rbx\n	.cfi_adjust_cfa_offset 8\n"
"1:	cmp $9, %rdi\n"
"	je 3f\n"
"	lea (%rdi,%rdi), %rax\n"
"	test $1, %rdi\n"
"	jne 2f\n"
"	xor %eax, %eax\n"
"	mov %rax, %rbx\n"
"2:	pop %rbx\n	.cfi_remember_state\n	.cfi_adjust_cfa_offset -8\n"
"	ret\n"
"	.cfi_restore_state\n"
"	.long 0\n"
"3:	lea 1(%rdi), %rdi\n"
"	jmp 1b\n"
"	.cfi_endproc\n"
"	.size run_back, . - run_back\n"
"	.long 0\n"
/* too short, without padding: a short jump to the hole behind run_leaf */
"	.globl run_short\n	.type run_short, @function\n	.p2align 4\n"
"run_short:\n"
"	lea (%rdi), %eax\n"
"	ret\n"
"	.size run_short, . - run_short\n"
"	.globl run_leaf\n	.type run_leaf, @function\n"
"run_leaf:\n"
"	lea 1(%rdi,%rdi), %rax\n"
"	ret\n"
"	.size run_leaf, . - run_leaf\n"
"	.p2align 5\n"
"	.globl run_end\n	.type run_end, @function\n"
"run_end:\n"
"	call run_leaf\n"
"	lea (%rax), %rax\n"
"	ret\n"
"	.size run_end, . - run_end\n"
"	.p2align 4\n"
);

long run_cond(long), run_tail(long), run_short(long), run_leaf(long), run_end(long);

/* What is computed from an address of code that the code names would make every other
 * function's windows narrow; of a word in memory it is not told what it was. */
static long (*volatile some_code)(long) = run_leaf;
static void (*volatile record_code)(void) = run_record, (*volatile leave_code)(void) = run_leave;

long run_loop(long), run_head(long), run_back(long), run_fall(long);
long run_switch(long), run_fact(long), run_many(long);

static volatile long sink;

__attribute__((noinline)) long run_switch(long x)
{
	switch (x & 15) {
	case 0: return x + 11;
	case 1: return x * 3;
	case 2: sink = x; return 5;
	case 3: return run_leaf(x);
	case 4: return run_leaf(x) + 1;
	case 5: sink++; return sink;
	case 6: return x - 8;
	case 7: return x ^ 0x55;
	case 8: sink = 2; return run_cond(x);
	case 9: return ~x;
	default: return x;
	}
}

__attribute__((noinline)) long run_fact(long x)
{
	long n = x & 15;

	return n < 2 ? 1 : n * run_fact(n - 1);
}

__attribute__((noinline)) long run_many(long x)
{
	long sum = 0;

	for (long i = 0; i < (x & 31); i++) {
		if (i == 17)
			return sum - 1;
		sum += i & 1 ? run_switch(i) : run_tail(i);
	}
	return sum;
}

static const struct target {
	const char *name;
	long (*call)(long);
} targets[] = {
	{ "run_cond", run_cond }, { "run_tail", run_tail },
	{ "run_short", run_short }, { "run_leaf", run_leaf },
	{ "run_end", run_end }, { "run_loop", run_loop }, { "run_head", run_head },
	{ "run_back", run_back }, { "run_switch", run_switch },
	{ "run_fact", run_fact }, { "run_many", run_many },
	{ "run_fall", run_fall },
};

static uint8_t *pointer(raddr_t a)
{
	return (uint8_t *)(uintptr_t)a;
}

static void write_text(raddr_t at, const uint8_t *bytes, size_t n)
{
	uintptr_t page = at & ~4095ul;

	if (mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
		exit(1);
	memcpy(pointer(at), bytes, n);
	if (mprotect((void *)page, 4096, PROT_READ | PROT_EXEC))
		exit(1);
}

static const struct func *find(const struct symbols *syms, const char *name)
{
	for (size_t i = 0; i < syms->nfuncs; i++)
		if (!strcmp(syms->funcs[i].raw, name))
			return &syms->funcs[i];
	fprintf(stderr, "no %s\n", name);
	exit(1);
}

/* Near the text, as an arena is. */
static uint8_t *map_arena(void)
{
	uintptr_t text = (uintptr_t)some_code & ~(uintptr_t)(ARENA - 1);

	for (uintptr_t a = text + (64 << 20); a < text + (1 << 30); a += 16 << 20) {
		void *p = mmap((void *)a, ARENA, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (p != MAP_FAILED)
			return p;
	}
	fprintf(stderr, "no memory near the text\n");
	exit(1);
}

static void place(const struct plan *plan, struct placed_probe *probes, raddr_t bias,
		  uint8_t *arena)
{
	raddr_t record = (uintptr_t)record_code - bias;
	static uint8_t gates[256];
	struct routines to = { .entry = record, .exit = record, .mark = record, .late = record,
			       .gates = (uintptr_t)gates, .leave = (uintptr_t)leave_code - bias };

	memset(gates, 1, sizeof(gates));

	for (size_t i = 0; i < plan->nprobes; i++) {
		struct placed_probe *p = &probes[i];

		p->id = i + 1;
		CHECK(!p->refusal);
		/* Twice, for stubs with jumps into each other. */
		for (size_t k = 0; k < 2 * p->nsites; k++) {
			struct placed_site *s = &p->sites[k % p->nsites];

			if (k < p->nsites) {
				s->stub = (uintptr_t)arena - bias;
				arena += ALIGN_UP(s->site.stub_most, 16);
			}
			CHECK(!plan_place(plan->arch, p, s, pointer(s->site.pc + bias), &to,
					  pointer(s->stub + bias), 4096));
		}
	}
}

static void write_patch(const struct patch *p, const uint8_t *new, raddr_t bias, bool in)
{
	if (p->len)
		write_text(p->pc + bias, in ? new : p->old, p->len);
}

/* Write what a placement says in its order, or take it back in reverse. */
static void write_site(const struct placed_site *s, raddr_t bias, bool in)
{
	if (in)
		write_patch(&s->site.hole, s->new_hole, bias, in);
	write_patch(&s->site.jump, s->new_jump, bias, in);
	if (!in)
		write_patch(&s->site.hole, s->new_hole, bias, in);
}

static void write_probes(const struct placed_probe *probes, size_t n, raddr_t bias, bool in)
{
	for (size_t i = 0; i < n; i++) {
		const struct placed_probe *p = &probes[i];

		for (size_t k = 0; k < p->nsites; k++)
			write_site(&p->sites[in ? k : p->nsites - 1 - k], bias, in);
	}
}

/* Do the records nest? Returns the number of complete calls of `id`. */
static size_t check_log(const struct plan *plan, uint32_t id)
{
	uint64_t open[256];
	size_t n = 0, calls = 0;

	for (size_t i = 0; i < run_n; i++) {
		uint64_t func = run_log[i] >> REC_FUNC_SHIFT, kind = run_log[i] & 3;

		CHECK(func >= 1 && func <= plan->nprobes);
		calls += func == id && kind != REC_EXIT;
		CHECK((kind == REC_NONE) == (plan->probes[func - 1].entry_only != 0));
		if (kind == REC_ENTRY && n < 256)
			open[n++] = func;
		if (kind == REC_EXIT) {
			CHECK(n && open[n - 1] == func);
			n -= n > 0;
		}
	}
	CHECK(n == 0);
	return calls;
}

static bool is_recursive(size_t i)
{
	return targets[i].call == run_fact;
}

/* Each function, with jumps and without: the same result. */
static void call_all(const struct plan *plan, const struct placed_probe *probes, raddr_t bias)
{
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		for (long x = -3; x < 40; x++) {
			sink = x;
			long want = targets[i].call(x);

			write_probes(probes, plan->nprobes, bias, true);
			sink = x;
			run_n = 0;
			CHECK(targets[i].call(x) == want);
			size_t calls = check_log(plan, i + 1);

			CHECK(is_recursive(i) ? calls >= 1 : calls == 1);
			write_probes(probes, plan->nprobes, bias, false);
		}
}

static int tactics(const struct plan *plan, enum tactic t)
{
	int n = 0;

	for (size_t i = 0; i < plan->nprobes; i++)
		for (size_t k = 0; k < plan->probes[i].nsites; k++)
			n += plan->probes[i].sites[k].tactic == t;
	return n;
}

static void run(const struct plan_options *o)
{
	auto_close int fd = open("/proc/self/exe", O_RDONLY);
	const struct func *funcs[ARRAY_SIZE(targets)];
	struct symbols *syms;
	const struct plan *plan;

	if (fd < 0 || symbols_open(fd, "/proc/self/exe", &syms))
		exit(1);
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		funcs[i] = find(syms, targets[i].name);
	raddr_t bias = (uintptr_t)some_code - find(syms, "run_leaf")->range.start;
	uint8_t *arena = map_arena();

	if (plan_make(arch_host(), syms, funcs, ARRAY_SIZE(targets), o, &plan))
		exit(1);
	auto_free struct placed_probe *probes = plan_placement(plan);

	if (!probes)
		exit(1);
	CHECK(tactics(plan, TACTIC_SHORT) >= 1);
	place(plan, probes, bias, arena);
	call_all(plan, probes, bias);
	run_n = 0;
	CHECK(run_many(31) && run_n == 0);
	for (size_t i = 0; i < 8; i++)	/* those in assembly have all exits */
		CHECK(o->entry_only || !plan->probes[i].entry_only);
	CHECK(o->entry_only || !plan->probes[ARRAY_SIZE(targets) - 1].entry_only);
	for (size_t i = 5; i < 8; i++)
		CHECK(plan->probes[i].linked);
	plan_free(plan);
	symbols_close(syms);
	munmap(arena, ARENA);
}

int main(void)
{
	run(&(struct plan_options){ 0 });
	run(&(struct plan_options){ .hosts = true });
	run(&(struct plan_options){ .entry_only = true });
	run(&(struct plan_options){ .hosts = true, .caught = UINT64_MAX });
	return failures != 0;
}
#endif
