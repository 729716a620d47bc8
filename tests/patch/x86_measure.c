/* SPDX-License-Identifier: MIT */
/*
 * Does the sweep's shortcut through regular instructions say what the parser
 * says? And is all that leads far away, or names an address, found by its bytes?
 *
 * Where few bytes are left to look at, the parser is always asked: so each
 * combination of a prefix, REX, opcode, ModRM and SIB is measured with many bytes
 * and with few. Behind them stand bytes that are odd as everything.
 */
#include "arch/arch.h"

#include <stdio.h>
#include <string.h>

enum { FEW = ARCH_INSN_MAX, MANY = 64, PC = 0x401000 };

/* 0: none. Those that change sizes, kinds or nothing. */
static const uint8_t prefixes[] = { 0, 0x64, 0x66, 0xf2, 0xf3, 0x67, 0xf0, 0x2e, 0x3e };
static const uint8_t rexes[] = { 0, 0x40, 0x48, 0x45 };
static const uint8_t sibs[] = { 0x24, 0x25, 0xe5 };

static size_t measured, known, named, placed, wrong;

static void show(const uint8_t *code)
{
	printf("measured otherwise, or not found:");
	for (size_t i = 0; i < FEW; i++)
		printf(" %02x", code[i]);
	printf("\n");
}

static bool is_far(raddr_t from, raddr_t to)
{
	const int64_t most = arch_x86_64.short_reach + ARCH_INSN_MAX;
	int64_t distance = (int64_t)(to - from);

	return distance > most || distance < -most;
}

/* By a byte of this instruction: there is no other. Nor is it found by who asks of
 * places beside that. */
static bool is_found(const uint8_t *code, const struct insn *in)
{
	const uint64_t here = 2, beside = 5;
	bool operand = in->flags & INSN_PCREL;
	raddr_t to = operand ? in->ref : in->dest, less, other;

	if (!operand && (!to || !is_far(PC, to)))
		return true;
	named++;

	struct places p = { { to - 64 - to % 64, to - to % 64 + 128 }, &here };
	size_t at = arch_x86_64.find_ref(code, MANY, PC, 0, &p, &less);

	p.bits = &beside;
	return at < in->size && to - less <= ARCH_REF_SLACK &&
		(to % 64 < ARCH_REF_SLACK || to % 64 >= 64 - ARCH_REF_SLACK ||
		 arch_x86_64.find_ref(code, MANY, PC, 0, &p, &other) > at);
}

static void compare(const uint8_t *code)
{
	struct insn many = { 0 }, few = { 0 };
	int err = arch_x86_64.measure(code, MANY, PC, &many);
	int err_few = arch_x86_64.measure(code, FEW, PC, &few);

	measured++;
	known += !err;
	if (!err && !is_found(code, &many) && wrong++ < 20)
		show(code);
	if (err == err_few && (err || (many.pc == few.pc && many.dest == few.dest &&
				       many.ref == few.ref && many.size == few.size &&
				       many.kind == few.kind && many.flags == few.flags)))
		return;
	if (wrong++ < 20)
		show(code);
}

static void try_opcode(uint8_t prefix, uint8_t rex, bool two, uint8_t op)
{
	uint8_t code[MANY];
	size_t at = 0;

	memset(code, 0x9a, sizeof(code));
	code[at] = prefix;
	at += prefix != 0;
	code[at] = rex;
	at += rex != 0;
	code[at] = 0x0f;
	at += two;
	code[at++] = op;
	for (unsigned int modrm = 0; modrm < 256; modrm++)
		for (size_t s = 0; s < sizeof(sibs); s++) {
			code[at] = modrm;
			code[at + 1] = sibs[s];
			compare(code);
		}
}

/* Bytes as they come, but for many that lead somewhere, and not far. */
static void strew(uint8_t *code, size_t n)
{
	static const uint8_t likely[] = { 0xe8, 0xe9, 0x0f, 0x84, 0xc7, 0xf8, 0x05, 0x3d,
		0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff };
	static uint32_t seed = 1;

	for (size_t i = 0; i < n; i++) {
		seed = seed * 1103515245 + 12345;
		code[i] = seed & 3 << 20 ? likely[seed >> 24 & (sizeof(likely) - 1)] :
			(uint8_t)(seed >> 24);
	}
}

/* Does one of the offsets that are found lie in [at, at + size)? */
static bool is_among(const uint8_t *code, size_t n, const struct places *to, size_t at,
		     size_t size)
{
	raddr_t less;

	for (size_t i = 0; i < n; i++) {
		i = arch_x86_64.find_ref(code, n, PC, i, to, &less);
		if (i >= at && i < at + size)
			return true;
	}
	return false;
}

/* Wherever in the bytes it stands, the first and the last ones too. */
static void strewn(size_t n)
{
	uint64_t all[(1 << 16) / 64 / 64];
	struct places to = { { PC - (1 << 15), PC + (1 << 15) }, all };
	uint8_t code[MANY * 4];

	memset(all, 0xff, sizeof(all));
	strew(code, n);
	for (size_t at = 0; at < n; at++) {
		struct insn in;

		if (arch_x86_64.measure(code + at, n - at, PC + at, &in))
			continue;
		raddr_t a = in.flags & INSN_PCREL ? in.ref : in.dest;

		if (!range_has(to.range, a) || (!(in.flags & INSN_PCREL) && !is_far(in.pc, a)))
			continue;
		placed++;
		wrong += !is_among(code, n, &to, at, in.size);
	}
}

int main(void)
{
	for (size_t n = 1; n <= MANY * 4; n++)
		for (int i = 0; i < 40; i++)
			strewn(n);
	for (size_t i = 0; i < sizeof(prefixes); i++)
		for (size_t r = 0; r < sizeof(rexes); r++)
			for (unsigned int op = 0; op < 512; op++)
				try_opcode(prefixes[i], rexes[r], op >> 8, op & 0xff);
	printf("%zu instructions, %zu of them known; %zu lead or name, and %zu of"
	       " those strewn; %zu wrong\n", measured, known, named, placed, wrong);
	return wrong || !placed || known < measured / 2 || named < known / 50;
}
