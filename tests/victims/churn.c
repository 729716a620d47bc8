/* SPDX-License-Identifier: MIT */
/*
 * churn [N]: N threads, each of which lives for a few calls and is replaced by
 * the next: does the attach find all threads of a process that never holds
 * still, and are rings of the dead used again?
 *
 *	main	-> main TID	the main thread, which lives on, has made its call
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "tests/victims/victim.h"

PROBED uint64_t churn_inner(uint64_t x)
{
	return x * 31 + 7;
}

PROBED uint64_t churn_work(uint64_t x)
{
	return churn_inner(x) + churn_inner(x + 3);
}

PROBED uint64_t churn_main(uint64_t x)
{
	return x * 17 + 5;
}

static void on_command(const char *command)
{
	(void)command;
	if (churn_main(3) != 56)
		victim_wrong("churn_main");
	victim_say("main %ld", syscall(SYS_gettid));
}

static void *short_life(void *arg)
{
	uint64_t x = (uintptr_t)arg;

	for (int i = 0; i < 20; i++, x += 5)
		if (churn_work(x) != 62 * x + 107)
			victim_wrong("churn_work");
	victim_count();
	return NULL;
}

static void *breed(void *arg)
{
	for (uintptr_t i = 1;; i++) {
		pthread_t t[3];

		for (int k = 0; k < 3; k++)
			if (pthread_create(&t[k], NULL, short_life, (void *)i))
				victim_wrong("pthread_create");
		for (int k = 0; k < 3; k++)
			pthread_join(t[k], NULL);
		victim_sleep_us(300);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t t;

	for (int i = 0; i < n; i++)
		if (pthread_create(&t, NULL, breed, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, on_command))
		;
	return victim_errors != 0;
}
