/* SPDX-License-Identifier: MIT */
#include "injector/patch/commit.h"

#include <errno.h>
#include <sys/syscall.h>

#include "injector/log/say.h"
#include "injector/patch/edit.h"
#include "injector/patch/semaphores.h"
#include "injector/patch/stale.h"
#include "injector/patch/traps.h"
#include "injector/ptrace/seccomp_all.h"

enum {
	PARK_ATTEMPTS = 10,		/* after which a function is given up */
	TRAP_ATTEMPTS = 16,		/* and what traps: a thread that blocks the
					 * signal in a handler may wait for a CPU */
};

struct committing {
	struct target *target;
	struct infection *inf;
	struct live *live;
	const struct commit_options *opt;
	struct edit edit;
	bool hooked;		/* SIGTRAP was not ours before */
	int blocked;		/* attempts that a thread stood in the way of */
};

/* The first function that traps, or NULL. */
static struct placed_probe *find_trap(const struct live *live)
{
	for (size_t i = 0; i < live->nsites; i++)
		if (live->sites[i].placed->site.tactic == TACTIC_TRAP)
			return live->sites[i].probe;
	return NULL;
}

static void drop_traps(struct live *live, struct infection *inf)
{
	for (struct placed_probe *p; (p = find_trap(live)); )
		live_drop(live, inf, p, REFUSED_TRAP_UNSAFE);
}

/* 7. A breakpoint that such a thread ran into would end the process. */
static int check_traps(struct committing *c, const struct sigframes *frames)
{
	struct target *t = c->target;
	pid_t tid = find_trap(c->live) ? traps_blocker(t, frames) : 0;

	return tid ? fail(EBUSY, "thread %d of %d (%s) blocks SIGTRAP", tid, t->pid, t->comm) : 0;
}

/* 7. Where a filter is against it, memory that arguments lead to is not read by a system call. */
static void forbid_reads(struct committing *c)
{
	struct session *s = c->inf->map.s;

	if (s->reads != READS_NOTHING && !seccomp_all_pass(c->target, SYS_process_vm_readv))
		__atomic_store_n(&s->reads, READS_NOTHING, __ATOMIC_RELEASE);
}

/* 7. */
static int check_threads(void *ctx, const struct sigframes *frames)
{
	struct committing *c = ctx;
	int err = infect_check_threads(c->target, c->inf);

	err = err ? err : check_traps(c, frames);
	if (!err)
		infect_forget_threads(c->target, c->inf);
	if (!err)
		forbid_reads(c);
	return err;
}

/* 7. */
static int into_stub(void *ctx, const struct rest *rest, raddr_t *to)
{
	struct committing *c = ctx;
	const struct live_site *ls = live_site_at(c->live, rest->pc);
	int err = 0;

	if (!ls)
		return stale_check(c->target, c->inf, c->live, rest, &c->edit.pc);
	raddr_t at = plan_forward(ls->placed, rest->pc - ls->module->bias, &err);
	if (err)
		return fail(EBUSY, "a thread stands inside an instruction of %s",
			    ls->probe->planned->func->name);
	*to = at ? at + ls->module->bias : 0;
	return 0;
}

/* 8 is done. */
static void note_written(void *ctx)
{
	struct committing *c = ctx;

	for (size_t i = 0; i < c->live->nchanges; i++)
		c->inf->map.slots[c->live->changes[i].slot].state = SLOT_ACTIVE;
	semaphores_raise(c->target, c->inf, c->live);
	c->inf->old_owners = false;
}

/* A function that a thread will not leave is not probed this time; nor is what
 * traps, if no place is in the way but a thread that blocks the signal. */
static bool give_up(struct live *live, struct infection *inf, raddr_t pc)
{
	const struct live_site *ls = pc ? live_site_at(live, pc) : NULL;

	if (!pc && find_trap(live)) {
		drop_traps(live, inf);
		return true;
	}
	if (ls)
		live_drop(live, inf, ls->probe, REFUSED_BUSY);
	return ls != NULL;
}

