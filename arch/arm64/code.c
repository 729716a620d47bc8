/* SPDX-License-Identifier: MIT */
/* arm64/code: the table of the instruction set, and what is written from
 * nothing: jumps, recording calls; and what counts as padding. */
#include "arch/arm64/code.h"
#include "arch/arm64/stand.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>

/* What b reaches backward; one word less forward. */
#define REACH (1ll << 27)

static int arm64_jump(raddr_t from, raddr_t to, uint8_t *out)
{
	uint32_t word;
	int err = arm64_branch(from, to, false, &word);

	if (err)
		return err;
	arm64_put_word(out, word);
	return 4;
}

/* There is none: every jump is one word. */
static int arm64_jump_short(raddr_t from, raddr_t to, uint8_t *out)
{
	return -ERANGE;
}

static int arm64_skip_unless(const uint8_t *p, const struct insn *in,
			     size_t distance, uint8_t *out)
{
	uint32_t w = arm64_word(p), skip;

	if (in->kind != INSN_BRANCH || in->flags & INSN_PINNED ||
	    distance & 3 || distance > INT16_MAX)
		return -ENOTSUP;
	skip = arm64_invert(w);
	if (!arm64_field(distance / 4 + 1, arm64_is_tbz(w) ? 14 : 19, 5, &skip))
		return -ENOTSUP;
	arm64_put_word(out, skip);
	return 4;
}

/*
 *	stp	x17, x30, [sp, #-RECORD_PUSHED]!
 *	str	x16, [sp, #16]
 *	movz	x16, #gate[0]		and three movk
 *	ldrb	w16, [x16]
 *	cbz	w16, 1f
 *	movz	x16, #word[0]		likewise
 *	bl	routine
 * 1:	ldr	x16, [sp, #16]
 *	ldp	x17, x30, [sp], #RECORD_PUSHED
 *
 * The routine finds the record's word in x16, its return address in x30, and the
 * application's stack from sp + RECORD_PUSHED; it keeps all but x16, x17 and x30, the flags
 * too. x16 and x17 are saved although a veneer might change them: a tail call through a
 * register uses them. x30 may be signed: nothing here depends on what it holds. Linux knows no
 * red zone below the stack pointer, but code of Go's has one of 16 bytes (stand.h).
 */
static int record_plain(raddr_t at, const struct record_call *call,
			uint8_t *out)
{
	uint32_t code[] = {
		0xa9bd7bf1,
		0xf9000bf0,
		0xd2800010, 0xf2a00010, 0xf2c00010, 0xf2e00010,
		0x39400210,
		0x340000d0,
		0xd2800010, 0xf2a00010, 0xf2c00010, 0xf2e00010,
		0,
		0xf9400bf0,
		0xa8c37bf1,
	};
	enum { GATE = 2, WORD = 8, CALL = 12 };
	int err = arm64_branch(at + CALL * 4, call->routine, true, &code[CALL]);

	_Static_assert(sizeof(code) == RECORD_SIZE, "as unwinders are told");
	if (err)
		return err;
	for (int i = 0; i < 4; i++) {
		code[GATE + i] |= (call->gate >> 16 * i & 0xffff) << 5;
		code[WORD + i] |= (call->word >> 16 * i & 0xffff) << 5;
	}
	for (size_t i = 0; i < ARRAY_SIZE(code); i++)
		arm64_put_word(out + i * 4, code[i]);
	return sizeof(code);
}

/*
 * The same below the frame of the function, which may have pushed nothing: so what is recorded
 * there is not taken for what the function's entry has recorded.
 *
 *	sub	sp, sp, #ZONE
 *	...
 *	add	sp, sp, #ZONE
 */
static int record_below(raddr_t at, const struct record_call *call, uint8_t *out)
{
	const uint32_t lower = 0xd10003ff | ZONE << 10, raise = 0x910003ff | ZONE << 10;
	int n = record_plain(at + RECORD_LOWERED, call, out + RECORD_LOWERED);

	if (n < 0)
		return n;
	arm64_put_word(out, lower);
	arm64_put_word(out + RECORD_LOWERED + n, raise);
	return RECORD_LOWERED + n + 4;
}

