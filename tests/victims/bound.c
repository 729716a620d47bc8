/* SPDX-License-Identifier: MIT */
/*
 * bound: one function computes where it jumps to, so that each jump of inject's may change one
 * instruction only; bound_call's return has a single place for its jump to lead to, and the program
 * has taken that.
 */
#include <sys/mman.h>

#include "tests/victims/victim.h"

__asm__(".text\n.p2align 4\n"
	".globl bound_jump\n.type bound_jump, @function\n"
	"bound_jump: mov %rdi,%rax\nxor $1,%rax\njmp *%rax\n.size bound_jump, . - bound_jump\n"
	".p2align 4\n"
	".globl bound_call\n.type bound_call, @function\n"
	"bound_call: mov $7,%eax\nbound_return: ret\n.size bound_call, . - bound_call\n"
	/* b8, and three bytes by which a jump from the return leads far down */
	".type behind, @function\n"
	"behind: mov $0xa00000,%eax\nret\n.size behind, . - behind\n");

int bound_call(void);
extern const char bound_return[];

int main(void)
{
	const size_t page = 4096;
	int32_t distance;
	char *at;

	memcpy(&distance, bound_return + 1, sizeof(distance));
	at = (char *)(((uintptr_t)bound_return + 5 + (uintptr_t)(int64_t)distance) & ~(page - 1));
	if (mmap(at - page, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		 -1, 0) == MAP_FAILED)
		return 1;
	victim_say("ready");
	while (victim_poll(1, NULL)) {
		if (bound_call() != 7)
			victim_wrong("bound_call");
		victim_count();
	}
	return victim_errors != 0;
}
