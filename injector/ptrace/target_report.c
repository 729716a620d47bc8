/* SPDX-License-Identifier: MIT */
/* target, continued: which threads are held, and what each of them reports. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/target_impl.h"

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* By what it has taken last; but a virtual machine may have lost its processor then. */
static uint64_t release_ns(const struct target *t)
{
	enum { LEAST = 5 * 1000, MOST = 10 * 1000 };
	uint64_t each = MIN(MAX(t->release_each, LEAST), MOST);

	return each * MAX(t->nthreads, (size_t)MAX(t->own_count, 1));
}

uint64_t target_until(const struct target *t, uint64_t budget)
{
	return t->stopped_at + budget - MIN(release_ns(t), budget / 2);
}

void target_needs(struct target *t, uint64_t begun, size_t done, size_t n)
{
	uint64_t now = now_ns();

	t->needs = done ? begun - t->stopped_at +
		(uint64_t)((double)(now - begun) / (double)done * (double)n) + release_ns(t) : 0;
}

/* It is to be enough for a busy machine as well. */
const char *target_advice(const struct target *t, char buf[TARGET_ADVICE])
{
	enum { ENOUGH = 2 };
	const double ms = 1e6;

	buf[0] = '\0';
	if (t->needs)
		snprintf(buf, TARGET_ADVICE, " %.0fms (some %.0f ms are needed)",
			 ENOUGH * (double)t->needs / ms + 1, (double)t->needs / ms + 0.5);
	return buf;
}

struct thread_hold *target_find(struct target *t, pid_t tid)
{
	/* They are asked for in turn: one search begins where the last one ended. */
	for (size_t n = 0; n < t->nthreads; n++) {
		size_t i = (t->found + n) % t->nthreads;

		if (t->threads[i].tid == tid)
			return &t->threads[t->found = i];
	}
	return NULL;
}

struct thread_hold *target_hold_new(struct target *t, pid_t tid, enum hold hold)
{
	struct thread_hold *th = vec_push(t->threads, t->nthreads, t->cap);

	if (th) {
		th->tid = tid;
		th->hold = hold;
	}
	return th;
}

/* Those that have not stopped yet stay listed, for only a stopped tracee can be detached. */
void target_drop_gone(struct target *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].hold != HOLD_GONE)
			t->threads[kept++] = t->threads[i];
	t->nthreads = kept;
}

static struct { pid_t pid; bool ended; int status; } watched;

void target_note_end(pid_t tid, int status)
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

/* A process that was forked while we held its parent is not ours. */
static void let_go_unlisted(pid_t pid)
{
	regs_request(PTRACE_DETACH, pid, 0, NULL);
}

/* Is `tid` a thread of the target (and not a process forked by it)? */
static bool is_own(const struct target *t, pid_t tid)
{
	return procfs_status(tid, 0, "Tgid", 10, 0) == t->pid;
}

int target_take(struct target *t, pid_t tid, int status)
{
	struct thread_hold *th = target_find(t, tid);
	int event = status >> 16;

	target_note_end(tid, status);
	bool own = th || is_own(t, tid);
	if (!th && own)
		th = target_hold_new(t, tid, HOLD_SEIZED);
	if (!th) {
		if (WIFSTOPPED(status))
			let_go_unlisted(tid);
		return own ? -ENOMEM : 0;
	}
	if (!WIFSTOPPED(status) || event == PTRACE_EVENT_STOP) {
		th->hold = WIFSTOPPED(status) ? HOLD_STOPPED : HOLD_GONE;
		th->event_stop = event == PTRACE_EVENT_STOP;
		return 0;
	}
	if (event == PTRACE_EVENT_EXEC) {
		*th = (struct thread_hold){ .tid = tid, .hold = HOLD_STOPPED };
		return -ESRCH;
	}
	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK)
		target_note_addressed(t, tid);
	int sig = event || WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
	th->before.switches++;
	regs_request(PTRACE_INTERRUPT, tid, 0, NULL);
	regs_request(PTRACE_CONT, tid, 0, (void *)(uintptr_t)sig);
	return 0;
}

static int hear(struct target *t, pid_t tid, size_t *heard)
{
	int status;
	pid_t from = waitpid(tid, &status, __WALL | __WNOTHREAD | WNOHANG);

	if (from <= 0)
		return from < 0 && errno == ECHILD ? -ECHILD : 0;
	++*heard;
	return target_take(t, from, status);
}

int target_hear(struct target *t, size_t *heard)
{
	size_t before;
	int err = 0;

	*heard = 0;
	for (size_t i = 0; i < t->nthreads && (!err || err == -ECHILD); i++)
		if (t->threads[i].hold == HOLD_SEIZED)
			err = hear(t, t->threads[i].tid, heard);
	if (err && err != -ECHILD)
		return err;
	do {
		before = *heard;
		err = hear(t, -1, heard);
	} while (!err && *heard != before);
	return err;
}

void target_nap(uint64_t until)
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
