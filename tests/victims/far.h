/* SPDX-License-Identifier: MIT */
/* far: a thousand functions each of which wants a page of its own, as those of `scattered`:
 * a thread that is borrowed to map these pages has some milliseconds to do. */
#ifndef TESTS_FAR_H
#define TESTS_FAR_H

#if defined(__x86_64__)
__asm__(".altmacro\n"
	".macro leaf i, distance\n"
	".p2align 8, 0xcc\n"
	".globl far_\\i\n.type far_\\i, @function\n"
	"far_\\i: ret\n.size far_\\i, 1\n"
	".type behind_\\i, @function\n"
	"behind_\\i: mov $\\distance, %eax\nret\n"
	".size behind_\\i, 6\n"
	".endm\n"
	".text\n"
	".set i, 0\n.rept 1024\nleaf %i, %(0xa00000 + i * 31)\n.set i, i + 1\n.endr\n"
	".noaltmacro\n");
#else
/* No function wants a page: there is as much to do for the stubs alone. */
__asm__(".altmacro\n"
	".macro leaf i\n"
	".p2align 8\n"
	".globl far_\\i\n.type far_\\i, %function\n"
	"far_\\i: ret\n.size far_\\i, 4\n"
	".endm\n"
	".text\n"
	".set i, 0\n.rept 1024\nleaf %i\n.set i, i + 1\n.endr\n"
	".noaltmacro\n");
#endif

#endif
