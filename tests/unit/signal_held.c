/* SPDX-License-Identifier: MIT */
/*
 * signal_held: a signal with a handler that comes while a thread is held ends the call that the
 * thread was in, as it would have without us; without one the call goes on. So for calls that a
 * stop ends with EINTR and that are made again, and for one that the kernel restarts.
 */
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/target.h"
#include "tests/unit/check.h"

#define BUDGET (10ull * 1000 * 1000 * 1000)

enum { TRIES = 10000, INTERRUPTED = 7 };

static int pipe_fds[2];

static void handle(int sig)
{
	(void)sig;
}

static void wait_for_events(void)
{
	struct epoll_event event;

	if (epoll_wait(epoll_create1(0), &event, 1, 100000) < 0 && errno == EINTR)
		_exit(INTERRUPTED);
}

static void read_byte(void)
{
	char byte;

	if (read(pipe_fds[0], &byte, 1) < 0 && errno == EINTR)
		_exit(INTERRUPTED);
}

static void wait_by_poll(void)
{
	struct pollfd p = { pipe_fds[0], POLLIN, 0 };

	if (poll(&p, 1, 100000) < 0 && errno == EINTR)
		_exit(INTERRUPTED);
}

static pid_t begin(void (*call)(void))
{
	struct sigaction act = { .sa_handler = handle };
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigaction(SIGUSR1, &act, NULL);
		call();
		_exit(1);
	}
	for (int i = 0; i < TRIES && !(pid > 0 && thread_asleep(pid, pid).sp); i++)
		usleep(1000);
	MUST(thread_asleep(pid, pid).sp);
	return pid;
}

/* Its status; -1: it sleeps on. */
static int ended(pid_t pid, int tries)
{
	int status;

	for (int i = 0; i < tries; i++, usleep(1000))
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return -1;
}

static void check(void (*call)(void))
{
	pid_t pid = begin(call);
	struct target t;

	for (int signals = 0; signals < 2; signals++) {
		MUST(target_open(pid, &t) == 0);
		MUST(target_stop(&t, BUDGET) == 0);
		if (signals)
			kill(pid, SIGUSR1);
		target_release(&t);
		target_close(&t);
		CHECK_EQ(ended(pid, signals ? TRIES : 300), signals ? INTERRUPTED : -1);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	MUST(!pipe(pipe_fds));
	check(wait_for_events);
	check(read_byte);
	check(wait_by_poll);
	return failures != 0;
}
