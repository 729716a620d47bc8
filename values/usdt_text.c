/* SPDX-License-Identifier: MIT */
/* usdt_text: what operands of all instruction sets are made of. */
#include "values/usdt_args.h"

#include <ctype.h>
#include <string.h>

enum { DIGITS_MAX = 20 };

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

bool usdt_number(const char *text, size_t n, int64_t *ret)
{
	bool minus = n && *text == '-', sign = minus || (n && *text == '+');
	uint64_t value = 0;

	text += sign;
	n -= sign;
	uint64_t base = n > 2 && text[0] == '0' && tolower((unsigned char)text[1]) == 'x' ? 16 : 10;

	if (base == 16) {
		text += 2;
		n -= 2;
	}
	if (!n || n > DIGITS_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t digit = (uint64_t)digit_of(text[i]);

		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*ret = (int64_t)(minus ? 0 - value : value);
	return true;
}

static bool is_symbols(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '@';
}

bool usdt_symbol(const char *text, size_t n, struct usdt_arg *ret)
{
	const char *plus = n ? memrchr(text, '+', n) : NULL;
	size_t name = 0;

	/* gcc has the number first. */
	if (plus && usdt_number(text, (size_t)(plus - text), &ret->number)) {
		n -= (size_t)(plus + 1 - text);
		text = plus + 1;
	}
	while (name < n && is_symbols(text[name]))
		name++;
	if (!name || name >= sizeof(ret->symbol) || isdigit((unsigned char)*text) ||
	    (name < n && !usdt_number(text + name, n - name, &ret->number)))
		return false;
	memcpy(ret->symbol, text, name);
	ret->symbol[name] = '\0';
	return true;
}
