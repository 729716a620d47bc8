/* SPDX-License-Identifier: MIT */
/* golden: patterns of bytes as text, for tests that say what goes in and what
 * comes out. */
#ifndef TESTS_PATCH_GOLDEN_H
#define TESTS_PATCH_GOLDEN_H

#include "arch/arch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { GOLDEN_MAX = 128 };

static unsigned int golden_failures, golden_checks;

/* The bytes that hex digits spell; spaces and bars are for the eye. */
static inline size_t golden_bytes(const char *text, uint8_t *out)
{
	size_t n = 0;

	for (; *text && n < GOLDEN_MAX; text += strspn(text, " |")) {
		unsigned int byte;

		if (sscanf(text, "%2x", &byte) != 1)
			break;
		out[n++] = byte;
		text += 2;
	}
	return n;
}

/* One arm64 word per eight digits, most significant first, as listings show
 * them. */
static inline size_t golden_words(const char *text, uint8_t *out)
{
	size_t n = golden_bytes(text, out);

	for (size_t i = 0; i + 4 <= n; i += 4) {
		uint8_t a = out[i], b = out[i + 1];

		out[i] = out[i + 3];
		out[i + 1] = out[i + 2];
		out[i + 2] = b;
		out[i + 3] = a;
	}
	return n;
}

static inline void golden_print(const char *label, const uint8_t *p, int n)
{
	printf("  %s", label);
	for (int i = 0; i < n; i++)
		printf(" %02x", p[i]);
	printf(n < 0 ? " error %d\n" : "\n", n);
}

/* `got` bytes, or a negative error, against what is wanted; NULL for errors. */
static inline void golden_check(const char *name, const uint8_t *got, int n,
				const uint8_t *want, int want_n)
{
	golden_checks++;
	if (n == want_n && (n <= 0 || !want || memcmp(got, want, n) == 0))
		return;
	golden_failures++;
	printf("FAIL %s\n", name);
	golden_print("wanted", want, want_n);
	golden_print("got   ", got, n);
}

static inline void golden_true(const char *name, bool ok)
{
	golden_checks++;
	if (ok)
		return;
	golden_failures++;
	printf("FAIL %s\n", name);
}

/* What an instruction should decode to. `dest` and `ref` are absolute. */
struct golden_insn {
	const char *name, *bytes;
	uint8_t size, kind;
	uint16_t flags;
	raddr_t dest, ref;
};

static inline void golden_insn(const struct golden_insn *want,
			       const struct insn *got, int err)
{
	golden_checks++;
	if (!err && got->size == want->size && got->kind == want->kind &&
	    got->flags == want->flags && got->dest == want->dest &&
	    got->ref == want->ref)
		return;
	golden_failures++;
	printf("FAIL %s: error %d, size %u kind %u flags %u dest %#lx ref %#lx\n",
	       want->name, err, got->size, got->kind, got->flags, got->dest,
	       got->ref);
}

static inline int golden_end(void)
{
	printf("%u checks, %u failures\n", golden_checks, golden_failures);
	return golden_failures > 0;
}

#endif
