/* SPDX-License-Identifier: MIT */
/*
 * steady: is anything lost of a million calls a second and thread?
 *
 *	steady THREADS
 *	run SECONDS	-> made CALLS late MS
 *
 * A thousand calls each millisecond, whether the one before was in time or not: a
 * thread that was late makes up for it, so that the number of calls is certain. `late` is the
 * longest such delay: of a machine that is busy with other things.
 */
#include <pthread.h>

#include "tests/victims/victim.h"

enum { PER_MS = 1000, THREADS_MOST = 64 };

#define MS 1000000ull

/* Begins with a push, as most functions do. */
PROBED uint64_t steady_call(uint64_t x)
{
	uint64_t y = x;

	asm volatile("" : "+r"(y) : : "rbx", "memory");
	return x + y;
}

struct steady {
	pthread_t thread;
	uint64_t ms;		/* to run */
	uint64_t late;		/* ns */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *work(void *arg)
{
	struct steady *s = arg;
	uint64_t next = now_ns(), x = 1;

	for (uint64_t i = 0; i < s->ms; i++, next += MS) {
		struct timespec at = { (time_t)(next / 1000000000), (long)(next % 1000000000) };
		uint64_t now;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		now = now_ns();
		s->late = now > next + s->late ? now - next : s->late;
		for (int k = 0; k < PER_MS; k++)
			x = steady_call(x);
		victim_count();
	}
	return NULL;
}

static int threads = 1;

static void command(const char *word)
{
	static struct steady all[THREADS_MOST];
	uint64_t late = 0;
	int seconds;

	if (sscanf(word, "run %d", &seconds) != 1) {
		victim_say("what is %s?", word);
		return;
	}
	for (int i = 0; i < threads; i++) {
		all[i] = (struct steady){ .ms = (uint64_t)seconds * 1000 };
		if (pthread_create(&all[i].thread, NULL, work, &all[i]))
			_exit(1);
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(all[i].thread, NULL);
		late = all[i].late > late ? all[i].late : late;
	}
	victim_say("made %llu late %.1f", (unsigned long long)threads * seconds * 1000 * PER_MS,
		   (double)late / MS);
}

int main(int argc, char **argv)
{
	threads = argc > 1 ? atoi(argv[1]) : 1;
	if (threads < 1 || threads > THREADS_MOST)
		return 2;
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	return 0;
}
