/* SPDX-License-Identifier: MIT */
#include "injector/remote/remote.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "injector/proc/procfs.h"

enum {
	SYSCALL_BUDGET = 500 * 1000 * 1000,	/* ns, for one system call */
	LOOK_PAUSE = 50 * 1000,	/* ns between looks at who works by himself */
	END_BUDGET = 1000 * 1000 * 1000,	/* ns, to be given back */
	PATIENCE = 20,		/* budgets that a thread may wait for a CPU */
};

/*
 * The words at r->way, below the frame whose first word is the last of them: a
 * call "returns" by them. Where no code makes rt_sigreturn, as in a small static
 * program that handles no signal, other code takes the number from there.
 */
static size_t way_words(const struct gadgets *g, uint64_t words[2])
{
	words[0] = g->pop_number;
	words[1] = SYS_rt_sigreturn;
	return g->sigreturn ? 0 : 2;
}

/*
 * For system calls, in which nothing can fault; but the kernel may force SIGSYS on who
 * handles his own calls (PR_SET_SYSCALL_USER_DISPATCH), where it does not tell us before.
 */
static const uint64_t mask_calls = ~(1ull << (SIGSYS - 1));

uint64_t remote_faults(void)
{
	static const int faults[] = { SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS };
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		mask |= 1ull << (faults[i] - 1);
	return mask;
}

static int set_mask(pid_t tid, uint64_t mask)
{
	if (regs_request(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) < 0)
		return fail(errno, "set the signal mask of thread %d", tid);
	return 0;
}

/* The state to come back to: an interrupted call runs again from its start. */
static struct regs way_back(const struct remote *r)
{
	struct regs back = r->saved;

	target_name_call(r->target, &back);
	regs_rewind(&back);
	return back;
}

/* Write the frame that brings the thread back if we die. */
static int write_frame(struct remote *r, raddr_t stack_top)
{
	struct regs back = way_back(r);
	auto_free uint8_t *bytes = NULL;
	uint64_t words[2];
	int err = stack_top ? 0 : remote_place(r, &stack_top);

	if (err)
		return err;
	size_t n = way_words(&r->gadgets, words) * sizeof(*words);
	const struct gadgets *g = &r->gadgets;

	r->frame = frame_base(stack_top, &r->xstate);
	r->way = r->frame - n;
	int64_t size = frame_build(&back, &r->xstate, r->sigmask, r->frame,
				   g->sigreturn ? g->sigreturn : g->syscall_ret, &bytes);
	if (size < 0)
		return (int)size;
	err = n ? target_write(r->target, r->way, words, n) : 0;
	return err ? err : target_write(r->target, r->frame, bytes, (size_t)size);
}

/* Registers with which the thread's next instructions bring it back. */
static struct regs at_sigreturn(const struct remote *r)
{
	const struct gadgets *g = &r->gadgets;
	struct regs regs = r->saved;

	regs_call(&regs, g->sigreturn ? g->sigreturn : g->pop_number, NULL, 0,
		  r->way + sizeof(uint64_t));
	return regs;
}

/* If we die now, they do. */
static int point_at_sigreturn(const struct remote *r)
{
	struct regs regs = at_sigreturn(r);

	return regs_set(r->thread->tid, &regs);
}

/* The same at the stop before rt_sigreturn itself, which is not made now. A call that is
 * left out, number -1, is asked seccomp filters for as well, and killed for: so no other
 * call may be begun at this stop. */
static int put_off_sigreturn(const struct remote *r)
{
	struct regs regs = at_sigreturn(r);

	regs_replace_call(&regs, SYS_gettid);
	return regs_set(r->thread->tid, &regs);
}

