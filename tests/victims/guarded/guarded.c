/* SPDX-License-Identifier: MIT */
/*
 * guarded.so: its pages are mapped so that calls and jumps by registers may lead to landing pads
 * only. Made without start files, which have none.
 */
#include <stdint.h>

#define PROBED __attribute__((noinline, noipa, used, visibility("default")))

#define CASE(n, value) case n: x = value; __asm__ volatile("" : "+r"(x)); break

/* By a table: each case has a pad for jumps. */
PROBED uint64_t guard_switch(uint64_t x, uint64_t which)
{
	switch (which) {
	CASE(0, x + 3);
	CASE(1, x * 5);
	CASE(2, x - 9);
	CASE(3, x ^ 77);
	CASE(4, x << 2);
	CASE(5, x / 3);
	CASE(6, ~x);
	CASE(7, x >> 1);
	CASE(8, x + 30);
	CASE(9, x * 7);
	CASE(10, x - 90);
	CASE(11, x ^ 55);
	CASE(12, x << 3);
	CASE(13, x / 5);
	CASE(14, -x);
	CASE(15, x >> 2);
	CASE(16, x + 31);
	}
	return x;
}

PROBED uint64_t guard_plain(uint64_t x)
{
	return x * 2 + 1;
}

PROBED uint64_t guard_calls(uint64_t (*f)(uint64_t), uint64_t x)
{
	return f(x) + 1;
}

PROBED uint64_t guard_tail(uint64_t (*f)(uint64_t), uint64_t x)
{
	return f(x);
}

#define FUNC(name) \
	".p2align 4\n.globl " name "\n.type " name ", %function\n" name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

/* A pad and a return, nothing else; only a pad for calls and jumps; by x16 to a pad for calls;
 * a branch alone, which nothing may come to by a register. */
__asm__(".text\n"
	FUNC("guard_least") "bti c\nret\n" END("guard_least")
	FUNC("guard_any") "bti jc\nadd x0, x0, #5\nret\n" END("guard_any")
	FUNC("guard_sixteen") "bti c\nadr x16, guard_plain\nbr x16\n" END("guard_sixteen")
	FUNC("guard_single") "b guard_plain\n" END("guard_single")
	FUNC("guard_by_single") "bti c\nb guard_single\n" END("guard_by_single"));
