/* SPDX-License-Identifier: MIT */
/* check: what does not hold is printed with its place, and counted. */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(cond) do { \
	if (!(cond)) { \
		failures++; \
		printf("%s:%d: %s\n", __FILE__, __LINE__, #cond); \
	} \
} while (0)

#define CHECK_EQ(a, b) do { \
	long long a_ = (long long)(a), b_ = (long long)(b); \
	if (a_ != b_) { \
		failures++; \
		printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #a, a_, b_); \
	} \
} while (0)

#endif
