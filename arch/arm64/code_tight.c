/* SPDX-License-Identifier: MIT */
/* arm64/code_tight: what is recorded with where no stack is left (tight.h), and where a program
 * of Go's keeps g. */
#include "arch/arm64/code.h"
#include "arch/arm64/tight.h"
#include "payload/abi.h"

#include <errno.h>

enum { T = 27, U = 18, THREAD = 16, WORD = 17, GO_G = 28, ZERO = 31 };

_Static_assert(TIGHT_SIZE <= ARCH_TIGHT_MAX, "its own bound");
_Static_assert(SPILL_SP + 8 <= SPILL_SIZE, "all of it has room");

/* Words that grow; `first` is where a thread without spill frames goes on. */
struct writing {
	uint32_t words[TIGHT_SIZE / 4];
	size_t n;
	raddr_t at;
	int err;
};

static void add(struct writing *w, uint32_t word)
{
	w->words[w->n++] = word;
}

/* movz, and movk for each further 16 bits. */
static void add_number(struct writing *w, unsigned int reg, uint64_t value, int halves)
{
	for (int i = 0; i < halves; i++)
		add(w, (i ? 0xf2800000 : 0xd2800000) | (uint32_t)i << 21 |
		    (uint32_t)(value >> 16 * i & 0xffff) << 5 | reg);
}

/* ldr and str of a whole word at a distance */
static void load(struct writing *w, unsigned int reg, unsigned int base, uint32_t at)
{
	add(w, 0xf9400000 | at / 8 << 10 | base << 5 | reg);
}

static void store(struct writing *w, unsigned int reg, unsigned int base, uint32_t at)
{
	add(w, 0xf9000000 | at / 8 << 10 | base << 5 | reg);
}

static void move(struct writing *w, unsigned int to, unsigned int from)
{
	add(w, 0xaa0003e0 | from << 16 | to);
}

/* cbz, cbnz, or b, to the `to`-th word */
static void branch(struct writing *w, uint32_t op, size_t to)
{
	uint32_t distance = (uint32_t)to - (uint32_t)w->n;
	bool far = op == 0x14000000;

	add(w, op | (far ? distance & 0x3ffffff : (distance & 0x7ffff) << 5));
}

static void add_adrp(struct writing *w, unsigned int reg, raddr_t to)
{
	int64_t pages = (int64_t)(to >> 12) - (int64_t)((w->at + 4 * w->n) >> 12);
	uint32_t word = 0x90000000 | reg;

	if (!arm64_field(pages >> 2, 19, 5, &word))
		w->err = -ERANGE;
	add(w, word | (uint32_t)(pages & 3) << 29);
}

enum { CBZ_W = 0x34000000, CBNZ_W = 0x35000000, CBZ = 0xb4000000, CBNZ = 0xb5000000,
	B = 0x14000000 };
/* Words of the stub that branches lead to. */
enum { BASED = 11, FIRST = 35, TRY = 37, OTHER = 50, DONE = TIGHT_SIZE / 4 };

/* The gate, and the thread's word. */
static void begin(struct writing *w, const struct record_call *call)
{
	add_number(w, T, call->gate, 4);
	add(w, 0x39400000 | T << 5 | T);			/* ldrb w27, [x27] */
	branch(w, CBZ_W | T, DONE);
	add(w, 0xd53bd040 | U);					/* mrs x18, tpidr_el0 */
	branch(w, CBNZ | U, BASED);
	branch(w, CBZ | GO_G, DONE);
	load(w, U, GO_G, G_M);
	branch(w, CBZ | U, DONE);
	add_number(w, T, (uint32_t)call->spills, 2);
	add(w, 0x8b20c000 | T << 16 | U << 5 | U);		/* add x18, x18, w27, sxtw */
	load(w, T, U, 0);
	branch(w, CBZ | T, FIRST);
}

