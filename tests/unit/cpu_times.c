/* SPDX-License-Identifier: MIT */
/*
 * Is the processor time of thousands of processes that come and go counted once
 * each, whatever their numbers and in whatever turn their events are read?
 */
#include "injector/show/cpu_times.h"

#include "tests/unit/check.h"

enum { MOST = 40000 };

static uint64_t clocks[MOST];	/* 0: there is no such process */

static bool used(pid_t pid, uint64_t *ret)
{
	*ret = clocks[pid];
	return clocks[pid];
}

/* In turn, as those of busy processes are. */
static void note(struct cpu_times *s, pid_t first, pid_t step, int n)
{
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < n; i++)
			CHECK(cpu_times_note(s, first + i * step) == 0);
}

/* A thousand numbers apart, which a table of a power of two might mix up. */
static void many_at_a_time(void)
{
	struct cpu_times s = { .used = used };

	for (int i = 0; i < 32; i++)
		clocks[5 + 1024 * i] = 100;
	for (int round = 0; round < 5; round++) {
		note(&s, 5, 1024, 32);
		CHECK_EQ(cpu_times_sum(&s), 3200u);
	}
	clocks[5] = 150;
	CHECK_EQ(cpu_times_sum(&s), 3250u);
	clocks[5] = 0;
	CHECK_EQ(cpu_times_sum(&s), 3250u);
	/* Events of the one that has ended are read late, and its number again. */
	note(&s, 5, 1, 1);
	CHECK_EQ(cpu_times_sum(&s), 3250u);
	clocks[5] = 20;
	note(&s, 5, 1, 1);
	CHECK_EQ(cpu_times_sum(&s), 3270u);
	/* And again, between two looks. */
	clocks[5] = 7;
	CHECK_EQ(cpu_times_sum(&s), 3277u);
	cpu_times_clear(&s);
}

/* One after the other: the table stays small. */
static void one_by_one(void)
{
	struct cpu_times s = { .used = used };

	for (int i = 0; i < 20000; i++) {
		pid_t pid = 2 + i;

		clocks[pid] = 3;
		CHECK(cpu_times_note(&s, pid) == 0);
		CHECK_EQ(cpu_times_sum(&s), 3u * (unsigned)(i + 1));
		clocks[pid] = 0;
		CHECK_EQ(cpu_times_sum(&s), 3u * (unsigned)(i + 1));
	}
	CHECK(s.places <= 128);
	CHECK(cpu_times_note(&s, 0) == 0 && cpu_times_note(&s, -1) == 0);
	cpu_times_clear(&s);
	CHECK_EQ(cpu_times_sum(&s), 60000u);
}

int main(void)
{
	many_at_a_time();
	for (int i = 0; i < MOST; i++)
		clocks[i] = 0;
	one_by_one();
	return failures != 0;
}