/* Nothing is there to be read, either. No one failed call decides, and a page
 * that may be read, but not written to, is no such. */
static bool is_gone(const struct target *t, raddr_t addr)
{
	uint8_t byte;

	return target_read(t, addr, &byte, 1) == -EIO;
}

/* Make the pages that change the target's own, while its threads run. A library
 * may be unloaded meanwhile: what cannot be read any more is not probed. */
static int commit_touch(struct target *t, struct infection *inf, struct live *live)
{
	size_t at;

	for (;;) {
		int err = text_touch(t, live->changes, live->nchanges, &at);
		struct placed_probe *p = err != -EIO || !is_gone(t, live->changes[at].addr) ? NULL :
			live_probe_at(live, live->changes[at].addr);

		if (!p)
			return err;
		live_drop(live, inf, p, REFUSED_UNLOADED);
		if (live_is_empty(live))
			return err;
		fail_clear();
	}
}

/* Was a library unloaded since? Then the rest may do. */
static bool has_unloaded(struct target *t, struct infection *inf, struct live *live)
{
	size_t before = live->nchanges;

	return commit_touch(t, inf, live) == 0 && live->nchanges < before;
}

/* A thread that blocks the signal of breakpoints stands at no place. */
static bool give_up_now(struct committing *c, int i)
{
	return c->edit.pc ? ++c->blocked >= PARK_ATTEMPTS : i + 1 >= TRAP_ATTEMPTS;
}

static bool cancelled(const struct committing *c)
{
	return c->opt->cancelled && c->opt->cancelled();
}

static int commit_again(void *ctx, int i, int err)
{
	struct committing *c = ctx;

	if (err == -EIO && has_unloaded(c->target, c->inf, c->live))
		err = -EAGAIN;
	if (err == -EBUSY && give_up_now(c, i) && give_up(c->live, c->inf, c->edit.pc))
		c->blocked = 0;
	else if (err != -EAGAIN && err != -EBUSY)
		return err;
	c->edit.then.n = c->live->nchanges;
	return live_is_empty(c->live) ? err : cancelled(c) ? -EINTR : 0;
}

/* What traps needs a handler. */
static int commit_hook(struct committing *c)
{
	int err = find_trap(c->live) ?
		traps_hook(c->target, c->opt->mods, c->inf->map.s, &c->hooked) : 0;

	if (err != -EPERM)
		return err;
	say("%s, so nothing traps", fail_text());
	fail_clear();
	drop_traps(c->live, c->inf);
	return live_is_empty(c->live) ? err : 0;
}

static int commit_prepare(void *ctx)
{
	struct committing *c = ctx;
	int err = commit_touch(c->target, c->inf, c->live);

	err = err ? err : commit_hook(c);
	/*
	 * Islands first, to which nothing leads yet; a thread on one comes into a stub of
	 * the same site either way.
	 */
	c->edit.first = (struct edit_list){ c->live->moves, c->live->nmoves, NULL };
	c->edit.then = (struct edit_list){ c->live->changes, c->live->nchanges, into_stub };
	return err ? err : cancelled(c) ? -EINTR : 0;
}

/* Nothing traps after all; the cause stays what it was. */
static void commit_unhook(struct committing *c)
{
	struct cause cause = fail_keep();

	traps_unhook(c->target, c->opt->mods, c->inf->map.s);
	fail_give_back(&cause);
}

int commit(struct target *t, struct infection *inf, struct live *live,
	   const struct commit_options *opt)
{
	struct committing c = {
		.target = t, .inf = inf, .live = live, .opt = opt,
		.edit = { .target = t, .max_pause = opt->max_pause, .all = true,
			  .prepare = commit_prepare, .check = check_threads,
			  .written = note_written, .again = commit_again },
	};

	c.edit.ctx = &c;
	int err = edit(&c.edit);
	if (c.hooked && (err || !find_trap(live)))
		commit_unhook(&c);
	return err;
}
