/* SPDX-License-Identifier: MIT */
/*
 * astray GROUP: the thread that is borrowed to map pages is frozen in the middle of it,
 * by a control group of its own, and cannot be fetched. Is what it runs there still
 * when it goes on?
 *
 * It is the only one that sleeps where a stop does not disturb it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>

#include "tests/victims/far.h"
#include "tests/victims/session.h"
#include "tests/victims/victim.h"

enum { FROZEN_US = 13 * 1000 * 1000 };	/* longer than a call is waited for, and then some */

static const char *group;
static sem_t never;

static void tell_group(const char *file, const char *what)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", group, file);
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, what, strlen(what)) < 0)
		victim_wrong("%s: %s", path, strerror(errno));
	close(fd);
}

/* Frozen when its first page is mapped, until we are tired of waiting for it, and may be
 * about to take back what it runs. */
static void *watch(void *unused)
{
	struct session *s;

	while (!(s = find_session()))
		;
	uint64_t *first = (void *)((char *)s + ISLANDS_OFF);

	while (__atomic_load_n(first, __ATOMIC_ACQUIRE) % PAGE != ISLAND_MAPPED)
		;
	tell_group("freezer.state", "FROZEN");
	victim_sleep_us(FROZEN_US);
	tell_group("freezer.state", "THAWED");
	return unused;
}

static void *sleep_in_group(void *unused)
{
	tell_group("tasks", "0");
	while (sem_wait(&never) < 0)
		;
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t sleeper, watcher;

	if (argc < 2)
		return 2;
	group = argv[1];
	sem_init(&never, 0, 0);
	pthread_create(&sleeper, NULL, sleep_in_group, NULL);
	pthread_create(&watcher, NULL, watch, NULL);
	victim_say("ready");
	while (victim_poll(1, NULL))
		victim_count();
	return victim_errors != 0;
}
