/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_pun: where can a jump lead whose last bytes are given?
 *
 * The displacement comes last in the jump, its highest byte last of all. So
 * bytes that have to stay as they are behind it say roughly where it leads,
 * and those before them exactly where. Prefixes that mean nothing before a near
 * jump move the displacement, so that other bytes of it are given.
 */
#include "arch/x86_64/code.h"

#include <errno.h>

enum { OPCODE = 0xe9, DISPLACEMENT = 4 };

/* A segment that 64-bit code does not use, and a wide operand, which a near
 * jump has in any case. REX comes last, or the processor forgets it. */
static const uint8_t prefixes[X86_PUN_PREFIXES] = { 0x2e, 0x48 };

/* The bytes before the displacement. */
static size_t put_head(size_t prefix, uint8_t *out)
{
	memcpy(out, prefixes + X86_PUN_PREFIXES - prefix, prefix);
	out[prefix] = OPCODE;
	return prefix + 1;
}

int x86_pun_set(raddr_t from, size_t prefix, const uint8_t *p, uint16_t given,
		struct jump_set *ret)
{
	uint8_t head[X86_PUN_PREFIXES + 1];

	if (prefix > X86_PUN_PREFIXES)
		return -ENOTSUP;
	size_t n = put_head(prefix, head);

	for (size_t i = 0; i < n; i++)
		if (given >> i & 1 && p[i] != head[i])
			return -ENOTSUP;
	*ret = (struct jump_set){ .base = from + n + DISPLACEMENT };
	for (size_t i = 0; i < DISPLACEMENT; i++) {
		if (!(given >> (n + i) & 1))
			continue;
		ret->mask |= (uint32_t)0xff << 8 * i;
		ret->value |= (uint32_t)p[n + i] << 8 * i;
	}
	return 0;
}

int x86_pun(raddr_t from, size_t prefix, raddr_t to, uint8_t *out)
{
	if (prefix > X86_PUN_PREFIXES)
		return -ERANGE;
	size_t n = put_head(prefix, out);
	int err = x86_displacement(from + n + DISPLACEMENT, to, out + n);

	return err ? err : (int)(n + DISPLACEMENT);
}
