/* SPDX-License-Identifier: MIT */
/* Are those calls told, as they end, that a condition holds for which the reader judges? */
#include <time.h>

#include "tests/unit/reader_world.h"
#include "values/condition_compile.h"

enum { G1 = 8, G2 = 9 };	/* goroutines */

static struct reader_func funcs[NFUNCS];
static struct condition asked;

/* Of calls of READ and WAIT that is asked; ACCEPT is told always. */
static void begin(struct world *w, uint32_t nrings, const char *expr)
{
	struct read_plan plan = { 0 };

	CHECK_EQ(condition_compile(expr, NULL, &plan, NULL, &asked, NULL), 0);
	memcpy(funcs, world_funcs, sizeof(funcs));
	funcs[READ].asked = funcs[WAIT].asked = &asked;
	world_make(w, nrings, 16);
	world_read(w, 0);
	reader_name(w->reader, funcs, NFUNCS);
	for (uint32_t i = 0; i < nrings; i++)
		world_claim(w, i, (int32_t)i + 1, 0);
}

static int tell(void *ctx, const struct event *e)
{
	const char *name = funcs[e->func].name;
	size_t n = strlen(told);
	static const char kinds[] = {
		[EVENT_ENTRY] = '+', [EVENT_EXIT] = '-', [EVENT_UNWOUND] = '!', [EVENT_MARK] = '.',
		[EVENT_EXIT_LOST] = '?', [EVENT_BEFORE] = '~', [EVENT_LOST] = 'l',
		[EVENT_STACK_END] = 'e',
	};
	struct world *w = ctx;

	n += (size_t)sprintf(told + n, "%s%d%c%s", n ? " " : "", e->tid, kinds[e->kind],
			     name + strcspn(name, "_.") + 1);
	if (e->begin)
		sprintf(told + n, "@%llu", (unsigned long long)(e->begin - w->base));
	return 0;
}

#define CHECK_SAID(w, expected) do { \
	told[0] = '\0'; \
	reader_drain((w)->reader, false, tell, w); \
	if (strcmp(told, expected) != 0) { \
		failures++; \
		printf("%s:%d:\n  told   %s\n  wanted %s\n", __FILE__, __LINE__, told, \
		       expected); \
	} \
} while (0)

static void check_stats(struct world *w, uint64_t calls, uint64_t events, uint64_t lost)
{
	struct reader_stats s;

	reader_stats(w->reader, &s);
	CHECK_EQ(s.calls, calls);
	CHECK_EQ(s.events, events);
	CHECK_EQ(s.lost, lost);
	CHECK_EQ(s.damaged, 0);
}

/* One that begins in one thread and ends in another is told as the first one's, behind what was
 * told within it. */
static void test_threads(void)
{
	struct world w;

	begin(&w, 2, "duration > 1ns && duration < 60m");
	world_ext(&w, 0, EXT_STACK, goroutine(G1), 1);
	put_deep(&w, 0, REC_ENTRY, READ, 1000, 16);
	put_deep(&w, 0, REC_ENTRY, ACCEPT, 2000, 64);
	CHECK_SAID(&w, "1+accept");
	check_stats(&w, 1, 1, 0);
	world_ext(&w, 1, EXT_STACK, goroutine(G1), 500000000);
	put_deep(&w, 1, REC_EXIT, ACCEPT, 500000001, 64);
	put_deep(&w, 1, REC_EXIT, READ, 500001000, 16);
	CHECK_SAID(&w, "2-accept 1+read@1000 1-read");
	check_stats(&w, 2, 4, 0);
	world_end(&w);
}

/* Both that do not pass are as if they were not. */
static void test_short(void)
{
	struct world w;

	begin(&w, 1, "duration > 60m");
	world_ext(&w, 0, EXT_STACK, goroutine(G1), 1);
	put_deep(&w, 0, REC_ENTRY, READ, 2, 16);
	put_deep(&w, 0, REC_ENTRY, WAIT, 3, 64);
	put_deep(&w, 0, REC_EXIT, WAIT, 4, 64);
	put_deep(&w, 0, REC_EXIT, READ, 5, 16);
	CHECK_SAID(&w, "");
	check_stats(&w, 0, 0, 0);
	world_end(&w);
}

