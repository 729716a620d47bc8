/* SPDX-License-Identifier: MIT */
/*
 * calls: what does one call cost, in a process that somebody may be tracing?
 *
 *	measure	-> call NS floor NS
 *
 * Calls come in bursts that any tracer's buffer holds, with pauses in which it
 * is emptied, so that what is measured is recording and not dropping. The
 * floor is the same call with the least that can be recorded compiled in: two
 * time stamps and two stores. Of many bursts the median counts.
 */
#include <time.h>

#ifndef __clang__
#define UNPROFILED __attribute__((no_instrument_function, noinline, noipa))
#else
#define UNPROFILED __attribute__((no_instrument_function, noinline))
#endif

#include "tests/victims/victim.h"

enum { BURST = 1000, BURSTS = 201 };

static uint64_t ring[2 * BURST];
static uint64_t *cursor = ring;

/* Begins with a push, as most functions do. */
PROBED uint64_t bench_call(uint64_t x)
{
	uint64_t y = x;

	asm volatile("" : "+r"(y) : : "rbx", "memory");
	return x + y;
}

UNPROFILED static uint64_t floor_call(uint64_t x)
{
	uint64_t y = x;

	*cursor++ = __builtin_ia32_rdtsc();
	asm volatile("" : "+r"(y) : : "rbx", "memory");
	*cursor++ = __builtin_ia32_rdtsc();
	return x + y;
}

UNPROFILED static double burst(uint64_t (*call)(uint64_t))
{
	struct timespec a, b;
	uint64_t x = 1;

	cursor = ring;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < BURST; i++)
		x = call(x);
	clock_gettime(CLOCK_MONOTONIC, &b);
	asm volatile("" : : "r"(x));
	return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / BURST;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

UNPROFILED static double median(uint64_t (*call)(uint64_t))
{
	static double ns[BURSTS];

	for (int i = 0; i < BURSTS; i++) {
		victim_sleep_us(2000);
		burst(call);	/* warm again after the sleep */
		ns[i] = burst(call);
	}
	qsort(ns, BURSTS, sizeof(*ns), ascending);
	return ns[BURSTS / 2];
}

static void command(const char *word)
{
	if (strcmp(word, "measure") == 0)
		victim_say("call %.2f floor %.2f", median(bench_call),
			   median(floor_call));
	else
		victim_say("what is %s?", word);
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	return 0;
}
