/* SPDX-License-Identifier: MIT */
/*
 * single: a process of one thread. Does it stay one?
 *
 * A second thread, even joined, would make its C library take locks for life,
 * so it looks at glibc's own flag too: __libc_single_threaded.
 *
 *	threads	-> threads N single FLAG
 *	hold	-> held		SIGTRAP is blocked, and pending
 *	let	-> let		and no more
 */
#include <dirent.h>
#include <signal.h>

#include "tests/victims/victim.h"

#if __has_include(<sys/single_threaded.h>)	/* glibc since 2.32 */
#include <sys/single_threaded.h>
#else
#define __libc_single_threaded (tasks() == 1)
#endif

PROBED uint64_t single_inner(uint64_t x)
{
	return x ^ x << 13 ^ x >> 7;
}

PROBED uint64_t single_outer(uint64_t x)
{
	return single_inner(x) + single_inner(x + 1);
}

static int tasks(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	if (!d)
		return -1;
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void hold(bool on)
{
	sigset_t set;

	/* What is ignored is not pending, either. */
	signal(SIGTRAP, on ? SIG_DFL : SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
	if (on)
		raise(SIGTRAP);
	else
		signal(SIGTRAP, SIG_DFL);
	victim_say(on ? "held" : "let");
}

static void command(const char *word)
{
	if (strcmp(word, "threads") == 0)
		victim_say("threads %d single %d", tasks(),
			   __libc_single_threaded);
	else if (strcmp(word, "hold") == 0 || strcmp(word, "let") == 0)
		hold(*word == 'h');
	else
		victim_say("what is %s?", word);
}

int main(void)
{
	uint64_t x = 1;

	victim_say("ready");
	while (victim_poll(0, command)) {
		uint64_t want = (x ^ x << 13 ^ x >> 7) +
			((x + 1) ^ (x + 1) << 13 ^ (x + 1) >> 7);

		if (single_outer(x) != want)
			victim_wrong("single_outer");
		x = want;
		victim_count();
		victim_sleep_us(2000);
	}
	return victim_errors != 0;
}
