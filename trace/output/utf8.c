/* SPDX-License-Identifier: MIT */
/* utf8: where does a character end? */
#include "trace/output/utf8.h"

size_t utf8_bytes(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} forms[] = {
		{ 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 },
		{ 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 },
	};

	for (size_t n = 0; n < ARRAY_SIZE(forms); n++) {
		uint32_t c = p[0] & (unsigned char)~forms[n].mask;

		if ((p[0] & forms[n].mask) != forms[n].lead)
			continue;
		for (size_t i = 1; i <= n; i++) {
			if ((p[i] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (p[i] & 0x3f);
		}
		if (c < forms[n].least || c > 0x10ffff || (c >> 11) == 0x1b)
			return 0;
		return n + 1;
	}
	return 0;
}
