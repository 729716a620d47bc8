/* SPDX-License-Identifier: MIT */
#include "values/usdt_args.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct usdt_set *set_of(uint16_t machine)
{
	if (machine == usdt_x86_64.machine)
		return &usdt_x86_64;
	return machine == usdt_arm64.machine ? &usdt_arm64 : NULL;
}

/* "-4@", "8f@", or nothing: bytes that it has. */
static size_t parse_size(const char *text, size_t n, struct usdt_arg *ret)
{
	size_t at = n && *text == '-', size = 0, digits = 0;

	for (; at < n && isdigit((unsigned char)text[at]) && digits < 3; at++, digits++)
		size = size * 10 + (size_t)(text[at] - '0');
	bool is_float = at < n && text[at] == 'f';

	at += is_float;
	if (!digits || at >= n || text[at] != '@' || !size || size > 64)
		return 0;
	ret->is_signed = *text == '-';
	ret->is_float = is_float;
	ret->size = (uint8_t)size;
	return at + 1;
}

static void parse_arg(const char *text, size_t n, const struct usdt_set *set, struct usdt_arg *ret)
{
	static const struct usdt_arg none = { .reg = -1, .base = -1, .index = -1 };
	size_t size;

	*ret = none;
	size = parse_size(text, n, ret);
	struct usdt_arg arg = *ret;

	if (set && size < n && set->operand(text + size, n - size, &arg))
		*ret = arg;
}

/* An operand has no spaces, but within brackets. */
static size_t length_of(const char *text)
{
	size_t n = 0;
	int open = 0;

	for (; text[n] && (open > 0 || text[n] != ' '); n++)
		open += (text[n] == '(' || text[n] == '[') - (text[n] == ')' || text[n] == ']');
	return n;
}

void usdt_args_parse(const char *text, uint16_t machine, struct usdt_args *ret)
{
	const struct usdt_set *set = set_of(machine);

	ret->n = 0;
	ret->more = false;
	for (size_t n;; text += n) {
		text += strspn(text, " ");
		n = length_of(text);
		if (!n)
			return;
		if (ret->n == USDT_ARGS_MAX) {
			ret->more = true;
			return;
		}
		parse_arg(text, n, set, &ret->v[ret->n++]);
	}
}

static void print_operand(const struct usdt_arg *a, const struct usdt_set *set, char *buf,
			  size_t size)
{
	switch (a->from) {
	case USDT_NUMBER:
		snprintf(buf, size, "%lld", (long long)a->number);
		break;
	case USDT_ADDRESS:
		snprintf(buf, size, a->number ? "&%s%+lld" : "&%s", a->symbol,
			 (long long)a->number);
		break;
	case USDT_GENERAL:
	case USDT_VECTOR:
		set->name(a->reg, a->size, a->part, buf, size);
		break;
	case USDT_MEMORY:
		set->memory(a, buf, size);
		break;
	default:
		snprintf(buf, size, "?");
	}
}

char *usdt_arg_text(const struct usdt_arg *a, uint16_t machine, char *buf, size_t size)
{
	const struct usdt_set *set = set_of(machine);
	int n = a->size ? snprintf(buf, size, "%c%u ",
				   a->is_float ? 'f' : a->is_signed ? 'i' : 'u', 8u * a->size) : 0;

	if (set && n >= 0 && (size_t)n < size)
		print_operand(a, set, buf + n, size - (size_t)n);
	return buf;
}
