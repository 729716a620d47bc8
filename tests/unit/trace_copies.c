/* SPDX-License-Identifier: MIT */
/* Does metadata keep what marks tell of copies of inlined functions; is what is wrong harmless? */
#include "tests/unit/check.h"
#include "trace/format/metadata.h"

static const struct copy_ended ends[] = { { 2, false }, { 1, true }, { UINT32_MAX, false } };

static const uint32_t with[] = { 2, UINT32_MAX, 1 };

static const struct reader_func funcs[] = {
	{ .name = "?", .module = "?" },
	{ .name = "in_a", .module = "srv", .begins = true },
	{ .name = "in_a", .module = "srv", .begins = true, .as = 1, .ends = ends, .nends = 1 },
	{ .name = "?", .module = "?", .hidden = true, .ends = ends, .nends = 3 },
	{ .name = "in_b", .module = "srv", .begins = true, .as = 1, .with = with, .nwith = 3,
	  .ends = ends, .nends = 2 },
	{ .name = "in_c", .module = "srv", .with = with, .nwith = 1 },
};

static void same(const struct reader_func *a, const struct reader_func *b)
{
	CHECK_EQ(a->begins, b->begins);
	CHECK_EQ(a->hidden, b->hidden);
	CHECK_EQ(a->as, b->as);
	MUST_EQ(a->nwith, b->nwith);
	for (size_t i = 0; i < a->nwith; i++)
		CHECK_EQ(a->with[i], b->with[i]);
	MUST_EQ(a->nends, b->nends);
	for (size_t i = 0; i < a->nends; i++) {
		CHECK_EQ(a->ends[i].func, b->ends[i].func);
		CHECK_EQ(a->ends[i].thrown, b->ends[i].thrown);
	}
}

/* What is not a number ends the list, and a number that is too large is one of no function. */
static void test_wrong(const char *text, size_t size)
{
	static const struct { const char *of, *is; size_t nends, nwith, with_ends; } rows[] = {
		{ "ends 2 !1 4294967295", "ends 2 !x 4294967295", 1, 3, 2 },
		{ "ends 2 !1 4294967295", "ends 2!!1 4294967295", 1, 3, 2 },
		{ "ends 2 !1 4294967295", "ends 2 !1 9999999999", 3, 3, 2 },
		{ "ends 2 !1 4294967295", "ends                ", 0, 3, 2 },
		{ "ends 2 !1 4294967295", "endz 2 !1 4294967295", 0, 3, 2 },
		{ "with 2 4294967295 1 ", "with 2 9999999999 1 ", 3, 3, 2 },
		{ "with 2 4294967295 1 ", "with 2 -294967295 1 ", 3, 1, 0 },
		{ "with 2 4294967295 1 ", "with                ", 3, 0, 0 },
		{ "with 2 4294967295 1 ", "wizh 2 4294967295 1 ", 3, 0, 0 },
		{ "with 2 4294967295 1 ", "with 2 2 2 2 2 2 2 2", 3, 8, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *copy = strdup(text), *at = strstr(copy, rows[i].of);
		struct metadata m;

		MUST(at);
		memcpy(at, rows[i].is, strlen(rows[i].is));
		MUST_EQ(metadata_read(copy, size, &m), 0);
		CHECK_EQ(m.about.funcs[3].nends, rows[i].nends);
		CHECK_EQ(m.about.funcs[4].nwith, rows[i].nwith);
		CHECK_EQ(m.about.funcs[4].nends, rows[i].with_ends);
		metadata_clear(&m);
		free(copy);
	}
}

/* More than are told of. */
static void test_many(void)
{
	uint32_t many[COPIES_WITH + 8] = { 0 };
	struct reader_func func = { .name = "in_d", .module = "srv", .with = many,
				    .nwith = ARRAY_SIZE(many) };
	struct about about = { .funcs = &func, .nfuncs = 1, .host = "h", .program = "p",
			       .exe = "/p" };
	struct metadata m;
	char *text;
	size_t size;

	MUST_EQ(metadata_make(&about, &text, &size), 0);
	MUST_EQ(metadata_read(text, size, &m), 0);
	CHECK_EQ(m.about.funcs[0].nwith, COPIES_WITH);
	metadata_clear(&m);
	free(text);
}

int main(void)
{
	struct about about = { .funcs = funcs, .nfuncs = ARRAY_SIZE(funcs), .host = "h",
			       .program = "p", .exe = "/p" };
	struct metadata m;
	char *text;
	size_t size;

	MUST_EQ(metadata_make(&about, &text, &size), 0);
	MUST_EQ(metadata_read(text, size, &m), 0);
	MUST_EQ(m.about.nfuncs, ARRAY_SIZE(funcs));
	for (size_t i = 0; i < ARRAY_SIZE(funcs); i++)
		same(&m.about.funcs[i], &funcs[i]);
	metadata_clear(&m);
	test_wrong(text, size);
	test_many();
	free(text);
	return failures != 0;
}
