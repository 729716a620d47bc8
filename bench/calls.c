/* SPDX-License-Identifier: MIT */
/*
 * calls: what does one call cost, in a process that somebody may be tracing?
 *
 *	bursts	-> call NS floor NS
 *	flood	-> the same, without pauses
 *
 * A service's calls come in bursts that any tracer's buffer holds, with pauses
 * in which it is emptied: then what is measured is recording. Of many bursts
 * the median counts. A flood is what no reader of call graphs keeps up with:
 * recording and dropping are mixed, and its mean counts. The floor is the same
 * call with the least that can be recorded compiled in: two time stamps and
 * two stores.
 */
#include <time.h>

#ifndef __clang__
#define UNPROFILED __attribute__((no_instrument_function, noinline, noipa))
#else
#define UNPROFILED __attribute__((no_instrument_function, noinline))
#endif

#include "tests/victims/victim.h"

enum { BURST = 1000, BURSTS = 201, FLOOD_MS = 1000 };

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

UNPROFILED static double now_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

UNPROFILED static double burst(uint64_t (*call)(uint64_t))
{
	uint64_t x = 1;
	double begin;

	cursor = ring;
	begin = now_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < BURST; i++)
		x = call(x);
	asm volatile("" : : "r"(x));
	return (now_ns(CLOCK_MONOTONIC) - begin) / BURST;
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

/* In processor time: the scheduler would count for many bursts. */
UNPROFILED static double mean(uint64_t (*call)(uint64_t))
{
	double begin = now_ns(CLOCK_THREAD_CPUTIME_ID), now;
	int n = 0;

	do {
		burst(call);
		n++;
		now = now_ns(CLOCK_THREAD_CPUTIME_ID);
	} while (now < begin + FLOOD_MS * 1e6);
	return (now - begin) / n / BURST;
}

static void command(const char *word)
{
	if (strcmp(word, "bursts") == 0)
		victim_say("call %.2f floor %.2f", median(bench_call),
			   median(floor_call));
	else if (strcmp(word, "flood") == 0)
		victim_say("call %.2f floor %.2f", mean(bench_call), mean(floor_call));
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
