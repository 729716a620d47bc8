/* SPDX-License-Identifier: MIT */
/*
 * recursion: does the record of open frames hold when calls nest deeper than
 * any table, and mutually? Prints nothing wrong if sums come out right.
 *
 *	deep	-> deep N	N calls of deep_*, each but one inside of another
 */
#include <pthread.h>

#include "tests/victims/victim.h"

PROBED uint64_t rec_odd(uint64_t n);

PROBED uint64_t rec_even(uint64_t n)
{
	return n ? rec_odd(n - 1) + 1 : 0;
}

PROBED uint64_t rec_odd(uint64_t n)
{
	return n ? rec_even(n - 1) + 1 : 0;
}

PROBED uint64_t rec_fib(uint64_t n)
{
	return n < 2 ? n : rec_fib(n - 1) + rec_fib(n - 2);
}

/* Called when asked to, and by no other code. */
PROBED uint64_t deep_odd(uint64_t n);

PROBED uint64_t deep_even(uint64_t n)
{
	return n ? deep_odd(n - 1) + 1 : 1;
}

PROBED uint64_t deep_odd(uint64_t n)
{
	return n ? deep_even(n - 1) + 1 : 1;
}

static void command(const char *word)
{
	if (strcmp(word, "deep"))
		victim_say("what is %s?", word);
	else
		victim_say("deep %llu", (unsigned long long)deep_even(100000));
}

static void *recurse(void *arg)
{
	for (;;) {
		if (rec_even(100000) != 100000)
			victim_wrong("rec_even");
		if (rec_fib(12) != 144)
			victim_wrong("rec_fib");
		victim_count();
		victim_sleep_us(5000);
	}
	return arg;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, recurse, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	return victim_errors != 0;
}
