/* SPDX-License-Identifier: MIT */
/*
 * forker: forks children that go on calling probed functions. A child made
 * while probes are in has them in its own text: do they do no harm there, and
 * are they removed there too?
 *
 *	fork	-> child PID	a child that stays until `reap` or our end
 *	reap	-> reaped N	all of them; a child that computed wrongly is WRONG
 *
 * Besides, short-lived children come and go all the time.
 */
#include <pthread.h>
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

static void child_stay(void)
{
	struct pollfd p = { .fd = wake[0], .events = POLLIN };
	bool good = true;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(wake[1]);
	for (uint64_t x = 1; poll(&p, 1, 1) == 0; x++)
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

static void reap(void)
{
	int status, n = nchildren;

	close(wake[1]);
	for (; nchildren > 0; nchildren--)
		if (waitpid(children[nchildren - 1], &status, 0) < 0 || status)
			victim_wrong("child: status %x", status);
	close(wake[0]);
	if (pipe(wake))
		victim_wrong("pipe");
	victim_say("reaped %d", n);
}

static void command(const char *word)
{
	pid_t pid;

	if (strcmp(word, "reap") == 0) {
		reap();
	} else if (strcmp(word, "fork") == 0 && nchildren < MAX_CHILDREN) {
		pid = fork();
		if (pid == 0)
			child_stay();
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
		pid_t pid = fork();

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
