/* SPDX-License-Identifier: MIT */
/* execer: a process that execs itself on the command `exec`, and answers as
 * before under the same PID: nothing of a tracer may survive the exec. Spawns
 * short programs by posix_spawn (vfork) too. `fork` -> child PID, which waits
 * to be killed. */
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/victims/victim.h"

extern char **environ;
static char **args;

PROBED uint64_t exec_work(uint64_t x)
{
	return x * x + 41;
}

static void spawn_once(void)
{
	char *const argv[] = { (char *)"true", NULL };
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) < 0 || status)
		victim_wrong("posix_spawn");
}

static void fork_once(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	victim_say("child %d", pid);
}

static void command(const char *word)
{
	if (strcmp(word, "fork") == 0) {
		fork_once();
		return;
	}
	if (strcmp(word, "exec") == 0) {
		execv("/proc/self/exe", args);
		victim_wrong("execv");
	}
	victim_say("what is %s?", word);
}

int main(int argc, char **argv)
{
	args = argv;
	victim_say("ready");
	for (uint64_t x = argc; victim_poll(1, command); x++) {
		if (exec_work(x) != x * x + 41)
			victim_wrong("exec_work");
		if (x % 50 == 0)
			spawn_once();
		victim_count();
	}
	return victim_errors != 0;
}
