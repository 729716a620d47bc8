/* SPDX-License-Identifier: MIT */
#include "injector/patch/unmap.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/modules/modules.h"
#include "injector/patch/edit.h"
#include "injector/patch/traps.h"
#include "injector/proc/kernel.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/contexts.h"
#include "injector/ptrace/pace.h"
#include "injector/ptrace/tracing.h"
#include "injector/remote/loan.h"
#include "injector/session/blobs.h"
#include "injector/session/ours.h"

enum {
	SCANS = 4,		/* for children */
	TRIES = 8,		/* stops, for a thread to leave our code */
	LOOKS = 30,		/* for a thread to be lent */
	PAUSE = 50 * 1000 * 1000,	/* ns, where none is given */
};

struct unmapping {
	struct target target;
	struct modules mods;
	struct old_session old;
	uint64_t keep;		/* bytes of the session that stay mapped */
	uint64_t pause;		/* ns, of a stop at most */
};

/* Is it closed, and no inject's but ours? (One that stop --force has not waited for goes on.) */
static bool is_over(const struct session *s)
{
	pid_t holder = session_holder(s);

	return s->state == SESSION_CLOSED &&
		(holder ? holder == getpid() : !s->reader || s->reader & READER_GONE);
}

/* Nothing leads into code of ours, and there is no stack that no thread is on. A file is the
 * user's, and says where its rings are. */
static bool may_go(struct unmapping *u)
{
	const struct session *s = &u->old.s;
	pid_t pid = u->target.pid;

	u->keep = ALIGN_UP(session_least(s), kernel_page());
	return u->keep < u->old.place && u->keep <= u->old.mapped && is_over(s) &&
		!u->old.file && !u->old.nameless && !s->next_fiber &&
		!session_pending(&u->old) && !traps_hooked(&u->target, s) &&
		procfs_status(pid, procfs_front(pid), "VmLck", 10, 0) <= 0;
}

static int is_outside(const struct unmapping *u, raddr_t pc)
{
	return ours_has(&u->old.s, pc) ? fail(EBUSY, "a thread is still in code of ours") : 0;
}

/* Whether a handler will return there is not asked: an unwinder may be wrong. */
static int frame_is_outside(void *ctx, const struct sigframe *f)
{
	return is_outside(ctx, f->rest.pc);
}

/* 7. In the stop. */
static int all_are_outside(void *ctx, const struct sigframes *frames)
{
	struct unmapping *u = ctx;
	struct target *t = &u->target;
	int err = 0;

	for (size_t i = 0; i < t->nthreads && !err; i++) {
		struct thread_hold *th = &t->threads[i];

		if (th->hold != HOLD_STOPPED)
			continue;
		err = thread_regs(th);
		err = err ? err : is_outside(u, regs_pc(&th->regs));
		err = err ? err : sigframes_search(t, frames, th, frame_is_outside, u);
		if (!err && now_ns() > t->stopped_at + u->pause)
			err = fail(EAGAIN, "no time to look at all threads");
	}
	return err;
}

static bool is_inside(void *ctx, raddr_t pc)
{
	const struct unmapping *u = ctx;

	return ours_has(&u->old.s, pc);
}

/* A stop that takes too long is not made again for this. */
static int try_again(void *ctx, int i, int err)
{
	(void)ctx;
	return i < TRIES && err == -EBUSY ? 0 : err;
}

static int unmap_tail(struct unmapping *u)
{
	struct gadgets g;
	struct remote remote;
	int64_t unused;
	int err = remote_gadgets(&u->target, payload_range(u->old.s.payload), &g);

	err = err ? err : loan_borrow(&u->target, &u->mods, LOAN_SYSCALLS, LOOKS, &g, &remote);
	if (err)
		return err;
	err = session_keep(&u->target, &u->old, u->keep);
	err = err ? err : remote_try(&remote, "give back addresses", &unused, SYS_munmap,
				     u->old.base + u->keep, u->old.place - u->keep, 0, 0, 0, 0);
	return loan_give_back(&remote, err);
}

static int unmap_here(void *ctx)
{
	struct unmapping *u = ctx;
	struct edit e = { .target = &u->target, .max_pause = u->pause,
			  .check = all_are_outside, .again = try_again, .ctx = u };
	int err = modules_open_process(u->target.pid, &u->mods);

	err = err ? err : edit(&e);
	pace_set(PACE_EQUAL);
	if (err || contexts_search(&u->target, is_inside, u))
		return err;
	return unmap_tail(u);
}

/* One process; another than the named one is claimed here. True: it had addresses to give back. */
static bool unmap_one(pid_t pid, bool named, struct removal *r)
{
	struct unmapping u = { .pause = r->max_pause ? r->max_pause : PAUSE };
	int err = target_open(pid, &u.target);

	err = err || named ? err : target_claim(&u.target);
	err = err ? err : session_find(&u.target, &u.old);
	bool may = !err && u.old.found && u.old.ino == r->session && may_go(&u);

	if (may)
		tracing(unmap_here, &u);
	r->longest_pause = MAX(r->longest_pause, u.target.longest_pause);
	r->repaired += u.target.repaired;
	r->shortened += u.target.shortened;
	modules_close(&u.mods);
	session_forget(&u.old);
	target_close(&u.target);
	return may;
}

struct others {
	struct removal *removal;
	bool any;
};

static void unmap_other(void *ctx, pid_t other)
{
	struct others *o = ctx;

	o->any |= unmap_one(other, false, o->removal);
}

void unmap_rings(pid_t pid, struct removal *r)
{
	enum pace before = pace_set(PACE_LEISURE);
	struct cause cause = fail_keep();
	struct others o = { r, true };

	unmap_one(pid, true, r);
	/* A child may fork while we look. */
	for (int i = 0; i < SCANS && o.any; i++) {
		o.any = false;
		remove_each_other(pid, r, unmap_other, &o);
	}
	fail_give_back(&cause);
	pace_set(before);
}
