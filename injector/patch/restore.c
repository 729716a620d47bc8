/* SPDX-License-Identifier: MIT */
#include "injector/patch/restore.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/patch/park.h"
#include "injector/proc/groups.h"
#include "injector/ptrace/pace.h"
#include "injector/session/ours.h"

enum {
	ATTEMPTS = 2 * RESTORE_MODEST,
	STOP_BUDGET = 50 * 1000 * 1000,	/* ns, where none is given */
	REST = 5 * 1000 * 1000,
};

int restore_order(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->finds != y->finds)
		return x->finds - y->finds;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->addr > y->addr ? -1 : x->addr < y->addr;
}

/* How many of the changes are of the usual kind: those come first. */
static size_t plain(const struct restore *r)
{
	return vec_prefix(r->n, i, !r->changes[i].finds);
}

/* A PC at a hole goes to the stub, where the jump that stands there leads; at
 * the start of a window it may stay, and inside one it cannot be. */
static int out_of_hole(void *ctx, raddr_t pc, raddr_t sp, raddr_t *to)
{
	const struct restore *r = ctx;
	struct insn in;

	for (size_t i = plain(r); i-- > 0;) {
		const struct change *c = &r->changes[i];

		if (c->rank)
			break;		/* holes are last */
		if (c->addr == pc && arch_host()->measure(c->from, c->len, pc, &in) == 0)
			*to = in.dest;
	}
	return 0;
}

/* No unwinder would find its way from there. */
static int out_of_ours(void *ctx, raddr_t pc, raddr_t sp, raddr_t *to)
{
	const struct restore *r = ctx;

	return ours_has(r->session, pc) ?
		fail(EBUSY, "a thread is still in code of ours") : 0;
}

/* The first `n` of them. What was restored before the time was over stays so: a later
 * stop has less to do. */
static int change_first(struct restore *r, size_t n, uint64_t until)
{
	size_t done = 0;
	int err = text_change(r->target, r->changes, n, until, &done);

	memmove(r->changes, r->changes + done, (r->n - done) * sizeof(*r->changes));
	r->n -= done;
	r->done += done;
	return err;
}

/* Who stands in code of ours, and will not come out, is waited for as long as we may. */
static int change_text(struct restore *r, const struct sigframes *frames, uint64_t until)
{
	bool waits = r->session && r->whole && until;
	raddr_t pc;
	int err = park(r->target, frames, out_of_hole, r, until, &pc);

	err = err ? err : change_first(r, plain(r), until);
	if (!err && r->n && waits)
		err = park(r->target, frames, out_of_ours, r, until, &pc);
	return err ? err : change_first(r, r->n, until);
}

static int attempt(struct restore *r, const struct sigframes *frames, uint64_t pause)
{
	r->unbounded |= !pause;
	int err = target_stop(r->target, pause ? pause : STOP_BUDGET);
	err = err ? err : change_text(r, frames, pause ? r->target->stopped_at + pause : 0);
	target_release(r->target);
	return err;
}

/* As no thread of it stops before it is thawed, to try again would be vain. */
static int refuse_frozen(const struct restore *r)
{
	fail_clear();
	return fail(0, "the control group of %d (%s) is frozen; thaw that first",
		    r->target->pid, r->target->comm), -EBUSY;
}

static int attempts(struct restore *r, const struct sigframes *frames)
{
	uint64_t pause = r->max_pause ? r->max_pause : STOP_BUDGET;
	int most = r->whole ? ATTEMPTS : RESTORE_MODEST, err = 0;
	size_t left = r->n;

	for (int i = 0; i < most; i++) {
		fail_clear();
		err = attempt(r, frames, i < RESTORE_MODEST ? pause : 0);
		if (err != -EAGAIN && err != -EBUSY)
			break;
		if (groups_frozen(r->target->pid))
			return refuse_frozen(r);
		/* Who is to come out of code of ours may wait for a processor. */
		target_recover(r->target, (uint64_t)REST * (plain(r) ? 1u : (unsigned int)i + 1));
		if (r->n < left)
			i = 0;
		left = r->n;
	}
	return err;
}

int restore(struct restore *r)
{
	struct sigframes frames;
	size_t at;
	int err = sigframes_prepare(r->target, &frames);

	pace_set(PACE_HASTE);
	err = err ? err : text_touch(r->target, r->changes, r->n, &at);
	err = err ? err : attempts(r, &frames);
	sigframes_clear(&frames);
	return err;
}
