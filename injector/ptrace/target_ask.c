/* SPDX-License-Identifier: MIT */
/* target, continued: threads that are held are asked to stop. */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/target_impl.h"

/* The main thread's end is told only when that of the last of the others is. */
static bool has_ended_untold(const struct target *t, pid_t tid)
{
	siginfo_t told = { 0 };

	return tid == t->pid && procfs_has_ended(t->pid, tid) &&
		waitid(P_PID, (id_t)tid, &told,
		       WEXITED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD) == 0 && !told.si_pid;
}

/* False: the kernel knows no thread of ours by that id. */
static bool target_ask(pid_t tid)
{
	return regs_request(PTRACE_INTERRUPT, tid, 0, NULL) == 0 || errno != ESRCH;
}

/*
 * Ask one, perhaps again. Under an id that the kernel does not know as ours no thread will
 * report: a thread that executes a program takes the main thread's, and is to be let go from that
 * stop; and the thread that had that id has ended, untold.
 */
static void ask(struct target *t, struct thread_hold *th)
{
	if (regs_hide_call && !th->before.sp)
		thread_note(th, t->pid);
	bool lost = !target_ask(th->tid);
	struct thread_hold *main_one = lost ? target_find(t, t->pid) : NULL;

	th->asked = !lost;
	if (lost && (!main_one || main_one->hold == HOLD_GONE) && target_ask(t->pid))
		*th = (struct thread_hold){ .tid = t->pid, .hold = HOLD_SEIZED };
	else if (lost || has_ended_untold(t, th->tid))
		th->hold = HOLD_GONE;
}

void target_ask_all(struct target *t)
{
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].hold == HOLD_SEIZED)
			ask(t, &t->threads[i]);
	target_drop_gone(t);
}
