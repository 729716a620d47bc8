/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_refs: which bytes may lead to a place, or name it, whichever of them
 * an instruction begins with?
 *
 * Whatever leads further than a short branch, and whatever names an address, has its
 * distance in 32 bits, and before them the opcode of a branch or a ModRM byte that
 * says "relative to the PC". So who looks for those two needs no instructions. He
 * finds more than there is, for any bytes may look so; but never less.
 *
 * One byte in twelve looks so, and who asks whether it does is right by chance only.
 * So a bit says it for each of many bytes, without a branch.
 */
#include "arch/x86_64/code.h"

enum { DISTANCE = 4 };

/* Bytes that are looked at together: a processor has instructions for as many. */
typedef uint8_t block_t __attribute__((vector_size(16)));

enum { BLOCKS = 4, MANY = BLOCKS * sizeof(block_t) };

static inline block_t load(const uint8_t *p)
{
	block_t b;

	memcpy(&b, p, sizeof(b));
	return b;
}

/*
 * Which of these bytes may be the last before a distance, by the bytes before them?
 * That of a call or a jump; of a branch, which has two, or xbegin; or a ModRM, behind
 * whose distance an immediate may follow.
 */
static inline block_t lead_in(block_t b, block_t before)
{
	return (block_t)(((b & 0xfe) == 0xe8) |
			 (((b & 0xf0) == 0x80) & (before == 0x0f)) |
			 ((b == 0xf8) & (before == 0xc7)) |
			 ((b & 0xc7) == 0x05));
}

/* A bit for each of the MANY bytes at p, in their order. */
static inline uint64_t find_lead_in(const uint8_t *p)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < MANY; i += sizeof(block_t)) {
		block_t found = lead_in(load(p + i), load(p + i - 1)) & 1;
		uint64_t halves[2];

		memcpy(halves, &found, sizeof(found));
		/* The lowest bits of eight bytes are to be one byte. */
		for (size_t h = 0; h < ARRAY_SIZE(halves); h++)
			ret |= halves[h] * 0x0102040810204080 >> 56 << (i + 8 * h);
	}
	return ret;
}

/* The same where not all of these bytes, or not the one before them, are ours. */
static uint64_t find_at_edge(const uint8_t *p, size_t n, size_t at)
{
	uint8_t bytes[1 + MANY] = { at ? p[at - 1] : 0 };

	memcpy(bytes + 1, p + at, MIN(MANY, n - at));
	return find_lead_in(bytes + 1);
}

/* In the lowest bit: is it one of the places? Of the first, if it is beyond the last. */
static inline uint64_t is_place(const struct places *p, uint64_t off)
{
	uint64_t i = off < range_size(p->range) ? off / 64 : 0;

	return p->bits[i / 64] >> i % 64;
}

/* Does the distance behind p[at] lead to one of the places, perhaps with an immediate
 * behind it? Half of all distances lead to data: no branch here either. */
static inline bool leads_to(const uint8_t *p, size_t at, raddr_t pc, const struct places *to,
			    raddr_t *ret)
{
	*ret = pc + at + 1 + DISTANCE + (raddr_t)x86_signed(p + at + 1, DISTANCE);

	uint64_t less = *ret - to->range.start, most = less + ARCH_REF_SLACK;
	uint64_t in = most < range_size(to->range) + ARCH_REF_SLACK;

	return in & (is_place(to, less) | is_place(to, most));
}

size_t x86_find_ref(const uint8_t *p, size_t n, raddr_t pc, size_t from,
		    const struct places *to, raddr_t *ret)
{
	for (size_t at = from; at + DISTANCE < n; at += MANY) {
		uint64_t found = at && n - at >= MANY ? find_lead_in(p + at) :
			find_at_edge(p, n, at);

		for (; found; found &= found - 1) {
			size_t i = at + (size_t)__builtin_ctzll(found);

			if (i + DISTANCE >= n)
				return n;
			if (leads_to(p, i, pc, to, ret))
				return i;
		}
	}
	return n;
}
