/* SPDX-License-Identifier: MIT */
/*
 * profiled: functions that call each other in one way only, for a profiler to say
 * how. Built with frame pointers.
 *
 * Command "spin N": N rounds of 1000 calls, then "spun N", in the thread that was
 * there from the start.
 */
#include <pthread.h>

#include "tests/victims/victim.h"

PROBED uint64_t prof_leaf(uint64_t x)
{
	for (int i = 0; i < 20; i++)
		asm volatile("" : "+r"(x));
	return x + 1;
}

PROBED uint64_t prof_mid(uint64_t x)
{
	x = prof_leaf(x);
	x = prof_leaf(x) - 1;
	asm volatile("" : "+r"(x));
	return x;
}

PROBED uint64_t prof_top(uint64_t rounds)
{
	uint64_t x = 0;

	for (uint64_t i = 0; i < 1000 * rounds; i++)
		x = prof_mid(x);
	asm volatile("" : "+r"(x));
	return x;
}

static void command(const char *line)
{
	uint64_t n = strtoull(line + 4, NULL, 10);

	if (strncmp(line, "spin ", 5) != 0)
		victim_say("what is %s?", line);
	else if (prof_top(n) != 1000 * n)
		victim_wrong("prof_top");
	else
		victim_say("spun %llu", (unsigned long long)n);
}

static void *count(void *arg)
{
	for (;;) {
		victim_count();
		victim_sleep_us(1000);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, count, NULL))
		return 1;
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	return victim_errors != 0;
}
