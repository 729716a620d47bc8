/* SPDX-License-Identifier: MIT */
/* put: text by hand, where millions of lines are written: each returns a
 * pointer behind what it wrote. The caller has made room. */
#ifndef TRACE_PUT_H
#define TRACE_PUT_H

#include <string.h>

#include "base/base.h"

static inline char *put_text(char *p, const char *text)
{
	return stpcpy(p, text);
}

/* `value` right-aligned in `width` columns filled with `fill`; never cut. At
 * most 20 bytes where `width` is not more. */
static inline char *put_number(char *p, uint64_t value, int width, char fill)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (width-- > n)
		*p++ = fill;
	while (n)
		*p++ = digits[--n];
	return p;
}

#endif
