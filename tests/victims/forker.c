/* SPDX-License-Identifier: MIT */
/*
 * forker: forks children that go on calling probed functions. A child made
 * while probes are in has them in its own text: do they do no harm there, and
 * are they removed there too?
 *
 *	fork	-> child PID	a child that stays until `reap` or our end
 *	busy	-> child PID	the same, and it rests only now and then
 *	orphan	-> child PID	the same, and it outlives us, by a minute at most
 *	reap	-> reaped N	all of them; a child that computed wrongly is WRONG
 *
 * Besides, short-lived children come and go all the time; every other one is forked
 * behind the C library's back, which then knows it by its parent's id.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>

#include "tests/victims/victim.h"

enum { MAX_CHILDREN = 16 };
static pid_t children[MAX_CHILDREN];
static int nchildren;
static int wake[2];

PROBED uint64_t fork_inner(uint64_t x)
{
	return x * 48271 % 2147483647;
}

PROBED uint64_t fork_outer(uint64_t x)
{
	return fork_inner(x) ^ fork_inner(x + 1);
}

static bool work(uint64_t x)
{
	return fork_outer(x) == ((x * 48271 % 2147483647) ^
				 ((x + 1) * 48271 % 2147483647));
}

/* A second thread of a child. */
static void *call_inner(void *arg)
{
	for (uint64_t x = 1; fork_inner(x) < UINT64_MAX; x++)
		victim_sleep_us(1000);
	return NULL;
}

static void child_stay(uint64_t calls, bool orphan)
{
	pthread_t thread;
	struct pollfd p = { .fd = wake[0], .events = POLLIN };
	bool good = true;

	if (orphan) {
		alarm(60);
	} else {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(wake[1]);
	}
	if (pthread_create(&thread, NULL, call_inner, NULL))
		_exit(8);
	while (poll(&p, 1, 1) == 0)
		for (uint64_t x = 1; x <= calls; x++)
			good = work(x) && good;
	_exit(good ? 0 : 9);
}

static void child_short(void)
{
	bool good = true;

	for (uint64_t x = 1; x < 100; x++)
		good = work(x) && good;
	_exit(good ? 0 : 9);
}

/* How many there were. */
static int reap(void)
{
	int status, n = nchildren;

	close(wake[1]);
	for (; nchildren > 0; nchildren--)
		if (waitpid(children[nchildren - 1], &status, 0) < 0 || status)
			victim_wrong("child: status %x", status);
	close(wake[0]);
	if (pipe(wake))
		victim_wrong("pipe");
	return n;
}

static void command(const char *word)
{
	bool busy = strcmp(word, "busy") == 0, orphan = strcmp(word, "orphan") == 0;
	pid_t pid;

	if (strcmp(word, "reap") == 0) {
		victim_say("reaped %d", reap());
	} else if ((busy || orphan || strcmp(word, "fork") == 0) && nchildren < MAX_CHILDREN) {
		pid = fork();
		if (pid == 0)
			child_stay(busy ? 1000 : 1, orphan);
		if (!orphan)
			children[nchildren++] = pid;
		victim_say("child %d", pid);
	} else {
		victim_say("what is %s?", word);
	}
}

int main(void)
{
	uint64_t x = 1;
	int status;

	if (pipe(wake))
		return 1;
	victim_say("ready");
	while (victim_poll(5, command)) {
		pid_t pid = x % 2 ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (pid == 0)
			child_short();
		if (!work(x++))
			victim_wrong("fork_outer");
		if (waitpid(pid, &status, 0) < 0 || status)
			victim_wrong("short child: status %x", status);
		victim_count();
	}
	reap();
	return victim_errors != 0;
}
