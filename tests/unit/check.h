/* SPDX-License-Identifier: MIT */
/*
 * check: CHECK counts what does not hold, and the test goes on: main returns `failures != 0`.
 * MUST ends the test, where what follows would make no sense. Both print the place.
 */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* The folder of Debian's that has this instruction set's libraries. */
#ifdef __aarch64__
#define MULTIARCH "aarch64-linux-gnu"
#else
#define MULTIARCH "x86_64-linux-gnu"
#endif

static int failures __attribute__((unused));

#define CHECK(cond) do { \
	if (!(cond)) { \
		failures++; \
		fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, __func__, #cond); \
	} \
} while (0)

#define CHECK_EQ(a, b) do { \
	long long a_ = (long long)(a), b_ = (long long)(b); \
	if (a_ != b_) { \
		failures++; \
		fprintf(stderr, "%s:%d: %s: %s is %lld, not %lld\n", __FILE__, __LINE__, \
			__func__, #a, a_, b_); \
	} \
} while (0)

#define MUST(cond) ((cond) ? (void)0 : must_die(__FILE__, __LINE__, #cond))
#define MUST_EQ(a, b) must_equal(__FILE__, __LINE__, #a, (int64_t)(a), (int64_t)(b))
#define MUST_STR(a, b) must_same(__FILE__, __LINE__, #a, a, b)

/* Before MUST ends the test: what is to be told, or ended, besides. May be NULL. */
static void (*must_tell)(void) __attribute__((unused));

static inline __attribute__((noreturn)) void must_end(void)
{
	if (must_tell)
		must_tell();
	exit(1);
}

static inline __attribute__((noreturn)) void must_die(const char *file, int line,
						      const char *what)
{
	fprintf(stderr, "%s:%d: failed: %s (%s)\n", file, line, what, fail_text());
	must_end();
}

static inline void must_equal(const char *file, int line, const char *what, int64_t a, int64_t b)
{
	if (a == b)
		return;
	fprintf(stderr, "%s:%d: %s is %lld (%#llx), not %lld\n", file, line, what, (long long)a,
		(unsigned long long)a, (long long)b);
	must_end();
}

static inline void must_same(const char *file, int line, const char *what, const char *a,
			     const char *b)
{
	if (a && b && !strcmp(a, b))
		return;
	fprintf(stderr, "%s:%d: %s is '%s', not '%s'\n", file, line, what, a ? a : "(null)",
		b ? b : "(null)");
	must_end();
}

#endif