int remote_begin(struct target *t, struct thread_hold *th, const struct gadgets *g,
		 raddr_t stack_top, struct remote *ret)
{
	struct remote *r = ret;

	*r = (struct remote){ .target = t, .thread = th, .gadgets = *g };
	if (!th->event_stop)
		return fail(EINVAL, "thread %d is not in an event stop", th->tid);
	int err = thread_regs(th);
	if (err)
		return err;
	r->saved = th->regs;
	err = xstate_get(th->tid, &r->xstate);
	if (err)
		return err;
	if (regs_request(PTRACE_GETSIGMASK, th->tid, sizeof(r->sigmask), &r->sigmask) < 0)
		err = fail(errno, "read the signal mask of thread %d", th->tid);
	err = err ? err : write_frame(r, stack_top);
	if (err) {
		xstate_clear(&r->xstate);
		return err;
	}
	/* First the way back, then what it brings back: were the signals
	 * blocked before, our death in between would leave them so. */
	err = point_at_sigreturn(r);
	err = err ? err : set_mask(th->tid, mask_calls);
	if (err)
		return remote_end(r), err;
	alarms_note(r);
	return 0;
}

int remote_use_stack(struct remote *r, raddr_t stack_top)
{
	r->borrowed_stack = true;
	return write_frame(r, stack_top - frame_tail(&r->xstate));
}

/*
 * A budget is for a thread that sleeps, for a lock that it may itself hold; one that
 * wants to run and gets no CPU on a crowded machine is waited for much longer. So is one
 * that has just stopped, for that is yet to be reported.
 */
static bool wants_to_run(const struct remote *r)
{
	char state = procfs_state(r->target->pid, r->thread->tid);

	return state == 'R' || state == 't';
}

/* After a wait for its next stop, which has ended so. */
static int wait_longer(const struct remote *r, int status, uint64_t budget)
{
	for (int i = 0; i < PATIENCE && status == -ETIMEDOUT && wants_to_run(r); i++)
		status = thread_wait(r->thread, budget);
	return status;
}

/* What is to be passed on of a stop. To who has gone home by himself, all. */
static int after_stop(struct remote *r, int status, bool *home)
{
	int err = thread_regs(r->thread);

	if (err)
		return err;
	*home = !range_has(r->code, regs_pc(&r->thread->regs));
	if (status >> 16)
		return 0;
	return *home ? WSTOPSIG(status) : thread_postpone(r->thread, status);
}

/* Bring it to an event stop, where it is or at home. Of whom nobody knows where he is
 * nothing is given back: he comes home by himself. */
static int fetch(struct remote *r)
{
	bool home = false;
	int signal = 0, err;

	do {
		regs_request(PTRACE_INTERRUPT, r->thread->tid, 0, NULL);
		int status = r->thread->hold == HOLD_SEIZED ?
			thread_wait(r->thread, SYSCALL_BUDGET) :
			thread_resume(r->thread, PTRACE_CONT, signal, SYSCALL_BUDGET);

		status = wait_longer(r, status, SYSCALL_BUDGET);
		if (status < 0)
			return status;
		err = after_stop(r, status, &home);
		signal = MAX(err, 0);
	} while (!r->thread->event_stop);
	if (err < 0)
		return err;
	r->code = (struct range){ 0 };
	if (home)
		xstate_clear(&r->xstate);
	return 0;
}

static int to_event_stop(const struct remote *r)
{
	int err = thread_to_event_stop(r->thread, END_BUDGET);

	for (int i = 0; i < PATIENCE && err == -ETIMEDOUT && wants_to_run(r); i++)
		err = thread_to_event_stop(r->thread, END_BUDGET);
	return err;
}

int remote_end(struct remote *r)
{
	int err = 0;

	if (!r->xstate.bytes)
		return 0;
	/* A restart would be taken from the registers of the moment, so they
	 * are restored in an event stop, never in a system call's. */
	if (r->code.end)
		err = fetch(r);
	else if (!r->thread->event_stop || r->thread->hold != HOLD_STOPPED)
		err = to_event_stop(r);
	if (!r->xstate.bytes)
		return 0;
	if (!err && alarms_came(r)) {
		alarms_take_away(r);
		err = to_event_stop(r);
	}
	if (err)
		fail(-err, "stop thread %d to give it back", r->thread->tid);
	/* The registers last: until then the way back leads over the frame. */
	err = err ? err : xstate_set(r->thread->tid, &r->xstate);
	err = err ? err : set_mask(r->thread->tid, r->sigmask);
	err = err ? err : regs_set(r->thread->tid, &r->saved);
	/* Who could not be given back goes home with a signal mask and vector state that
	 * only the way back restores: at its next stop it has registers of its own. */
	r->thread->regs = r->saved;
	r->thread->have_regs = !err;
	r->astray = err && (r->code.end || r->borrowed_stack);
	xstate_clear(&r->xstate);
	return err;
}

