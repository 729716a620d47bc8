/* SPDX-License-Identifier: MIT */
/*
 * captures: what does a call cost of which values are read, in a process that a tracer may trace?
 *
 *	int, ints, stack_text, heap_text, deep, mark	-> call NS floor NS
 *
 * As bench/calls.c has it: the median of many bursts, and the floor is the same call with two time
 * stamps and two stores. With -DLTTNG the calls have events of LTTng-UST with the same values.
 */
#include <sys/sdt.h>
#include <time.h>

#include "tests/victims/victim.h"

#ifdef LTTNG
#include "captures_lttng.h"
#define EVENT_INT(x) lttng_ust_tracepoint(captures, number, x)
#define EVENT_TEXT(s) lttng_ust_tracepoint(captures, text, s)
#else
#define EVENT_INT(x) ((void)(x))
#define EVENT_TEXT(s) ((void)(s))
#endif

#define BARE __attribute__((noinline, noclone))

enum { BURST = 1000, BURSTS = 151, CALLERS = 6 };

static uint64_t ring[2 * BURST], *cursor = ring;
static char *heap_text, *stack_text;

PROBED int bench_int(int number)
{
	asm volatile("" : "+r"(number) : : "rbx", "memory");
	EVENT_INT(number);
	return number + 1;
}

PROBED long bench_ints(long a, long b)
{
	asm volatile("" : "+r"(a) : : "rbx", "memory");
	return a + b;
}

PROBED int bench_text(const char *text)
{
	asm volatile("" : "+r"(text) : : "rbx", "memory");
	EVENT_TEXT(text);
	return *text;
}

PROBED int bench_mark(int number)
{
	asm volatile("" : "+r"(number) : : "rbx", "memory");
	DTRACE_PROBE2(captures, number, number, number + 1L);
	return number;
}

BARE static int floor_call(int number)
{
	*cursor++ = __builtin_ia32_rdtsc();
	asm volatile("" : "+r"(number) : : "rbx", "memory");
	*cursor++ = __builtin_ia32_rdtsc();
	return number + 1;
}

BARE static long run_int(int i) { return bench_int(i); }
BARE static long run_ints(int i) { return bench_ints(i, i + 1L); }
BARE static long run_stack(int i) { return bench_text(stack_text); }
BARE static long run_heap(int i) { return bench_text(heap_text); }
BARE static long run_mark(int i) { return bench_mark(i); }
BARE static long run_floor(int i) { return floor_call(i); }

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

BARE static double burst(long (*run)(int))
{
	long sum = 0;
	double begin;

	cursor = ring;
	begin = now_ns();
	for (int i = 0; i < BURST; i++)
		sum += run(i);
	asm volatile("" : : "r"(sum));
	return (now_ns() - begin) / BURST;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(long (*run)(int))
{
	static double ns[BURSTS];

	for (int i = 0; i < BURSTS; i++) {
		victim_sleep_us(2000);
		burst(run);
		ns[i] = burst(run);
	}
	qsort(ns, BURSTS, sizeof(*ns), ascending);
	return ns[BURSTS / 2];
}

/* Under so many callers that stacks have eight and more. */
BARE static double under(int callers, long (*run)(int))
{
	double ret = callers ? under(callers - 1, run) : median(run);

	asm volatile("" : "+x"(ret));
	return ret;
}

static void on_command(const char *line)
{
	static const struct { const char *name; long (*run)(int); } runs[] = {
		{ "int", run_int }, { "ints", run_ints }, { "stack_text", run_stack },
		{ "heap_text", run_heap }, { "deep", run_int }, { "mark", run_mark },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		if (!strcmp(line, runs[i].name)) {
			double floor = median(run_floor);
			double ns = under(strcmp(line, "deep") ? 0 : CALLERS, runs[i].run);

			victim_say("call %.1f floor %.1f", ns, floor);
		}
}

int main(void)
{
	char text[] = "a text of thirty-two characters!";

	stack_text = text;
	heap_text = strdup(text);
	victim_say("ready");
	while (victim_poll(20, on_command))
		;
	return 0;
}
