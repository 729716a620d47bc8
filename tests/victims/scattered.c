/* SPDX-License-Identifier: MIT */
/*
 * scattered [N [idle]]: thousands of functions of one byte, each before bytes by which
 * a jump that keeps them leads to one place only: a page of its own.
 *
 * far_* lead to every other page, near_* to pages that lie side by side. All are called
 * in counted phases only, some of them in each round.
 */
#include "tests/victims/phases.h"

enum { FARS = 6144, NEARS = 1024, EACH = 256 };

/*
 * Behind the return stand b8 and the three bytes of `distance`: with these behind it, a
 * jump leads 256 times that and b8 from its end, downwards, where no heap will grow. As
 * functions are 256 bytes apart, all places have the same offset in their page.
 */
__asm__(".altmacro\n"
	".macro leaf name, i, distance\n"
	".p2align 8, 0xcc\n"
	".globl \\name\\()_\\i\n.type \\name\\()_\\i, @function\n"
	"\\name\\()_\\i: ret\n.size \\name\\()_\\i, 1\n"
	".type behind_\\name\\()_\\i, @function\n"
	"behind_\\name\\()_\\i: mov $\\distance, %eax\nret\n"
	".size behind_\\name\\()_\\i, 6\n"
	".endm\n"
	".text\n.p2align 8, 0xcc\nleaves:\n"
	".set i, 0\n.rept 6144\nleaf far, %i, %(0xa00000 + i * 31)\n.set i, i + 1\n.endr\n"
	".set i, 0\n.rept 1024\nleaf near, %i, %(0xa60000 + i * 15)\n.set i, i + 1\n.endr\n"
	".noaltmacro\n");

extern const char leaves[];

static void spin_round(struct worker *w)
{
	w->state++;
}

static void count_round(struct worker *w)
{
	for (int i = 0; i < 64; i++) {
		size_t n = w->state++ % (FARS + NEARS);

		((void (*)(void))(leaves + n * EACH))();
		w->counted++;
	}
}

int main(int argc, char **argv)
{
	return phases_run(argc, argv);
}
