/* SPDX-License-Identifier: MIT */
/*
 * spent COMMAND [ARG...]: what did the command take? Runs it and prints, on
 * standard error, its seconds of processor time and the MiB that it had at
 * most. Exit status: the command's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage use;
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = fork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid)
		return 1;
	fprintf(stderr, "spent %.2f %ld\n",
		seconds(use.ru_utime) + seconds(use.ru_stime), use.ru_maxrss / 1024);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
