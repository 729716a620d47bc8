/* SPDX-License-Identifier: MIT */
/* What goes with a probe that is given up: copies that its mark tells of, and how long those take
 * whose ends it is? Ids of functions may be another process's words. */
#include "injector/patch/live.h"
#include "tests/unit/check.h"

enum { MARK = 1, WITH, ELSE, END, NFUNCS };

static const struct copy_ended ends[] = {
	{ .func = UINT32_MAX }, { .func = ELSE }, { .func = NFUNCS },
	{ .func = MARK, .thrown = true },
};

/* The end of the list is one that is not with any. */
static struct placed_probe probes[] = {
	{ .id = END }, { .id = MARK }, { .id = WITH, .with = true }, { .id = ELSE }, { .id = 0 },
};

static void begin(struct live *live)
{
	static const struct reader_func of[NFUNCS] = {
		[MARK] = { .begins = true }, [WITH] = { .begins = true },
		[ELSE] = { .begins = true },
		[END] = { .hidden = true, .ends = ends, .nends = ARRAY_SIZE(ends) },
	};

	*live = (struct live){ .funcs = malloc(sizeof(of)), .nfuncs = NFUNCS };
	MUST(live->funcs);
	memcpy(live->funcs, of, sizeof(of));
	for (size_t i = 0; i < ARRAY_SIZE(probes) - 1; i++) {
		probes[i].refusal = REFUSED_NONE;
		probes[i].entry_only = REFUSED_NONE;
		live_count(live, &probes[i], 1);
	}
}

int main(void)
{
	struct infection inf = { 0 };
	struct live live;

	begin(&live);
	live_drop(&live, &inf, &probes[0], REFUSED_BUSY);
	CHECK(!live.funcs[ELSE].begins);
	CHECK(live.funcs[ELSE].entry_only);
	CHECK(live.funcs[MARK].begins);	/* others tell of that end, as a rule */
	CHECK_EQ(live.nprobed, 3);
	live_clear(&live);

	begin(&live);
	live_drop(&live, &inf, &probes[1], REFUSED_BUSY);
	CHECK_EQ(probes[1].refusal, REFUSED_BUSY);
	CHECK_EQ(probes[2].refusal, REFUSED_BUSY);
	CHECK_EQ(probes[3].refusal, REFUSED_NONE);
	CHECK_EQ(live.nprobed, 2);
	CHECK(live.funcs[ELSE].begins);
	live_clear(&live);
	return failures != 0;
}
