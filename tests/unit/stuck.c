/* SPDX-License-Identifier: MIT */
/* Does what a jump that cannot go depends on stay, and what shares its bytes,
 * and nothing else? */
#include "injector/patch/stuck.h"

#include <stdio.h>
#include <string.h>

static int failed;

/* Changes are PAGE.OFFSET of FUNC at RANK; fates are letters: Goes, Stays, None. */
struct jump {
	raddr_t addr;
	uint8_t rank;
	uint32_t func;
};

enum { MOST = 16 };

static void check(const char *what, const struct jump *jumps, const char *given,
		  const char *want)
{
	static const char letters[] = "GSN";
	struct change c[MOST] = { 0 };
	size_t n = strlen(given);
	uint8_t fate[MOST];
	char got[MOST + 1] = "";

	for (size_t i = 0; i < n; i++) {
		c[i] = (struct change){ .addr = jumps[i].addr, .len = 2,
					.rank = jumps[i].rank, .func = jumps[i].func };
		fate[i] = (uint8_t)(strchr(letters, given[i]) - letters);
	}
	if (stuck_spread(c, n, fate)) {
		printf("%s: %s\n", what, fail_text());
		failed = 1;
		return;
	}
	for (size_t i = 0; i < n; i++)
		got[i] = letters[fate[i]];
	if (strcmp(got, want) == 0)
		return;
	printf("%s: %s, not %s\n", what, got, want);
	failed = 1;
}

int main(void)
{
	const struct jump apart[] = { { 0x2000, 1, 3 }, { 0x1100, 1, 2 }, { 0x1000, 1, 1 } };
	const struct jump close[] = { { 0x1018, 1, 3 }, { 0x100c, 1, 2 }, { 0x1000, 1, 1 } };
	const struct jump edge[] = { { 0x2000, 1, 2 }, { 0x1fff, 1, 1 } };
	const struct jump ranks[] = { { 0x1004, 2, 2 }, { 0x1100, 1, 1 }, { 0x1000, 1, 1 } };
	const struct jump levels[] = { { 0x1100, 2, 1 }, { 0x1200, 1, 2 }, { 0x1000, 1, 1 },
				       { 0x1300, 0, 1 } };
	/* 1's upper jump shares bytes with 2's, whose lower with 3's. */
	const struct jump chain[] = { { 0x1108, 2, 2 }, { 0x1100, 2, 1 },
				      { 0x1208, 1, 3 }, { 0x1200, 1, 2 }, { 0x1000, 1, 1 },
				      { 0x1400, 0, 3 }, { 0x1300, 0, 4 } };

	check("nothing is stuck", apart, "GGG", "GGG");
	check("none is near", apart, "GSG", "GSG");
	check("what may keep bytes of it, and what of that", close, "GGS", "SSS");
	check("what does not stand is no neighbour", close, "GNS", "GNS");
	check("another page", edge, "SG", "SG");
	check("another rank, another function", ranks, "SGG", "SGG");
	check("what it depends on", levels, "SGGG", "SGSS");
	check("not what depends on it", levels, "GGSG", "GGSS");
	check("one after the other", chain, "GSGGGGG", "SSSSSSG");
	return failed;
}
