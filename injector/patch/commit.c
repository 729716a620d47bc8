/* SPDX-License-Identifier: MIT */
#include "injector/patch/commit.h"

#include <errno.h>
#include <stdio.h>

#include "injector/log/say.h"
#include "injector/patch/park.h"
#include "injector/patch/strays.h"
#include "injector/patch/traps.h"
#include "injector/ptrace/pace.h"

enum {
	ATTEMPTS = 20,
	REST = 5 * 1000 * 1000,		/* ns between attempts, times their number */
	PARK_ATTEMPTS = 10,		/* after which a function is given up */
	TRAP_ATTEMPTS = 16,		/* and what traps: a thread that blocks the
					 * signal in a handler may wait for a CPU */
};

struct parking {
	const struct target *target;
	const struct infection *inf;
	const struct live *live;
	raddr_t *pc;		/* that is in the way */
};

/* The first function that traps, or NULL. */
static struct probe *find_trap(const struct live *live)
{
	for (size_t i = 0; i < live->nsites; i++)
		if (live->sites[i].site->tactic == TACTIC_TRAP)
			return live->sites[i].probe;
	return NULL;
}

static void drop_traps(struct live *live, struct infection *inf)
{
	for (struct probe *p; (p = find_trap(live)); )
		probes_drop(live, inf, p, REFUSED_TRAP_UNSAFE);
}

/* 7. A breakpoint that such a thread ran into would end the process. */
static int check_traps(struct target *t, const struct live *live,
		       const struct sigframes *frames, raddr_t *pc)
{
	pid_t tid = find_trap(live) ? traps_blocker(t, frames) : 0;

	if (!tid)
		return 0;
	*pc = 0;
	return fail(EBUSY, "thread %d of %d (%s) blocks SIGTRAP", tid, t->pid, t->comm);
}

/* 7. */
static int check_threads(const struct target *t, const struct infection *inf, raddr_t *pc)
{
	int err = infect_check_threads(t, inf);

	if (err)
		*pc = 0;
	return err;
}

static int forward(void *ctx, raddr_t pc, raddr_t sp, raddr_t *to)
{
	const struct parking *p = ctx;
	const struct live_site *ls = probes_site_at(p->live, pc);
	int err = 0;

	if (!ls)
		return strays_check(p->target, p->inf, p->live, pc, sp, p->pc);
	raddr_t at = plan_forward(ls->site, pc - ls->module->bias, &err);
	if (err)
		return fail(EBUSY, "a thread stands inside an instruction of %s",
			    ls->probe->func->name);
	*to = at ? at + ls->module->bias : 0;
	return 0;
}

/*
 * 8. Islands first, to which nothing leads yet; who stands on one comes into a stub of
 * the same site either way. Then holes: `changes` are in that order.
 */
static int write_jumps(struct target *t, struct infection *inf, struct live *live,
		       uint64_t until)
{
	size_t moved = 0, done = 0;
	int err = text_change(t, live->moves, live->nmoves, until, &moved);

	err = err ? err : text_change_all(t, live->changes, live->nchanges, until, &done);
	if (err) {
		text_undo(t, live->changes, done);
		text_undo(t, live->moves, moved);
		return err;
	}
	for (size_t i = 0; i < live->nchanges; i++)
		inf->map.slots[live->changes[i].slot].state = SLOT_ACTIVE;
	return 0;
}

/* 6 to 9, once. */
static int attempt(struct target *t, struct infection *inf, struct live *live,
		   const struct sigframes *frames, const struct commit_options *opt,
		   raddr_t *pc)
{
	struct parking p = { t, inf, live, pc };

	*pc = 0;
	int err = target_stop(t, opt->max_pause);			/* 6 */
	uint64_t until = t->stopped_at + opt->max_pause;
	err = err ? err : park(t, frames, forward, &p, until, pc);	/* 7 */
	err = err ? err : check_threads(t, inf, pc);
	err = err ? err : check_traps(t, live, frames, pc);
	if (!err)
		infect_forget_threads(t, inf);
	err = err ? err : write_jumps(t, inf, live, until);		/* 8 */
	inf->stale = inf->stale && err;
	target_release(t);						/* 9 */
	return err;
}

/* A function that a thread will not leave is not probed this time; nor is what
 * traps, if no place is in the way but a thread that blocks the signal. */
