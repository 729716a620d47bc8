/* SPDX-License-Identifier: MIT */
/* signals: does the user want us to stop? */
#include "injector/proc/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "injector/proc/procfs.h"

static int fd = -1;
static unsigned int stops;	/* atomic */
static bool pause_wanted;	/* atomic */
static int relay_fd = -1;
static pid_t relay_child;

/* What we change, in this order, and what it was. */
static const int changed[] = {
	SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGCHLD, SIGTTOU, SIGPIPE, SIGXFSZ
};
enum { COLLECTED = 5, DEFAULTS = 6 };	/* of them, from the start */
static struct sigaction before[ARRAY_SIZE(changed)];
static sigset_t mask_before;

/*
 * A shell script starts its background jobs with SIGINT and SIGQUIT ignored; a user that
 * sends them to us nevertheless means it. SIGHUP stays ignored if it was: that
 * is nohup. With SIGCHLD ignored, the kernel would throw away how a command of
 * ours has ended. Writing to the terminal from the background must not stop us
 * while the target waits, and a limit of ours is an error like any other.
 */
static void dispose(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(changed); i++) {
		struct sigaction a = { .sa_handler = i < DEFAULTS ? SIG_DFL : SIG_IGN };

		sigaction(changed[i], &a, fd < 0 ? &before[i] : NULL);
	}
}

int signals_begin(void)
{
	sigset_t set;

	dispose();
	sigemptyset(&set);
	for (size_t i = 0; i < COLLECTED; i++)
		sigaddset(&set, changed[i]);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, fd < 0 ? &mask_before : NULL) < 0)
		return fail(errno, "block signals");
	fd = signalfd(fd, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return fd < 0 ? fail(errno, "wait for signals") : 0;
}

void signals_restore(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(changed); i++)
		sigaction(changed[i], &before[i], NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void signals_relay(int pidfd, pid_t child)
{
	relay_fd = pidfd;
	relay_child = child;
}

static bool descends_from(pid_t pid, pid_t ancestor)
{
	enum { DEEPEST = 1000 };	/* a walk while processes come and go */

	for (int i = 0; pid > 1 && pid != ancestor && i < DEEPEST; i++)
		pid = (pid_t)procfs_status(pid, 0, "PPid", 10, 0);
	return pid == ancestor;
}

/* A sender that has ended by now cannot be placed, and is taken for a stranger. */
static void relay(const struct signalfd_siginfo *info)
{
	if (relay_fd < 0 || info->ssi_code > 0 ||
	    descends_from((pid_t)info->ssi_pid, relay_child))
		return;
	syscall(SYS_pidfd_send_signal, relay_fd, info->ssi_signo, NULL, 0);
}

static void signals_collect(void)
{
	struct signalfd_siginfo info;

	while (fd >= 0 && read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTSTP || info.ssi_signo == SIGTTIN) {
			__atomic_store_n(&pause_wanted, true, __ATOMIC_RELAXED);
		} else {
			__atomic_fetch_add(&stops, 1, __ATOMIC_RELAXED);
			relay(&info);
		}
	}
}

unsigned int signals_stops(void)
{
	signals_collect();
	return __atomic_load_n(&stops, __ATOMIC_RELAXED);
}

bool signals_stop_wanted(void)
{
	return signals_stops() > 0;
}

bool signals_drop_wanted(void)
{
	return signals_stops() > 1;
}

int signals_fd(void)
{
	return fd;
}

bool signals_pause_wanted(void)
{
	signals_collect();
	return __atomic_load_n(&pause_wanted, __ATOMIC_RELAXED);
}

void signals_pause(void)
{
	signals_collect();
	if (!__atomic_exchange_n(&pause_wanted, false, __ATOMIC_RELAXED))
		return;
	/* SIGSTOP, since SIGTSTP is blocked. The shell sees no difference. */
	kill(getpid(), SIGSTOP);
}
