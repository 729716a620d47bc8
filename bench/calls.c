/* SPDX-License-Identifier: MIT */
/*
 * calls: what does one call cost, in a process that a tracer may be tracing?
 *
 *	bursts	-> call NS floor NS
 *	flood	-> the same, without pauses
 *	recursion, depth, leaf	-> as bursts, of other shapes: a function that calls
 *		itself twice; 30 that are open at once; one below 16 callers
 *		that no tracer traces, whose cost is in all numbers
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

enum { BURST = 1000, TREE = 12, DEEP = 30, CALLERS = 16, BURSTS = 201, FLOOD_MS = 1000 };

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

static inline __attribute__((always_inline)) void stamp(bool floor)
{
	if (floor)
		*cursor++ = __builtin_ia32_rdtsc();
}

/* The other shapes, once to be traced and once as the floor; they begin with a
 * push, too (kernels emulate that, and step over much else, which takes longer).
 * Each returns how many calls it has made. */
#define SHAPES(name, kind, floor) \
	kind uint64_t name##_tree(uint64_t n) \
	{ \
		uint64_t made = 1; \
		asm volatile("" : "+r"(made) : : "rbx"); \
		stamp(floor); \
		if (n > 1) \
			made += name##_tree(n - 1) + name##_tree(n - 2); \
		asm volatile("" : "+r"(made)); \
		stamp(floor); \
		return made; \
	} \
	kind uint64_t name##_deep(uint64_t n) \
	{ \
		uint64_t made = 1; \
		asm volatile("" : "+r"(made) : : "rbx"); \
		stamp(floor); \
		if (n > 1) \
			made += name##_deep(n - 1); \
		asm volatile("" : "+r"(made)); \
		stamp(floor); \
		return made; \
	} \
	UNPROFILED static uint64_t under_##name(uint64_t callers) \
	{ \
		uint64_t made = 1; \
		if (callers) \
			made = under_##name(callers - 1); \
		else \
			name##_call(1); \
		asm volatile("" : "+r"(made)); \
		return made; \
	}

SHAPES(bench, PROBED, false)
SHAPES(floor, UNPROFILED static, true)

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

/* About as many calls, of a shape that says how many it is. */
UNPROFILED static double shape_burst(uint64_t (*shape)(uint64_t), uint64_t arg)
{
	uint64_t made = 0;
	double begin;

	cursor = ring;
	begin = now_ns(CLOCK_MONOTONIC);
	while (made <= BURST / 2)
		made += shape(arg);
	return (now_ns(CLOCK_MONOTONIC) - begin) / made;
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

UNPROFILED static double shape_median(uint64_t (*shape)(uint64_t), uint64_t arg)
{
	static double ns[BURSTS];

	for (int i = 0; i < BURSTS; i++) {
		victim_sleep_us(2000);
		shape_burst(shape, arg);
		ns[i] = shape_burst(shape, arg);
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
	else if (strcmp(word, "recursion") == 0)
		victim_say("call %.2f floor %.2f", shape_median(bench_tree, TREE),
			   shape_median(floor_tree, TREE));
	else if (strcmp(word, "depth") == 0)
		victim_say("call %.2f floor %.2f", shape_median(bench_deep, DEEP),
			   shape_median(floor_deep, DEEP));
	else if (strcmp(word, "leaf") == 0)
		victim_say("call %.2f floor %.2f", shape_median(under_bench, CALLERS),
			   shape_median(under_floor, CALLERS));
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