/* A call that a panic has left has no result, but it has taken its time. */
static void test_left(const char *expr, const char *expected, uint64_t calls)
{
	struct world w;

	begin(&w, 1, expr);
	world_ext(&w, 0, EXT_STACK, goroutine(G1), 1);
	put_deep(&w, 0, REC_ENTRY, ACCEPT, 2, 16);
	put_deep(&w, 0, REC_ENTRY, READ, 1000, 64);
	put_deep(&w, 0, REC_EXIT, ACCEPT, 900000, 16);
	CHECK_SAID(&w, expected);
	check_stats(&w, calls, calls > 1 ? 3 : 2, 0);
	world_end(&w);
}

/* Of one whose end is not recorded nothing is known but that it was: it is lost. */
static void test_lost(void)
{
	struct world w;

	begin(&w, 1, "duration > 1ns");
	world_put(&w, 0, REC_ENTRY, ACCEPT, 2);
	world_put(&w, 0, REC_ENTRY, READ, 3);
	world_put(&w, 0, REC_EXIT, ACCEPT, 900000);
	CHECK_SAID(&w, "1+accept 1-accept");
	check_stats(&w, 1, 2, 1);
	world_end(&w);
}

/* Calls around one that passes are told before it, as far as they will pass, too. */
static void test_around(const char *expr, const char *expected)
{
	struct world w;

	begin(&w, 1, expr);
	world_ext(&w, 0, EXT_STACK, goroutine(G1), 1);
	put_deep(&w, 0, REC_ENTRY, READ, 1000, 16);
	put_deep(&w, 0, REC_ENTRY, READ, 2000, 64);
	put_deep(&w, 0, REC_ENTRY, WAIT, 3000, 128);
	put_deep(&w, 0, REC_EXIT, WAIT, 900000, 128);
	put_deep(&w, 0, REC_EXIT, READ, 900001, 64);
	put_deep(&w, 0, REC_EXIT, READ, 900002, 16);
	CHECK_SAID(&w, expected);
	check_stats(&w, 3, 6, 0);
	world_end(&w);
}

/* One that hangs, and will pass, is told before its end, and once. */
static void test_hangs(void)
{
	struct world w;

	begin(&w, 2, "duration > 1ns");
	world_ext(&w, 0, EXT_STACK, goroutine(G1), 1);
	put_deep(&w, 0, REC_ENTRY, READ, 1000, 16);
	put_deep(&w, 0, REC_ENTRY, WAIT, 1001, 64);
	CHECK_SAID(&w, "1+read@1000 1+wait@1001");
	check_stats(&w, 2, 2, 0);
	CHECK_SAID(&w, "");
	world_ext(&w, 1, EXT_STACK, goroutine(G1), 500000000);
	put_deep(&w, 1, REC_EXIT, WAIT, 500000999, 64);
	put_deep(&w, 1, REC_ENTRY, WAIT, 500001000, 64);
	put_deep(&w, 1, REC_EXIT, WAIT, 500002000, 64);
	put_deep(&w, 1, REC_EXIT, READ, 500003000, 16);
	CHECK_SAID(&w, "2-wait 2+wait@500001000 2-wait 2-read");
	check_stats(&w, 3, 6, 0);
	world_end(&w);
}

/* Its end may have its time already, and not be in the ring yet: what has just been open for long
 * enough need not pass. False: this thread was put aside for too long to tell. */
static bool test_hangs_later(void)
{
	const struct timespec most = { 0, 130000000 };
	struct timespec began, looked;
	struct world w;

	clock_gettime(CLOCK_MONOTONIC, &began);
	begin(&w, 1, "duration > 110ms");
	world_ext(&w, 0, EXT_STACK, goroutine(G1), 1);
	put_deep(&w, 0, REC_ENTRY, READ, reader_now() - w.base, 16);
	nanosleep(&most, NULL);
	told[0] = '\0';
	reader_drain(w.reader, false, tell, &w);
	clock_gettime(CLOCK_MONOTONIC, &looked);
	bool early = (looked.tv_sec - began.tv_sec) * 1000 +
		(looked.tv_nsec - began.tv_nsec) / 1000000 < 200;

	CHECK(!early || !*told);
	nanosleep(&most, NULL);
	reader_drain(w.reader, false, tell, &w);
	CHECK(strncmp(told, "1+read@", 7) == 0);
	world_end(&w);
	return early;
}

