/* SPDX-License-Identifier: MIT */
/* signals: does the user want us to stop? */
#include "injector/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

static int fd = -1;
static unsigned int stops;	/* atomic */
static bool pause_wanted;	/* atomic */

int signals_begin(void)
{
	static const int override[] = { SIGINT, SIGQUIT, SIGTERM, SIGTSTP };
	sigset_t set;

	/* A shell script starts its background jobs with SIGINT and SIGQUIT
	 * ignored; who sends them to us nevertheless means it. SIGHUP stays
	 * ignored if it was: that is nohup. */
	for (size_t i = 0; i < ARRAY_SIZE(override); i++)
		signal(override[i], SIG_DFL);
	/* Writing to the terminal from the background must not stop us while
	 * the target waits. */
	signal(SIGTTOU, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(override); i++)
		sigaddset(&set, override[i]);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return fail(errno, "block signals");
	fd = signalfd(fd, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return fd < 0 ? fail(errno, "wait for signals") : 0;
}

static void collect(void)
{
	struct signalfd_siginfo info;

	while (fd >= 0 && read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTSTP)
			__atomic_store_n(&pause_wanted, true, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&stops, 1, __ATOMIC_RELAXED);
	}
}

bool signals_stop_wanted(void)
{
	collect();
	return __atomic_load_n(&stops, __ATOMIC_RELAXED) > 0;
}

bool signals_drop_wanted(void)
{
	collect();
	return __atomic_load_n(&stops, __ATOMIC_RELAXED) > 1;
}

int signals_fd(void)
{
	return fd;
}

void signals_pause(void)
{
	collect();
	if (!__atomic_exchange_n(&pause_wanted, false, __ATOMIC_RELAXED))
		return;
	/* SIGSTOP, since SIGTSTP is blocked. The shell sees no difference. */
	kill(getpid(), SIGSTOP);
}
