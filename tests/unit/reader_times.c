/* SPDX-License-Identifier: MIT */
/* When was it, and how far does the reader tell? */
#include "tests/unit/reader_world.h"

/* Its clock has passed the end of an epoch, which the machine's need not have: it counts from
 * when that was switched on. (The linker leads calls of arch_ticks to this one.) */
uint64_t __real_arch_ticks(void);
uint64_t __wrap_arch_ticks(void);

uint64_t __wrap_arch_ticks(void)
{
	return __real_arch_ticks() + (1ull << REC_TIME_BITS);
}

/* Ticks after `tsc` that a word's 40 bits can tell. */
static uint64_t ticks_left(uint64_t tsc)
{
	return ~tsc & ((1ull << REC_TIME_BITS) - 1);
}

/* What is recorded after the pass began may have something before it. */
static void test_horizon(void)
{
	struct world w;
	uint64_t far;

	/* Not so near to the next epoch that we might come to it. */
	while (ticks_left(reader_now()) < 1ull << 35)
		usleep(100000);
	world_make(&w, 1, 2);
	w.base = reader_now();
	far = ticks_left(w.base);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	world_put(&w, 0, REC_ENTRY, READ, 1);
	world_put(&w, 0, REC_EXIT, READ, far);
	CHECK_TOLD(&w, false, "0+read");
	/* It was read a pass ago, so it cannot lie ahead: a lie. */
	CHECK_TOLD(&w, false, "0-read");
	world_put(&w, 0, REC_ENTRY, READ, far);
	CHECK_TOLD(&w, true, "0+read");
	world_end(&w);
}

static void test_limit(void)
{
	struct world w;

	world_make(&w, 1, 2);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	for (int i = 0; i < 3; i++)
		world_ext(&w, 0, EXT_MARK, LOG, (uint64_t)i);
	reader_limit(w.reader, 2, 0);
	CHECK_TOLD(&w, true, "0.log 0.log");
	CHECK_EQ(reader_reached(w.reader), w.base + 2);
	world_ext(&w, 0, EXT_MARK, LOG, 9);
	CHECK_TOLD(&w, true, "0.log 0.log");
	CHECK_TOLD(&w, true, "");
	CHECK(reader_reached(w.reader) > w.base + 9);
	world_end(&w);
}

static int slowly(void *ctx, const struct event *e)
{
	(void)ctx;
	(void)e;
	usleep(1000);
	return 0;
}

/* What takes its time is left off, and gone on with. */
static void test_time_limit(void)
{
	enum { EVENTS = 300 };
	int64_t all = 0, n, drains = 0;
	struct world w;

	world_make(&w, 1, 2);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	for (int i = 0; i < EVENTS; i++)
		world_ext(&w, 0, EXT_MARK, LOG, (uint64_t)i);
	reader_limit(w.reader, 0, 1000000);
	do {
		n = reader_drain(w.reader, true, slowly, NULL);
		all += n;
		drains += n > 0;
		CHECK(n >= 0 && n < EVENTS);
		CHECK_EQ(reader_is_cut(w.reader), all < EVENTS);
	} while (n > 0);
	CHECK_EQ(all, EVENTS);
	CHECK(drains > 2);
	world_end(&w);
}

/* An epoch ends: times of two sub-buffers have other high bits. */
static void test_epochs(void)
{
	struct world w;

	world_make(&w, 1, 4);
	w.base = (reader_now() >> REC_TIME_BITS << REC_TIME_BITS) - 100;
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	world_put(&w, 0, REC_ENTRY, READ, 50);
	world_close(&w, 0);
	world_begin(&w, 0, 150);
	world_put(&w, 0, REC_EXIT, READ, 160);
	CHECK_TOLD(&w, false, "0+read 0-read");
	CHECK_EQ(w.reader->lanes[0].last, w.base + 160);
	world_end(&w);
}

static void test_clock(void)
{
	struct world w;
	uint64_t a, b, ns;

	world_make(&w, 1, 2);
	world_read(&w, 0);
	a = reader_now();
	usleep(20000);
	b = reader_now();
	world_drain(&w, false);
	ns = clock_ns(reader_clock(w.reader), b - a);
	CHECK(ns > 19900000 && ns < 500000000);
	CHECK(clock_realtime(reader_clock(w.reader), b) -
	      clock_realtime(reader_clock(w.reader), a) - ns + 2 < 4);
	world_end(&w);
}

int main(void)
{
	test_horizon();
	test_limit();
	test_time_limit();
	test_epochs();
	test_clock();
	return failures != 0;
}
