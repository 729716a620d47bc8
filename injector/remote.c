/* SPDX-License-Identifier: MIT */
#include "injector/remote.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "injector/procfs.h"

enum {
	SYSCALL_BUDGET = 500 * 1000 * 1000,	/* ns, for one system call */
	LOOK_PAUSE = 50 * 1000,	/* ns between looks at who works by himself */
	END_BUDGET = 1000 * 1000 * 1000,	/* ns, to be given back */
};

#define SECOND 1000000000ull
#define PATIENCE (20 * SECOND)	/* ns, that a thread may wait for a processor */
#define SPIN (SECOND / 2)	/* ns in its own code, that no function of ours takes */

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

	regs_replace_call(&regs, SYS_getpid);
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
	return err ? (remote_end(r), err) : 0;
}

int remote_use_stack(struct remote *r, raddr_t stack_top)
{
	r->borrowed_stack = true;
	return write_frame(r, stack_top - frame_tail(&r->xstate));
}

static uint64_t user_time(const struct remote *r)
{
	return procfs_user_time(r->target->pid, r->thread->tid);
}

/* In a function that is short: so it waits for a lock, perhaps its own. */
static bool spins(const struct remote *r)
{
	return r->inside && user_time(r) > r->used + SPIN;
}

/*
 * A budget is for a thread that sleeps, for a lock that it may itself hold; one that
 * wants to run and gets no CPU on a crowded machine is waited for much longer. So is one
 * that has just stopped, for that is yet to be reported.
 */
static bool wants_to_run(const struct remote *r)
{
	char state = procfs_state(r->target->pid, r->thread->tid);

	return (state == 'R' && !spins(r)) || state == 't';
}

/* After a wait for its next stop, which has ended so. */
static int wait_longer(const struct remote *r, int status, uint64_t budget)
{
	uint64_t until = now_ns() + PATIENCE;

	while (status == -ETIMEDOUT && wants_to_run(r) && now_ns() < until)
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
	uint64_t until = now_ns() + PATIENCE;
	int err = thread_to_event_stop(r->thread, END_BUDGET);

	while (err == -ETIMEDOUT && wants_to_run(r) && now_ns() < until)
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
	else if (r->inside)
		err = -ETIMEDOUT;
	else if (!r->thread->event_stop || r->thread->hold != HOLD_STOPPED)
		err = to_event_stop(r);
	if (!r->xstate.bytes)
		return 0;
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
	r->astray = err && (r->code.end || r->inside || r->borrowed_stack);
	xstate_clear(&r->xstate);
	return err;
}

static bool at_syscall_stop(int status)
{
	return !(status >> 16) && WSTOPSIG(status) == (SIGTRAP | 0x80);
}

/* To the next stop, also of one that runs already. */
static int run(struct remote *r, uint64_t budget)
{
	int status = r->thread->hold == HOLD_SEIZED ? thread_wait(r->thread, budget) :
		thread_resume(r->thread, PTRACE_SYSCALL, r->signal, budget);

	r->signal = 0;
	r->ran |= status > 0 || r->thread->hold != HOLD_STOPPED;
	return wait_longer(r, status, budget);
}

/*
 * 1: it is a system call's. 0: another (an event, a group stop included), which is to be
 * passed over. A fault means that the call went wrong: -EFAULT, and the signal is dropped.
 */
static int take_stop(struct remote *r, int status)
{
	if (at_syscall_stop(status))
		return 1;
	if (status >> 16)
		return 0;
	r->signal = thread_postpone(r->thread, status);
	if (r->signal >= 0)
		return 0;
	r->signal = 0;
	return fail(EFAULT, "a remote call in thread %d got signal %d", r->thread->tid,
		    WSTOPSIG(status));
}

static int fail_call(const struct remote *r, int err)
{
	return fail(-err, "a remote call in thread %d", r->thread->tid);
}

