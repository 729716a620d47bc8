/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/tracing.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

#include "injector/ptrace/pace.h"

struct operation {
	int (*operate)(void *ctx);
	void *ctx;
	enum pace pace;
	int result;
	struct cause cause;		/* of `result` */
};

static __thread bool operating;
static __thread bool hurries;

static void *tracer_thread(void *arg)
{
	struct operation *s = arg;

	operating = true;
	pace_set(s->pace);
	s->result = s->operate(s->ctx);
	pace_set(PACE_EQUAL);
	s->cause = fail_keep();
	return NULL;
}

/* Whatever pace it ends with is not that of what goes on. */
static int operate_within(int (*operate)(void *ctx), void *ctx)
{
	enum pace before = pace_hurry();
	int err = operate(ctx);

	pace_set(before);
	return err;
}

int tracing(int (*operate)(void *ctx), void *ctx)
{
	struct operation s = { .operate = operate, .ctx = ctx };
	pthread_t thread;
	sigset_t chld;

	if (operating)
		return operate_within(operate, ctx);
	/* Blocked in every thread, so that the tracer thread's sigtimedwait gets it
	 * (and it is not thrown away as ignored). */
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &chld, NULL);
	s.pace = pace_set(PACE_EQUAL);
	int err = pthread_create(&thread, NULL, tracer_thread, &s);
	if (!err)
		pthread_join(thread, NULL);
	pace_set(s.pace);
	if (err)
		return fail(err, "start a thread");
	if (s.result && s.cause.text[0])
		fail_give_back(&s.cause);
	return s.result;
}

void tracing_hurry(bool on)
{
	struct sched_param p = { .sched_priority = on ? 1 : 0 };

	if (on == hurries)
		return;
	hurries = on;
	if (on)
		pace_hurry();
	pthread_setschedparam(pthread_self(), on ? SCHED_FIFO : SCHED_OTHER, &p);
}
