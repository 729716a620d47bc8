/* SPDX-License-Identifier: MIT */
/*
 * changer: becomes another kind of process while it works, when it is told to:
 *
 *	close	-> done close	without descriptors, but for the ones by which
 *				it is spoken to
 *	chroot	-> done chroot	sees nothing but an empty directory, "jail"
 *	setuid	-> done setuid	another user, without privileges
 *	undump	-> done undump	not dumpable: only the privileged may trace it
 *	daemon	-> done daemon PID	its parent has ended, and so the process of
 *					before; PID goes on
 *	hurry	-> done hurry	no less, but busy with nothing but its calls
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/victims/victim.h"

enum { UNPRIVILEGED = 65534, DESCRIPTORS = 64, HURRIED = 10000 };

static int calls_at_a_time = 1;

PROBED uint64_t change_inner(uint64_t x)
{
	return x * 13 + 8;
}

PROBED uint64_t change_work(uint64_t x)
{
	return change_inner(x) + change_inner(x + 1);
}

static bool daemonize(void)
{
	int go[2];
	char c;

	if (pipe(go))
		return false;
	if (fork())
		_exit(0);
	close(go[1]);
	return read(go[0], &c, 1) == 0 && setsid() >= 0;
}

static bool obey(const char *word)
{
	if (strcmp(word, "close") == 0)
		return close_range(3, ~0u, 0) == 0;
	if (strcmp(word, "chroot") == 0)
		return chroot("jail") == 0 && chdir("/") == 0;
	if (strcmp(word, "setuid") == 0)
		return setgid(UNPRIVILEGED) == 0 && setuid(UNPRIVILEGED) == 0;
	if (strcmp(word, "hurry") == 0)
		return (calls_at_a_time = HURRIED) != 0;
	if (strcmp(word, "undump") == 0)
		return prctl(PR_SET_DUMPABLE, 0) == 0;
	return strcmp(word, "daemon") == 0 && daemonize();
}

static void command(const char *word)
{
	if (!obey(word))
		victim_wrong("%s: %s", word, strerror(errno));
	victim_say("done %s %d", word, getpid());
}

int main(void)
{
	for (int i = 0; i < DESCRIPTORS; i++)
		if (dup(1) < 0)
			return 1;
	victim_say("ready");
	for (uint64_t x = 1; victim_poll(1, command); x++) {
		for (int i = 0; i < calls_at_a_time; i++)
			if (change_work(x) != 26 * x + 29)
				victim_wrong("change_work");
		victim_count();
	}
	return victim_errors != 0;
}