static int to_syscall_stop(struct remote *r, uint64_t budget)
{
	int at = 0;

	while (!at) {
		int status = run(r, budget);

		if (status < 0)
			return fail_call(r, status);
		at = take_stop(r, status);
	}
	return MIN(at, 0);
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

/* It has not come to a stop within its budget: to the next, as take_stop. */
static int rouse(struct remote *r)
{
	fail_clear();
	regs_request(PTRACE_INTERRUPT, r->thread->tid, 0, NULL);
	int status = wait_longer(r, thread_wait(r->thread, END_BUDGET), END_BUDGET);

	return status < 0 ? fail_call(r, status) : take_stop(r, status);
}

/* At a stop of a call: may that be to wait for a lock? */
static bool is_wait(long nr)
{
	return nr == SYS_futex || nr == SYS_nanosleep || nr == SYS_clock_nanosleep ||
		nr == SYS_sched_yield;
}

/*
 * And has it got nothing? So it is where only we, or a timeout, have ended its sleep. Who was
 * woken is about to take the lock; taken out of there he would leave those asleep who wait
 * for it, too. And who was in any other call may have locked something before.
 */
static bool waits_in_vain(struct remote *r)
{
	struct regs_call_state call;

	regs_call_state(&r->thread->regs, &call);
	if (call.nr != SYS_futex)
		return is_wait(call.nr);
	r->slept_on = call.arg[0];
	return call.result == -ETIMEDOUT || regs_interrupted(&r->thread->regs) != INTERRUPTED_NONE;
}

/* About to make rt_sigreturn over our frame? Notes who makes threads. */
static bool is_at_end(struct remote *r)
{
	uint64_t unused;
	long nr = regs_syscall(&r->thread->regs, &unused);

	r->cloned |= nr == SYS_clone || nr == SYS_clone3;
	return nr == SYS_rt_sigreturn && regs_sp(&r->thread->regs) == r->frame + sizeof(uint64_t);
}

/* Until it is about to return. */
static int await_return(struct remote *r, uint64_t budget)
{
	uint64_t begun = now_ns(), since = begun, unused;

	for (;;) {
		int at = to_syscall_stop(r, budget);

		at = at == -ETIMEDOUT && !spins(r) ? rouse(r) : at ? at : 1;
		int err = at < 0 ? at : thread_regs(r->thread);
		if (err)
			return err;
		if (!at)
			continue;
		if (is_at_end(r))
			return 0;
		uint64_t now = now_ns();
		if (!is_wait(regs_syscall(&r->thread->regs, &unused)))
			since = now;
		r->inside = now < since + budget || !waits_in_vain(r);
		if (!r->inside || now > begun + PATIENCE)
			return fail_call(r, -ETIMEDOUT);
	}
}

int remote_call(struct remote *r, raddr_t fn, uint64_t a0, uint64_t a1, uint64_t budget)
{
	const uint64_t args[] = { a0, a1 };
	struct regs regs = r->saved;

	regs_call(&regs, fn, args, ARRAY_SIZE(args), r->way);
	/* Signals that the kernel forces on a thread must not be blocked: it would
	 * reset their handler to the default and kill the process. */
	int err = set_mask(r->thread->tid, ~remote_faults());
	err = err ? err : regs_set(r->thread->tid, &regs);
	if (err)
		return err;
	r->used = user_time(r);
	r->inside = true;
	r->slept_on = 0;
	err = await_return(r, budget);
	/* Who has faulted is taken out, and who spins, or might do so for ever. */
	r->inside &= err && err != -EFAULT && !spins(r);
	/* The call at the end is skipped, for remote_end restores more than it would; and
	 * the thread set to make it again, in case we die before. */
	return err ? err : put_off_sigreturn(r);
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
	uint64_t begun = now_ns(), until = begun + SYSCALL_BUDGET;
	int status = thread_resume(r->thread, PTRACE_CONT, 0, 0);
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
			if (until > begun + PATIENCE || !wants_to_run(r))
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
	return err ? fail_call(r, err) : 0;
}
