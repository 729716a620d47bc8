/* SPDX-License-Identifier: MIT */
/*
 * target, continued: a thread becomes ours, also where another executes a program.
 *
 * Who does so holds the cred_guard_mutex of his process while he waits for the ends of all its
 * other threads (de_thread() in the kernel's fs/exec.c), and of one that is ours he waits until
 * we have heard. PTRACE_SEIZE waits for that mutex (ptrace_attach() in kernel/ptrace.c): he and
 * we would wait for each other for ever. So a timer interrupts the request; its handler hears
 * of the ends; and the kernel makes the request again by itself.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "injector/target_impl.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
	PERIOD = 10 * 1000 * 1000,	/* ns; a request that need not wait takes some us */
	SIGNAL = SIGURG,	/* does nothing by default, should one come when all is over */
};

/* Of the surgeon's thread, which alone gets the signal. */
static __thread struct {
	struct target *volatile asking;	/* a request is being made for it */
	struct sigaction before;
	timer_t timer;
	bool ticks;
} seizing;

/* The process's own end is for others to hear of: then nobody executes anything. */
static void hear_of_ends(struct target *t)
{
	enum { HOW = WEXITED | WNOHANG | __WALL | __WNOTHREAD };

	for (;;) {
		siginfo_t ended = { 0 }, heard;

		if (waitid(P_ALL, 0, &ended, HOW | WNOWAIT) < 0 || !ended.si_pid ||
		    ended.si_pid == t->pid || target_is_watched(ended.si_pid) ||
		    waitid(P_PID, (id_t)ended.si_pid, &heard, HOW) < 0)
			return;
		struct thread_hold *th = target_find(t, ended.si_pid);
		if (th)
			th->hold = HOLD_GONE;
	}
}

static void on_tick(int signal)
{
	int before = errno;

	(void)signal;
	if (seizing.asking)
		hear_of_ends(seizing.asking);
	errno = before;
}

void target_seize_begin(void)
{
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL };
	struct itimerspec each = { { 0, PERIOD }, { 0, PERIOD } };
	sigset_t set;

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

void target_seize_end(void)
{
	if (!seizing.ticks)
		return;
	seizing.ticks = false;
	timer_delete(seizing.timer);
	sigaction(SIGNAL, &seizing.before, NULL);
}

bool target_seize(struct target *t, pid_t tid, unsigned long options)
{
	seizing.asking = t;
	bool ours = ptrace(PTRACE_SEIZE, tid, 0, options) == 0;
	seizing.asking = NULL;
	return ours;
}