static void take_spill(struct writing *w, const struct record_call *call)
{
	add(w, 0xd1000000 | SPILL_STEP << 10 | T << 5 | T);	/* sub x27, x27, #STEP */
	store(w, T, U, 0);
	store(w, U, T, SPILL_AT);
	add(w, 0xa9000000 | WORD << 10 | T << 5 | THREAD);	/* stp x16, x17, [x27] */
	store(w, ARM64_LR, T, SPILL_X30);
	move(w, THREAD, T);
	add_number(w, WORD, (call->word & ~0xffffffffull) | (uint32_t)call->g, 4);
	store(w, WORD, THREAD, SPILL_WORD);
}

static void give_spill(struct writing *w)
{
	move(w, T, THREAD);
	load(w, ARM64_LR, T, SPILL_X30);
	add(w, 0xa9400000 | WORD << 10 | T << 5 | THREAD);	/* ldp x16, x17, [x27] */
	load(w, U, T, SPILL_AT);
	add(w, 0x91000000 | SPILL_STEP << 10 | T << 5 | T);	/* add x27, x27, #STEP */
	store(w, T, U, 0);
	branch(w, B, DONE);
}

/* call->first is where the arena begins: hot.S has no routine for this. */
static void find_area(struct writing *w, const struct record_call *call)
{
	bool exit = (call->word & 3) == REC_EXIT;

	add_adrp(w, T, call->first);
	load(w, T, T, ARENA_STACKS);
	add(w, 0x885ffc00 | T << 5 | U);			/* ldaxr w18, [x27] */
	branch(w, CBNZ_W | U, OTHER);
	add(w, 0x88007c00 | U << 16 | T << 5 | T);		/* stxr w18, w27, [x27] */
	branch(w, CBNZ_W | U, TRY);
	store(w, ARM64_LR, T, SHARED_X30);
	store(w, exit ? T : ZERO, T, SHARED_EXIT);
	add_adrp(w, U, call->first);
	load(w, U, U, ARENA_SLOW_FIRST);
	add(w, 0xd63f0000 | U << 5);				/* blr x18 */
	load(w, ARM64_LR, T, SHARED_X30);
	add(w, 0x889ffc00 | T << 5 | ZERO);			/* stlr wzr, [x27] */
	branch(w, CBZ | U, DONE);
	branch(w, B, 0);
	add(w, 0xb9800000 | SHARED_NEXT / 4 << 10 | T << 5 | U);	/* ldrsw x18, [x27, #4] */
	add(w, 0x8b000000 | U << 16 | T << 5 | T);		/* add x27, x27, x18 */
	branch(w, B, TRY);
}

int arm64_record_tight(raddr_t at, const struct record_call *call, uint8_t *out)
{
	struct writing w = { .at = at };
	uint32_t bl;

	begin(&w, call);
	take_spill(&w, call);
	int err = arm64_branch(at + 4 * w.n, call->routine, true, &bl);
	add(&w, bl);
	give_spill(&w);
	find_area(&w, call);
	for (size_t i = 0; i < w.n; i++)
		arm64_put_word(out + 4 * i, w.words[i]);
	return err ? err : w.err ? w.err : (int)(4 * w.n);
}

/* ---- Go ------------------------------------------------------------------ */

static unsigned int rd(uint32_t w) { return w & 31; }
static unsigned int rn(uint32_t w) { return w >> 5 & 31; }

/* Of single registers, of pairs, and exclusive ones. */
static bool is_store(uint32_t w)
{
	bool single = (w & 0x3a000000) == 0x38000000 && !(w >> 22 & 3) &&
		(w & 0x3b200c00) != 0x38200000;		/* not an atomic one */
	bool pair = (w & 0x3a000000) == 0x28000000, exclusive = (w & 0x3f000000) == 0x08000000;

	return !(w & 1 << 26) && (single || ((pair || exclusive) && !(w & 1 << 22)));
}

static bool stores(uint32_t w, unsigned int reg)
{
	return is_store(w) && (rd(w) == reg ||
		((w & 0x3a000000) == 0x28000000 && (w >> 10 & 31) == reg));
}

/* A function of Go's that stores x27 before it sets it keeps it for the C code that has called
 * it (runtime.crosscall2, _cgo_topofstack). And a veneer jumps by it. */
