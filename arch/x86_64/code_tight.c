/* SPDX-License-Identifier: MIT */
/* x86_64/code_tight: what is recorded with where hardly any stack is left (tight.h),
 * and where a program of Go's keeps g. */
#include "arch/x86_64/code.h"
#include "arch/x86_64/tight.h"
#include "payload/abi.h"

#include <errno.h>

/* Offsets in what is written: behind branches, and where they lead. */
enum { ASKED = 17, BRANCHED = 28, CALLED = 72, CLOSED = 95, FIRST = 100 };

_Static_assert(TIGHT_SIZE <= ARCH_TIGHT_MAX, "its own bound");
_Static_assert(SPILL_BACK + 8 <= SPILL_SIZE, "all of it has room");

/* Code that grows by pieces: known bytes, and a number behind them. */
struct piece {
	uint8_t *out;
	size_t n;
};

#define ADD(p, ...) tight_add(p, (const uint8_t[]){ __VA_ARGS__ }, \
			      sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void tight_add(struct piece *p, const void *bytes, size_t n)
{
	memcpy(p->out + p->n, bytes, n);
	p->n += n;
}

static void add32(struct piece *p, int32_t v)
{
	tight_add(p, &v, sizeof(v));
}

static void add64(struct piece *p, uint64_t v)
{
	tight_add(p, &v, sizeof(v));
}

static void take_spill(struct piece *p, const struct record_call *call)
{
	ADD(p, 0x50, 0xa0);				/* push %rax; movabs gate, %al */
	add64(p, call->gate);
	ADD(p, 0x0f, 0xb6, 0xc0);			/* movzbl %al, %eax */
	ADD(p, 0x48, 0x91);				/* xchg %rax, %rcx */
	ADD(p, 0xe3, CLOSED - ASKED);			/* jrcxz closed */
	ADD(p, 0x64, 0x48, 0x8b, 0x0c, 0x25);		/* mov %fs:SPILLS, %rcx */
	add32(p, call->spills);
	ADD(p, 0xe3, FIRST - BRANCHED);			/* jrcxz first */
	ADD(p, 0x48, 0x8d, 0x89);			/* lea -STEP(%rcx), %rcx */
	add32(p, -SPILL_STEP);
	ADD(p, 0x64, 0x48, 0x89, 0x0c, 0x25);		/* mov %rcx, %fs:SPILLS */
	add32(p, call->spills);
	ADD(p, 0x48, 0x89, 0x41, SPILL_RCX);		/* mov %rax, SPILL_RCX(%rcx) */
	ADD(p, 0x8f, 0x41, SPILL_RAX);			/* pop SPILL_RAX(%rcx) */
}

static void give_spill(struct piece *p, const struct record_call *call)
{
	ADD(p, 0xff, 0x71, SPILL_RAX);			/* push SPILL_RAX(%rcx) */
	ADD(p, 0x48, 0x8b, 0x41, SPILL_RCX);		/* mov SPILL_RCX(%rcx), %rax */
	ADD(p, 0x48, 0x8d, 0x89);			/* lea STEP(%rcx), %rcx */
	add32(p, SPILL_STEP);
	ADD(p, 0x64, 0x48, 0x89, 0x0c, 0x25);		/* mov %rcx, %fs:SPILLS */
	add32(p, call->spills);
	ADD(p, 0x48, 0x91, 0x58);			/* closed: xchg %rax, %rcx; pop %rax */
	ADD(p, 0xeb, TIGHT_SIZE - FIRST);			/* jmp done */
}

/* The rest of the word is the routine's. What tight_first is told, less where it stands. */
static uint64_t place_of(raddr_t at, const struct record_call *call)
{
	bool exit = (call->word & 3) == REC_EXIT;

	return (at - call->first) << TIGHT_PLACE_SHIFT ^ (uint64_t)exit << TIGHT_EXIT_BIT;
}

int x86_record_tight(raddr_t at, const struct record_call *call, uint8_t *out)
{
	uint8_t code[TIGHT_SIZE + 2 * sizeof(uint64_t)], rel[2][4];
	struct piece p = { code, 0 };
	int err = x86_displacement(at + CALLED, call->routine, rel[0]);

	err = err ? err : x86_displacement(at + TIGHT_SIZE, call->first, rel[1]);
	if (err)
		return err;
	take_spill(&p, call);
	ADD(&p, 0xc7, 0x41, SPILL_WORD + 4);		/* movl $word>>32, ...(%rcx) */
	add32(&p, (int32_t)(call->word >> 32));
	if (call->g)
		ADD(&p, 0x64, 0x48, 0x8b, 0x04, 0x25);	/* mov %fs:G, %rax */
	else
		ADD(&p, 0x66, 0x90, 0x48, 0xc7, 0xc0);	/* nop; mov $0, %rax */
	add32(&p, call->g);
	ADD(&p, 0xe8);					/* call routine */
	tight_add(&p, rel[0], sizeof(rel[0]));
	give_spill(&p, call);
	ADD(&p, 0x48, 0x91, 0x48, 0xb8);		/* first: xchg; movabs, %rax */
	add64(&p, place_of(at, call));
	ADD(&p, 0x9f, 0x0f, 0x90, 0xc0, 0xe9);		/* lahf; seto %al; jmp */
	tight_add(&p, rel[1], sizeof(rel[1]));
	memcpy(out, code, p.n);
	return (int)p.n;
}

/* By its own number, or by one that the linker has put where a table's was. */
int32_t x86_g_place(const uint8_t *p, size_t n)
{
	/* xorps %xmm15, %xmm15; then mov %fs:G, %r14, or mov $G, %r14;
	 * mov %fs:(%r14), %r14 */
	static const uint8_t zero[] = { 0x45, 0x0f, 0x57, 0xff },
		direct[] = { 0x64, 0x4c, 0x8b, 0x34, 0x25 },
		number[] = { 0x49, 0xc7, 0xc6 }, by[] = { 0x64, 0x4d, 0x8b, 0x36 };
	enum { BY = sizeof(number) + 4 };
	const uint8_t *end = p + n, *at = p;
	int32_t g = 0;

	while (!g && (at = memmem(at, (size_t)(end - at), zero, sizeof(zero)))) {
		size_t left = (size_t)(end - (at += sizeof(zero)));

		if (left >= sizeof(direct) + 4 && !memcmp(at, direct, sizeof(direct)))
			memcpy(&g, at + sizeof(direct), sizeof(g));
		else if (left >= BY + sizeof(by) && !memcmp(at, number, sizeof(number)) &&
			 !memcmp(at + BY, by, sizeof(by)))
			memcpy(&g, at + sizeof(number), sizeof(g));
	}
	return g;
}
