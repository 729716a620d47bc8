/* SPDX-License-Identifier: MIT */
/*
 * pollers N: so many threads wait in epoll_wait for what never comes. A command "ended" -> ended
 * CALLS: so many calls have ended.
 */
#include <pthread.h>
#include <sys/epoll.h>

#include "tests/victims/victim.h"

static uint64_t ended;

PROBED void poller_waits(int e)
{
	struct epoll_event event;

	epoll_wait(e, &event, 1, -1);
	__atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
}

static void *wait_for_ever(void *arg)
{
	int e = epoll_create1(0);

	(void)arg;
	for (;;)
		poller_waits(e);
	return NULL;
}

static void on_command(const char *line)
{
	if (!strcmp(line, "ended"))
		victim_say("ended %llu", (unsigned long long)__atomic_load_n(&ended,
									     __ATOMIC_RELAXED));
}

int main(int argc, char **argv)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	for (int n = argc > 1 ? atoi(argv[1]) : 0; n > 0; n--)
		if (pthread_create(&thread, &small, wait_for_ever, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(20, on_command))
		;
	return 0;
}
