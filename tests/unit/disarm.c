/* SPDX-License-Identifier: MIT */
/*
 * Does what is disarmed go as a whole, in an order that is harmless, with what relies on its
 * bytes; and does everything else stay?
 */
#include "injector/patch/disarm.h"

#include <string.h>

#include "tests/unit/check.h"

enum { FUNCS = 6 };

/* In writing order: a hole and its jump; two puns in a row, the first of which keeps
 * bytes of the second, which keeps bytes of a third function's jump; and one whose kept bytes
 * are never written. */
static struct change changes[] = {
	{ .addr = 0x1100, .len = 5, .rank = 0, .func = 1 },
	{ .addr = 0x1000, .len = 2, .rank = 1, .func = 1 },
	{ .addr = 0x2000, .len = 3, .rank = 1, .func = 2, .kept = 2 },
	{ .addr = 0x2003, .len = 2, .rank = 1, .func = 3, .kept = 3 },
	{ .addr = 0x2006, .len = 5, .rank = 1, .func = 4 },
	{ .addr = 0x200c, .len = 3, .rank = 1, .func = 5, .kept = 2 },
	{ .addr = 0x3000, .len = 5, .rank = 1, .func = 4 },
	{ .addr = 0x2800, .len = 5, .rank = 2, .func = 4 },
};

static const struct live live = {
	.changes = changes, .nchanges = ARRAY_SIZE(changes), .nfuncs = FUNCS,
};

/* The functions that go with one: digits. */
static void goes_with(uint32_t func, const char *want)
{
	bool in[FUNCS] = { 0 };
	char got[FUNCS + 1] = "";

	in[func] = true;
	CHECK(disarm_spread(&live, in) == 0);
	for (uint32_t i = 0; i < FUNCS; i++)
		if (in[i])
			got[strlen(got)] = (char)('0' + i);
	if (strcmp(got, want) != 0) {
		failures++;
		printf("with %u go %s, not %s\n", func, got, want);
	}
}

static void check_order(void)
{
	static const raddr_t want[] = { 0x2800, 0x3000, 0x2006, 0x1000, 0x1100 };
	bool in[FUNCS] = { [1] = true, [4] = true };
	struct change *c = NULL;
	size_t n = 0;

	memset(changes[0].from, 0x90, CHANGE_MAX);
	memset(changes[0].to, 0xe9, CHANGE_MAX);
	CHECK(disarm_list(&live, in, &c, &n) == 0);
	CHECK_EQ(n, ARRAY_SIZE(want));
	for (size_t i = 0; i < MIN(n, ARRAY_SIZE(want)); i++)
		CHECK_EQ(c[i].addr, want[i]);
	CHECK(n && c[n - 1].from[0] == 0xe9 && c[n - 1].to[0] == 0x90);
	free(c);
}

int main(void)
{
	goes_with(1, "1");
	goes_with(2, "2");
	goes_with(3, "23");
	goes_with(4, "234");
	goes_with(5, "5");
	check_order();
	return failures != 0;
}
