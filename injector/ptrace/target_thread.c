/* SPDX-License-Identifier: MIT */
/* target, continued: one thread that is held, and runs for us from stop to stop. */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/target_impl.h"

static int64_t switches(pid_t pid, pid_t tid)
{
	return procfs_status(pid, tid, "voluntary_ctxt_switches", 10, -1);
}

struct asleep thread_asleep(pid_t pid, pid_t tid)
{
	struct asleep ret = { 0 };

	if (procfs_state(pid, tid) != 'S' ||
	    !procfs_syscall(pid, tid, &ret.nr, &ret.arg, &ret.sp, &ret.pc))
		return (struct asleep){ 0 };
	ret.switches = switches(pid, tid);
	return ret;
}

/* This is a part of the stop: no more is read than may be asked for. */
void thread_note(struct thread_hold *th, pid_t pid)
{
	struct asleep *a = &th->before;

	*a = (struct asleep){ 0 };
	if (!procfs_syscall(pid, th->tid, &a->nr, &a->arg, &a->sp, &a->pc) ||
	    regs_restarts(a->nr) == RESTARTS_ITSELF)
		*a = (struct asleep){ 0 };
	else
		a->switches = switches(pid, th->tid);
}

/* It has not woken up, if the stop is all that it has slept in since. What was noted holds for
 * one stop. */
void thread_met(struct thread_hold *th)
{
	struct asleep before = th->before;

	th->before = (struct asleep){ 0 };
	if (before.sp)
		regs_met(&th->regs, &before, before.switches + 1 == switches(th->tid, th->tid));
	regs_ask_call(th->tid, &th->regs);
}

int thread_regs(struct thread_hold *th)
{
	if (th->have_regs)
		return 0;
	int err = regs_get(th->tid, &th->regs);
	th->have_regs = !err;
	if (!err && regs_hides_call(&th->regs))
		thread_met(th);
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
		target_nap(until);
	}
	target_note_end(th->tid, status);
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

		/* Each time (see target_take), or a call that it ends is made again. */
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
