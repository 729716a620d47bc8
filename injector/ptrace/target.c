/* SPDX-License-Identifier: MIT */
/* target: its threads are stopped. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "injector/proc/procfs.h"
#include "injector/proc/sharing.h"
#include "injector/ptrace/tracing.h"
#include "injector/ptrace/target_impl.h"

#define OPTIONS_ONE (PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)
/* When all are to stop, new threads and children are born traced, so that none
 * runs unnoticed; children are let go at once. */
#define OPTIONS_ALL (OPTIONS_ONE | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | \
		     PTRACE_O_TRACEVFORK)

/*
 * EPERM is also said of zombies, of threads that a clone event has attached to
 * us already, and of threads that another thread of ours, or an inject that was
 * killed, is just letting go: the end of a tracer is seen before the kernel has
 * detached what it held; and of a thread that has just given its id to one that executes a
 * program, after which the other is there. 1: it is traced by this thread; 0: try again, for
 * the `tries`th time; else -errno.
 */
static int why_not_permitted(const struct target *t, pid_t tid, int tries)
{
	enum { UNTRACED = 3 };
	char path[64];
	pid_t tracer = (pid_t)procfs_status(t->pid, tid, "TracerPid", 10, 0);

	snprintf(path, sizeof(path), "/proc/self/task/%d", tracer);
	if (tracer == gettid())
		return 1;
	if (tracer && (access(path, F_OK) == 0 || procfs_is_ending(tracer)))
		return 0;
	if (!tracer && tries < UNTRACED)
		return 0;
	if (!tracer)
		return fail(EPERM, "attach to thread %d of %d (%s)", tid, t->pid, t->comm);
	char name[32];
	procfs_comm(tracer, name, sizeof(name));
	return fail(0, "cannot attach to %d (%s): already traced by %s (pid %d); that has "
		    "to detach first", t->pid,
		    t->comm, name, tracer), -EPERM;
}

/* Seize one thread, which runs on. A thread that ended meanwhile is no error. */
static int seize(struct target *t, pid_t tid, unsigned long options)
{
	enum { TRIES = 200, REST = 500 * 1000 };
	int mine = 0;

	for (int i = 0; !target_seize(t, tid, options); i++) {
		if (errno == ESRCH || procfs_has_ended(t->pid, tid))
			return 0;
		if (errno != EPERM || i == TRIES)
			return fail(errno, "attach to thread %d of %d (%s)", tid, t->pid, t->comm);
		mine = why_not_permitted(t, tid, i);
		if (mine < 0)
			return mine;
		if (mine)
			break;
		nanosleep(&(struct timespec){ 0, REST }, NULL);
	}
	return target_find(t, tid) || target_hold_new(t, tid, HOLD_SEIZED) ? 0 :
		fail(ENOMEM, "attach to thread %d of %d (%s)", tid, t->pid, t->comm);
}

static size_t hold_count(const struct target *t, enum hold hold)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nthreads; i++)
		n += t->threads[i].hold == hold;
	return n;
}

/* Not within the pause allowed: `n` of `all` is how far it came. */
static int fail_late(const struct target *t, const char *what, size_t n, size_t all)
{
	char advice[TARGET_ADVICE];

	return fail(0, "%zu of %zu threads of %d (%s) %s in time; allow more with --max-pause%s", n,
		    all, t->pid, t->comm, what, target_advice(t, advice)), -EAGAIN;
}

/* Where threads stopped to the end there are too many; where none did of late, those that are left
 * do not stop. */
static int fail_unstopped(struct target *t, size_t left, uint64_t came)
{
	enum { LATE_SHARE = 8 };
	uint64_t now = now_ns();
	size_t all = MAX(t->nthreads, (size_t)MAX(t->own_count, 0));

	if (now - came < (now - t->stopped_at) / LATE_SHARE)
		target_needs(t, t->stopped_at, all - left, all);
	return fail_late(t, "did not stop", left, all);
}

