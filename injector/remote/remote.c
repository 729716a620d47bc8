/* SPDX-License-Identifier: MIT */
/* remote: a thread is made ready to call for us, and given back. */
#include "injector/remote/remote_impl.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
	LOOK_PAUSE = 50 * 1000,	/* ns between looks at a thread that works by itself */
	END_BUDGET = 1000 * 1000 * 1000,	/* ns, to be given back */
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
 * For system calls, in which nothing can fault; but the kernel may force SIGSYS on a thread
 * that handles its own calls (PR_SET_SYSCALL_USER_DISPATCH), where it does not tell us before.
 */
static const uint64_t mask_calls = ~(1ull << (SIGSYS - 1));

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

/*
 * A kernel that goes by the place at which it lets a thread go on, to tell whether to resume a
 * sleep there, would take our call for the thread's own, if that sleeps in the code by which we
 * make ours: in some C libraries it does.
 */
static int choose_gadget(struct remote *r)
{
	struct gadgets *g = &r->gadgets;

	if (regs_pc(&r->saved) == g->syscall_ret)
		g->syscall_ret = g->other;
	return g->syscall_ret ? 0 :
		fail(EAGAIN, "thread %d of %d (%s) sleeps in the only code by which it could be had "
		     "to make a system call; try again", r->thread->tid, r->target->pid,
		     r->target->comm);
}

/* If we die now, its next instructions bring it back. */
static int point_at_sigreturn(const struct remote *r)
{
	struct regs regs = remote_at_sigreturn(r);

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
	err = choose_gadget(r);
	err = err ? err : xstate_get(th->tid, &r->xstate);
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
	err = err ? err : remote_set_mask(th->tid, mask_calls);
	if (err)
		return remote_end(r), err;
	alarms_note(r);
	return 0;
}

int remote_use_stack(struct remote *r, raddr_t stack_top)
{
	r->borrowed_stack = true;
	r->first_frame = r->frame;
	return write_frame(r, stack_top - frame_tail(&r->xstate));
}

/* What is to be passed on of a stop. To a thread that has gone home by itself, all. */
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

/* One that wants to run is waited for, until it has stopped or does something else. */
static bool is_to_come(const struct remote *r, int err, int tries)
{
	return err == -ETIMEDOUT && tries < PATIENCE && remote_wants_to_run(r);
}

/* Bring it to an event stop, where it is or at home. To a thread of which it is not known
 * where it is nothing is given back: it comes home by itself. */
static int fetch(struct remote *r)
{
	bool home = false;
	int signal = 0, err;

	do {
		regs_request(PTRACE_INTERRUPT, r->thread->tid, 0, NULL);
		int status = r->thread->hold == HOLD_SEIZED ?
			thread_wait(r->thread, SYSCALL_BUDGET) :
			thread_resume(r->thread, PTRACE_CONT, signal, SYSCALL_BUDGET);

		for (int i = 0; is_to_come(r, status, i); i++)
			status = thread_wait(r->thread, SYSCALL_BUDGET);
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

	for (int i = 0; is_to_come(r, err, i); i++)
		err = thread_to_event_stop(r->thread, END_BUDGET);
	return err;
}

/* What a frame says must not be taken for what a signal has interrupted (contexts.h). The thread
 * has its state back, and has not gone on: nothing else is there yet. */
static void spoil_frames(const struct remote *r)
{
	const raddr_t frames[] = { r->frame, r->first_frame }, nowhere = 0;

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		if (frames[i] && target_write(r->target, frames[i] + (uint64_t)frame_pc_offset,
					      &nowhere, sizeof(nowhere)) < 0)
			fail_clear();
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
	err = err ? err : remote_set_mask(r->thread->tid, r->sigmask);
	err = err ? err : regs_set(r->thread->tid, &r->saved);
	if (!err)
		spoil_frames(r);
	/* A thread that could not be given back goes home with a signal mask and vector state
	 * that only the way back restores: at its next stop it has registers of its own. */
	r->thread->regs = r->saved;
	r->thread->have_regs = !err;
	r->astray = err && (r->code.end || r->borrowed_stack);
	xstate_clear(&r->xstate);
	return err;
}

static bool is_done(const struct remote *r, const struct remote_job *job)
{
	uint32_t done = ~job->turn;

	if (target_read(r->target, job->done, &done, sizeof(done)) < 0)
		fail_clear();
	return done == job->turn;
}

/* Until it is done, or at home; it stops for each signal that is sent to it. */
static int await_work(struct remote *r, const struct remote_job *job)
{
	uint64_t until = now_ns() + SYSCALL_BUDGET;
	struct waiting w = { 0 };
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
			if (!remote_is_worth(r, &w, SYSCALL_BUDGET))
				return -ETIMEDOUT;
			until = now_ns() + SYSCALL_BUDGET;
		}
		nanosleep(&(struct timespec){ 0, LOOK_PAUSE }, NULL);
		status = thread_wait(r->thread, 0);
	}
}

int remote_work(struct remote *r, const struct remote_job *job)
{
	const uint32_t none = 0;
	struct regs regs = r->saved;

	if (!remote_is_held(r))
		return fail(EAGAIN, "thread %d has gone on by itself", r->thread->tid);
	regs_call(&regs, job->fn, job->args, ARRAY_SIZE(job->args), r->way,
		  r->gadgets.sigreturn);
	/* As in remote_call. */
	int err = remote_set_mask(r->thread->tid, ~remote_faults());
	err = err ? err : regs_set(r->thread->tid, &regs);
	if (err)
		return err;
	r->ran = true;
	r->code = job->code;
	err = await_work(r, job);
	if (err)
		target_write(r->target, job->turn_at, &none, sizeof(none));
	int stopped = fetch(r);
	err = err ? err : stopped;
	return err ? remote_failed(r, err) : 0;
}
