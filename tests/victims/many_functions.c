/* SPDX-License-Identifier: MIT */
/*
 * many_functions: 10,000 functions, many_0 to many_9999, packed as a linker
 * packs them. Does each still return its own number, when all are probed?
 *
 *	call N	-> called N	each of them N times, in the main thread
 */
#include "tests/victims/victim.h"

enum { FUNCTIONS = 10000, APART = 16 };

asm(".altmacro\n"
    ".macro many n\n"
    ".p2align 4\n"
    ".type many_\\n, %function\n"
    "many_\\n:\n"
#if defined(__x86_64__)
    "	lea 0x10000+\\n(%rdi), %rax\n"
#else
    "	mov w1, #0x10000\n"
    "	movk w1, #\\n\n"
    "	add x0, x0, x1\n"
#endif
    "	ret\n"
    ".size many_\\n, .-many_\\n\n"
    ".endm\n"
    ".text\n"
    ".set i, 0\n"
    ".rept 10000\n"
    "many %i\n"
    ".set i, i + 1\n"
    ".endr\n"
    ".noaltmacro\n"
    ".globl many_first\n"
    ".set many_first, many_0\n");

extern const char many_first[];

static void call_all(void)
{
	for (uintptr_t i = 0; i < FUNCTIONS; i++) {
		uint64_t (*f)(uint64_t) = (uint64_t (*)(uint64_t))(many_first + i * APART);

		if (f(i) != 0x10000 + 2 * i)
			victim_wrong("many_%lu", i);
	}
	victim_count();
}

static void command(const char *line)
{
	uint64_t n;

	if (sscanf(line, "call %lu", &n) != 1)
		return;
	for (uint64_t i = 0; i < n; i++)
		call_all();
	victim_say("called %lu", n);
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(1, command))
		victim_count();
	return victim_errors != 0;
}
