/* SPDX-License-Identifier: MIT */
#include "injector/target.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "injector/procfs.h"
#include "injector/say.h"
#include "injector/sharing.h"
#include "injector/shortened.h"
#include "injector/surgery.h"

#define OPTIONS_ONE (PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)
/* When all are to stop, new threads and children are born traced, so that none
 * runs unnoticed; children are let go at once. A single thread's are not: the
 * loader thread that it starts must run. */
#define OPTIONS_ALL (OPTIONS_ONE | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | \
		     PTRACE_O_TRACEVFORK)

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct thread_hold *find(struct target *t, pid_t tid)
{
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].tid == tid)
			return &t->threads[i];
	return NULL;
}

static struct thread_hold *hold_new(struct target *t, pid_t tid, enum hold hold)
{
	struct thread_hold *th = vec_push(t->threads, t->nthreads, t->cap);

	if (th) {
		th->tid = tid;
		th->hold = hold;
	}
	return th;
}

/*
 * EPERM is also said of zombies, of threads that a clone event has attached to
 * us already, and of threads that another thread of ours, or an inject that was
 * killed, is just letting go: the end of a tracer is seen before the kernel has
 * detached what it held. 1: it is traced by this thread; 0: try again; else -errno.
 */
static int why_not_permitted(const struct target *t, pid_t tid)
{
	char path[64];
	pid_t tracer = (pid_t)procfs_status(t->pid, tid, "TracerPid", 10, 0);

	snprintf(path, sizeof(path), "/proc/self/task/%d", tracer);
	if (tracer == gettid())
		return 1;
	if (tracer && (access(path, F_OK) == 0 || procfs_is_ending(tracer)))
		return 0;
	if (!tracer)
		return fail(EPERM, "attach to thread %d of %d (%s)", tid, t->pid, t->comm);
	char who[32];
	procfs_comm(tracer, who, sizeof(who));
	return fail(0, "cannot attach to %d (%s): already traced by %s (pid %d); that has "
		    "to detach first", t->pid,
		    t->comm, who, tracer), -EPERM;
}

static struct { pid_t pid; bool ended; int status; } watched;

static void note_end(pid_t tid, int status)
{
	if (tid == watched.pid && !WIFSTOPPED(status)) {
		watched.ended = true;
		watched.status = status;
	}
}

void target_watch(pid_t child)
{
	watched.pid = child;
	watched.ended = false;
}

bool target_ended(int *wait_status)
{
	*wait_status = watched.status;
	return watched.ended;
}

/* Seize one thread and interrupt it; does not wait. A thread that ended
 * meanwhile is no error. */
static int seize(struct target *t, pid_t tid, unsigned long options)
{
	enum { TRIES = 200, REST = 500 * 1000 };
	int mine = 0;

	for (int i = 0; ptrace(PTRACE_SEIZE, tid, 0, options) < 0; i++) {
		if (errno == ESRCH || procfs_has_ended(t->pid, tid))
			return 0;
		if (errno != EPERM || i == TRIES)
			return fail(errno, "attach to thread %d of %d (%s)", tid, t->pid, t->comm);
		mine = why_not_permitted(t, tid);
		if (mine < 0)
			return mine;
		if (mine)
			break;
		nanosleep(&(struct timespec){ 0, REST }, NULL);
	}
	if (!hold_new(t, tid, HOLD_SEIZED))
		return fail(ENOMEM, "attach to thread %d of %d (%s)", tid, t->pid, t->comm);
	regs_request(PTRACE_INTERRUPT, tid, 0, NULL);
	return 0;
}

/* A process that was forked while we held its parent: it is not ours. */
static void let_child_go(pid_t pid)
{
	regs_request(PTRACE_DETACH, pid, 0, NULL);
}

/* Is `tid` a thread of the target (and not a process forked by it)? */
static bool is_own(const struct target *t, pid_t tid)
{
	return procfs_status(tid, 0, "Tgid", 10, 0) == t->pid;
}

/*
 * Take one wait status. INTERRUPT need not give EVENT_STOP at once: a signal, a clone
 * or a system call may be reported first. A signal is passed on, and the interrupt made
 * again, for any stop takes it back (ptrace_stop() in the kernel's signal.c). Who
 * executes another program stands still until he is let go.
 */
