/* SPDX-License-Identifier: MIT */
/*
 * places_arm64_usdt: operands of arm64 as notes of USDT have them: x0, w1, d2, 5, [sp, 12],
 * [x0, x1, lsl 3].
 *
 * Numbers of registers: DWARF for the Arm 64-bit Architecture (AADWARF64), 4.1.
 */
#include "values/usdt_args.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { SP = 31, VECTOR = 64, VECTORS = 32 };

static bool is_text(const char *text, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(text, name, n) == 0;
}

static bool parse_register(const char *text, size_t n, struct usdt_arg *ret)
{
	int64_t reg;

	ret->from = USDT_GENERAL;
	if (is_text(text, n, "sp") || is_text(text, n, "wsp")) {
		ret->reg = SP;
		return true;
	}
	if (n < 2 || !strchr("xwbhsdqv", *text) || text[1] == '-' || text[1] == '+' ||
	    !usdt_number(text + 1, n - 1, &reg) || reg < 0 || reg >= VECTORS)
		return false;
	bool general = *text == 'x' || *text == 'w';

	ret->reg = (int16_t)(general ? reg : VECTOR + reg);
	ret->from = general ? USDT_GENERAL : USDT_VECTOR;
	return !general || reg < SP;
}

/* What stands before the next comma, without the spaces around it. */
static size_t take_part(const char **text, size_t *n, const char **ret)
{
	const char *comma = memchr(*text, ',', *n);
	size_t size = comma ? (size_t)(comma - *text) : *n, skip = size + (comma != NULL);

	*ret = *text;
	*text += skip;
	*n -= skip;
	while (size && **ret == ' ') {
		++*ret;
		size--;
	}
	while (size && (*ret)[size - 1] == ' ')
		size--;
	return size;
}

/* 5, or #5 */
static bool parse_number(const char *text, size_t n, int64_t *ret)
{
	bool mark = n && *text == '#';

	return usdt_number(text + mark, n - mark, ret);
}

static bool parse_offset(const char *text, size_t n, struct usdt_arg *ret)
{
	struct usdt_arg index = { .reg = -1 };

	if (parse_number(text, n, &ret->number))
		return true;
	if (!parse_register(text, n, &index) || index.from != USDT_GENERAL)
		return false;
	ret->index = index.reg;
	ret->scale = 1;
	return true;
}

/* lsl 3, lsl #3 */
static bool parse_shift(const char *text, size_t n, struct usdt_arg *ret)
{
	int64_t shift;

	if (ret->index < 0 || n < 5 || memcmp(text, "lsl ", 4) ||
	    !parse_number(text + 4, n - 4, &shift) || shift < 0 || shift > 4)
		return false;
	ret->scale = (uint8_t)(1u << shift);
	return true;
}

static bool parse_memory(const char *text, size_t n, struct usdt_arg *ret)
{
	const char *part;
	struct usdt_arg base = { .reg = -1 };
	size_t size = take_part(&text, &n, &part);

	ret->from = USDT_MEMORY;
	if (!size || !parse_register(part, size, &base) || base.from != USDT_GENERAL)
		return false;
	ret->base = base.reg;
	if (!n)
		return true;
	size = take_part(&text, &n, &part);
	if (!size || !parse_offset(part, size, ret))
		return false;
	if (!n)
		return true;
	size = take_part(&text, &n, &part);
	return !n && parse_shift(part, size, ret);
}

static bool operand(const char *text, size_t n, struct usdt_arg *ret)
{
	if (*text == '[')
		return text[n - 1] == ']' && n > 2 && parse_memory(text + 1, n - 2, ret);
	if (parse_register(text, n, ret))
		return true;
	ret->from = USDT_NUMBER;
	if (parse_number(text, n, &ret->number))
		return true;
	ret->from = USDT_ADDRESS;
	return usdt_symbol(text, n, ret);
}

static void print_name(int reg, unsigned int size, unsigned int part, char *buf, size_t room)
{
	(void)part;
	if (reg >= VECTOR)
		snprintf(buf, room, "%c%d", size == 4 ? 's' : size == 8 ? 'd' : 'q', reg - VECTOR);
	else if (reg == SP)
		snprintf(buf, room, "sp");
	else
		snprintf(buf, room, "%c%d", size && size < 8 ? 'w' : 'x', reg);
}

static void print_memory(const struct usdt_arg *a, char *buf, size_t room)
{
	char base[8], index[8];

	print_name(a->base, 8, 0, base, sizeof(base));
	if (a->index >= 0) {
		print_name(a->index, 8, 0, index, sizeof(index));
		snprintf(buf, room, "[%s, %s, lsl %d]", base, index, __builtin_ctz(a->scale));
	} else {
		snprintf(buf, room, a->number ? "[%s, %lld]" : "[%s]", base,
			 (long long)a->number);
	}
}

const struct usdt_set usdt_arm64 = { EM_AARCH64, operand, print_name, print_memory };
