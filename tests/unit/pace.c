/* SPDX-License-Identifier: MIT */
/*
 * A thread at leisure runs as SCHED_IDLE; does it get a processor all the same, in the end,
 * where others want all of it? And is it afterwards what it was before?
 */
#include "injector/ptrace/pace.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/check.h"

static bool over;

/* Wants all of the processor, and more urgently than any thread at leisure. */
static void *spin(void *unused)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		;
	return NULL;
}

static void check_equal(void)
{
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
	CHECK_EQ(getpriority(PRIO_PROCESS, 0), 0);
}

/* Each pace, from each: a thread that leaves it keeps nothing of it. */
static void test_paces(void)
{
	static const enum pace paces[] = { PACE_EQUAL, PACE_LEISURE, PACE_HASTE };

	for (int i = 0; i < 9; i++) {
		enum pace from = paces[i / 3], to = paces[i % 3];

		CHECK_EQ(pace_set(from), PACE_EQUAL);
		CHECK_EQ(pace_set(to), from);
		CHECK_EQ(sched_getscheduler(0), to == PACE_LEISURE ? SCHED_IDLE : SCHED_OTHER);
		CHECK_EQ(getpriority(PRIO_PROCESS, 0), to == PACE_HASTE ? -10 : 0);
		CHECK_EQ(pace_set(PACE_EQUAL), to);
		check_equal();
	}
}

static void test_hurry(void)
{
	CHECK_EQ(pace_hurry(), PACE_EQUAL);
	check_equal();
	pace_set(PACE_LEISURE);
	CHECK_EQ(pace_hurry(), PACE_LEISURE);
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
	CHECK_EQ(getpriority(PRIO_PROCESS, 0), -10);
	CHECK_EQ(pace_set(PACE_EQUAL), PACE_HASTE);
	check_equal();
}

/* What we were given stays. */
static void test_given(void)
{
	setpriority(PRIO_PROCESS, 0, 5);
	for (enum pace p = PACE_EQUAL; p <= PACE_HASTE; p++) {
		pace_set(p);
		CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
		CHECK_EQ(getpriority(PRIO_PROCESS, 0), 5);
	}
	pace_set(PACE_EQUAL);
	setpriority(PRIO_PROCESS, 0, 0);
}

/* Does any thread of this process still wait for what no other wants? */
static bool is_any_idle(void)
{
	DIR *tasks = opendir("/proc/self/task");
	bool ret = false;

	for (struct dirent *e; tasks && (e = readdir(tasks)); )
		ret |= e->d_name[0] != '.' && sched_getscheduler(atoi(e->d_name)) == SCHED_IDLE;
	if (tasks)
		closedir(tasks);
	return ret;
}

/* On one processor that another thread wants all of: unless it is watched, it is idle for as
 * long as that one spins, which is for ever. Then there is no leisure. */
static void test_starved(void)
{
	cpu_set_t one;
	pthread_t thread, helper;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	CHECK(pthread_create(&thread, NULL, spin, NULL) == 0);
	pace_set(PACE_LEISURE);
	CHECK(pthread_create(&helper, NULL, spin, NULL) == 0);
	while (sched_getscheduler(0) == SCHED_IDLE)
		;
	/* To sleep is to wait, too; of what a slow machine needs for a step it is most. */
	while (is_any_idle() || getpriority(PRIO_PROCESS, 0) != -10)
		usleep(100000);
	pace_set(PACE_EQUAL);
	check_equal();
	pace_set(PACE_LEISURE);
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
	CHECK_EQ(getpriority(PRIO_PROCESS, 0), -10);
	pace_set(PACE_EQUAL);
	check_equal();
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	pthread_join(helper, NULL);
}

/* In a process of its own, and in another one, if meanwhile others wanted all processors:
 * a thread that was starved once has no leisure any more, and shows nothing. */
static void in_peace(void (*test)(void))
{
	enum { TRIES = 200, STARVED = 2 };
	int status = STARVED << 8;

	for (int i = 0; i < TRIES && status == STARVED << 8; i++) {
		pid_t pid = fork();

		if (!pid) {
			test();
			pace_set(PACE_LEISURE);
			if (sched_getscheduler(0) != SCHED_IDLE)
				_exit(STARVED);
			exit(failures != 0);
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
	}
	CHECK_EQ(status, 0);
}

int main(void)
{
	if (sched_getscheduler(0) != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) ||
	    pace_set(PACE_HASTE) || getpriority(PRIO_PROCESS, 0) != -10) {
		printf("skipped: needs the right to a larger share (CAP_SYS_NICE)\n");
		return 77;
	}
	pace_set(PACE_EQUAL);
	in_peace(test_paces);
	in_peace(test_hurry);
	test_given();
	test_starved();
	return failures != 0;
}
