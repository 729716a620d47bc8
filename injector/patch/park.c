/* SPDX-License-Identifier: MIT */
#include "injector/patch/park.h"

#include <errno.h>

#include "injector/ptrace/rseq.h"

struct parking {
	struct target *target;
	struct thread_hold *thread;
	park_forward *forward;
	void *ctx;
	raddr_t *pc;
};

static int park_frame(void *ctx, const struct sigframe *f)
{
	struct parking *p = ctx;
	raddr_t to = 0;

	*p->pc = f->rest.pc;
	int err = p->forward(p->ctx, &f->rest, &to);
	if (!err && !to)
		return 0;
	int live = sigframe_is_live(p->target, p->thread, f);
	if (live == 0) {
		fail_clear();
		return 0;
	}
	if (live < 0 && !err)
		return fail(EBUSY, "the stack of thread %d cannot be walked", p->thread->tid);
	return err ? err : sigframe_set_pc(p->target, f, to);
}

/* The PC of a signal frame needs no such question: before the kernel saves it
 * there, it leads it out of a restartable sequence. */
static int move(struct parking *p, raddr_t to)
{
	struct thread_hold *th = p->thread;

	if (rseq_is_inside(p->target, th))
		return fail(EBUSY, "thread %d is inside a restartable sequence", th->tid);
	regs_set_pc(&th->regs, to);
	/* Not at release only: killed behind the commit, we would leave a thread
	 * in the middle of a jump. */
	return regs_set(th->tid, &th->regs);
}

static int park_thread(struct parking *p, const struct sigframes *frames)
{
	struct thread_hold *th = p->thread;
	raddr_t to = 0;
	int err = thread_regs(th);

	if (err)
		return err;
	struct rest rest = { .pc = regs_pc(&th->regs), .sp = regs_sp(&th->regs) };

	regs_ways(&th->regs, rest.ways);
	*p->pc = rest.pc;
	err = p->forward(p->ctx, &rest, &to);
	if (!err && to)
		err = move(p, to);
	return err ? err : sigframes_search(p->target, frames, th, park_frame, p);
}

static int fail_late(struct target *t, uint64_t begun, size_t done)
{
	char advice[TARGET_ADVICE];

	target_needs(t, begun, done, t->nthreads);
	return fail(0, "%zu of %zu threads of %d (%s) were looked at in time; allow more with "
		    "--max-pause%s", done, t->nthreads, t->pid, t->comm,
		    target_advice(t, advice)), -EAGAIN;
}

int park(struct target *t, const struct sigframes *frames, park_forward *forward, void *ctx,
	 uint64_t until, raddr_t *pc)
{
	struct parking p = { .target = t, .forward = forward, .ctx = ctx, .pc = pc };
	uint64_t begun = now_ns();

	for (size_t i = 0; i < t->nthreads; i++) {
		p.thread = &t->threads[i];
		if (until && now_ns() > until)
			return fail_late(t, begun, i);
		int err = p.thread->hold == HOLD_STOPPED ? park_thread(&p, frames) : 0;
		if (err)
			return err;
	}
	return 0;
}
