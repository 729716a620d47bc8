/* SPDX-License-Identifier: MIT */
/*
 * packed [N [idle]]: functions of one to four bytes and returns that are
 * branched to, with no padding anywhere, as compilers for size leave them.
 *
 * pack_* are called in counted phases only, all of them; busy_* all the time.
 */
#include "tests/victims/phases.h"

#define FUNC(name) \
	".globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

/* Twice the same, since bytes of one are kept in the jumps of another. */
#define PACKED(p) \
	FUNC(p "_4") "mov %rdi,%rax\nret\n" END(p "_4") \
	FUNC(p "_3") "xor %eax,%eax\nret\n" END(p "_3") \
	FUNC(p "_1") "ret\n" END(p "_1") \
	FUNC(p "_2") "cwtl\nret\n" END(p "_2") \
	FUNC(p "_low") "mov %edi,%eax\nret\n" END(p "_low") \
	FUNC(p "_tail") "jmp " p "_4\n" END(p "_tail") \
	FUNC(p "_next") "lea 1(%rdi),%eax\nret\n" END(p "_next") \
	/* a branch leads behind the first instruction */ \
	FUNC(p "_loop") "xor %eax,%eax\n1: add %edi,%eax\ndec %edi\njg 1b\nret\n" \
	END(p "_loop") \
	/* and to a return that the next function follows */ \
	FUNC(p "_exits") "mov %rdi,%rax\ntest $1,%al\nje 1f\nimul %rax,%rax\n" \
	"add $7,%rax\nret\n1: ret\n" END(p "_exits") \
	FUNC(p "_long") "mov $7,%eax\nadd %edi,%eax\nret\n" END(p "_long")

__asm__(".text\n.p2align 4\n" PACKED("pack") PACKED("busy"));

#define DECLARE(p) \
	uint64_t p##_4(uint64_t), p##_3(uint64_t), p##_low(uint64_t), p##_tail(uint64_t), \
		p##_next(uint64_t), p##_loop(uint64_t), p##_exits(uint64_t), \
		p##_long(uint64_t); \
	void p##_1(uint64_t); \
	int p##_2(uint64_t)

DECLARE(pack);
DECLARE(busy);

static inline uint64_t sum_to(uint64_t n)
{
	return n * (n + 1) / 2;
}

#define WANT(is, want) do { if ((is) != (want)) victim_wrong("%s", #is); } while (0)

#define CALL_ALL(p, x) do { \
	WANT(p##_4(x), x); \
	WANT(p##_3(x), 0); \
	p##_1(x); \
	p##_2(x); \
	WANT(p##_low(x), (uint32_t)(x)); \
	WANT(p##_tail(x), x); \
	WANT(p##_next(x), (uint32_t)((x) + 1)); \
	WANT(p##_loop((x) % 5 + 1), sum_to((x) % 5 + 1)); \
	WANT(p##_exits(x), (x) & 1 ? (x) * (x) + 7 : (x)); \
	WANT(p##_long(x), (uint32_t)((x) + 7)); \
} while (0)

static void spin_round(struct worker *w)
{
	uint64_t x = w->state = w->state * 6364136223846793005u + 1442695040888963407u;

	CALL_ALL(busy, x >> 7);
}

static void count_round(struct worker *w)
{
	CALL_ALL(pack, w->state);
	w->counted += 11;		/* pack_tail calls pack_4 */
}

int main(int argc, char **argv)
{
	return phases_run(argc, argv);
}
