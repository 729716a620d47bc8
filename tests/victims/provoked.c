/* SPDX-License-Identifier: MIT */
/*
 * provoked exec|fork: a process that executes itself, or forks a child that calls the
 * same for a moment, as soon as it finds itself probed; and else just works. So what
 * follows is followed while inject is there, and nothing changes any more when it has
 * left.
 */
#include <sys/wait.h>

#include "tests/victims/victim.h"

enum { CALLS = 20 };	/* before it does anything about its probes */

PROBED uint64_t provoked_work(uint64_t x)
{
	return x * x + 29;
}

static void work(uint64_t x)
{
	if (provoked_work(x) != x * x + 29)
		victim_wrong("provoked_work");
}

static bool is_probed(const void *before)
{
	return memcmp((const void *)provoked_work, before, 16) != 0;
}

static void fork_once(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (uint64_t x = 0; x < CALLS; x++) {
			work(x);
			victim_sleep_us(500);
		}
		_exit(victim_errors != 0);
	}
	int status = 1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		victim_wrong("its child: %d", status);
}

int main(int argc, char **argv)
{
	bool forks = argc > 1 && strcmp(argv[1], "fork") == 0;
	unsigned int probed = 0;
	uint8_t before[16];

	memcpy(before, (const void *)provoked_work, sizeof(before));
	victim_say("ready");
	for (uint64_t x = 1; victim_poll(1, NULL); x++) {
		work(x);
		victim_count();
		probed = is_probed(before) ? probed + 1 : 0;
		if (probed < CALLS)
			continue;
		probed = 0;
		if (forks) {
			fork_once();
		} else {
			execv("/proc/self/exe", argv);
			victim_wrong("execv");
		}
	}
	return victim_errors != 0;
}
