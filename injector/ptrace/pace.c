/* SPDX-License-Identifier: MIT */
/*
 * Leisure: a thread that gets no processor cannot see that it gets none. So another
 * one watches it, in haste, which sleeps but for these steps:
 *
 * 1. It makes the thread idle (SCHED_IDLE), and lets it begin.
 * 2. If the thread has waited for too long, it gets an equal share, and so do those that
 *    it has started; and the process looks for leisure no more, for there is none, but
 *    hurries instead.
 * 3. If it has waited for much too long, it is made hasty; and a thread that was just being
 *    started at step 2, and was not to be seen yet, gets its equal share.
 * 4. The thread ends its leisure itself: it needs a processor to end the watch.
 * 5. When the watch has ended, its niceness is what it was.
 *
 * Only a thread that may take a larger share (CAP_SYS_NICE) comes back from SCHED_IDLE.
 */
#include "injector/ptrace/pace.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "injector/log/clock.h"

enum {
	NICENESS = -10,		/* some ten times the share of one with 0 */
	SHARE = 4,		/* a thread that waits no more than so many times
				 * what it runs may stay idle */
};

#define MS 1000000ull
#define SECOND (1000 * MS)
#define TOO_LONG (25 * MS)	/* and so much besides */
#define MUCH_TOO_LONG SECOND

struct leisure {
	pthread_t watch;
	sem_t begun, done;
	pid_t tid;		/* whose it is */
	clockid_t clock;	/* of its processor time */
	uint64_t began, used;	/* by clock_monotonic() and by that */
	bool hasty;		/* the watch has made it so */
};

static __thread enum pace current;
static __thread bool raised;	/* by us: its niceness was 0 */
static __thread struct leisure *at_leisure;
static bool starved;		/* step 2 was taken */

static void set_haste(bool on)
{
	errno = 0;
	if (on && !raised && getpriority(PRIO_PROCESS, 0) == 0 && !errno)
		raised = setpriority(PRIO_PROCESS, 0, NICENESS) == 0;
	else if (!on && raised)
		raised = setpriority(PRIO_PROCESS, 0, 0) != 0;
}

static void set_policy(pid_t tid, int policy)
{
	sched_setscheduler(tid, policy, &(struct sched_param){ 0 });
}

static uint64_t used(const struct leisure *l)
{
	struct timespec t = { 0 };

	clock_gettime(l->clock, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* For how much longer may it wait? */
static int64_t patience(const struct leisure *l, uint64_t most)
{
	uint64_t ran = used(l) - l->used;
	uint64_t waited = clock_monotonic() - l->began - ran;

	return (int64_t)(most + SHARE * ran - waited);
}

/* Does it end before it has waited for too long? */
static bool ends_within(struct leisure *l, uint64_t most)
{
	for (int64_t rest; (rest = patience(l, most)) > 0;) {
		uint64_t at = clock_monotonic() + (uint64_t)rest;
		struct timespec until = { (time_t)(at / SECOND), (long)(at % SECOND) };

		if (sem_clockwait(&l->done, CLOCK_MONOTONIC, &until) == 0)
			return true;
		if (errno != ETIMEDOUT && errno != EINTR)
			break;
	}
	return false;
}

/* The threads that it has started, to plan together, are as idle as it was. */
static void raise_idle(void)
{
	DIR *tasks = opendir("/proc/self/task");

	for (struct dirent *e; tasks && (e = readdir(tasks)); ) {
		pid_t tid = atoi(e->d_name);

		if (tid > 0 && sched_getscheduler(tid) == SCHED_IDLE)
			set_policy(tid, SCHED_OTHER);
	}
	if (tasks)
		closedir(tasks);
}

static void *pace_watch(void *arg)
{
	struct leisure *l = arg;

	set_policy(l->tid, SCHED_IDLE);					/* 1 */
	sem_post(&l->begun);
	if (ends_within(l, TOO_LONG))
		return NULL;
	__atomic_store_n(&starved, true, __ATOMIC_RELAXED);
	raise_idle();							/* 2 */
	if (!ends_within(l, MUCH_TOO_LONG)) {				/* 3 */
		l->hasty = setpriority(PRIO_PROCESS, (id_t)l->tid, NICENESS) == 0;
		raise_idle();
	}
	return NULL;
}

static void leisure_begin(void)
{
	static __thread struct leisure l;

	l = (struct leisure){ .tid = gettid(), .began = clock_monotonic() };
	if (sched_getscheduler(0) != SCHED_OTHER ||
	    pthread_getcpuclockid(pthread_self(), &l.clock))
		return;
	l.used = used(&l);
	sem_init(&l.begun, 0, 0);
	sem_init(&l.done, 0, 0);
	set_haste(true);
	if (raised && pthread_create(&l.watch, NULL, pace_watch, &l) == 0)
		at_leisure = &l;
	set_haste(false);
	while (at_leisure && sem_wait(&l.begun) && errno == EINTR)
		;
}

static void leisure_end(struct leisure *l)
{
	set_policy(0, SCHED_OTHER);					/* 4 */
	sem_post(&l->done);
	pthread_join(l->watch, NULL);
	if (l->hasty)
		setpriority(PRIO_PROCESS, 0, 0);			/* 5 */
	at_leisure = NULL;
}

enum pace pace_set(enum pace to)
{
	enum pace before = current;

	if (to == before)
		return before;
	if (at_leisure)
		leisure_end(at_leisure);
	bool none = __atomic_load_n(&starved, __ATOMIC_RELAXED);
	set_haste(to == PACE_HASTE || (to == PACE_LEISURE && none));
	if (to == PACE_LEISURE && !none)
		leisure_begin();
	current = to;
	return before;
}

enum pace pace_hurry(void)
{
	return current == PACE_LEISURE ? pace_set(PACE_HASTE) : current;
}