static int take_status(struct target *t, pid_t tid, int status)
{
	struct thread_hold *th = find(t, tid);
	int event = status >> 16;

	note_end(tid, status);
	if (!th && !is_own(t, tid)) {
		if (WIFSTOPPED(status))
			let_child_go(tid);
		return 0;
	}
	if (!th)
		th = hold_new(t, tid, HOLD_SEIZED);
	if (!th)
		return fail(ENOMEM, "attach to thread %d of %d", tid, t->pid);
	if (!WIFSTOPPED(status) || event == PTRACE_EVENT_STOP) {
		th->hold = WIFSTOPPED(status) ? HOLD_STOPPED : HOLD_GONE;
		th->event_stop = event == PTRACE_EVENT_STOP;
		return 0;
	}
	if (event == PTRACE_EVENT_EXEC) {
		*th = (struct thread_hold){ .tid = tid, .hold = HOLD_STOPPED };
		return fail(ESRCH, "%d (%s) executes another program", t->pid, t->comm);
	}
	int sig = event || WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
	regs_request(PTRACE_INTERRUPT, tid, 0, NULL);
	if (regs_request(PTRACE_CONT, tid, 0, (void *)(uintptr_t)sig) < 0 && errno == ESRCH)
		th->hold = HOLD_GONE;
	return 0;
}

/* Wait until a tracee reports or `until`; SIGCHLD is blocked in every thread
 * of ours, so that sigtimedwait sleeps without a race. */
static void nap(uint64_t until)
{
	sigset_t set;
	uint64_t now = now_ns(), left = until > now ? until - now : 0;
	/* SIGCHLD may have been taken for another child's report: never sleep
	 * longer than this without looking. */
	uint64_t most = left < 1000000 ? left : 1000000;
	struct timespec ts = { 0, (long)most };

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigtimedwait(&set, NULL, &ts);
}

static size_t count(const struct target *t, enum hold hold)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nthreads; i++)
		n += t->threads[i].hold == hold;
	return n;
}

/* Not within the pause allowed: `n` of `all` is how far it came. */
static int too_late(const struct target *t, const char *what, size_t n, size_t all)
{
	return fail(0, "%zu of %zu threads of %d (%s) %s in time; allow more with --max-pause", n,
		    all, t->pid, t->comm, what), -EAGAIN;
}

static int wait_all(struct target *t, uint64_t until)
{
	while (count(t, HOLD_SEIZED)) {
		/* Asked first: we may have been off the CPU ourselves since,
		 * and the report may be there. */
		bool late = now_ns() > until;
		int status;
		pid_t tid = waitpid(-1, &status, __WALL | __WNOTHREAD | WNOHANG);

		if (tid > 0) {
			int err = take_status(t, tid, status);
			if (err)
				return err;
		} else if (tid < 0 && errno == ECHILD) {
			return fail(ESRCH, "wait for the threads of %d (%s)", t->pid, t->comm);
		} else if (late) {
			return too_late(t, "did not stop", count(t, HOLD_SEIZED), t->nthreads);
		} else {
			nap(until);
		}
	}
	return 0;
}

/* The kernel's own are left alone: to be stopped may end what one does for the program
 * with EINTR, and none can come to where anything is written. */
static bool is_worker(const struct target *t, pid_t tid)
{
	return !procfs_is_listed(t->own, t->own_count, tid) && procfs_is_worker(t->pid, tid);
}

/* Seize what is not held yet, for those that are held wait meanwhile. Returns how
 * many were new, or -errno. */
static int seize_new(struct target *t, uint64_t until)
{
	auto_free pid_t *tids = NULL;
	size_t before = t->nthreads;
	int n = procfs_tasks(t->pid, &tids);

	if (n < 0)
		return fail(-n, "%d (%s) is gone", t->pid, t->comm);
	for (int i = 0; i < n; i++) {
		int err = find(t, tids[i]) || is_worker(t, tids[i]) ? 0 :
			seize(t, tids[i], OPTIONS_ALL);
		if (err)
			return err;
		if (now_ns() > until && i + 1 < n)
			return too_late(t, "were reached", (size_t)i + 1, (size_t)n);
	}
	return (int)(t->nthreads - before);
}

