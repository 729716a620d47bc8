/* SPDX-License-Identifier: MIT */
/*
 * threaded: an interpreter of threaded code, as Forth's are. Its programs are lists of addresses
 * in its middle, made at run time; and, as gforth does, it makes code of what stands between two of
 * these addresses: copies, one behind the other, that run elsewhere. A jump that was copied with
 * them would lead elsewhere, too.
 */
#include <sys/mman.h>

#include "tests/victims/victim.h"

#define NEXT \
"	add $8, %rbx\n" \
"	jmp *(%rbx)\n"
#define FRAGMENT(n, code) \
"10" n ":\n" code \
"20" n ":\n" NEXT

/* Without a list it tells where its fragments are. Where it is left there is no room for a jump,
 * but in other fragments. (What is added makes of it a jump to far below the program: above, a heap
 * may be in the way.) */
uint64_t threaded_run(void *const *list, uint64_t x);

__asm__(
"	.text\n"
"	.skip 160\n"
"	.globl threaded_run\n	.type threaded_run, @function\n	.p2align 4, 0xcc\n"
"threaded_run:\n"
"	.cfi_startproc\n"
"	push %rbx\n	.cfi_adjust_cfa_offset 8\n	.cfi_rel_offset rbx, 0\n"
"	mov %rsi, %rax\n"
"	mov %rdi, %rbx\n"
"	test %rdi, %rdi\n"
"	je 1f\n"
"	jmp *(%rbx)\n"
"1:	lea threaded_labels(%rip), %rax\n"
"	pop %rbx\n	.cfi_remember_state\n	.cfi_adjust_cfa_offset -8\n"
"	ret\n"
"	.cfi_restore_state\n"
FRAGMENT("1",
"	mov %rax, %rdx\n"
"	shr $7, %rdx\n"
"	xor %rdx, %rax\n")
FRAGMENT("2",
"	imul $1103515245, %rax, %rax\n")
"103:	pop %rbx\n"
"	ret\n"
"203:\n"
FRAGMENT("4",
"	add $0x30d0, %rax\n"
"	rol $3, %rax\n")
"	.cfi_endproc\n"
"	.size threaded_run, . - threaded_run\n"
"	.skip 160\n"
"	.section .data.rel.ro, \"aw\"\n"
"	.balign 8\n"
"threaded_labels:\n"
"	.quad 101b, 201b, 102b, 202b, 104b, 204b, 103b, 203b\n"
"	.text\n");

enum { FRAGMENTS = 3, LEAVE = FRAGMENTS, MOST = 12, ROOM = 256, SLOTS = 64, OLD = 8 };

struct fragment {
	const unsigned char *start, *end;
};

static const struct fragment *fragments;
static unsigned char saved[FRAGMENTS][ROOM];
static const unsigned char next[] = { 0x48, 0x83, 0xc3, 8, 0xff, 0x23 };

/* A program, as a list and as its code. */
struct word {
	unsigned char what[MOST];
	size_t n;
	void *list[MOST + 1], *compiled[2];
};

static struct word words[SLOTS];

static uint64_t expect(const struct word *w, uint64_t x)
{
	for (size_t i = 0; i < w->n; i++)
		switch (w->what[i]) {
		case 0:
			x ^= x >> 7;
			break;
		case 1:
			x *= 1103515245;
			break;
		case 2:
			x += 0x30d0;
			x = x << 3 | x >> 61;
		}
	return x;
}

static unsigned char *append(unsigned char *to, size_t fragment)
{
	size_t n = (size_t)(fragments[fragment].end - fragments[fragment].start);

	memcpy(to, fragments[fragment].start, n);
	return to + n;
}

/* `whole`: the copy leaves the interpreter itself. */
static void compile(struct word *w, unsigned char *code, uint64_t seed, bool whole)
{
	w->n = 1 + seed % MOST;
	w->compiled[0] = code;
	for (size_t i = 0; i < w->n; i++) {
		w->what[i] = (unsigned char)(seed >> (3 + 4 * i)) % FRAGMENTS;
		w->list[i] = (void *)fragments[w->what[i]].start;
		code = append(code, w->what[i]);
	}
	w->list[w->n] = w->compiled[1] = (void *)fragments[LEAVE].start;
	if (whole)
		append(code, LEAVE);
	else
		memcpy(code, next, sizeof(next));
}

static void check(const struct word *w, uint64_t x)
{
	if (threaded_run(w->list, x) != expect(w, x))
		victim_wrong("threaded code");
	if (threaded_run(w->compiled, x) != expect(w, x))
		victim_wrong("code that was copied");
}

static uint64_t random_next(void)
{
	static uint64_t seed = 88172645463325252;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

int main(void)
{
	unsigned char *code = mmap(NULL, SLOTS * ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return 2;
	fragments = (const void *)threaded_run(NULL, 0);
	for (size_t i = 0; i < FRAGMENTS; i++)
		append(saved[i], i);
	for (size_t i = 0; i < SLOTS; i++)
		compile(&words[i], code + i * ROOM, random_next(), i < OLD);
	victim_say("ready");
	while (victim_poll(1, NULL)) {
		size_t new = OLD + random_next() % (SLOTS - OLD);

		compile(&words[new], code + new * ROOM, random_next(), false);
		for (size_t i = 0; i < SLOTS; i++)
			check(&words[i], random_next());
		for (size_t i = 0; i < FRAGMENTS; i++)
			if (memcmp(saved[i], fragments[i].start,
				   (size_t)(fragments[i].end - fragments[i].start)) != 0)
				victim_wrong("fragment %zu was changed", i);
		victim_count();
	}
	return victim_errors != 0;
}
