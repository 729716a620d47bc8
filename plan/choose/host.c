/* SPDX-License-Identifier: MIT */
/*
 * host: where can live code make room for the full jump of a short one?
 *
 * Unoptimised code has no padding: `leave; ret` is followed by the next
 * function. But a window of two jumps' length, displaced by one jump, has
 * room left for another: that is not executed any more. Such a window is a site of
 * its own, a host, that records nothing.
 *
 * The second jump stands where no instruction of the host began. So a PC found
 * there can only come from the short jump, never from the host's own code, and
 * it is plain where it has to go when the jumps are taken back.
 */
#include "plan/impl.h"

static bool begins_insn(const struct body *b, const struct window *w, raddr_t a)
{
	for (size_t i = w->first; i <= w->last; i++)
		if (b->steps[i].insn.pc == a)
			return true;
	return false;
}

static bool in_reach(const struct arch *arch, raddr_t from, raddr_t to)
{
	int64_t far = (int64_t)(to - (from + arch->short_size));

	return far <= arch->short_reach && far >= -arch->short_reach;
}

/* A place behind the host's own jump. */
static raddr_t place_in(const struct body *b, const struct window *w, raddr_t from)
{
	const struct arch *arch = b->impl->arch;
	raddr_t pc = b->steps[w->first].insn.pc;

	for (raddr_t a = pc + arch->jump_size;
	     a + arch->jump_size <= pc + w->size; a += arch->align)
		if (!begins_insn(b, w, a) && in_reach(arch, from, a) &&
		    a / PAGE == (a + arch->jump_size - 1) / PAGE)
			return a;
	return 0;
}

/* A host that begins with step `first`. */
static raddr_t host_at(struct body *b, size_t first, raddr_t from, struct window *ret)
{
	size_t need = 2 * (size_t)b->impl->arch->jump_size;
	raddr_t hole = 0;

	for (size_t last = first; last < b->nsteps && last - first < SITE_INSNS &&
	     !hole && !b->steps[last].exit; last++) {
		enum refusal why = window_check(b, first, last, need, ret);

		if (!why && !ret->dead)
			hole = place_in(b, ret, from);
		else if (why != REFUSED_TOO_SHORT)
			break;
	}
	return hole;
}

/*
 * Does some address lead to this step? A program may copy what stands between two places whose
 * addresses it has, and run that elsewhere, as gforth does with its interpreter: what does not
 * leave the function has to be as it was.
 */
static bool begins_part(const struct body *b, size_t step)
{
	return ground_leads_to(b->impl, LAYER_FIXED, &b->steps[step].insn) ||
		body_has_word_to(b, step, false);
}

raddr_t host_find(struct body *b, size_t exit, raddr_t from, struct window *ret)
{
	const struct arch *arch = b->impl->arch;
	uint16_t piece = b->steps[exit].piece;
	raddr_t hole = 0;

	/* What lies behind the exit may be wanted by the exits that follow. */
	for (size_t i = exit; !begins_part(b, i) && i-- > 0 && !hole &&
	     b->steps[i].piece == piece &&
	     from - b->steps[i].insn.pc < 2 * (raddr_t)arch->short_reach; )
		hole = host_at(b, i, from, ret);
	for (size_t i = exit + 1; i < b->nsteps && !hole && b->steps[i].piece == piece &&
	     !begins_part(b, i) && in_reach(arch, from, b->steps[i].insn.pc); i++)
		hole = host_at(b, i, from, ret);
	return hole;
}
