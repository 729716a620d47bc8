/* SPDX-License-Identifier: MIT */
/*
 * neighbours: two functions without a gap between them, in a small program. The first one's exit is
 * a `pop` and a `ret` behind a call, behind which there is nothing but the second one's entry.
 */
#include <pthread.h>

#include "tests/victims/victim.h"

int near_leaf(int);
int near_first(const int *);
int near_second(int);

__asm__(".text\n"
	".type near_leaf, @function\n"
	"near_leaf: .cfi_startproc\n"
	"	lea 1(%rdi), %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size near_leaf, . - near_leaf\n"
	".type near_first, @function\n"
	"near_first: .cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	mov %rdi, %rbx\n"
	"	mov (%rdi), %edi\n"
	"	call near_leaf\n"
	"	mov %eax, %edi\n"
	"	call near_leaf\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size near_first, . - near_first\n"
	".type near_second, @function\n"
	"near_second: .cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	mov %edi, %ebx\n"
	"	call near_leaf\n"
	"	mov %eax, %ebp\n"
	"	lea 1(%rbx), %edi\n"
	"	call near_leaf\n"
	"	add %ebp, %eax\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size near_second, . - near_second\n");

static void *work(void *unused)
{
	for (int i = 0;; i++) {
		int first = near_first(&i), second = near_second(i);

		if (first != i + 2 || second != 2 * i + 3)
			victim_wrong("%d: %d, %d", i, first, second);
		victim_count();
		victim_sleep_us(100);
	}
	return unused;
}

int main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, work, NULL))
		return 1;
	victim_say("ready");
	while (victim_poll(10, NULL))
		;
	_exit(0);
}
