/* SPDX-License-Identifier: MIT */
/*
 * durations: are calls found to have taken the times that they took?
 *
 *	naps	-> naps CALLS INNER OUTER LEAST_OF_LONGEST LONGEST: calls of nap_*, what
 *		they have measured themselves in all and what their caller has, in ns;
 *		the longest call, by both. Each naps for 0.1 ms at least
 *	threads	-> threads CALLS: of thread_outer; twice as many of thread_inner
 *	deep	-> deep CALLS: of deep_call, within each other
 *	left	-> left CALLS: of left_outer, and of left_inner, which do not return
 */
#include <pthread.h>
#include <setjmp.h>

#include "tests/victims/victim.h"

enum { ROUNDS = 10, THREADS = 64, CALLS = 1000, DEEP = 3000, LEFT = 500 };

static uint64_t inner, longest_inner;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

PROBED void nap_for(long us)
{
	uint64_t began = now(), took;

	victim_sleep_us(us);
	took = now() - began;
	inner += took;
	longest_inner = longer(longest_inner, took);
}

static void naps(void)
{
	static const long spans[] = { 100, 3000, 40000 };
	uint64_t outer = 0, longest = 0, calls = 0;

	inner = longest_inner = 0;
	for (int i = 0; i < ROUNDS; i++)
		for (int j = 0; j < 3; j++, calls++) {
			uint64_t began = now(), took;

			nap_for(spans[j]);
			took = now() - began;
			outer += took;
			longest = longer(longest, took);
		}
	victim_say("naps %llu %llu %llu %llu %llu", (unsigned long long)calls,
		   (unsigned long long)inner, (unsigned long long)outer,
		   (unsigned long long)longest_inner, (unsigned long long)longest);
}

PROBED uint64_t thread_inner(uint64_t x)
{
	return x * 31 + 7;
}

PROBED uint64_t thread_outer(uint64_t x)
{
	return thread_inner(x) + thread_inner(x + 3);
}

static void *work(void *arg)
{
	uint64_t x = (uintptr_t)arg;

	for (int i = 0; i < CALLS; i++, x += 5)
		if (thread_outer(x) != 62 * x + 107)
			victim_wrong("thread_outer");
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)i))
			victim_wrong("pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	victim_say("threads %d", THREADS * CALLS);
}

PROBED int deep_call(int n)
{
	volatile int below = n > 1 ? deep_call(n - 1) : 0;	/* no loop */

	return below + 1;
}

static jmp_buf env;
/* Always 1, which the compiler does not know: so both have exits. */
static volatile int leap = 1;

PROBED int left_inner(int x)
{
	if (leap)
		longjmp(env, x);
	return x + 1;
}

PROBED int left_outer(int x)
{
	return left_inner(x) + 1;
}

static void leave(void)
{
	int got = setjmp(env);

	if (!got)
		left_outer(7);
	if (got != 7)
		victim_wrong("longjmp");
}

static void left(void)
{
	for (int i = 0; i < LEFT; i++)
		leave();
	victim_say("left %d", LEFT);
}

static void on_command(const char *command)
{
	if (!strcmp(command, "naps"))
		naps();
	else if (!strcmp(command, "threads"))
		threads();
	else if (!strcmp(command, "deep"))
		victim_say("deep %d", deep_call(DEEP));
	else if (!strcmp(command, "left"))
		left();
	else
		victim_say("what is %s?", command);
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(20, on_command))
		victim_count();
	return victim_errors != 0;
}
