/* SPDX-License-Identifier: MIT */
/*
 * no_descriptors: it may have sixteen, and has opened all. With as many threads as it is
 * told, which work; without any the main thread does.
 *
 *	open	-> open N ERRNO: how many are open, and what comes of one more
 *	fork	-> child PID STATUS: of one that has worked, and ended
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/victims/victim.h"

enum { MOST = 16 };

PROBED uint64_t single_inner(uint64_t x)
{
	return x ^ x << 13 ^ x >> 7;
}

PROBED uint64_t single_outer(uint64_t x)
{
	return single_inner(x) + single_inner(x + 1);
}

static void work(uint64_t *x)
{
	uint64_t want = (*x ^ *x << 13 ^ *x >> 7) + ((*x + 1) ^ (*x + 1) << 13 ^ (*x + 1) >> 7);

	if (single_outer(*x) != want)
		victim_wrong("single_outer");
	*x = want;
	victim_count();
}

static void *worker(void *unused)
{
	for (uint64_t x = 3;;) {
		work(&x);
		victim_sleep_us(2000);
	}
	return unused;
}

static void say_open(void)
{
	int n = 0, more;

	for (int fd = 0; fd < 2 * MOST; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	more = open("/dev/null", O_RDONLY);
	victim_say("open %d %d", n, more < 0 ? errno : 0);
}

static void say_fork(void)
{
	int status = -1;
	pid_t child = fork();

	for (uint64_t i = 0, x = 5; child == 0 && i < 1000; i++)
		work(&x);
	if (child == 0)
		_exit(victim_errors != 0);
	waitpid(child, &status, 0);
	victim_say("child %d %d", child, status);
}

static void command(const char *word)
{
	if (strcmp(word, "open") == 0)
		say_open();
	else if (strcmp(word, "fork") == 0)
		say_fork();
	else
		victim_say("what is %s?", word);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0;
	struct rlimit limit = { MOST, MOST };
	pthread_t unused;
	uint64_t x = 1;

	for (int i = 0; i < threads; i++)
		if (pthread_create(&unused, NULL, worker, NULL))
			return 2;
	/* Whatever it has inherited. */
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return 3;
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	victim_say("ready");
	while (victim_poll(threads ? 100 : 0, command)) {
		if (threads)
			continue;
		work(&x);
		victim_sleep_us(2000);
	}
	return victim_errors != 0;
}