/* What came of taking a report. */
static int target_tell(const struct target *t, int err)
{
	if (err == -ENOMEM)
		return fail(ENOMEM, "attach to a thread of %d (%s)", t->pid, t->comm);
	return err ? fail(-err, "%d (%s) executes another program", t->pid, t->comm) : 0;
}

/* Where many are still to stop we sleep through the first reports: each would wake us up, and
 * that takes the CPU from the next to stop. To look at one takes 1 us, to stop some 6. */
static void wait_for_reports(size_t left, bool heard, uint64_t until)
{
	enum { MANY = 16, EACH = 2000 };
	uint64_t now = now_ns(), rest = until > now ? until - now : 0;

	if (!heard)
		target_nap(until);
	else if (left >= MANY)
		nanosleep(&(struct timespec){ 0, (long)MIN(left * EACH, rest) }, NULL);
}

static int wait_all(struct target *t, uint64_t until)
{
	uint64_t came = now_ns();
	size_t left, heard;

	while ((left = hold_count(t, HOLD_SEIZED))) {
		/* Asked first: we may have been off the CPU ourselves since,
		 * and the report may be there. */
		bool late = now_ns() > until;
		int err = target_hear(t, &heard);

		if (err == -ECHILD)
			return fail(ESRCH, "wait for the threads of %d (%s)", t->pid, t->comm);
		if (err)
			return target_tell(t, err);
		came = heard ? now_ns() : came;
		left = hold_count(t, HOLD_SEIZED);
		if (left && late)
			return fail_unstopped(t, left, came);
		if (left)
			wait_for_reports(left, heard, until);
	}
	return 0;
}

/* The pause begins when the first is asked to stop. */
static int ask_first(struct target *t, uint64_t budget)
{
	t->stopped_at = now_ns();
	target_ask_all(t);
	return wait_all(t, target_until(t, budget));
}

static bool was_late(const struct target *t, pid_t tid)
{
	for (size_t i = 0; i < t->nlate; i++)
		if (t->late[i] == tid)
			return true;
	return false;
}

/* One that is not noted, for want of memory, is stopped with the others. */
static void note_late(struct target *t)
{
	for (size_t i = 0; i < t->nthreads; i++) {
		const struct thread_hold *th = &t->threads[i];
		pid_t *late = th->hold == HOLD_SEIZED && th->asked && !was_late(t, th->tid) ?
			vec_push(t->late, t->nlate, t->late_cap) : NULL;

		if (late)
			*late = th->tid;
	}
}

/* The kernel's own are left alone: to be stopped may end what one does for the program
 * with EINTR, and none can come to where anything is written. One that ends does not stop. */
static bool is_passed_over(const struct target *t, pid_t tid)
{
	return !procfs_is_listed(t->own, t->own_count, tid) && !procfs_runs_code(t->pid, tid);
}

/* Those of them that signals are sent to, or the others. */
static int seize_some(struct target *t, const pid_t *tids, int n, bool addressed, uint64_t until)
{
	for (int i = 0; i < n; i++) {
		if (target_was_addressed(t, tids[i]) != addressed || target_find(t, tids[i]) ||
		    is_passed_over(t, tids[i]))
			continue;
		int err = seize(t, tids[i], OPTIONS_ALL);

		if (err)
			return err;
		if (now_ns() > until && t->nthreads < (size_t)n) {
			target_needs(t, t->stopped_at, t->nthreads, (size_t)n);
			return fail_late(t, "were reached", t->nthreads, (size_t)n);
		}
	}
	return 0;
}

static int seize_listed(struct target *t, const pid_t *tids, int n, uint64_t until)
{
	int err = seize_some(t, tids, n, false, until);

	return err ? err : seize_some(t, tids, n, true, until);
}

/* Seize what is not held yet. Returns how many were new, or -errno. */
static int seize_new(struct target *t, uint64_t until)
{
	auto_free pid_t *tids = NULL;
	size_t before = t->nthreads;
	int n = procfs_tasks(t->pid, &tids);

	if (n < 0)
		return fail(-n, "%d (%s) is gone", t->pid, t->comm);
	target_seize_begin();
	int err = seize_listed(t, tids, n, until), heard = target_seize_end();
	err = err ? err : target_tell(t, heard);
	return err ? err : (int)(t->nthreads - before);
}

