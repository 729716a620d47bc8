/* SPDX-License-Identifier: MIT */
/*
 * late_start: a static program that begins only when its input has a first byte. Until
 * then it has no thread pointer, as any such program for its first instructions.
 */
#include "tests/victims/victim.h"

/* read(0, a word of the stack, 1), and all registers as they were. */
__asm__(".globl late_start\n"
	"late_start:\n"
#if defined(__x86_64__)
	"push %rdx\npush %rax\n"
	"xor %eax, %eax\nxor %edi, %edi\nmov %rsp, %rsi\nmov $1, %edx\nsyscall\n"
	"pop %rax\npop %rdx\nxor %esi, %esi\n"
	"jmp _start\n"
#else
	"mov x19, x0\n"
	"sub sp, sp, #16\n"
	"mov x0, #0\nmov x1, sp\nmov x2, #1\nmov x8, #63\nsvc #0\n"
	"add sp, sp, #16\n"
	"mov x0, x19\n"
	"b _start\n"
#endif
	);

PROBED uint64_t late_work(uint64_t x)
{
	return x * 7 + 1;
}

int main(void)
{
	uint64_t x = 0;

	victim_say("ready");
	while (victim_poll(1, NULL)) {
		if (late_work(x) != x * 7 + 1)
			victim_wrong("late_work");
		victim_count();
		x++;
	}
	return victim_errors != 0;
}
