/* SPDX-License-Identifier: MIT */
/*
 * strangers: functions of hand-written code into whose first bytes another one
 * jumps, by which a jump written there would be entered in its middle. Is each
 * result right, when only the function that is jumped into is probed?
 */
#include <pthread.h>

#include "tests/victims/victim.h"

#if defined(__x86_64__)
asm(".text\n.p2align 4\n"
    ".globl stra_target\n.type stra_target, @function\n"
    "stra_target:\n"
    "	xor	%eax, %eax\n"
    "stra_inside:\n"
    "	lea	1(%rdi, %rax), %rax\n"
    "	add	$2, %rax\n"
    "	ret\n"
    ".size stra_target, .-stra_target\n"
    ".p2align 4\n"
    ".type other_jumps, @function\n"
    "other_jumps:\n"
    "	mov	$100, %eax\n"
    "	jmp	stra_inside\n"
    ".size other_jumps, .-other_jumps\n"
    ".p2align 4\n"
    ".type other_branches, @function\n"
    "other_branches:\n"
    "	mov	$1000, %eax\n"
    "	test	%rdi, %rdi\n"
    "	jnz	stra_inside\n"
    "	mov	%rdi, %rax\n"
    "	ret\n"
    ".size other_branches, .-other_branches\n"
    ".p2align 4\n"
    ".type other_calls, @function\n"
    "other_calls:\n"
    "	mov	$10000, %eax\n"
    "	call	stra_inside\n"
    "	ret\n"
    ".size other_calls, .-other_calls\n"
    ".p2align 4\n");
#else
asm(".text\n.p2align 4\n"
    ".globl stra_target\n.type stra_target, %function\n"
    "stra_target:\n"
    "	mov	x1, #0\n"
    "stra_inside:\n"
    "	add	x0, x0, x1\n"
    "	add	x0, x0, #3\n"
    "	ret\n"
    ".size stra_target, .-stra_target\n"
    ".p2align 4\n"
    ".type other_jumps, %function\n"
    "other_jumps:\n"
    "	mov	x1, #100\n"
    "	b	stra_inside\n"
    ".size other_jumps, .-other_jumps\n"
    ".p2align 4\n"
    ".type other_branches, %function\n"
    "other_branches:\n"
    "	mov	x1, #1000\n"
    "	cbnz	x0, stra_inside\n"
    "	ret\n"
    ".size other_branches, .-other_branches\n"
    ".p2align 4\n"
    ".type other_calls, %function\n"
    "other_calls:\n"
    "	mov	x1, #10000\n"
    "	stp	x29, x30, [sp, #-16]!\n"
    "	bl	stra_inside\n"
    "	ldp	x29, x30, [sp], #16\n"
    "	ret\n"
    ".size other_calls, .-other_calls\n"
    ".p2align 4\n");
#endif

uint64_t stra_target(uint64_t x);
uint64_t other_jumps(uint64_t x);
uint64_t other_branches(uint64_t x);
uint64_t other_calls(uint64_t x);

PROBED uint64_t stra_plain(uint64_t x)
{
	return x * 2 + 1;
}

static void *run(void *arg)
{
	for (uint64_t x = 1;; x++) {
		if (stra_target(x) != x + 3)
			victim_wrong("stra_target");
		if (other_jumps(x) != x + 103 || other_branches(x) != x + 1003 ||
		    other_calls(x) != x + 10003)
			victim_wrong("what jumps into it");
		if (stra_plain(x) != x * 2 + 1)
			victim_wrong("stra_plain");
		victim_count();
	}
	return arg;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, run, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}