/* But not one within which another is told already, which it would seem to be in. */
static void test_hangs_around(void)
{
	struct world w;

	begin(&w, 1, "duration > 1ns");
	world_ext(&w, 0, EXT_STACK, goroutine(G1), 1);
	put_deep(&w, 0, REC_ENTRY, READ, 1000, 16);
	put_deep(&w, 0, REC_ENTRY, ACCEPT, 2000, 64);
	put_deep(&w, 0, REC_ENTRY, WAIT, 3000, 128);
	put_deep(&w, 0, REC_EXIT, WAIT, 4000, 128);
	put_deep(&w, 0, REC_ENTRY, WAIT, 5000, 128);
	CHECK_SAID(&w, "1+accept 1+wait@3000 1-wait 1+wait@5000");
	put_deep(&w, 0, REC_EXIT, WAIT, 500000000, 128);
	put_deep(&w, 0, REC_EXIT, ACCEPT, 500000001, 64);
	put_deep(&w, 0, REC_EXIT, READ, 500000002, 16);
	CHECK_SAID(&w, "1-wait 1-accept 1+read@1000 1-read");
	check_stats(&w, 4, 8, 0);
	world_end(&w);
}

/* What is open is not told while it may still fail. */
static void test_open(void)
{
	struct world w;

	begin(&w, 1, "depth == 2 && duration > 1ns && duration < 60m");
	world_ext(&w, 0, EXT_STACK, goroutine(G1), 1);
	put_deep(&w, 0, REC_ENTRY, READ, 2, 16);
	put_deep(&w, 0, REC_ENTRY, WAIT, 3, 64);
	put_deep(&w, 0, REC_ENTRY, READ, 4, 128);
	world_ext(&w, 0, EXT_STACK, goroutine(G2), 5);
	put_deep(&w, 0, REC_ENTRY, ACCEPT, 6, 16);
	put_deep(&w, 0, REC_ENTRY, READ, 7, 64);
	put_deep(&w, 0, REC_EXIT, READ, 900000, 64);
	CHECK_SAID(&w, "1+accept 1+read@7 1-read");
	check_stats(&w, 2, 3, 0);
	world_end(&w);
}

/* There is room for so many, and what is beyond is lost; when they are over there is room again. */
static void test_many(void)
{
	const uint64_t each = 10000, rounds = 100;
	struct reader_stats before, after;
	struct world w;

	begin(&w, 1, "duration > 60m");
	world_ext(&w, 0, EXT_STACK, goroutine(G1), 1);
	for (uint64_t i = 0; i < rounds * each; i++) {
		if ((size_t)((uint8_t *)w.cur[0] - (uint8_t *)w.sub[0]) > SUBBUF_SIZE - 64) {
			world_close(&w, 0);
			CHECK(world_begin(&w, 0, 2));
			w.sub[0]->stack = (uint32_t)goroutine(G1);
		}
		put_deep(&w, 0, REC_ENTRY, READ, 2, 16 + i * 16);
		if (i % each == 0)
			reader_drain(w.reader, false, tell, &w);
	}
	reader_drain(w.reader, false, tell, &w);
	reader_stats(w.reader, &before);
	CHECK(before.lost > 0 && before.lost < rounds * each);
	CHECK_EQ(before.calls, 0);
	/* The outermost one ends, and all within it with that. */
	put_deep(&w, 0, REC_EXIT, READ, 3, 16);
	put_deep(&w, 0, REC_ENTRY, READ, 4, 16);
	put_deep(&w, 0, REC_EXIT, READ, 5, 16);
	reader_drain(w.reader, false, tell, &w);
	reader_stats(w.reader, &after);
	CHECK_EQ(after.lost, before.lost);
	CHECK_EQ(after.events, 0);
	world_end(&w);
}

int main(void)
{
	test_threads();
	test_short();
	test_left("duration > 1ns", "1+accept 1+read@1000 1!read 1-accept", 2);
	test_left("duration > 1ns && caller == 0x1000", "1+accept 1-accept", 1);
	test_left("duration > 60m", "1+accept 1-accept", 1);
	test_around("duration > 1ns", "1+read@1000 1+read@2000 1+wait@3000 1-wait 1-read 1-read");
	test_around("duration > 1ns && duration < 60m",
		    "1+wait@3000 1-wait 1+read@2000 1-read 1+read@1000 1-read");
	test_hangs();
	bool looked = false;
	for (int tries = 0; tries < 20 && !looked; tries++)
		looked = test_hangs_later();
	CHECK(looked);
	test_hangs_around();
	test_lost();
	test_open();
	test_many();
	return failures != 0;
}
