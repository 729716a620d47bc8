/* SPDX-License-Identifier: MIT */
/* target, continued: held threads are let go, as if nothing had been. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "injector/log/say.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/shortened.h"
#include "injector/ptrace/tracing.h"
#include "injector/ptrace/target_impl.h"

/* Does the thread run a handler as soon as it is let go? Of what is for any thread of several it is
 * not known which gets it. */
static bool gets_signal(pid_t pid, pid_t tid)
{
	uint64_t pending = (uint64_t)procfs_status(pid, tid, "SigPnd", 16, 0);

	if (procfs_status(pid, 0, "Threads", 10, 0) == 1)
		pending |= (uint64_t)procfs_status(pid, tid, "ShdPnd", 16, 0);
	return pending && (pending & (uint64_t)procfs_status(pid, tid, "SigCgt", 16, 0) &
			   ~(uint64_t)procfs_status(pid, tid, "SigBlk", 16, 0));
}

/*
 * Look at what our stop did to the system call that the thread is in. The kernel goes on
 * with a sleep by restart_syscall, for which a seccomp filter kills that does not know it:
 * there, or where filters cannot be read, the call itself runs again, as long as it once
 * was to take. (A filter that comes before the thread's next step cannot be foreseen.)
 */
static void repair(struct target *t, struct thread_hold *th)
{
	struct regs_call_state call;

	if (thread_regs(th))
		return;
	switch (regs_interrupted(&th->regs)) {
	case INTERRUPTED_BLOCK:
		if (!t->filtered || seccomp_restarts(t->pid, th->tid))
			break;
		target_name_call(t, &th->regs);
		regs_repair(&th->regs);
		th->dirty = true;
		break;
	case INTERRUPTED_EINTR:
		/* The signal ends it then. Where a stop hides calls, the kernel makes no EINTR of
		 * one that is made again. */
		if (regs_hide_call && gets_signal(t->pid, th->tid))
			break;
		regs_repair(&th->regs);
		th->dirty = true;
		t->repaired++;
		break;
	case INTERRUPTED_NONE:
		regs_call_state(&th->regs, &call);
		if (!shortened(t, &call))
			break;
		regs_forget_call(&th->regs);
		th->dirty = true;
		t->shortened++;
		break;
	default:
		break;
	}
}

/*
 * A thread that is in no stop any more, though it was, is being killed: perhaps by another
 * that executes a program, and waits until we have reaped it.
 */
static void release_thread(struct target *t, struct thread_hold *th)
{
	repair(t, th);
	if (th->dirty)
		regs_set(th->tid, &th->regs);
	bool gone = regs_request(PTRACE_DETACH, th->tid, 0, NULL) == 0 || errno != ESRCH;
	*th = (struct thread_hold){ .tid = th->tid, .hold = gone ? HOLD_GONE : HOLD_SEIZED };
}

/* Those that signals are sent to, or the others. */
static void release_some(struct target *t, bool addressed)
{
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].hold == HOLD_STOPPED &&
		    target_was_addressed(t, t->threads[i].tid) == addressed)
			release_thread(t, &t->threads[i]);
}

/* What cannot be read meanwhile fails nothing; what failed before is told still. */
static void release_stopped(struct target *t)
{
	struct cause cause = fail_keep();

	release_some(t, true);
	release_some(t, false);
	target_drop_gone(t);
	fail_give_back(&cause);
}

/* How long it took, in ns. */
static uint64_t release_held(struct target *t)
{
	uint64_t *longest = t->lent ? &t->longest_loan : &t->longest_pause, begun = now_ns();
	size_t n = t->nthreads;

	release_stopped(t);
	uint64_t now = now_ns(), took = now - t->stopped_at;

	/* Of one alone that says little. */
	if (!t->lent && n > t->nthreads)
		t->release_each = (now - begun) / (n - t->nthreads);

	*longest = MAX(*longest, took);
	*(t->lent ? &t->last_loan : &t->last_pause) = took;
	return took;
}

static bool tells_holds;

void target_tell_holds(void)
{
	tells_holds = true;
}

static void tell_hold(const struct target *t, uint64_t took, const struct timespec *end)
{
	say_hint("%d (%s) %s for %.3f ms, until %lld.%06ld", t->pid, t->comm,
		 t->lent ? "lent a thread" : "stood still", (double)took / 1e6,
		 (long long)end->tv_sec, end->tv_nsec / 1000);
}

void target_release(struct target *t)
{
	enum { STRAGGLERS = 1000 * 1000 };
	struct timespec end;
	uint64_t took = 0;

	if (t->nthreads && !t->kept) {
		took = release_held(t);
		clock_gettime(CLOCK_REALTIME, &end);
		target_settle(t, STRAGGLERS);
	}
	tracing_hurry(false);
	if (took && tells_holds)
		tell_hold(t, took, &end);
}

int target_keep(struct target *t, const struct thread_hold *th)
{
	struct thread_hold *mine = target_hold_new(t, th->tid, HOLD_STOPPED);

	if (!mine)
		return fail(ENOMEM, "hold thread %d", th->tid);
	*mine = *th;
	t->kept = true;
	return 0;
}

void target_let_go(struct target *t)
{
	t->kept = false;
	release_stopped(t);
}

/* A thread that was asked to stop has been woken, and its call ends with EINTR if it is left to
 * itself then; it stops as soon as it gets a processor. */
static bool some_will_stop(const struct target *t)
{
	for (size_t i = 0; i < t->nthreads; i++) {
		char state = t->threads[i].asked ? procfs_state(t->pid, t->threads[i].tid) : 0;

		if (state && strchr("Rt", state))
			return true;
	}
	return false;
}

/* Reports are taken also where no thread is listed: a main thread that has ended before the
 * others is dropped, but reports at the end of the last of them, and to us alone. */
void target_settle(struct target *t, uint64_t budget)
{
	const uint64_t nap = 1000 * 1000, patience = 1000 * nap;
	bool more = true;

	if (t->kept)
		return;
	target_ask_all(t);
	uint64_t until = now_ns() + budget, end = now_ns() + MAX(budget, patience);
	while (more) {
		size_t heard;

		if (target_hear(t, &heard) == -ECHILD)
			t->nthreads = 0;
		release_stopped(t);
		uint64_t now = now_ns();
		if (!heard && t->nthreads)
			target_nap(MAX(until, now + nap));
		more = heard || (t->nthreads && (now < until || (now < end && some_will_stop(t))));
	}
}

/* For so long no thread is held, as soon as those that come late are let go. */
static void release_rest(struct target *t, uint64_t settle, uint64_t owed)
{
	uint64_t since = now_ns();

	target_settle(t, settle);
	uint64_t passed = now_ns() - since;
	if (!t->kept && passed < owed)
		nanosleep(&(struct timespec){ (time_t)((owed - passed) / 1000000000),
					      (long)((owed - passed) % 1000000000) }, NULL);
}

void target_recover(struct target *t, uint64_t budget)
{
	release_rest(t, budget, t->longest_pause);
}

void target_rest(struct target *t)
{
	release_rest(t, t->last_loan, t->last_loan);
}
