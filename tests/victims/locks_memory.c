/* SPDX-License-Identifier: MIT */
/*
 * locks_memory current|future|page|later: has locked its memory, and all that it will
 * ever map (future: only that, and it has mapped nothing since, so nothing of it
 * shows). Every mapping that is made in it is then brought into memory at once.
 * Or it has locked one page, as programs do that keep a secret; or it locks what it maps once it is
 * told to ("lock").
 */
#include <pthread.h>
#include <sys/mman.h>

#include "tests/victims/victim.h"

PROBED uint64_t lock_work(uint64_t x)
{
	return x * 17 + 6;
}

static void *work(void *arg)
{
	for (uint64_t x = 1;; x++) {
		if (lock_work(x) != x * 17 + 6)
			victim_wrong("lock_work");
		victim_count();
		victim_sleep_us(500);
	}
	return arg;
}

static void on_command(const char *command)
{
	(void)command;
	victim_say("lock %d", mlockall(MCL_FUTURE));
}

int main(int argc, char **argv)
{
	static char secret[4096] __attribute__((aligned(4096)));
	const char *kind = argc > 1 ? argv[1] : "";
	bool current = strcmp(kind, "current") == 0;
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	if (pthread_create(&t, &attr, work, NULL))
		return 1;
	if (strcmp(kind, "later") == 0 ? 0 :
	    strcmp(kind, "page") == 0 ? mlock(secret, sizeof(secret)) :
	    mlockall(MCL_FUTURE | (current ? MCL_CURRENT : 0)))
		return 1;
	victim_say("ready");
	while (victim_poll(1000, on_command))
		;
	return victim_errors != 0;
}
