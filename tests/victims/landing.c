/* SPDX-License-Identifier: MIT */
/*
 * landing [N [idle]]: functions with an indirect jump to the second of their own
 * instructions (behind a landing pad that stays, where there are such pads), whose
 * address cannot be seen: it is computed. It is still an instruction when they are probed.
 *
 * land_* are called in counted phases only, jump_* all the time.
 */
#include "tests/victims/phases.h"

#if defined(__x86_64__)

#define FUNC(name) \
	".p2align 4\n.globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

/* The sum from rdi down to 1. `first` has `n` bytes, `last` undoes it. */
#define SUM(name, n, first, last) \
	FUNC(name) first "\n" \
	"add %rdi,%rsi\n" \
	"sub $1,%edi\n" \
	"jz 1f\n" \
	"lea " name "(%rip),%rax\n" \
	"mov $" n ",%ecx\n" \
	"imul $1,%ecx,%ecx\n" \
	"add %rcx,%rax\n" \
	"jmp *%rax\n" \
	"1: mov %rsi,%rax\n" last "\nret\n" END(name) ".fill 6, 1, 0x90\n"

/* With a first instruction of one byte, which keeps those of the next two; of
 * two, with padding near; of seven, which has room for a jump. */
#define SUMS(p) \
	SUM(p "_1", "1", "push %rbx\n.cfi_adjust_cfa_offset 8", \
	    "pop %rbx\n.cfi_adjust_cfa_offset -8") \
	SUM(p "_2", "2", "push %r12\n.cfi_adjust_cfa_offset 8", \
	    "pop %r12\n.cfi_adjust_cfa_offset -8") \
	SUM(p "_7", "7", "sub $136,%rsp\n.cfi_adjust_cfa_offset 136", \
	    "add $136,%rsp\n.cfi_adjust_cfa_offset -136")

__asm__(".text\n" SUMS("land") SUMS("jump"));

#else

#define FUNC(name) \
	".p2align 4\n.globl " name "\n.type " name ", %function\n" name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

/* The sum from x0 down to 1. `first` are the words before the place that is jumped to. */
#define SUM(name, words, first) \
	FUNC(name) first "\n" \
	"add x1, x1, x0\n" \
	"subs x0, x0, #1\n" \
	"b.eq 1f\n" \
	"adr x9, " name "\n" \
	"mov x10, #" words "\n" \
	"add x9, x9, x10, lsl #2\n" \
	"br x9\n" \
	"1: mov x0, x1\nret\n" END(name)

/* With a first instruction of any kind; with a landing pad, behind which the jump stands; with
 * a landing pad that signs the return address. */
#define SUMS(p) \
	SUM(p "_1", "1", "mov x11, x0") \
	SUM(p "_2", "2", "hint #34\nmov x11, x0") \
	SUM(p "_7", "3", "hint #25\nhint #29\nmov x11, x0")

__asm__(".text\n" SUMS("land") SUMS("jump"));

#endif

uint64_t land_1(uint64_t, uint64_t), land_2(uint64_t, uint64_t), land_7(uint64_t, uint64_t);
uint64_t jump_1(uint64_t, uint64_t), jump_2(uint64_t, uint64_t), jump_7(uint64_t, uint64_t);

#define WANT_SUM(f, n) do { if (f(n, 0) != (n) * ((n) + 1) / 2) victim_wrong(#f); } while (0)

static void spin_round(struct worker *w)
{
	uint64_t n = w->state++ % 7 + 1;

	WANT_SUM(jump_1, n);
	WANT_SUM(jump_2, n);
	WANT_SUM(jump_7, n);
}

static void count_round(struct worker *w)
{
	uint64_t n = w->state++ % 7 + 1;

	WANT_SUM(land_1, n);
	WANT_SUM(land_2, n);
	WANT_SUM(land_7, n);
	w->counted += 3;
}

int main(int argc, char **argv)
{
	return phases_run(argc, argv);
}
