/* SPDX-License-Identifier: MIT */
/*
 * sleeper [N]: N threads that sleep nearly always: what does an attach cost
 * and disturb in a process that waits? Each wakes every 20 ms for one call.
 *
 *	call	-> called M	each thread makes ten calls more, M in all
 */
#include <pthread.h>

#include "tests/victims/victim.h"

PROBED uint64_t sleeper_work(uint64_t x)
{
	return x * 2654435761u + 17;
}

enum { ROUND = 10 };

static int nthreads = 2;
static uint64_t asked, made;	/* rounds; calls */

/* Made when asked for, and by no other code. */
PROBED uint64_t sleeper_counted(uint64_t x)
{
	return x ^ 1;
}

static void command(const char *word)
{
	uint64_t want = __atomic_load_n(&made, __ATOMIC_ACQUIRE) + (uint64_t)nthreads * ROUND;

	if (strcmp(word, "call")) {
		victim_say("what is %s?", word);
		return;
	}
	__atomic_fetch_add(&asked, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&made, __ATOMIC_ACQUIRE) < want)
		victim_sleep_us(1000);
	victim_say("called %d", nthreads * ROUND);
}

static void *sleeper_run(void *arg)
{
	uint64_t x = (uintptr_t)arg, rounds = 0;

	for (;;) {
		uint64_t want = x * 2654435761u + 17;

		x = sleeper_work(x);
		if (x != want)
			victim_wrong("sleeper_work");
		if (rounds < __atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
			rounds++;
			for (int i = 0; i < ROUND; i++)
				sleeper_counted(x);
			/* They have returned. */
			__atomic_fetch_add(&made, ROUND, __ATOMIC_RELEASE);
		}
		victim_count();
		victim_sleep_us(20000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	nthreads = argc > 1 ? atoi(argv[1]) : nthreads;
	for (int i = 0; i < nthreads; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, sleeper_run, (void *)(uintptr_t)i))
			return 1;
	}
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	return victim_errors != 0;
}
