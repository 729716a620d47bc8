/* SPDX-License-Identifier: MIT */
/* change_stacks: how does a thread leave one stack for another, in a few instructions? */
#ifndef TESTS_VICTIMS_CHANGE_STACKS_H
#define TESTS_VICTIMS_CHANGE_STACKS_H

/* Goes on at `to`, and says in *from where the caller goes on. */
void change_stacks(void **from, void *to);
__asm__(".pushsection .text\n"
	".type change_stacks, @function\n"
	"change_stacks:\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	"	ret\n"
	".size change_stacks, . - change_stacks\n"
	".popsection\n");

#endif
