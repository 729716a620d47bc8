/* SPDX-License-Identifier: MIT */
/* Does base_sort put all elements in order, each whole, whatever their numbers are? */
#include <string.h>

#include "base/base.h"
#include "tests/unit/check.h"

enum { MOST = 5000, LARGEST = 40 };

static uint64_t next(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* What follows an element's number is made of it. */
static void fill(uint8_t *p, uint64_t key, size_t size)
{
	memset(p, (int)(key * 31 & 0xff), size);
	memcpy(p, &key, sizeof(key));
}

/* Numbers of so many bits, from `from` on. */
static void test(size_t n, size_t size, unsigned int bits, uint64_t from)
{
	static uint8_t v[MOST * LARGEST];
	uint64_t sum = 0, last = 0, key;
	uint8_t whole[LARGEST];

	for (size_t i = 0; i < n; i++) {
		key = from + (bits ? next() >> (64 - bits) : 0);
		sum += key * key;
		fill(v + i * size, key, size);
	}
	base_sort(v, n, size);
	for (size_t i = 0; i < n; i++) {
		memcpy(&key, v + i * size, sizeof(key));
		fill(whole, key, size);
		CHECK(!memcmp(v + i * size, whole, size));
		CHECK(key >= last);
		last = key;
		sum -= key * key;
	}
	CHECK_EQ(sum, 0);
}

int main(void)
{
	static const size_t counts[] = { 0, 1, 2, 255, 256, 257, MOST };
	static const size_t sizes[] = { 8, 16, 32, LARGEST };
	static const unsigned int bits[] = { 0, 1, 10, 11, 12, 22, 23, 33, 63, 64 };

	for (size_t c = 0; c < ARRAY_SIZE(counts); c++)
		for (size_t s = 0; s < ARRAY_SIZE(sizes); s++)
			for (size_t b = 0; b < ARRAY_SIZE(bits); b++)
				test(counts[c], sizes[s], bits[b], bits[b] < 64 ? 1ull << 63 : 0);
	base_sort(NULL, 0, sizeof(uint64_t));
	return failures != 0;
}