static bool at_syscall_stop(int status)
{
	return !(status >> 16) && WSTOPSIG(status) == (SIGTRAP | 0x80);
}

/* Run to the next stop. */
static int run(struct remote *r, int signal, uint64_t budget)
{
	int status = thread_resume(r->thread, PTRACE_SYSCALL, signal, budget);

	r->ran |= status > 0 || r->thread->hold != HOLD_STOPPED;
	return wait_longer(r, status, budget);
}

/*
 * Run to the next system-call stop, passing over other stops. A fault means
 * that the call went wrong: -EFAULT, and the signal is dropped.
 */
static int to_syscall_stop(struct remote *r, uint64_t budget)
{
	for (int signal = 0;;) {
		int status = run(r, signal, budget);

		signal = 0;
		if (status < 0)
			return fail(-status, "a remote call in thread %d", r->thread->tid);
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
	regs_call_syscall(&regs, r->gadgets.syscall_ret, nr, args, r->way);
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

	regs_call(&regs, fn, args, ARRAY_SIZE(args), r->way);
	/* Signals that the kernel forces on a thread must not be blocked: it would
	 * reset their handler to the default and kill the process. */
	int err = set_mask(r->thread->tid, ~remote_faults());
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
		    regs_sp(&r->thread->regs) == r->frame + sizeof(uint64_t))
			return put_off_sigreturn(r);
	}
	return err;
}

static bool is_done(const struct remote *r, const struct remote_job *job)
{
	uint32_t done = ~job->turn;

	if (target_read(r->target, job->done, &done, sizeof(done)) < 0)
		fail_clear();
	return done == job->turn;
}

/* Until it is done, or at home; it stops for what somebody sends. */
static int await_work(struct remote *r, const struct remote_job *job)
{
	uint64_t until = now_ns() + SYSCALL_BUDGET;
	int status = thread_resume(r->thread, PTRACE_CONT, 0, 0), late = 0;
	bool home = false;

	for (;;) {
		if (status > 0) {
			int signal = after_stop(r, status, &home);

			if (signal < 0)
				return signal;
			status = thread_resume(r->thread, PTRACE_CONT, signal, 0);
			continue;
		}
		if (status != -ETIMEDOUT)
			return status;
		if (home || is_done(r, job))
			return 0;
		if (now_ns() > until) {
			if (++late == PATIENCE || !wants_to_run(r))
				return -ETIMEDOUT;
			until = now_ns() + SYSCALL_BUDGET;
		}
		nanosleep(&(struct timespec){ 0, LOOK_PAUSE }, NULL);
		status = thread_wait(r->thread, 0);
	}
}

int remote_work(struct remote *r, const struct remote_job *job)
{
	const uint32_t nobody = 0;
	struct regs regs = r->saved;

	if (!remote_is_held(r))
		return fail(EAGAIN, "thread %d has gone on by itself", r->thread->tid);
	regs_call(&regs, job->fn, job->args, ARRAY_SIZE(job->args), r->way);
	/* As in remote_call. */
	int err = set_mask(r->thread->tid, ~remote_faults());
	err = err ? err : regs_set(r->thread->tid, &regs);
	if (err)
		return err;
	r->ran = true;
	r->code = job->code;
	err = await_work(r, job);
	if (err)
		target_write(r->target, job->turn_at, &nobody, sizeof(nobody));
	int stopped = fetch(r);
	err = err ? err : stopped;
	return err ? fail(-err, "a remote call in thread %d", r->thread->tid) : 0;
}
