/* SPDX-License-Identifier: MIT */
/* What is told of durations of which only counts by powers of two are known: above all of the
 * longest, of which there is but a least? */
#include <stdio.h>
#include <string.h>

#include "injector/show/counts.h"
#include "tests/unit/check.h"

#define LEAST 6442450944ull	/* of the last bucket */
#define NS_PER_S 1000000000ull

static const struct clock ns = { .run_ns = 1000, .run_ticks = 1000 };

static void add(struct timing *t, uint64_t duration, uint64_t n)
{
	t->buckets[timing_bucket(duration)] += n;
	t->total += n * duration;
	t->most = MAX(t->most, duration);
}

static void percentiles(void)
{
	struct timing t = { 0 };

	add(&t, 7 * NS_PER_S, 10);
	add(&t, 45 * NS_PER_S, 1);
	CHECK_EQ(timing_from(BUCKETS - 1), LEAST);
	CHECK_EQ(timing_percentile(&t, &ns, 50), LEAST);
	CHECK_EQ(timing_percentile(&t, &ns, 99), LEAST);
	add(&t, 1000, 50);
	CHECK(timing_percentile(&t, &ns, 50) >= 768 && timing_percentile(&t, &ns, 50) <= 1024);
	CHECK_EQ(timing_percentile(&t, &ns, 99), LEAST);
}

/* The lines of a histogram. */
static void prints(const struct timing *t, const char *want)
{
	static const struct reader_func f = { .name = "f", .module = "exe" };
	char got[1024] = "", path[] = "hist.out";
	struct output *out;
	FILE *file;

	MUST_EQ(output_open(path, &out), 0);
	timing_print(&f, timing_ended(t), t, NULL, &ns, false, out);
	MUST_EQ(output_finish(out, NULL), 0);
	output_close(out);
	file = fopen(path, "r");
	MUST(file);
	got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
	fclose(file);
	remove(path);
	if (strcmp(got, want)) {
		failures++;
		fprintf(stderr, "it prints:\n%sand not:\n%s", got, want);
	}
}

static void lines(void)
{
	struct timing t = { 0 };

	add(&t, 5 * NS_PER_S, 1);
	add(&t, 7 * NS_PER_S, 3);
	prints(&t, "# f: 4 calls; average 6.500  s, p50 over 6.442  s, p99 over 6.442  s, longest 7.000  s\n"
		   "    4.294  s             1  #############\n"
		   "    6.442  s+            3  ########################################\n");
	memset(&t, 0, sizeof(t));
	add(&t, 20, 1);
	add(&t, 30, 1);
	prints(&t, "# f: 2 calls; average 0.025 us, p50 0.024 us, p99 0.029 us, longest 0.030 us\n"
		   "    0.016 us             2  ########################################\n");
}

int main(void)
{
	percentiles();
	lines();
	return failures != 0;
}
