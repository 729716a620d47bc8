/* SPDX-License-Identifier: MIT */
/* condition_error: what is wrong with a condition, and where? */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "values/condition_build.h"
#include "values/print.h"

enum { INDENT = 4 };

int condition_wrong(struct condition_error *err, size_t column, const char *fmt, ...)
{
	va_list ap;

	err->column = column;
	va_start(ap, fmt);
	vsnprintf(err->what, sizeof(err->what), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int build_wrong(struct building *b, size_t column, int err, const char *fmt, ...)
{
	va_list ap;

	b->err->column = column;
	b->err->unnamed = false;
	va_start(ap, fmt);
	vsnprintf(b->err->what, sizeof(b->err->what), fmt, ap);
	va_end(ap);
	return err;
}

/* Of UTF-8, a byte that is no character of its own. */
static bool goes_on(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Each character has one column, so that the two lines fit. */
size_t condition_error_text(const char *expr, const struct condition_error *err, char *buf,
			    size_t size)
{
	struct line t = { .p = buf, .size = size };
	size_t n = strlen(expr);

	if (size)
		*buf = '\0';
	line_add(&t, "%*s", INDENT, "");
	for (size_t i = 0; i < n; i++)
		line_add(&t, "%c", iscntrl((unsigned char)expr[i]) ? ' ' : expr[i]);
	line_add(&t, "\n%*s", INDENT, "");
	for (size_t i = 0; i < n && i < err->column; i++)
		if (!goes_on(expr[i]))
			line_add(&t, " ");
	line_add(&t, "^");
	return t.n;
}
