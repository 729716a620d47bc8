/* SPDX-License-Identifier: MIT */
/*
 * Does the sweep's shortcut through regular instructions say what the parser
 * says?
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

static size_t measured, known, wrong;

static void show(const uint8_t *code)
{
	printf("measured otherwise:");
	for (size_t i = 0; i < FEW; i++)
		printf(" %02x", code[i]);
	printf("\n");
}

static void compare(const uint8_t *code)
{
	struct insn many = { 0 }, few = { 0 };
	int err = arch_x86_64.measure(code, MANY, PC, &many);
	int err_few = arch_x86_64.measure(code, FEW, PC, &few);

	measured++;
	known += !err;
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

int main(void)
{
	for (size_t i = 0; i < sizeof(prefixes); i++)
		for (size_t r = 0; r < sizeof(rexes); r++)
			for (unsigned int op = 0; op < 512; op++)
				try_opcode(prefixes[i], rexes[r], op >> 8, op & 0xff);
	printf("%zu instructions, %zu of them known; %zu wrong\n", measured, known, wrong);
	return wrong || known < measured / 2;
}
