/* SPDX-License-Identifier: MIT */
/* x86_64/code_jump: jumps and calls from one address to another. */
#include "arch/x86_64/code.h"

#include <errno.h>

int x86_displacement(raddr_t next, raddr_t to, uint8_t *out)
{
	int64_t far = (int64_t)(to - next);
	int32_t rel = far;

	if (rel != far)
		return -ERANGE;
	memcpy(out, &rel, sizeof(rel));
	return 0;
}

int x86_jump(raddr_t from, raddr_t to, uint8_t *out)
{
	uint8_t rel[4];
	int err = x86_displacement(from + 5, to, rel);

	if (err)
		return err;
	out[0] = 0xe9;
	memcpy(out + 1, rel, sizeof(rel));
	return 5;
}

int x86_jump_short(raddr_t from, raddr_t to, uint8_t *out)
{
	int64_t far = (int64_t)(to - (from + 2));

	if (far < INT8_MIN || far > INT8_MAX)
		return -ERANGE;
	out[0] = 0xeb;
	out[1] = (uint8_t)far;
	return 2;
}

int x86_call(raddr_t from, raddr_t to, uint8_t *out)
{
	out[0] = 0xe8;
	return x86_displacement(from + 5, to, out + 1) ?: 5;
}