static bool give_up(struct live *live, struct infection *inf, raddr_t pc)
{
	const struct live_site *ls = pc ? probes_site_at(live, pc) : NULL;

	if (!pc && find_trap(live)) {
		drop_traps(live, inf);
		return true;
	}
	if (ls)
		probes_drop(live, inf, ls->probe, REFUSED_BUSY);
	return ls != NULL;
}

static struct probe *probe_by_id(const struct live *live, uint32_t id)
{
	for (size_t i = 0; i < live->nsites; i++)
		if (live->sites[i].probe->id == id)
			return live->sites[i].probe;
	return NULL;
}

/* Nothing is there to be read, either. No one failed call decides, and who may read a page
 * but not write to it is told that. */
static bool is_gone(const struct target *t, raddr_t addr)
{
	uint8_t byte;

	return target_read(t, addr, &byte, 1) == -EIO;
}

/* Make the pages that change the target's own, while its threads run. A library
 * may be unloaded meanwhile: what cannot be read any more is not probed. */
static int touch(struct target *t, struct infection *inf, struct live *live)
{
	size_t at;

	for (;;) {
		int err = text_touch(t, live->changes, live->nchanges, &at);
		struct probe *p = err != -EIO || !is_gone(t, live->changes[at].addr) ? NULL :
			probe_by_id(live, inf->map.slots[live->changes[at].slot].func);

		if (!p)
			return err;
		probes_drop(live, inf, p, REFUSED_UNLOADED);
		if (live_is_empty(live))
			return err;
		fail_clear();
	}
}

/* Was a library unloaded since? Then the rest may do. */
static bool has_unloaded(struct target *t, struct infection *inf, struct live *live)
{
	size_t before = live->nchanges;

	return touch(t, inf, live) == 0 && live->nchanges < before;
}

/* At the i-th attempt; who blocks the signal of breakpoints has no place. */
static bool give_up_now(int i, raddr_t pc, int *stuck)
{
	return pc ? ++*stuck >= PARK_ATTEMPTS : i + 1 >= TRAP_ATTEMPTS;
}

static int attempts(struct target *t, struct infection *inf, struct live *live,
		    const struct sigframes *frames, const struct commit_options *opt)
{
	int err = -EAGAIN, stuck = 0;
	raddr_t pc;

	for (int i = 0; i < ATTEMPTS; i++) {
		if (opt->cancelled && opt->cancelled())
			return -EINTR;
		fail_clear();
		err = attempt(t, inf, live, frames, opt, &pc);
		if (err == -EIO && has_unloaded(t, inf, live))
			err = -EAGAIN;
		if (err == -EBUSY && give_up_now(i, pc, &stuck) && give_up(live, inf, pc))
			stuck = 0;
		else if (err != -EAGAIN && err != -EBUSY)
			return err;
		if (live_is_empty(live))
			return err;
		if (err == -EAGAIN)
			target_recover(t, (uint64_t)REST * (unsigned int)(i + 1));
		else
			target_settle(t, (uint64_t)REST * (unsigned int)(i + 1));
	}
	return err;
}

/* What traps needs a handler. */
static int hook(struct target *t, struct infection *inf, struct live *live,
		const struct commit_options *opt, bool *hooked)
{
	int err = find_trap(live) ? traps_hook(t, opt->mods, inf->map.s, hooked) : 0;

	if (err != -EPERM)
		return err;
	say("%s, so nothing traps", fail_text());
	fail_clear();
	drop_traps(live, inf);
	return live_is_empty(live) ? err : 0;
}

/* Nothing traps after all; the cause stays what it was. */
static void unhook(struct target *t, struct infection *inf, const struct commit_options *opt)
{
	char cause[1024];

	snprintf(cause, sizeof(cause), "%s", fail_text());
	fail_clear();
	traps_unhook(t, opt->mods, inf->map.s);
	fail_clear();
	if (cause[0])
		fail_adopt(cause);
}

int commit(struct target *t, struct infection *inf, struct live *live,
	   const struct commit_options *opt)
{
	struct sigframes frames;
	bool hooked = false;
	int err = sigframes_prepare(t, &frames);

	/* From here on it pays for its probes. */
	pace_set(PACE_HASTE);
	err = err ? err : touch(t, inf, live);
	err = err ? err : hook(t, inf, live, opt, &hooked);
	err = err ? err : attempts(t, inf, live, &frames, opt);
	sigframes_clear(&frames);
	if (hooked && (err || !find_trap(live)))
		unhook(t, inf, opt);
	return err;
}
