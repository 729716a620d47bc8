/* SPDX-License-Identifier: MIT */
/*
 * target, continued: a thread becomes ours, also where another executes a program.
 *
 * That thread holds the cred_guard_mutex of its process while it waits for the ends of all
 * others (de_thread() in the kernel's fs/exec.c), and for one that is ours until we have reaped
 * it. PTRACE_SEIZE waits for that mutex (ptrace_attach() in kernel/ptrace.c): it and we
 * would wait for each other for ever. So a timer interrupts a request that lasts; its
 * handler takes all reports; and the kernel makes the request again by itself. This
 * thread is in nothing but the request then, so that the handler may do what any code may.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "injector/ptrace/target_impl.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
	PERIOD = 10 * 1000 * 1000,	/* ns; a request that need not wait takes some us */
	SIGNAL = SIGURG,	/* does nothing by default, should one come when all is over */
};

/* Of the tracer thread, which alone gets the signal. */
static __thread struct {
	struct target *volatile asking;	/* a request is being made for it */
	volatile bool lasts;	/* that one, since the tick before */
	int err;		/* of what was heard */
	struct sigaction before;
	timer_t timer;
	bool ticks;
} seizing;

static void hear(struct target *t)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL | __WNOTHREAD | WNOHANG)) > 0) {
		int err = target_take(t, tid, status);

		seizing.err = seizing.err ? seizing.err : err;
	}
}

static void on_tick(int signal)
{
	int before = errno;

	(void)signal;
	if (seizing.asking && seizing.lasts)
		hear(seizing.asking);
	seizing.lasts = true;
	errno = before;
}

void target_seize_begin(void)
{
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL };
	struct itimerspec each = { { 0, PERIOD }, { 0, PERIOD } };
	sigset_t set;

	seizing.err = 0;
	event.sigev_notify_thread_id = gettid();
	sigemptyset(&set);
	sigaddset(&set, SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	if (sigaction(SIGNAL, &action, &seizing.before) < 0)
		return;
	seizing.ticks = timer_create(CLOCK_MONOTONIC, &event, &seizing.timer) == 0;
	if (seizing.ticks)
		timer_settime(seizing.timer, 0, &each, NULL);
	else
		sigaction(SIGNAL, &seizing.before, NULL);
}

int target_seize_end(void)
{
	if (seizing.ticks) {
		seizing.ticks = false;
		timer_delete(seizing.timer);
		sigaction(SIGNAL, &seizing.before, NULL);
	}
	return seizing.err;
}

bool target_seize(struct target *t, pid_t tid, unsigned long options)
{
	seizing.lasts = false;
	seizing.asking = t;
	bool ours = ptrace(PTRACE_SEIZE, tid, 0, options) == 0;
	seizing.asking = NULL;
	return ours;
}