/* Before the stop, for it takes 20 us a thread. The main thread is looked at
 * during the stop too: it has the filters that are set for all. */
static void look_at_threads(struct target *t)
{
	free(t->own);
	t->own = NULL;
	t->own_count = procfs_threads(t->pid, &t->own);
	for (int i = 0; i < t->own_count && !t->filtered; i++)
		t->filtered = procfs_filtered(t->pid, t->own[i]);
}

/* Who was asked and has not stopped: the request may have failed. */
static void interrupt_again(const struct target *t)
{
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].hold == HOLD_SEIZED)
			regs_request(PTRACE_INTERRUPT, t->threads[i].tid, 0, NULL);
}

int target_stop(struct target *t, uint64_t budget)
{
	pid_t other = sharing_process(t->pid);

	if (other)
		return fail(0, "process %d shares the memory of %d (%s), and could not be stopped "
			    "with it", other, t->pid, t->comm), -EAGAIN;
	look_at_threads(t);
	surgery_hurry(true);
	t->stopped_at = now_ns();
	t->lent = false;
	interrupt_again(t);
	for (;;) {
		int fresh = seize_new(t, t->stopped_at + budget);

		if (fresh < 0)
			return fresh;
		if (!fresh && !count(t, HOLD_SEIZED))
			break;
		int err = wait_all(t, t->stopped_at + budget);
		if (err)
			return err;
	}
	t->filtered |= procfs_filtered(t->pid, 0);
	/* Whose memory we have open no more has executed another program since. */
	bool gone = !count(t, HOLD_STOPPED) || pread(t->mem, &(char){ 0 }, 1, 0) == 0;
	return gone ? fail(ESRCH, "%d (%s) is gone", t->pid, t->comm) : 0;
}

int target_stop_one(struct target *t, pid_t tid, uint64_t budget, struct thread_hold **ret)
{
	surgery_hurry(true);
	t->stopped_at = now_ns();
	t->lent = true;
	interrupt_again(t);
	int err = find(t, tid) ? 0 : seize(t, tid, OPTIONS_ONE);

	err = err ? err : wait_all(t, t->stopped_at + budget);
	t->filtered |= procfs_filtered(t->pid, tid);
	*ret = find(t, tid);
	if (!err && (!*ret || (*ret)->hold != HOLD_STOPPED))
		err = fail(ESRCH, "thread %d of %d (%s) is gone", tid, t->pid, t->comm);
	return err;
}

int thread_regs(struct thread_hold *th)
{
	if (th->have_regs)
		return 0;
	int err = regs_get(th->tid, &th->regs);
	th->have_regs = !err;
	return err;
}

void target_name_call(const struct target *t, struct regs *r)
{
	uint8_t code[48];

	if (regs_is_restarted(r) &&
	    target_read(t, regs_call_site(r) - sizeof(code), code, sizeof(code)) == 0)
		regs_name_restarted(r, code, sizeof(code));
	fail_clear();
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

static void release_thread(struct target *t, struct thread_hold *th)
{
	repair(t, th);
	if (th->dirty)
		regs_set(th->tid, &th->regs);
	regs_request(PTRACE_DETACH, th->tid, 0, NULL);
}

/* Forget the threads that are let go; those that have not stopped yet stay
 * listed, for only a stopped tracee can be detached. */
static void drop_released(struct target *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].hold == HOLD_SEIZED)
			t->threads[kept++] = t->threads[i];
	t->nthreads = kept;
}

/* What cannot be read meanwhile is nobody's failure; what failed before is told still. */
static void release_stopped(struct target *t)
{
	char cause[1024];

	snprintf(cause, sizeof(cause), "%s", fail_text());
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].hold == HOLD_STOPPED)
			release_thread(t, &t->threads[i]);
	drop_released(t);
	fail_clear();
	fail_adopt(cause);
}

