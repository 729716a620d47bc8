/* SPDX-License-Identifier: MIT */
#include "injector/patch/edit.h"

#include <errno.h>
#include <string.h>

#include "injector/proc/groups.h"
#include "injector/ptrace/pace.h"

enum {
	STOP_BUDGET = 50 * 1000 * 1000,	/* ns, where none is given */
	REST = 5 * 1000 * 1000,		/* ns between attempts, times their number */
};

/* One attempt. */
struct attempt {
	struct edit *edit;
	const struct sigframes *frames;
	uint64_t until;		/* ns; 0: no limit */
};

/* 7. */
static int park_for(struct attempt *a, const struct edit_list *list)
{
	struct edit *e = a->edit;

	return list->n && list->forward ? park(e->target, a->frames, list->forward, e->ctx,
					       a->until, &e->pc) : 0;
}

/* Every thread may stay where it is, so no place is in the way of what fails now. */
static int edit_check(struct attempt *a)
{
	a->edit->pc = 0;
	return a->edit->check ? a->edit->check(a->edit->ctx, a->frames) : 0;
}

/* 8. Both lists, or nothing. */
static int write_all(struct attempt *a)
{
	struct edit *e = a->edit;
	size_t first = 0, then = 0;
	int err = park_for(a, &e->then);

	err = err ? err : edit_check(a);
	err = err ? err : text_change(e->target, e->first.v, e->first.n, a->until, &first);
	err = err ? err : text_change_all(e->target, e->then.v, e->then.n, a->until, &then);
	if (!err)
		return 0;
	text_undo(e->target, e->then.v, then);
	text_undo(e->target, e->first.v, first);
	return err;
}

/* 8. What is made is no more in the list: a later attempt has less to do. */
static int write_some(struct attempt *a, struct edit_list *list)
{
	size_t done = 0;
	int err = park_for(a, list);

	err = err ? err : text_change(a->edit->target, list->v, list->n, a->until, &done);
	list->n -= done;
	memmove(list->v, list->v + done, list->n * sizeof(*list->v));
	a->edit->done += done;
	return err;
}

static int write_text(struct attempt *a)
{
	struct edit *e = a->edit;

	if (e->all)
		return write_all(a);
	int err = edit_check(a);
	err = err ? err : write_some(a, &e->first);
	return err ? err : write_some(a, &e->then);
}

/* 6 to 9, once. `pause`: ns; 0: as long as it takes. */
static int attempt(struct attempt *a, uint64_t pause)
{
	struct edit *e = a->edit;

	e->pc = 0;
	e->unbounded |= !pause;
	int err = target_stop(e->target, pause ? pause : STOP_BUDGET);	/* 6 */
	a->until = pause ? target_until(e->target, pause) : 0;
	err = err ? err : write_text(a);				/* 7, 8 */
	if (!err && e->written)
		e->written(e->ctx);
	target_release(e->target);					/* 9 */
	return err;
}

/* A frozen thread does not stop before it is thawed: to try again would be vain. */
static int refuse_frozen(const struct edit *e)
{
	fail_clear();
	return fail(0, "the control group of %d (%s) is frozen; thaw that first",
		    e->target->pid, e->target->comm), -EBUSY;
}

static int may_pass(const struct edit *e, int i, int err)
{
	if (e->again)
		return e->again(e->ctx, i, err);
	return err == -EAGAIN || err == -EBUSY ? 0 : err;
}

/* By what it has come to, the next attempt needs more time than there is, too. */
static bool was_vain(const struct edit *e, uint64_t pause)
{
	return e->target->needs > pause;
}

static int attempts(struct edit *e, const struct sigframes *frames)
{
	struct attempt a = { .edit = e, .frames = frames };
	uint64_t pause = e->max_pause ? e->max_pause : STOP_BUDGET;
	int most = EDIT_MODEST + (e->must ? EDIT_RECKLESS : 0), err = 0, vain = 0;

	for (int i = 0; i < most; i++) {
		size_t done = e->done;

		fail_clear();
		err = attempt(&a, i < EDIT_MODEST ? pause : 0);
		if (i >= EDIT_MODEST && (!err || e->done > done))
			e->forced = MAX(e->forced, e->target->last_pause);
		int stop = err ? may_pass(e, i, err) : 0;
		if (!err || stop)
			return stop;
		if (groups_frozen(e->target->pid))
			return refuse_frozen(e);
		target_recover(e->target, (uint64_t)REST * (unsigned int)(i + 1));
		vain = was_vain(e, pause) ? vain + 1 : 0;
		/* So many attempts in a row may bring nothing on. */
		if (e->done > done)
			i = -1;
		else if (vain == EDIT_VAIN)
			i = MAX(i, EDIT_MODEST - 1);
	}
	return err;
}

int edit(struct edit *e)
{
	struct sigframes frames;
	int err = sigframes_prepare(e->target, &frames);

	/* From here on the target waits for us. */
	pace_set(PACE_HASTE);
	err = err || !e->prepare ? err : e->prepare(e->ctx);
	err = err ? err : attempts(e, &frames);
	sigframes_clear(&frames);
	return err;
}
