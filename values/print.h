/* SPDX-License-Identifier: MIT */
/* print: a line whose length is bounded, and what is put in it; for files that make text. */
#ifndef VALUES_PRINT_H
#define VALUES_PRINT_H

#include "values/capture.h"

struct line {
	char *p;
	size_t n, size;		/* characters so far, also those that had no room */
};

void line_add(struct line *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* In place of what is not there. */
void line_missing(struct line *, enum held why);
/* In quotes, with escapes: UTF-8 and printable characters are themselves. */
void line_quoted(struct line *, const uint8_t *bytes, size_t n);
/* 'a' */
void line_character(struct line *, uint32_t c, bool unicode);

/* ---- print_scalar.c ------------------------------------------------------ */

enum { SCALAR_MAX = 16, X87_SIZE = 10 };

void print_scalar(struct line *, const struct signature *, const struct type *,
		  const uint8_t bytes[SCALAR_MAX]);
/* Of 2, 4, 8 bytes, or of more: that has 10 of x87, or all 16 with TYPE_QUAD. */
double float_value(const uint8_t *bytes, uint64_t size, unsigned int flags);
void print_float(struct line *, const uint8_t *bytes, uint64_t size, unsigned int flags);

#endif