/* How long it took, in ns. */
static uint64_t release_held(struct target *t)
{
	uint64_t *longest = t->lent ? &t->longest_loan : &t->longest_pause;

	release_stopped(t);
	uint64_t took = now_ns() - t->stopped_at;

	*longest = MAX(*longest, took);
	if (t->lent)
		t->last_loan = took;
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
	surgery_hurry(false);
	if (took && tells_holds)
		tell_hold(t, took, &end);
}

int target_keep(struct target *t, const struct thread_hold *th)
{
	struct thread_hold *mine = hold_new(t, th->tid, HOLD_STOPPED);

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

void target_settle(struct target *t, uint64_t budget)
{
	uint64_t until = now_ns() + budget;

	interrupt_again(t);
	while (t->nthreads && !t->kept && now_ns() < until) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL | __WNOTHREAD | WNOHANG);

		if (tid > 0)
			take_status(t, tid, status);
		else if (tid < 0 && errno == ECHILD)
			t->nthreads = 0;
		else
			nap(until);
		release_stopped(t);
	}
}

static void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) },
		  NULL);
}

/* For so long nobody is held, as soon as those that come late are let go. */
static void rest(struct target *t, uint64_t settle, uint64_t owed)
{
	uint64_t since = now_ns();

	target_settle(t, settle);
	uint64_t passed = now_ns() - since;
	if (!t->kept && passed < owed)
		sleep_ns(owed - passed);
}

void target_recover(struct target *t, uint64_t budget)
{
	rest(t, budget, t->longest_pause);
}

void target_rest(struct target *t)
{
	rest(t, t->last_loan, t->last_loan);
}

/* Wait for the next stop of one thread that runs. */
static int wait_one(struct thread_hold *th, uint64_t until)
{
	int status;

	for (;;) {
		bool late = now_ns() > until;
		pid_t tid = waitpid(th->tid, &status, __WALL | __WNOTHREAD | WNOHANG);

		if (tid == th->tid)
			break;
		if (tid < 0 && errno == ECHILD)
			return -ESRCH;
		/* A wait that failed otherwise is made again, till the end. */
		if (late)
			return -ETIMEDOUT;
		nap(until);
	}
	note_end(th->tid, status);
	th->hold = WIFSTOPPED(status) ? HOLD_STOPPED : HOLD_GONE;
	th->event_stop = status >> 16 == PTRACE_EVENT_STOP;
	return th->hold == HOLD_GONE ? -ESRCH : status;
}

int thread_wait(struct thread_hold *th, uint64_t budget)
{
	return wait_one(th, now_ns() + budget);
}

int thread_resume(struct thread_hold *th, int request, int signal, uint64_t budget)
{
	uint64_t until = now_ns() + budget;

	if (regs_request(request, th->tid, 0, (void *)(uintptr_t)signal) < 0)
		return -errno;
	th->hold = HOLD_SEIZED;
	th->have_regs = false;
	return wait_one(th, until);
}

static bool is_fault(pid_t tid)
{
	siginfo_t info;

	return regs_request(PTRACE_GETSIGINFO, tid, 0, &info) < 0 || info.si_code > 0;
}

int thread_postpone(struct thread_hold *th, int status)
{
	int signal = WSTOPSIG(status);
	uint64_t mask;

	if (signal == SIGSTOP)
		return signal;
	if (is_fault(th->tid) ||
	    regs_request(PTRACE_GETSIGMASK, th->tid, sizeof(mask), &mask) < 0)
		return -EFAULT;
	mask |= 1ull << (signal - 1);
	return regs_request(PTRACE_SETSIGMASK, th->tid, sizeof(mask), &mask) < 0 ? -EFAULT : signal;
}

int thread_to_event_stop(struct thread_hold *th, uint64_t budget)
{
	uint64_t until = now_ns() + budget;
	int signal = 0;

	do {
		uint64_t now = now_ns();

		/* Each time (see take_status), or a call that it ends is made again. */
		regs_request(PTRACE_INTERRUPT, th->tid, 0, NULL);
		int status = th->hold == HOLD_SEIZED ? wait_one(th, until) :
			thread_resume(th, PTRACE_CONT, signal, until > now ? until - now : 0);

		if (status < 0)
			return status;
		signal = status >> 16 || WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 :
			thread_postpone(th, status);
		signal = MAX(signal, 0);
	} while (!th->event_stop);
	return 0;
}