enum spared arm64_spared(const uint8_t *p, const struct insn *in)
{
	uint32_t w = arm64_word(p);

	if (in->kind == INSN_JUMP_INDIRECT || in->kind == INSN_CALL_INDIRECT)
		return rn(w) == T || rn(w) == U ? SPARED_GONE_BY : SPARED_FREE;
	if (in->kind != INSN_PLAIN)
		return SPARED_FREE;
	return stores(w, T) ? SPARED_KEPT : rd(w) == T ? SPARED_SET : SPARED_FREE;
}

/* May the instruction, which is no branch, read the register? */
static bool may_read(uint32_t w, unsigned int reg)
{
	bool numbers = (w >> 26 & 7) == 4, moves = (w & 0x1f800000) == 0x12800000;
	bool near = (w & 0x3a000000) == 0x38000000 && (w & 0x01200000) != 0x00200000;

	if (numbers)			/* by a number; movk reads what it sets */
		return moves ? (w >> 29 & 3) == 3 && rd(w) == reg :
			!arm64_is_adr(w) && !arm64_is_adrp(w) && rn(w) == reg;
	if (near)			/* at a distance from a register */
		return rn(w) == reg || (is_store(w) && rd(w) == reg);
	return rn(w) == reg || (w >> 16 & 31) == reg || (w >> 10 & 31) == reg ||
		(is_store(w) && rd(w) == reg);
}

/* x27 is for what one line of assembly becomes: some instructions, one behind the other. */
bool arm64_needs_spared(const uint8_t *p, size_t n)
{
	enum { NEAR = 4 };

	for (size_t i = 0; i < NEAR && 4 * i + 4 <= n; i++) {
		uint32_t w = arm64_word(p + 4 * i);

		/* No branch stands among them, but one that asks for x27. */
		if ((w >> 26 & 7) == 5)
			return arm64_is_cbz(w) || arm64_is_tbz(w) ? rd(w) == T :
				w >> 25 == 0x6b && rn(w) == T;
		if (may_read(w, T))
			return true;
		if (rd(w) == T)
			return false;
	}
	return false;
}

/* Branches set x30 alone. Others set what they name first, a pair a second one; an exclusive store
 * says in a third whether it has stored, and some loads and stores change their base. */
bool arm64_keeps_g(const uint8_t *p)
{
	uint32_t w = arm64_word(p);
	bool memory = (w >> 25 & 5) == 4;

	if ((w >> 26 & 7) == 5)
		return (w & 0xfff00000) != 0xd5300000 || rd(w) != GO_G;	/* mrs */
	if (memory && (rn(w) == GO_G || (w >> 10 & 31) == GO_G || (w >> 16 & 31) == GO_G))
		return false;
	return rd(w) != GO_G || is_store(w);
}

/* movz x27, #hi, lsl #16; movk x27, #lo; or one word. */
static size_t add_half(uint32_t w, uint64_t *value)
{
	unsigned int shift = (w >> 21 & 3) * 16;

	if ((w & 0xff80001f) == (0xd2800000 | T))
		*value = (uint64_t)(w >> 5 & 0xffff) << shift;
	else if ((w & 0xff80001f) == (0xf2800000 | T))
		*value |= (uint64_t)(w >> 5 & 0xffff) << shift;
	else
		return 0;
	return 1;
}

/* By what the runtime loads it with where it comes from C: mrs x0, tpidr_el0; x27 becomes a
 * number; ldr x28, [x0, x27]. */
int32_t arm64_g_place(const uint8_t *p, size_t n)
{
	enum { MRS_X0_TP = 0xd53bd040, LOAD = 0xf87b681c, HALVES = 2 };

	for (size_t i = 0; i + 4 * (HALVES + 2) <= n; i += 4) {
		uint64_t value = 0;
		size_t at = i + 4;

		if (arm64_word(p + i) != MRS_X0_TP)
			continue;
		for (int k = 0; k < HALVES && add_half(arm64_word(p + at), &value); k++)
			at += 4;
		if (arm64_word(p + at) == LOAD && value && value <= INT32_MAX)
			return (int32_t)value;
	}
	return 0;
}
