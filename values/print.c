/* SPDX-License-Identifier: MIT */
#include "values/print.h"

#include <stdarg.h>
#include <stdio.h>

void line_add(struct line *t, const char *fmt, ...)
{
	size_t at = MIN(t->n, t->size);
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(t->size ? t->p + at : NULL, t->size - at, fmt, ap);

	va_end(ap);
	t->n += n > 0 ? (size_t)n : 0;
}

void line_missing(struct line *t, enum held why)
{
	static const char *const words[] = {
		[HELD_NOT] = "<optimised out>",
		[HELD_CUT] = "...",
		[HELD_UNREADABLE] = "(unreadable)",
		[HELD_UNASKED] = "(not read)",
	};

	line_add(t, "%s", words[why]);
}

/* Bytes of the character of UTF-8 that begins here; 0: none does (RFC 3629). */
static size_t utf8_length(const uint8_t *p, size_t n)
{
	size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	uint32_t c = p[0] & (0x7f >> length);
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	if (p[0] < 0xc2 || p[0] > 0xf4 || n < length)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	/* C1 controls would do something to a terminal. */
	return c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || c < 0xa0 ?
		0 : length;
}

static void add_byte(struct line *t, uint8_t c, char quote)
{
	static const char escapes[] = "a\ab\bt\tn\nv\vf\fr\r\\\\";

	for (size_t i = 0; i + 1 < sizeof(escapes); i += 2)
		if (c == (uint8_t)escapes[i + 1]) {
			line_add(t, "\\%c", escapes[i]);
			return;
		}
	if (c == (uint8_t)quote)
		line_add(t, "\\%c", c);
	else if (c >= 0x20 && c < 0x7f)
		line_add(t, "%c", c);
	else
		line_add(t, "\\x%02x", c);
}

void line_quoted(struct line *t, const uint8_t *bytes, size_t n)
{
	line_add(t, "\"");
	for (size_t i = 0; i < n; ) {
		size_t length = bytes[i] < 0x80 ? 0 : utf8_length(bytes + i, n - i);

		if (length)
			line_add(t, "%.*s", (int)length, (const char *)bytes + i);
		else
			add_byte(t, bytes[i], '"');
		i += MAX(length, 1);
	}
	line_add(t, "\"");
}

static size_t utf8_encode(uint32_t c, uint8_t ret[4])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; --i; c >>= 6)
		ret[i] = (uint8_t)(0x80 | (c & 0x3f));
	ret[0] = (uint8_t)(n == 1 ? c : (0xf00 >> n & 0xff) | c);
	return n;
}

void line_character(struct line *t, uint32_t c, bool unicode)
{
	uint8_t bytes[4];
	size_t n = unicode && c < 0x200000 ? utf8_encode(c, bytes) : 0;

	line_add(t, "'");
	if (n > 1 && utf8_length(bytes, n))
		line_add(t, "%.*s", (int)n, (const char *)bytes);
	else if (c < 256)
		add_byte(t, (uint8_t)c, '\'');
	else
		line_add(t, "\\u%04x", c);
	line_add(t, "'");
}
