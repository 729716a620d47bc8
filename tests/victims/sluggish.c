/* SPDX-License-Identifier: MIT */
/*
 * sluggish: calls of which one now and then takes long, while other threads call others
 * as fast as they can.
 *
 *	slow MS	-> slowed	one call of slug_call sleeps so long
 */
#include <pthread.h>

#include "tests/victims/victim.h"

static int wanted;		/* ms that the next call is to take */

PROBED uint64_t slug_step(uint64_t x)
{
	return x * 48271 % 2147483647;
}

PROBED uint64_t slug_before(uint64_t x)
{
	return slug_step(x) + 1;
}

PROBED uint64_t slug_after(uint64_t x)
{
	return slug_step(x) - 1;
}

PROBED uint64_t slug_call(uint64_t x, int ms)
{
	if (ms)
		victim_sleep_us(1000l * ms);
	return slug_step(x);
}

static void *serve(void *arg)
{
	for (uint64_t x = 1;; x++) {
		int ms = __atomic_exchange_n(&wanted, 0, __ATOMIC_RELAXED);
		uint64_t a = slug_before(x), b = slug_call(x, ms), c = slug_after(x);

		if (a != b + 1 || c + 1 != b)
			victim_wrong("slug_call");
		if (ms)
			victim_say("slowed");
		victim_count();
		victim_sleep_us(200);
	}
	return arg;
}

static void *flood(void *arg)
{
	for (uint64_t x = 1;; x++)
		if (slug_step(x) != x * 48271 % 2147483647)
			victim_wrong("slug_step");
	return arg;
}

static void obey(const char *command)
{
	int ms;

	if (sscanf(command, "slow %d", &ms) == 1)
		__atomic_store_n(&wanted, ms, __ATOMIC_RELAXED);
}

int main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, serve, NULL) || pthread_create(&t, NULL, flood, NULL))
		return 1;
	victim_say("ready");
	while (victim_poll(1000, obey))
		;
	return victim_errors != 0;
}
