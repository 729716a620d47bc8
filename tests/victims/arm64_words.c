/* SPDX-License-Identifier: MIT */
/*
 * arm64_words [N [idle]]: what arm64 alone has: a function of a single branch, exclusive pairs
 * and atomic instructions where a window is, tail calls by x16 and x17, signed return addresses,
 * and pointers with a tag in their top byte. Is each result right, and each call counted?
 *
 * word_* are called in counted phases only, busy_* all the time. A processor that has no atomic
 * instructions, or does not sign, runs none of these.
 */
#include <asm/hwcap.h>
#include <signal.h>
#include <sys/auxv.h>

#include "tests/victims/phases.h"

#define FUNC(name) \
	".p2align 4\n.globl " name "\n.type " name ", %function\n" name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " name ", . - " name "\n"
#define FRAME "stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 30, -8\n"
#define UNFRAME "ldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 30\n"

#define WORDS(p) \
	FUNC(p "_plain") "add x0, x0, #7\nret\n" END(p "_plain") \
	/* all of it */ \
	FUNC(p "_single") "b " p "_plain\n" END(p "_single") \
	FUNC(p "_tail16") "adr x16, " p "_plain\nbr x16\n" END(p "_tail16") \
	FUNC(p "_tail17") "adr x17, " p "_plain\nmov x16, x17\nbr x17\n" END(p "_tail17") \
	/* the loop leads to where the function begins; the second one does not */ \
	FUNC(p "_pair") "ldxr x2, [x0]\nadd x3, x2, x1\nstxr w4, x3, [x0]\n" \
	"cbnz w4, " p "_pair\nmov x0, x2\nret\n" END(p "_pair") \
	FUNC(p "_ordered") "mov x5, x0\n1: ldaxr w2, [x5]\nadd w3, w2, w1\n" \
	"stlxr w4, w3, [x5]\ncbnz w4, 1b\nmov w0, w2\nret\n" END(p "_ordered") \
	FUNC(p "_add") "ldaddal x1, x0, [x0]\nret\n" END(p "_add") \
	FUNC(p "_cas") "casal x1, x2, [x0]\nmov x0, x1\nret\n" END(p "_cas") \
	FUNC(p "_sign") "paciasp\n" FRAME "bl " p "_plain\n" UNFRAME "autiasp\nret\n" \
	END(p "_sign") \
	FUNC(p "_retaa") "paciasp\n" FRAME "bl " p "_plain\n" UNFRAME "retaa\n" END(p "_retaa") \
	FUNC(p "_retab") "pacibsp\n" FRAME "bl " p "_plain\n" UNFRAME "retab\n" END(p "_retab") \
	FUNC(p "_tagged") "ldr x1, [x0], #8\nldr x2, [x0]\nadd x0, x1, x2\nret\n" END(p "_tagged")

__asm__(".text\n.arch_extension lse\n.arch armv8.3-a\n" WORDS("word") WORDS("busy")
	".arch armv8-a\n");

#define DECLARE(p) \
	uint64_t p##_plain(uint64_t), p##_single(uint64_t), p##_tail16(uint64_t), \
		p##_tail17(uint64_t), p##_pair(uint64_t *, uint64_t), \
		p##_ordered(uint32_t *, uint32_t), p##_add(uint64_t *, uint64_t), \
		p##_cas(uint64_t *, uint64_t, uint64_t), p##_sign(uint64_t), p##_retaa(uint64_t), \
		p##_retab(uint64_t), p##_tagged(const uint64_t *)

DECLARE(word);
DECLARE(busy);

static bool has_atomics, signs;
static uint64_t shared;		/* what all threads add to */
static uint32_t shared_half;
static uint64_t added;

/* The tag is the pointer's own: another one for each. */
static void *tagged(const void *p, uint64_t tag)
{
	return (void *)((uint64_t)p | (tag % 255 + 1) << 56);
}

#define WANT(is, want) do { if ((is) != (want)) victim_wrong("%s", #is); } while (0)

/* Returns how many calls of functions named p_* were made. */
#define CALL_ALL(p, x) ({ \
	uint64_t pair[2] = { x, 5 }, cell = x, n = 9; \
	WANT(p##_single(x), (x) + 7); \
	WANT(p##_tail16(x), (x) + 7); \
	WANT(p##_tail17(x), (x) + 7); \
	WANT(p##_sign(x), (x) + 7); \
	WANT(p##_tagged(tagged(pair, x)), (x) + 5); \
	p##_pair(tagged(&shared, x), 1); \
	p##_ordered(&shared_half, 1); \
	__atomic_fetch_add(&added, 1, __ATOMIC_RELAXED); \
	n += 2; \
	if (has_atomics) { \
		WANT(p##_add(tagged(&cell, x), 3), x); \
		WANT(p##_cas(&cell, (x) + 3, 1), (x) + 3); \
		WANT(cell, 1); \
		n += 2; \
	} \
	if (signs) { \
		WANT(p##_retaa(x), (x) + 7); \
		WANT(p##_retab(x), (x) + 7); \
		n += 4; \
	} \
	n; \
})

static const uint64_t given[] = { 3, 4 };
static __thread volatile uint64_t handled;

PROBED void busy_handle(int sig, siginfo_t *info, void *context)
{
	handled += busy_tagged(info->si_value.sival_ptr);
}

static bool handles(uint64_t tag)
{
	union sigval v = { .sival_ptr = tagged(given, tag) };
	uint64_t before = handled;

	return pthread_sigqueue(pthread_self(), SIGUSR1, v) == 0 && handled == before + 7;
}

static void spin_round(struct worker *w)
{
	uint64_t x = w->state = w->state * 6364136223846793005u + 1442695040888963407u;

	CALL_ALL(busy, x >> 7);
	if (x >> 60 == 0 && !handles(x >> 7))
		victim_wrong("a handler's argument");
}

static void count_round(struct worker *w)
{
	w->counted += CALL_ALL(word, w->state >> 7);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_sigaction = busy_handle, .sa_flags = SA_SIGINFO | SA_RESTART };
	int status;

	has_atomics = getauxval(AT_HWCAP) & HWCAP_ATOMICS;
	signs = getauxval(AT_HWCAP) & HWCAP_PACA;
	if (sigaction(SIGUSR1, &act, NULL))
		return 1;
	status = phases_run(argc, argv);
	if (shared != added || shared_half != (uint32_t)added) {
		victim_wrong("additions were lost");
		status = 1;
	}
	return status;
}
