/* SPDX-License-Identifier: MIT */
/*
 * bare_stack: a function is jumped to where its stack ends, as one is that a new thread begins with
 * in some programs: nothing is mapped at its stack pointer, where others have their return address.
 */
#include <sys/mman.h>

#include "tests/victims/victim.h"

enum { STACK = 1 << 19, GUARD = 1 << 16 };

/* On the stack that ends at `end`; what it computes. */
uint64_t bare_run(char *end, uint64_t x);

__asm__(
"	.text\n"
"	.globl bare_run\n	.type bare_run, @function\n	.p2align 4, 0xcc\n"
"bare_run:\n"
"	push %rbp\n"
"	mov %rsp, %rbp\n"
"	mov %rdi, %rsp\n"
"	jmp bare_begun\n"
"1:	mov %rbp, %rsp\n"
"	pop %rbp\n"
"	ret\n"
"	.size bare_run, . - bare_run\n"
"	.globl bare_begun\n	.type bare_begun, @function\n	.p2align 4, 0xcc\n"
"bare_begun:\n"
"	lea 11(%rsi), %rax\n"
"	push %rax\n"
"	imul $29, %rax, %rax\n"
"	pop %rcx\n"
"	xor %rcx, %rax\n"
"	jmp 1b\n"
"	.size bare_begun, . - bare_begun\n");

int main(void)
{
	char *stack = mmap(NULL, STACK + GUARD, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED || mprotect(stack + STACK, GUARD, PROT_NONE))
		return 2;
	victim_say("ready");
	for (uint64_t x = 1; victim_poll(1, NULL); x++) {
		if (bare_run(stack + STACK, x) != ((x + 11) * 29 ^ (x + 11)))
			victim_wrong("bare_begun");
		victim_count();
	}
	return victim_errors != 0;
}
