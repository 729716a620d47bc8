/* SPDX-License-Identifier: MIT */
/*
 * exclusive: before which instructions would a record part an exclusive access?
 *
 * A program makes atomic operations of its own of a load and a store that fails if the processor
 * has stored or loaded otherwise in between; then it begins again. With a recording call there it
 * would begin again for ever. So none is made where control may come to such a store without coming
 * to the load before it.
 */
#include "plan/impl.h"

/* Does what may come behind a step? */
static bool goes_on_so(const struct body *b, size_t i)
{
	const struct insn *in = &b->steps[i].insn;
	bool leads = in->kind == INSN_JUMP || in->kind == INSN_BRANCH;
	size_t to = leads ? body_step(b, in->dest) : b->nsteps;

	if (to < b->nsteps && b->steps[to].commits)
		return true;
	return !insn_ends(in) && i + 1 < b->nsteps && b->steps[i + 1].piece == b->steps[i].piece &&
		b->steps[i + 1].commits;
}

/* Backwards through all of it; true if more is known then. */
static bool mark_once(struct body *b)
{
	bool more = false;

	for (size_t i = b->nsteps; i-- > 0; ) {
		struct step *s = &b->steps[i];

		if (!s->commits && !(s->insn.flags & INSN_RESERVES) && goes_on_so(b, i))
			s->commits = more = true;
	}
	return more;
}

bool exclusive_is_parted(struct body *b, size_t step)
{
	if (!b->exclusive || !b->nsteps)
		return false;
	while (mark_once(b))
		;
	return b->steps[step].commits;
}
