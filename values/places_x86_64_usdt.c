/* SPDX-License-Identifier: MIT */
/*
 * places_x86_64_usdt: operands of x86-64 as notes of USDT have them: %eax, $5, $foo, foo(%rip),
 * 8(%rax,%rbx,4).
 *
 * Numbers of registers: System V ABI, AMD64 Architecture Processor Supplement, figure 3.36.
 */
#include "values/usdt_args.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { RSP = 7, R8 = 8, VECTOR = 17, VECTOR_HIGH = 67, VECTORS = 16 };

/* By their numbers in DWARF: eight bytes, four, two, one, and the second byte. */
static const char *const names[][5] = {
	{ "rax", "eax", "ax", "al", "ah" }, { "rdx", "edx", "dx", "dl", "dh" },
	{ "rcx", "ecx", "cx", "cl", "ch" }, { "rbx", "ebx", "bx", "bl", "bh" },
	{ "rsi", "esi", "si", "sil", "" }, { "rdi", "edi", "di", "dil", "" },
	{ "rbp", "ebp", "bp", "bpl", "" }, { "rsp", "esp", "sp", "spl", "" },
};

static bool is_text(const char *text, size_t n, const char *name)
{
	return n && strlen(name) == n && memcmp(text, name, n) == 0;
}

/* r8, r8d, r8w, r8b */
static bool parse_new(const char *text, size_t n, struct usdt_arg *ret)
{
	int64_t reg;

	if (n < 2 || text[0] != 'r')
		return false;
	n -= strchr("dwb", text[n - 1]) != NULL;
	if (!usdt_number(text + 1, n - 1, &reg) || reg < R8 || reg > 15)
		return false;
	ret->reg = (int16_t)reg;
	return true;
}

static bool parse_vector(const char *text, size_t n, struct usdt_arg *ret)
{
	int64_t reg;

	if (n < 4 || !strchr("xyz", text[0]) || memcmp(text + 1, "mm", 2) ||
	    !usdt_number(text + 3, n - 3, &reg) || reg < 0 || reg >= 2 * VECTORS)
		return false;
	ret->reg = (int16_t)(reg < VECTORS ? VECTOR + reg : VECTOR_HIGH + reg - VECTORS);
	ret->from = USDT_VECTOR;
	return true;
}

/* Behind the %. */
static bool parse_register(const char *text, size_t n, struct usdt_arg *ret)
{
	ret->from = USDT_GENERAL;
	for (int reg = 0; reg < R8; reg++)
		for (unsigned int k = 0; k < 5; k++)
			if (is_text(text, n, names[reg][k])) {
				ret->reg = (int16_t)reg;
				ret->part = k == 4;
				return true;
			}
	return parse_new(text, n, ret) || parse_vector(text, n, ret);
}

/* A register of eight bytes, or of four, that names memory; empty: none. */
static bool parse_part(const char *text, size_t n, int16_t *reg)
{
	struct usdt_arg a;

	if (!n)
		return true;
	if (*text != '%' || !parse_register(text + 1, n - 1, &a) || a.from != USDT_GENERAL)
		return false;
	*reg = a.reg;
	return true;
}

/* What is between the brackets. */
static bool parse_sum(const char *text, size_t n, struct usdt_arg *ret)
{
	const char *comma = memchr(text, ',', n);
	size_t first = comma ? (size_t)(comma - text) : n;
	int64_t scale = 1;

	if (is_text(text, n, "%rip")) {
		ret->by_pc = true;
		return true;
	}
	if (!parse_part(text, first, &ret->base))
		return false;
	if (!comma)
		return n > 0;
	text += first + 1;
	n -= first + 1;
	comma = memchr(text, ',', n);
	first = comma ? (size_t)(comma - text) : n;
	if (!first || !parse_part(text, first, &ret->index) || ret->index == RSP)
		return false;
	if (comma && !usdt_number(comma + 1, n - first - 1, &scale))
		return false;
	ret->scale = (uint8_t)scale;
	return scale == 1 || scale == 2 || scale == 4 || scale == 8;
}

static bool parse_memory(const char *text, size_t n, struct usdt_arg *ret)
{
	const char *open = memchr(text, '(', n);
	size_t before = open ? (size_t)(open - text) : n;

	ret->from = USDT_MEMORY;
	if (open && (text[n - 1] != ')' || !parse_sum(open + 1, n - before - 2, ret)))
		return false;
	if (!before || usdt_number(text, before, &ret->number))
		return open && !ret->by_pc;
	return usdt_symbol(text, before, ret);
}

static bool operand(const char *text, size_t n, struct usdt_arg *ret)
{
	if (*text == '%')
		return !memchr(text, ':', n) && parse_register(text + 1, n - 1, ret);
	if (*text != '$')
		return parse_memory(text, n, ret);
	ret->from = USDT_NUMBER;
	if (usdt_number(text + 1, n - 1, &ret->number))
		return true;
	ret->from = USDT_ADDRESS;
	return usdt_symbol(text + 1, n - 1, ret);
}

static void print_name(int reg, unsigned int size, unsigned int part, char *buf, size_t room)
{
	static const char *const suffix[] = { "", "d", "w", "b" };
	unsigned int k = size == 1 ? 3 : size == 2 ? 2 : size == 4 ? 1 : 0;

	if (reg >= VECTOR_HIGH)
		snprintf(buf, room, "%%xmm%d", reg - VECTOR_HIGH + VECTORS);
	else if (reg >= VECTOR)
		snprintf(buf, room, "%%xmm%d", reg - VECTOR);
	else if (reg >= R8)
		snprintf(buf, room, "%%r%d%s", reg, suffix[k]);
	else
		snprintf(buf, room, "%%%s", reg < 0 ? "?" : names[reg][part ? 4 : k]);
}

static void print_memory(const struct usdt_arg *a, char *buf, size_t room)
{
	char base[8] = "", index[8] = "", scaled[24] = "", number[24] = "";

	if (a->base >= 0)
		print_name(a->base, 8, 0, base, sizeof(base));
	if (a->index >= 0) {
		print_name(a->index, 8, 0, index, sizeof(index));
		snprintf(scaled, sizeof(scaled), ",%s,%u", index, a->scale);
	}
	if (a->number)
		snprintf(number, sizeof(number), *a->symbol ? "%+lld" : "%lld",
			 (long long)a->number);
	if (a->by_pc)
		snprintf(base, sizeof(base), "%%rip");
	snprintf(buf, room, *base || *scaled ? "%s%s(%s%s)" : "%s%s", a->symbol, number, base,
		 scaled);
}

const struct usdt_set usdt_x86_64 = { EM_X86_64, operand, print_name, print_memory };