static int seize_one(struct target *t, pid_t tid)
{
	target_seize_begin();
	int err = seize(t, tid, OPTIONS_ONE), heard = target_seize_end();
	return err ? err : target_tell(t, heard);
}

/* Those that were late and are in an uninterruptible call come first. (One that waits for a
 * processor gets it sooner if the others stand still.) */
static void look_at_late(struct target *t)
{
	t->nfirst = 0;
	for (size_t i = 0; i < t->nlate; i++) {
		pid_t tid = t->late[i];

		if (!procfs_is_listed(t->own, t->own_count, tid) ||
		    procfs_state(t->pid, tid) != 'D')
			continue;
		t->late[i] = t->late[t->nfirst];
		t->late[t->nfirst++] = tid;
	}
}

/* Before the stop, for it takes 20 us a thread. The main thread is looked at
 * during the stop too: it has the filters that are set for all. */
static void look_at_threads(struct target *t)
{
	free(t->own);
	t->own = NULL;
	t->own_count = procfs_threads(t->pid, &t->own);
	for (int i = 0; i < t->own_count; i++) {
		target_is_addressed(t, t->own[i]);
		t->filtered = t->filtered || procfs_filtered(t->pid, t->own[i]);
	}
	look_at_late(t);
}

static int stop_first(struct target *t, uint64_t budget)
{
	uint64_t until = t->stopped_at + budget;

	target_seize_begin();
	int err = seize_listed(t, t->late, (int)t->nfirst, until), heard = target_seize_end();
	err = err ? err : target_tell(t, heard);
	return err ? err : ask_first(t, budget);
}

/* All are seized before the first is asked to stop: a signal that the process ignores, and that
 * a thread which stands still cannot take, wakes one then whose call is made again. */
static int stop_all(struct target *t, uint64_t budget)
{
	int fresh = t->nfirst ? stop_first(t, budget) : seize_new(t, t->stopped_at + budget);
	int err = fresh < 0 || t->nfirst ? fresh : ask_first(t, budget);

	while (!err) {
		fresh = seize_new(t, target_until(t, budget));
		if (!fresh && !hold_count(t, HOLD_SEIZED))
			break;
		target_ask_all(t);
		err = fresh < 0 ? fresh : wait_all(t, target_until(t, budget));
	}
	return err;
}

int target_stop(struct target *t, uint64_t budget)
{
	pid_t other = sharing_process(t->pid);

	if (other)
		return fail(0, "process %d shares the memory of %d (%s), and could not be stopped "
			    "with it", other, t->pid, t->comm), -EAGAIN;
	look_at_threads(t);
	tracing_hurry(true);
	t->stopped_at = now_ns();
	t->needs = 0;
	t->lent = false;
	int err = stop_all(t, budget);
	if (err)
		return note_late(t), err;
	t->filtered |= procfs_filtered(t->pid, 0);
	return hold_count(t, HOLD_STOPPED) ? target_check_program(t) :
		fail(ESRCH, "%d (%s) is gone", t->pid, t->comm);
}

int target_stop_one(struct target *t, pid_t tid, uint64_t budget, struct thread_hold **ret)
{
	tracing_hurry(true);
	t->stopped_at = now_ns();
	t->needs = 0;
	t->lent = true;
	/* (One that is held by this id may have given it to another that executes a program.) */
	target_ask_all(t);
	int err = target_find(t, tid) ? 0 : seize_one(t, tid);

	err = err ? err : ask_first(t, budget);
	t->filtered |= procfs_filtered(t->pid, tid);
	*ret = target_find(t, tid);
	if (!err && (!*ret || (*ret)->hold != HOLD_STOPPED))
		err = fail(ESRCH, "thread %d of %d (%s) is gone", tid, t->pid, t->comm);
	return err ? err : target_check_program(t);
}
