/* SPDX-License-Identifier: MIT */
/* recursion: does the record of open frames hold when calls nest deeper than
 * any table, and mutually? Prints nothing wrong if sums come out right. */
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
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}
