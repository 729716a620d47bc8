/* SPDX-License-Identifier: MIT */
/*
 * unowned: what of the bytes that no function has is code, and where does it lead?
 */
#include "plan/arrivals.h"

#include <errno.h>

/* What no function has is data, but for what lives (lives.c): what looks like an indirect jump
 * elsewhere is none. */
static void drop_data(struct body *b)
{
	for (size_t i = 0; i < b->nsteps; i++) {
		struct insn *in = &b->steps[i].insn;

		if ((in->flags & INSN_BY_REGISTER || insn_ends(in) || in->kind == INSN_UNKNOWN) &&
		    !ground_is_live(b->impl, in->pc))
			in->kind = INSN_STOP;
	}
}

/* Does one of the ways behind the first `early` lead to code there? */
static bool is_led_later(const struct plan_impl *p, struct range gap, size_t early)
{
	bool ret = false;

	for (size_t i = early; i < p->nways && !ret; i++)
		ret = range_has(gap, p->ways[i]) && ground_is_live(p, p->ways[i]);
	return ret;
}

int unowned_judge(struct plan_impl *p, raddr_t at, size_t early)
{
	struct func f = { .name = "code of no function", .parent = -1,
			  .range = arrivals_gap(p, at) };
	size_t tables = p->ntables, places = p->nplaces, bases = p->nbases;
	struct body b;
	bool late = early < p->nways;
	int err = body_read_unowned(p, &f, &b);

	if (err)
		return err;
	if (!late && (b.entry_only || b.hides))
		err = arrivals_doubt(p, at, UNPROVED_UNREAD);
	else
		drop_data(&b);
	if (!err && (!late || is_led_later(p, f.range, early)))
		err = arrivals_judge(p, &b, SUSPECT_NAME | SUSPECT_BACK);
	/* Where that leads has been read by then. */
	if (!err && late && (p->ntables > tables || p->nplaces > places || p->nbases > bases))
		err = arrivals_doubt(p, at, UNPROVED_UNREAD);
	body_clear(&b);
	return err;
}
