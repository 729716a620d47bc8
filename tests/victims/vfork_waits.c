/* SPDX-License-Identifier: MIT */
/*
 * vfork_waits: its only thread stands still in vfork until the child has read a line.
 *
 *	(any line)	ends the child; from then on as others do
 */
#include "tests/victims/victim.h"

PROBED uint64_t wait_work(uint64_t x)
{
	return x * 23 + 6;
}

static void work(void)
{
	if (wait_work(victim_progress) != victim_progress * 23 + 6)
		victim_wrong("wait_work");
	victim_count();
}

int main(void)
{
	char c = 0;

	victim_say("ready");
	pid_t pid = vfork();
	if (pid == 0) {
		while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
			;
		_exit(0);
	}
	victim_say("child %d", (int)pid);
	do
		work();
	while (victim_poll(1, NULL));
	return victim_errors != 0;
}
