/* SPDX-License-Identifier: MIT */
/* arm64/code_word: the fields of an instruction's word, and the word of a branch. */
#include "arch/arm64/code.h"

#include <errno.h>

bool arm64_field(int64_t value, unsigned int bits, unsigned int shift,
		 uint32_t *word)
{
	int64_t limit = 1ll << (bits - 1);

	if (value < -limit || value >= limit)
		return false;
	*word |= ((uint32_t)value & ((1u << bits) - 1)) << shift;
	return true;
}

uint32_t arm64_invert(uint32_t w)
{
	if (arm64_is_bcond(w))
		return (w & 0xff00001f) ^ 1;
	return (w & (arm64_is_tbz(w) ? 0xfff8001f : 0xff00001f)) ^ 1 << 24;
}

int arm64_branch(raddr_t from, raddr_t to, bool link, uint32_t *ret)
{
	int64_t off = (int64_t)(to - from);
	uint32_t word = link ? 0x94000000 : 0x14000000;

	if (off & 3 || !arm64_field(off >> 2, 26, 0, &word))
		return -ERANGE;
	*ret = word;
	return 0;
}
