/* SPDX-License-Identifier: MIT */
/* Does a recording of hours stay right, though real time changes its pace? */
#include "tests/unit/trace_world.h"

static char path[] = "/tmp/inject-clock-XXXXXX";

static void note(void *ctx, const char *text)
{
	printf("%s\n", text);
	CHECK(!text);
}

#define SECOND 1000000000ull
#define DAYTIME (1700000000ull * SECOND)	/* of tick 0 */

enum { HOURS_3 = 10800, PACE = 600 };

/* Real time runs for ten minutes 100 ppm too fast, then as much too slow. */
static uint64_t real_ns(uint64_t ticks)
{
	uint64_t ns = ticks / 2, phase = ns % (2 * PACE * SECOND);
	uint64_t fast = MIN(phase, 2 * PACE * SECOND - phase);

	return DAYTIME + ns + fast / 10000;
}

static void record_hours(void)
{
	struct about about = world_about();
	struct record_options o = { .clock = &about.clock };
	struct event e = { .tid = 4121, .kind = EVENT_MARK, .func = WORLD_MARK };
	struct record *r = NULL;

	about.clock = (struct clock){ .ticks = 2, .realtime = real_ns(2) };
	CHECK_EQ(record_new(path, &o, &about, &r), 0);
	for (uint64_t second = 1; second <= HOURS_3; second++) {
		e.tsc = second * 2 * SECOND;
		about.clock.run_ticks = e.tsc - 2;
		about.clock.run_ns = real_ns(e.tsc) - real_ns(2);
		CHECK_EQ(record_event(r, &e), 0);
		CHECK_EQ(record_flush(r, &about), 0);
	}
	about.end = e.tsc;
	CHECK_EQ(record_end(r, &about), 0);
	record_free(r);
}

/* How far is any moment from what is right? None is before an earlier one. */
static uint64_t worst_of(const struct clock *c)
{
	uint64_t before = 0, worst = 0;

	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t ticks = 2 + i * (HOURS_3 * 2 * SECOND / 100000);
		uint64_t ns = clock_realtime(c, ticks), want = real_ns(ticks);

		CHECK(ns >= before);
		before = ns;
		worst = MAX(worst, MAX(ns, want) - MIN(ns, want));
	}
	return worst;
}

static void test_clock(void)
{
	struct archive *a = NULL;
	struct clock c;

	CHECK_EQ(archive_open(path, note, NULL, &a), 0);
	c = archive_about(a)->clock;
	CHECK(c.npairs > 1000 && c.npairs < 5000);
	CHECK(worst_of(&c) < SECOND / 1000);
	/* Or it were no test. */
	c.npairs = 0;
	CHECK(worst_of(&c) > SECOND / 100);
	archive_close(a);
}

/* A packet whose clock is damaged spoils nothing but the time around it. */
static void test_damaged(void)
{
	static const uint64_t wrong[][2] = {
		{ 0, 0 }, { 1, 1 }, { UINT64_MAX, UINT64_MAX }, { UINT64_MAX, 1 },
		{ 4, UINT64_MAX },
	};
	char file[64];
	struct archive *a = NULL;
	int fd;

	snprintf(file, sizeof(file), "%s/stream_0", path);
	fd = open(file, O_WRONLY);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		off_t at = (off_t)(i * 1000 * (sizeof(struct packet) + 16) +
				   offsetof(struct packet, clock_ticks));

		CHECK_EQ(pwrite(fd, wrong[i], 16, at), 16);
	}
	close(fd);
	CHECK_EQ(archive_open(path, note, NULL, &a), 0);
	CHECK(worst_of(&archive_about(a)->clock) < SECOND / 1000);
	archive_close(a);
}

int main(void)
{
	CHECK(mkdtemp(path));
	record_hours();
	test_clock();
	test_damaged();
	world_remove(path);
	return failures != 0;
}
