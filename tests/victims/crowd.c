/* SPDX-License-Identifier: MIT */
/*
 * crowd: a process of one thread, and of many for a moment. Does each of them record?
 *
 *	main N	-> called N	N calls of the main thread
 *	crowd N	-> called M	the calls of N threads that were all there at a time
 */
#include <pthread.h>

#include "tests/victims/victim.h"

enum { EACH = 40, STACK = 256 << 10 };	/* the C library keeps so small ones for the next */

static pthread_barrier_t all;

PROBED uint64_t crowd_call(uint64_t x)
{
	return x * 13 + 3;
}

static void call(int n)
{
	for (int i = 0; i < n; i++)
		if (crowd_call((uint64_t)i) != (uint64_t)i * 13 + 3)
			victim_wrong("crowd_call");
}

static void *one(void *unused)
{
	pthread_barrier_wait(&all);
	call(EACH);
	pthread_barrier_wait(&all);
	return unused;
}

static void crowd(int n)
{
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));
	pthread_attr_t attr;

	if (!threads || pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, STACK) ||
	    pthread_barrier_init(&all, NULL, (unsigned int)n))
		_exit(2);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], &attr, one, NULL))
			_exit(3);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&all);
	pthread_attr_destroy(&attr);
	free(threads);
	victim_say("called %d", n * EACH);
}

static void command(const char *word)
{
	int n;

	if (sscanf(word, "main %d", &n) == 1) {
		call(n);
		victim_say("called %d", n);
	} else if (sscanf(word, "crowd %d", &n) == 1 && n > 0) {
		crowd(n);
	} else {
		victim_say("what is %s?", word);
	}
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(2, command))
		victim_count();
	return victim_errors != 0;
}
