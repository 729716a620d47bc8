/* SPDX-License-Identifier: MIT */
/*
 * sort: how are a million addresses sorted in no time?
 *
 * By their bits: element after element is put where those end up that share some of
 * them, from the lowest bits on, and no two are ever compared.
 */
#include <string.h>

#include "base/base.h"

enum {
	DIGIT = 11,		/* bits that are looked at together */
	DIGITS = 1 << DIGIT,
	FEW = 256,		/* elements for which to count digits is not worth it */
};

static inline uint64_t key_at(const char *v, size_t i, size_t size)
{
	uint64_t key;

	memcpy(&key, v + i * size, sizeof(key));
	return key;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = key_at(a, 0, 0), y = key_at(b, 0, 0);

	return x < y ? -1 : x > y;
}

/* Those with the same digit stay in their order. */
static inline void sort_by_digit(const char *from, char *to, size_t n, size_t size,
				 uint64_t least, unsigned int shift)
{
	size_t next[DIGITS + 1] = { 0 };

	for (size_t i = 0; i < n; i++)
		next[1 + ((key_at(from, i, size) - least) >> shift & (DIGITS - 1))]++;
	for (size_t d = 1; d < DIGITS; d++)
		next[d] += next[d - 1];
	for (size_t i = 0; i < n; i++) {
		uint64_t key = key_at(from, i, size) - least;

		memcpy(to + size * next[key >> shift & (DIGITS - 1)]++, from + size * i, size);
	}
}

/* Inlined for the sizes there are: an element is then copied by an instruction or two. */
static inline __attribute__((always_inline)) void sort(char *v, char *spare, size_t n,
							size_t size)
{
	uint64_t least = UINT64_MAX, most = 0;
	char *from = v, *to = spare;

	for (size_t i = 0; i < n; i++) {
		least = MIN(least, key_at(v, i, size));
		most = MAX(most, key_at(v, i, size));
	}
	for (unsigned int shift = 0; shift < 64 && (most - least) >> shift; shift += DIGIT) {
		char *sorted = to;

		sort_by_digit(from, to, n, size, least, shift);
		to = from;
		from = sorted;
	}
	if (from != v)
		memcpy(v, from, n * size);
}

void base_sort(void *v, size_t n, size_t size)
{
	auto_free char *spare = n < FEW ? NULL : reallocarray(NULL, n, size);

	if (n < 2)
		return;
	if (!spare)
		qsort(v, n, size, compare_keys);
	else if (size == 8)
		sort(v, spare, n, 8);
	else if (size == 16)
		sort(v, spare, n, 16);
	else
		sort(v, spare, n, size);
}
