/* SPDX-License-Identifier: MIT */
/*
 * sleeps KIND SECONDS: a process of one thread that is in one system call with a
 * timeout, all the time: nanosleep, clock_nanosleep, poll or futex. The kernel
 * goes on with each of them by restart_syscall after a stop.
 *
 * Prints `ready` before the call, and `ended RESULT after N ms` after it.
 */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "tests/victims/victim.h"

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int sleep_by(const char *kind, int seconds)
{
	struct timespec t = { .tv_sec = seconds };
	int word = 0, r = -1;

	errno = EINVAL;
	if (strcmp(kind, "nanosleep") == 0)
		r = nanosleep(&t, NULL);
	else if (strcmp(kind, "clock_nanosleep") == 0)
		return -clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	else if (strcmp(kind, "poll") == 0)
		r = poll(NULL, 0, seconds * 1000);
	else if (strcmp(kind, "futex") == 0)
		r = (int)syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t, NULL, 0);
	return r < 0 ? -errno : r;
}

/* For the test: something to probe. */
PROBED uint64_t sleeps_work(uint64_t x)
{
	return x * 7 + 1;
}

int main(int argc, char **argv)
{
	double start = now_ms();
	int got;

	if (argc != 3)
		return 2;
	victim_say("ready");
	got = sleep_by(argv[1], atoi(argv[2]));
	victim_say("ended %d after %.0f ms", got, now_ms() - start);
	return (int)sleeps_work(0) - 1;
}
