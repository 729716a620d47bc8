/* SPDX-License-Identifier: MIT */
/* Which jumps stand, where visits have written over each other's? */
#include <string.h>

#include "injector/patch/cover.h"
#include "tests/unit/check.h"

static struct change at(raddr_t addr, const char *bytes)
{
	struct change c = { .addr = addr, .len = (uint8_t)strlen(bytes) };

	memcpy(c.from, bytes, c.len);
	return c;
}

#define F TEXT_FROM
#define O TEXT_OTHER
#define T TEXT_TO

static void check_is(const struct change *v, size_t n, const uint8_t *before, const uint8_t *after)
{
	uint8_t is[8];

	memcpy(is, before, n);
	CHECK_EQ(cover_settle(v, n, is), 0);
	for (size_t i = 0; i < n; i++)
		CHECK_EQ(is[i], after[i]);
}

int main(void)
{
	const struct change same[] = { at(0x100, "abcde"), at(0x100, "ab"), at(0x103, "de"),
				       at(0x105, "x") };
	const struct change earlier[] = { at(0x100, "abcde"), at(0x100, "pqrst"), at(0x0fe, "klmno"),
					  at(0x104, "z"), at(0x105, "z") };
	const struct change agree[] = { at(0x100, "abcde"), at(0x103, "de!"), at(0x0f8, "12345678") };
	const struct change between[] = { at(0x10, "1234567890123456"), at(0x30, "b"),
					  at(0x1f, "6x"), at(0x2f, "xb"),
					  at(0x1f, "7x"), at(0x2f, "xc") };

	/* 1: within another that stands. */
	check_is(same, 4, (uint8_t[]){ F, F, F, F }, (uint8_t[]){ F, T, T, F });
	check_is(same, 4, (uint8_t[]){ O, F, F, T }, (uint8_t[]){ O, F, F, T });
	/* 2: what stands has other bytes there. */
	check_is(earlier, 5, (uint8_t[]){ F, O, O, O, O }, (uint8_t[]){ F, T, T, T, O });
	check_is(earlier, 5, (uint8_t[]){ O, F, O, O, O }, (uint8_t[]){ T, F, T, T, O });
	/* But where it has the same ones another tool may be to blame. */
	check_is(agree, 3, (uint8_t[]){ F, O, O }, (uint8_t[]){ F, O, O });
	/* Its neighbours on either side are asked. */
	check_is(between, 6, (uint8_t[]){ F, F, O, O, O, O }, (uint8_t[]){ F, F, O, O, T, T });
	check_is(between, 6, (uint8_t[]){ O, F, O, O, O, O }, (uint8_t[]){ O, F, O, O, O, T });
	return failures != 0;
}
