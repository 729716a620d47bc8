/* SPDX-License-Identifier: MIT */
/*
 * loops [N [idle]]: N threads inside functions whose jumps lead back to the
 * entry, or into bytes that a jump of ours covers. Is each call counted once,
 * however often it goes round, and does none go wrong? Its commands are those
 * of phases.h.
 *
 * Every function exists twice, as spin_* and as count_*.
 */
#include "tests/victims/phases.h"

#if defined(__x86_64__)

/* Back to the entry. */
#define FUNC_ENTRY(name) \
"	.globl " name "\n	.type " name ", @function\n	.p2align 4\n" \
name ":\n" \
"	.cfi_startproc\n" \
"	mov %rdi, %rax\n" \
"	shr $1, %rdi\n" \
"	jne " name "\n" \
"	lea 3(%rax), %rax\n" \
"	ret\n" \
"	.cfi_endproc\n" \
"	.size " name ", . - " name "\n"

/* Back to the second instruction, one byte in, also from another page. */
#define FUNC_HEAD(name) \
"	.globl " name "\n	.type " name ", @function\n	.p2align 12\n" \
name ":\n" \
"	.cfi_startproc\n" \
"	push %rdi\n	.cfi_adjust_cfa_offset 8\n" \
"1:	shr $1, %rdi\n" \
"	test $4, %dil\n" \
"	jne 2f\n" \
"	test %rdi, %rdi\n" \
"	jne 1b\n" \
"	pop %rax\n	.cfi_remember_state\n	.cfi_adjust_cfa_offset -8\n" \
"	lea 5(%rax), %rax\n" \
"	ret\n" \
"	.cfi_restore_state\n" \
"	.skip 4096\n" \
"2:	shr $1, %rdi\n" \
"	jmp 1b\n" \
"	.cfi_endproc\n" \
"	.size " name ", . - " name "\n"

/* A return that is jumped to, over code that makes no difference. */
#define FUNC_BACK(name) \
"	.globl " name "\n	.type " name ", @function\n	.p2align 4\n" \
name ":\n" \
"	.cfi_startproc\n" \
"	lea 1(%rdi,%rdi,2), %rax\n" \
"	test $1, %edi\n" \
"	jne 1f\n" \
"	lea 7(%rax), %rax\n" \
"1:	ret\n" \
"	.cfi_endproc\n" \
"	.size " name ", . - " name "\n" \
"	.long 0\n"

/* The entry's window holds a jump into that of an exit on another page, and is
 * itself jumped into. */
#define FUNC_CHAIN(name) \
"	.type " name ".cold, @function\n	.p2align 12\n" \
name ".cold:\n" \
"	.cfi_startproc\n" \
"2:	lea 9(%rdi), %rdi\n" \
"3:	xchg %rax, %rdi\n" \
"	ret\n" \
"	.cfi_endproc\n" \
"	.size " name ".cold, . - " name ".cold\n" \
"	.globl " name "\n	.type " name ", @function\n	.p2align 12\n" \
name ":\n" \
"	.cfi_startproc\n" \
"	clc\n" \
"1:	shr $1, %edi\n" \
"	je 3b\n" \
"	test $1, %dil\n" \
"	jne 2b\n" \
"	jmp 1b\n" \
"	.cfi_endproc\n" \
"	.size " name ", . - " name "\n" \
"	.p2align 12\n"

#else

/* The same of words: what is jumped into there is the window itself, or what stands behind. */
#define FUNC_ENTRY(name) \
"	.globl " name "\n	.type " name ", %function\n	.p2align 4\n" \
name ":\n" \
"	.cfi_startproc\n" \
"	mov x1, x0\n" \
"	lsr x0, x0, #1\n" \
"	cbnz x0, " name "\n" \
"	add x0, x1, #3\n" \
"	ret\n" \
"	.cfi_endproc\n" \
"	.size " name ", . - " name "\n"

#define FUNC_HEAD(name) \
"	.globl " name "\n	.type " name ", %function\n	.p2align 12\n" \
name ":\n" \
"	.cfi_startproc\n" \
"	mov x1, x0\n" \
"1:	lsr x0, x0, #1\n" \
"	tbnz w0, #2, 2f\n" \
"	cbnz x0, 1b\n" \
"	add x0, x1, #5\n" \
"	ret\n" \
"	.skip 4096\n" \
"2:	lsr x0, x0, #1\n" \
"	b 1b\n" \
"	.cfi_endproc\n" \
"	.size " name ", . - " name "\n"

