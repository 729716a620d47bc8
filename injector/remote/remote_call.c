/* SPDX-License-Identifier: MIT */
/* remote_call: one system call, or one function, of a thread that is held. */
#include "injector/remote/remote_impl.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "injector/proc/procfs.h"

uint64_t remote_faults(void)
{
	static const int faults[] = { SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS };
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		mask |= 1ull << (faults[i] - 1);
	return mask;
}

int remote_set_mask(pid_t tid, uint64_t mask)
{
	if (regs_request(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) < 0)
		return fail(errno, "set the signal mask of thread %d", tid);
	return 0;
}

struct regs remote_at_sigreturn(const struct remote *r)
{
	const struct gadgets *g = &r->gadgets;
	struct regs regs = r->saved;

	regs_call(&regs, g->sigreturn ? g->sigreturn : g->pop_number, NULL, 0,
		  r->way + (raddr_t)frame_popped, 0);
	return regs;
}

/* Its next instructions bring it back, at the stop before rt_sigreturn itself, which is
 * not made now. Seccomp filters are asked about a call that is left out, number -1, too, and
 * may kill for it: so no other call may be begun at this stop. */
static int put_off_sigreturn(const struct remote *r)
{
	struct regs regs = remote_at_sigreturn(r);

	regs_replace_call(&regs, SYS_gettid);
	return regs_set(r->thread->tid, &regs);
}

bool remote_wants_to_run(const struct remote *r)
{
	char state = procfs_state(r->target->pid, r->thread->tid);

	return state == 'R' || state == 't';
}

bool remote_is_worth(const struct remote *r, struct waiting *w, uint64_t budget)
{
	uint64_t ran = procfs_time_run(r->target->pid, r->thread->tid), now = now_ns();

	if (!w->end)
		*w = (struct waiting){ .end = now + LONGEST, .ran = ran };
	if (now > w->end)
		return false;
	if (procfs_state(r->target->pid, r->thread->tid) == 'D')
		return ++w->held < PATIENCE;
	return remote_wants_to_run(r) && ran - w->ran < budget * PATIENCE;
}

static const char *remote_does(const struct remote *r)
{
	switch (procfs_state(r->target->pid, r->thread->tid)) {
	case 'R':
		return "runs on and on, or gets no processor";
	case 'D':
		return "waits in the kernel, where no signal ends its sleep";
	default:
		return "sleeps";
	}
}

int remote_failed(const struct remote *r, int err)
{
	if (err != -ETIMEDOUT)
		return fail(-err, "a remote call in thread %d", r->thread->tid);
	return fail(0, "a remote call in thread %d does not end: it %s; try again",
		    r->thread->tid, remote_does(r)), err;
}

static bool at_syscall_stop(int status)
{
	return !(status >> 16) && WSTOPSIG(status) == (SIGTRAP | 0x80);
}

/* Run to the next stop. */
static int remote_run(struct remote *r, int signal, uint64_t budget)
{
	struct waiting w = { 0 };
	int status = thread_resume(r->thread, PTRACE_SYSCALL, signal, budget);

	r->ran |= status > 0 || r->thread->hold != HOLD_STOPPED;
	while (status == -ETIMEDOUT && remote_is_worth(r, &w, budget))
		status = thread_wait(r->thread, budget);
	return status;
}

/*
 * Run to the next system-call stop, passing over other stops. A fault means
 * that the call went wrong: -EFAULT, and the signal is dropped.
 */
static int to_syscall_stop(struct remote *r, uint64_t budget)
{
	for (int signal = 0;;) {
		int status = remote_run(r, signal, budget);

		signal = 0;
		if (status < 0)
			return remote_failed(r, status);
		if (at_syscall_stop(status))
			return 0;
		if (status >> 16)	/* an event; a group stop included */
			continue;
		signal = thread_postpone(r->thread, status);
		if (signal < 0)
			return fail(-signal, "a remote call in thread %d got signal %d",
				    r->thread->tid, WSTOPSIG(status));
	}
}

/* A call that fails because of a filter has just failed; one that kills is never made. */
static bool is_forbidden(const struct remote *r, long nr, const uint64_t args[6])
{
	const struct seccomp_filters *f = &r->target->filters;

	return f->tid == r->thread->tid && seccomp_ask(f, nr, args, ~0u) & SECCOMP_HARMS;
}

int remote_syscall(struct remote *r, long nr, const uint64_t args[6], int64_t *ret)
{
	struct regs regs = r->saved;

	if (!remote_is_held(r))
		return fail(EAGAIN, "thread %d has gone on by itself", r->thread->tid);
	if (is_forbidden(r, nr, args))
		return fail(0, "thread %d has a seccomp filter that forbids it system call %ld",
			    r->thread->tid, nr), -EPERM;
	regs_call_syscall(&regs, r->gadgets.syscall_ret, nr, args, r->way,
			  r->gadgets.sigreturn);
	int err = regs_set(r->thread->tid, &regs);
	err = err ? err : to_syscall_stop(r, SYSCALL_BUDGET);	/* entry */
	err = err ? err : to_syscall_stop(r, SYSCALL_BUDGET);	/* exit */
	err = err ? err : thread_regs(r->thread);
	if (!err)
		*ret = (int64_t)regs_result(&r->thread->regs);
	return err;
}

int remote_try(struct remote *r, const char *what, int64_t *ret, long nr,
	       uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
	       uint64_t a5)
{
	uint64_t args[6] = { a0, a1, a2, a3, a4, a5 };
	int err = remote_syscall(r, nr, args, ret);

	if (!err && *ret < 0 && *ret >= -4095)
		err = fail((int)-*ret, "%s in %d (%s)", what, r->target->pid, r->target->comm);
	return err;
}

int remote_call(struct remote *r, raddr_t fn, uint64_t a0, uint64_t a1, uint64_t budget)
{
	const uint64_t args[] = { a0, a1 };
	struct regs regs = r->saved;
	uint64_t unused;

	regs_call(&regs, fn, args, ARRAY_SIZE(args), r->way, r->gadgets.sigreturn);
	/* Signals that the kernel forces on a thread must not be blocked: it would
	 * reset their handler to the default and kill the process. */
	int err = remote_set_mask(r->thread->tid, ~remote_faults());
	err = err ? err : regs_set(r->thread->tid, &regs);
	while (!err) {
		err = to_syscall_stop(r, budget);
		err = err ? err : thread_regs(r->thread);
		if (err)
			break;
		/* The end: about to make rt_sigreturn over our frame. The call
		 * is skipped, for remote_end restores more than it would; and
		 * the thread set to make it again, in case we die before. */
		if (regs_syscall(&r->thread->regs, &unused) == SYS_rt_sigreturn &&
		    regs_sp(&r->thread->regs) == r->frame + (raddr_t)frame_popped)
			return put_off_sigreturn(r);
	}
	return err;
}
