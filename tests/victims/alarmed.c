/* SPDX-License-Identifier: MIT */
/*
 * alarmed prof|process nanosleep|epoll_wait: a process that has done all its work, and has a
 * timer of its processor time that would go off with the next tick: setitimer's, or
 * timer_create's. It sleeps for ten seconds, again and again, and says of each sleep that
 * does not end by itself `interrupted`, of the others `slept`.
 */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/time.h>

#include "tests/victims/far.h"
#include "tests/victims/victim.h"

enum { SECONDS = 10 };

static void handle(int signal) { (void)signal; }

static void set_timer(const char *which)
{
	struct itimerval soon = { { 0, 10000 }, { 0, 1 } };
	struct itimerspec soon_too = { { 0, 10000000 }, { 0, 1 } };
	struct sigevent e = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	timer_t timer;

	if (strcmp(which, "prof") == 0)
		setitimer(ITIMER_PROF, &soon, NULL);
	else if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &e, &timer) == 0)
		timer_settime(timer, 0, &soon_too, NULL);
}

static int sleep_by(int epoll)
{
	struct timespec t = { SECONDS, 0 };
	struct epoll_event none;

	return epoll < 0 ? nanosleep(&t, NULL) : epoll_wait(epoll, &none, 1, SECONDS * 1000);
}

int main(int argc, char **argv)
{
	struct sigaction a = { .sa_handler = handle, .sa_flags = SA_RESTART };
	int epoll = argc > 2 && strcmp(argv[2], "epoll_wait") == 0 ? epoll_create1(0) : -1;

	if (argc < 3)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGPROF, &a, NULL);
	set_timer(argv[1]);
	victim_say("ready");
	for (;;)
		victim_say(sleep_by(epoll) < 0 ? "interrupted" : "slept");
}
