/* SPDX-License-Identifier: MIT */
/* change_stacks: how does a thread leave one stack for another, in a few instructions? */
#ifndef TESTS_VICTIMS_CHANGE_STACKS_H
#define TESTS_VICTIMS_CHANGE_STACKS_H

#include <stdint.h>

/* Goes on at `to`, and says in *from where the caller goes on. */
void change_stacks(void **from, void *to);

#if defined(__x86_64__)

/* Of what it pushes, and where among that the return address is, and two registers that calls
 * keep: rbx and rbp, x19 and x20. */
enum { STACK_WORDS_KEPT = 8, STACK_WORD_BACK = 6, STACK_WORD_ONE = 4, STACK_WORD_TWO = 5 };

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

#elif defined(__aarch64__)

enum { STACK_WORDS_KEPT = 20, STACK_WORD_BACK = 1, STACK_WORD_ONE = 2, STACK_WORD_TWO = 3 };

__asm__(".pushsection .text\n"
	".type change_stacks, %function\n"
	"change_stacks:\n"
	"	stp x29, x30, [sp, #-160]!\n"
	"	stp x19, x20, [sp, #16]\n"
	"	stp x21, x22, [sp, #32]\n"
	"	stp x23, x24, [sp, #48]\n"
	"	stp x25, x26, [sp, #64]\n"
	"	stp x27, x28, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp, #16]\n"
	"	ldp x21, x22, [sp, #32]\n"
	"	ldp x23, x24, [sp, #48]\n"
	"	ldp x25, x26, [sp, #64]\n"
	"	ldp x27, x28, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	ldp x29, x30, [sp], #160\n"
	"	ret\n"
	".size change_stacks, . - change_stacks\n"
	".popsection\n");

#else
#error "tests/victims/change_stacks.h does not know this instruction set"
#endif

/* A stack that ends at `end`, as if it had been left: a thread that changes to it comes to
 * `begin`. */
static inline void *new_stack(void *end, void (*begin)(void))
{
	uint64_t *top = (uint64_t *)((uintptr_t)end & ~15ul) - STACK_WORDS_KEPT;

	top[STACK_WORD_BACK] = (uint64_t)begin;
	return top;
}

#endif
