/* SPDX-License-Identifier: MIT */
/*
 * linger PID: what if a process is killed, and does not end yet? Says `ready`; when
 * PID has been killed, it stays right before its end, with all that it has open, until
 * our standard input ends.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int hold(const char *pid)
{
	char path[64];
	struct dirent *e;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	DIR *d = opendir(path);
	while (d && (e = readdir(d)))
		n += atoi(e->d_name) > 0 &&
			ptrace(PTRACE_SEIZE, atoi(e->d_name), 0, PTRACE_O_TRACEEXIT) == 0;
	if (d)
		closedir(d);
	return n;
}

int main(int argc, char **argv)
{
	int status;
	char c;
	pid_t tid;

	if (argc != 2 || !hold(argv[1])) {
		fprintf(stderr, "linger: cannot trace %s\n", argc == 2 ? argv[1] : "nothing");
		return 2;
	}
	puts("ready");
	fflush(stdout);
	while ((tid = waitpid(-1, &status, __WALL)) > 0)
		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXIT)
			break;
		else if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, tid, 0, status >> 16 ? 0 : WSTOPSIG(status));
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return tid > 0 ? 0 : 1;		/* a thread that is traced goes on with its end */
}