static int arm64_record(raddr_t at, const struct record_call *call, uint8_t *out)
{
	if (call->first)
		return arm64_record_tight(at, call, out);
	return call->below ? record_below(at, call, out) : record_plain(at, call, out);
}

/*
 *	adr	x16, 1f
 *	b	routine
 * 1:
 *
 * At a function's entry, where x16 is free: a veneer of the linker's may have changed it.
 */
static int arm64_call(raddr_t from, raddr_t to, uint8_t *out)
{
	const uint32_t adr_x16_over = 0x10000050;
	uint32_t word;
	int err = arm64_branch(from + 4, to, false, &word);

	if (err)
		return err;
	arm64_put_word(out, adr_x16_over);
	arm64_put_word(out + 4, word);
	return 8;
}

/* nop, zeros, and brk #1, with which lld fills. */
static bool is_padding_word(uint32_t w)
{
	return w == ARM64_NOP || w == 0 || w == ARM64_BRK(1);
}

static bool arm64_is_padding(const uint8_t *p, size_t n)
{
	for (; n >= 4; p += 4, n -= 4)
		if (!is_padding_word(arm64_word(p)))
			return false;
	return n == 0;
}

/* A jump in the first word, or a breakpoint in any. */
static bool arm64_is_foreign(const uint8_t *p, size_t n)
{
	bool ret = n >= 4 && (arm64_word(p) & 0xfc000000) == 0x14000000;

	for (size_t i = 0; i + 4 <= n && !ret; i += 4)
		ret = (arm64_word(p + i) & 0xffe0001f) == 0xd4200000;
	return ret;
}

static int arm64_raises(const uint8_t *p, const struct insn *in)
{
	return arm64_is_trap(arm64_word(p)) ? SIGTRAP : 0;
}

/* str and stp of x19 to x28, or d8 to d15, above the stack pointer. */
static bool arm64_saves(const uint8_t *p, const struct insn *in)
{
	uint32_t w = arm64_word(p), one = w & 31, other = w >> 10 & 31;
	uint32_t low = w & 1 << 26 ? 8 : 19, high = w & 1 << 26 ? 15 : 28;

	if ((w >> 5 & 31) != ARM64_SP || one < low || one > high)
		return false;
	switch (w & 0xffc00000) {
	case 0xf9000000:	/* str x, d */
	case 0xfd000000:
		return true;
	case 0xa9000000:	/* stp x, d */
	case 0x6d000000:
		return !(w & 1 << 21) && other >= low && other <= high;
	default:
		return false;
	}
}

const struct arch arch_arm64 = {
	.name = "arm64",
	.machine = EM_AARCH64,
	.audit = AUDIT_ARCH_AARCH64,
	.align = 4,
	.jump_size = 4,
	.short_size = 0,
	.short_reach = 0,
	.reach = REACH - ARCH_JUMP_MAX,
	.stack = ARM64_SP,
	.frame = 29,
	.returned = 0,
	.second = 1,
	.kept = 0x3ff80000,	/* x19 to x29 */
	.zone = ZONE,
	.trap_size = 4,
	.trap = { 0x00, 0x00, 0x20, 0xd4 },
	.top = 1ull << 48,
	.top_least = 1ull << 39,
	.keeps_landing = true,
	.narguments = 7, .arguments = { 0, 1, 2, 3, 4, 5, 6 },
	.nresults = 2, .results = { 0, 1 },
	.decode = arm64_decode,
	.measure = arm64_decode,
	.relocate = arm64_relocate,
	.jump = arm64_jump,
	.jump_short = arm64_jump_short,
	.call = arm64_call,
	.skip_unless = arm64_skip_unless,
	.record = arm64_record,
	.raises = arm64_raises,
	.faults = arm64_faults,
	.saves = arm64_saves,
	.jump_by = arm64_jump_by,
	.lowers_stack = arm64_lowers_stack,
	.stack_check = arm64_stack_check,
	.reads_g = arm64_reads_g,
	.g_place = arm64_g_place,
	.spared = arm64_spared,
	.needs_spared = arm64_needs_spared,
	.keeps_g = arm64_keeps_g,
	.linkage = arm64_linkage,
	.is_padding = arm64_is_padding,
	.is_foreign = arm64_is_foreign,
};
