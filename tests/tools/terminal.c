/* SPDX-License-Identifier: MIT */
/*
 * terminal TEXT KEY COMMAND...: what does a program do at a terminal, under a shell
 * with job control?
 *
 * Runs COMMAND as the foreground job of a session on a pseudo-terminal of its own.
 * When TEXT has been printed there, the key KEY is typed: `C` for Ctrl-C, `Z` for
 * Ctrl-Z, `-` for none. A job that stops is put into the foreground again. What
 * the terminal shows goes to standard output; then `stopped` for each stop, and
 * `status N`, as a shell would have it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void job(char **command)
{
	setpgid(0, 0);
	tcsetpgrp(STDIN_FILENO, getpid());
	signal(SIGTTOU, SIG_DFL);
	execvp(command[0], command);
	_exit(127);
}

static void foreground(pid_t pid)
{
	tcsetpgrp(STDIN_FILENO, pid);
	kill(-pid, SIGCONT);
}

/* The session's leader. `report` is a pipe. */
static int shell(const char *name, int report, char **command)
{
	int fd, status;
	pid_t pid;

	setsid();
	fd = open(name, O_RDWR);
	ioctl(fd, TIOCSCTTY, 0);
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	signal(SIGTTOU, SIG_IGN);
	pid = fork();
	if (pid == 0)
		job(command);
	setpgid(pid, pid);
	tcsetpgrp(STDIN_FILENO, pid);
	while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
		dprintf(report, "stopped\n");
		foreground(pid);
	}
	dprintf(report, "status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) :
		128 + WTERMSIG(status));
	return 0;
}

/* Show what the terminal shows, and type when it is time. */
static void watch(int master, const char *text, char key)
{
	static char seen[1 << 16];
	char byte = (char)(key & 0x1f);
	bool typed = key == '-';
	size_t n = 0;
	ssize_t got;

	while (n + 1 < sizeof(seen) &&
	       (got = read(master, seen + n, sizeof(seen) - 1 - n)) > 0) {
		fwrite(seen + n, 1, (size_t)got, stdout);
		n += (size_t)got;
		seen[n] = '\0';
		if (!typed && strstr(seen, text)) {
			typed = true;
			if (write(master, &byte, 1) != 1)
				exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int report[2];
	char said[1024];
	ssize_t n;

	if (argc < 4 || master < 0 || grantpt(master) || unlockpt(master) || pipe(report))
		return 2;
	fcntl(report[1], F_SETFD, FD_CLOEXEC);
	if (fork() == 0) {
		close(report[0]);
		_exit(shell(ptsname(master), report[1], argv + 3));
	}
	close(report[1]);
	watch(master, argv[1], argv[2][0]);
	n = read(report[0], said, sizeof(said) - 1);
	while (n > 0 && fwrite(said, 1, (size_t)n, stdout))
		n = read(report[0], said, sizeof(said) - 1);
	return 0;
}
