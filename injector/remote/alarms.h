/* SPDX-License-Identifier: MIT */
/*
 * alarms: processor time that a borrowed thread spends for us is its process's, and sets off
 * the timers that count that: setitimer's ITIMER_PROF and ITIMER_VIRTUAL, and timer_create's
 * of a processor clock. Their signals wait, as all do, until the thread has its own mask
 * again. In a process whose only thread slept when we came, each is one that would not have
 * come, and would end the sleep: so it is taken away, and the timer goes off with the next
 * of the process's own ticks.
 *
 * Where there are other threads, one of them may have got the signal at once, or may set the
 * timer just now: there nothing is done.
 */
#ifndef INJECTOR_ALARMS_H
#define INJECTOR_ALARMS_H

#include "base/base.h"

#include <sys/types.h>

/* The signal of a timer, which waits. */
struct alarm {
	int signal;
	int timer;		/* timer_create's; -1: setitimer's */
};

struct alarms {
	bool watched;		/* those that come are to be taken away */
	size_t n;
	struct alarm v[8];
};

struct remote;

/* At the begin of a loan: what the thread blocks and waits now is the process's own. */
void alarms_note(struct remote *);
/* At its end, in an event stop: has one come since? */
bool alarms_came(const struct remote *);
/* They are taken away, by calls of the thread. What fails leaves the signal to wait. */
void alarms_take_away(struct remote *);

#endif
