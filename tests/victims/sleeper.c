/* SPDX-License-Identifier: MIT */
/* sleeper [N]: N threads that sleep nearly always: what does an attach cost
 * and disturb in a process that waits? Each wakes every 20 ms for one call. */
#include <pthread.h>

#include "tests/victims/victim.h"

PROBED uint64_t sleeper_work(uint64_t x)
{
	return x * 2654435761u + 17;
}

static void *sleeper_run(void *arg)
{
	uint64_t x = (uintptr_t)arg;

	for (;;) {
		uint64_t want = x * 2654435761u + 17;

		x = sleeper_work(x);
		if (x != want)
			victim_wrong("sleeper_work");
		victim_count();
		victim_sleep_us(20000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;

	for (int i = 0; i < n; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, sleeper_run, (void *)(uintptr_t)i))
			return 1;
	}
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}