#define FUNC_BACK(name) \
"	.globl " name "\n	.type " name ", %function\n	.p2align 4\n" \
name ":\n" \
"	.cfi_startproc\n" \
"	mov x1, x0\n" \
"	add x0, x1, x1, lsl #1\n" \
"	add x0, x0, #1\n" \
"	tbnz w1, #0, 1f\n" \
"	add x0, x0, #7\n" \
"1:	ret\n" \
"	.cfi_endproc\n" \
"	.size " name ", . - " name "\n"

#define FUNC_CHAIN(name) \
"	.type " name ".cold, %function\n	.p2align 12\n" \
name ".cold:\n" \
"	.cfi_startproc\n" \
"2:	add x0, x0, #9\n" \
"3:	ret\n" \
"	.cfi_endproc\n" \
"	.size " name ".cold, . - " name ".cold\n" \
"	.globl " name "\n	.type " name ", %function\n	.p2align 12\n" \
name ":\n" \
"	.cfi_startproc\n" \
"1:	lsr w0, w0, #1\n" \
"	cbz w0, 3b\n" \
"	tbnz w0, #0, 2b\n" \
"	b 1b\n" \
"	.cfi_endproc\n" \
"	.size " name ", . - " name "\n" \
"	.p2align 12\n"

#endif

#define FUNCS(prefix) FUNC_ENTRY(prefix "_entry") FUNC_HEAD(prefix "_head") \
	FUNC_BACK(prefix "_back") FUNC_CHAIN(prefix "_chain")

__asm__("	.text\n" FUNCS("spin") FUNCS("count"));

uint64_t spin_entry(uint64_t), spin_head(uint64_t), spin_back(uint64_t), spin_chain(uint64_t);
uint64_t count_entry(uint64_t), count_head(uint64_t), count_back(uint64_t), count_chain(uint64_t);

static inline uint64_t plain_entry(uint64_t x)
{
	uint64_t last;

	do
		last = x;
	while (x >>= 1);
	return last + 3;
}

static inline uint64_t plain_chain(uint64_t x)
{
	uint32_t low = (uint32_t)x >> 1;

	while (low && !(low & 1))
		low >>= 1;
	return low ? low + 9ull : 0;
}

/* By the compiler, which begins the loop at the entry. */
struct node {
	const struct node *next;
};

static const struct node list[5] = {
	{ list + 1 }, { list + 2 }, { list + 3 }, { list + 4 }, { NULL } };

static inline __attribute__((always_inline)) const struct node *walk(const struct node *n)
{
	const struct node *last;

	do {
		last = n;
		n = n->next;
	} while (n);
	return last;
}

PROBED const struct node *spin_while(const struct node *n)
{
	return walk(n);
}

PROBED const struct node *count_while(const struct node *n)
{
	return walk(n);
}

static void check(const char *what, uint64_t is, uint64_t should)
{
	if (is != should)
		victim_wrong("%s: %llx, not %llx", what, (unsigned long long)is,
			     (unsigned long long)should);
}

static uint64_t plain_back(uint64_t x)
{
	return 3 * x + (x & 1 ? 1 : 8);
}

static void spin_round(struct worker *w)
{
	uint64_t x = w->state = w->state * 6364136223846793005u + 1442695040888963407u;

	check("spin_entry", spin_entry(x), plain_entry(x));
	check("spin_head", spin_head(x), x + 5);
	check("spin_back", spin_back(x >> 7), plain_back(x >> 7));
	check("spin_chain", spin_chain(x >> 9), plain_chain(x >> 9));
	check("spin_chain", spin_chain(1ull << (x & 31)), plain_chain(1ull << (x & 31)));
	check("spin_while", (uintptr_t)spin_while(list + x % 5), (uintptr_t)(list + 4));
}

static void count_round(struct worker *w)
{
	uint64_t x = w->state;

	check("count_entry", count_entry(x), plain_entry(x));
	check("count_head", count_head(x), x + 5);
	check("count_back", count_back(x >> 7), plain_back(x >> 7));
	check("count_chain", count_chain(x >> 9), plain_chain(x >> 9));
	check("count_while", (uintptr_t)count_while(list + x % 5), (uintptr_t)(list + 4));
	w->counted += 5;
}

int main(int argc, char **argv)
{
	return phases_run(argc, argv);
}
