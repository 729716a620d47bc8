/* SPDX-License-Identifier: MIT */
/*
 * The tracer thread goes at the pace of the thread that sends for it: at leisure, too. While a
 * thread stands still it goes first, whatever it did before, and then as before; but it is at
 * leisure no more: a thread that did not stop in time may stand still now.
 */
#include "injector/ptrace/tracing.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

#include "injector/ptrace/pace.h"
#include "tests/unit/check.h"

static int policy(void) { return sched_getscheduler(0); }
static int niceness(void) { return getpriority(PRIO_PROCESS, 0); }

/* A process that may be hasty may not always go before all others. */
static bool may_go_first(void)
{
	struct sched_param p = { .sched_priority = 1 }, none = { 0 };
	bool may = sched_setscheduler(0, SCHED_FIFO, &p) == 0;

	sched_setscheduler(0, SCHED_OTHER, &none);
	return may;
}

static void stop(void)
{
	int nice = policy() == SCHED_IDLE ? -10 : niceness();

	tracing_hurry(true);
	tracing_hurry(true);	/* one after the other is asked to stop */
	CHECK_EQ(policy(), SCHED_FIFO);
	tracing_hurry(false);
	CHECK_EQ(policy(), SCHED_OTHER);
	CHECK_EQ(niceness(), nice);
	tracing_hurry(false);
	CHECK_EQ(policy(), SCHED_OTHER);
}

static int operate(void *pace)
{
	enum pace is = *(enum pace *)pace;

	CHECK_EQ(policy(), is == PACE_LEISURE ? SCHED_IDLE : SCHED_OTHER);
	CHECK_EQ(niceness(), is == PACE_HASTE ? -10 : 0);
	stop();
	pace_set(PACE_HASTE);
	stop();
	return -EBUSY;
}

/* What is a part of an operation leaves no haste behind. */
static int operate_twice(void *pace)
{
	CHECK_EQ(tracing(operate, pace), -EBUSY);
	CHECK_EQ(policy(), SCHED_OTHER);
	CHECK_EQ(niceness(), 0);
	return 0;
}

int main(void)
{
	if (policy() != SCHED_OTHER || niceness() || pace_set(PACE_HASTE) ||
	    niceness() != -10 || !may_go_first()) {
		printf("skipped: needs the right to go first (CAP_SYS_NICE)\n");
		return 77;
	}
	pace_set(PACE_EQUAL);
	for (enum pace p = PACE_EQUAL; p <= PACE_HASTE; p++) {
		int known = failures;

		pace_set(p);
		CHECK_EQ(tracing(operate, &p), -EBUSY);
		/* A process that finds no idle processor, once, looks for leisure no more. */
		if (p == PACE_LEISURE && policy() != SCHED_IDLE)
			failures = known;
		CHECK_EQ(pace_set(PACE_EQUAL), p);
	}
	CHECK_EQ(tracing(operate_twice, &(enum pace){ PACE_EQUAL }), 0);
	CHECK_EQ(pace_set(PACE_EQUAL), PACE_EQUAL);
	return failures != 0;
}
