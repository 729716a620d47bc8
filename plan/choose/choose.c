/* SPDX-License-Identifier: MIT */
/*
 * choose: which windows does a probe take, and by which tactic?
 *
 * Exits all or none: one that is missing would leave calls open. Full jumps
 * come first, for all probes of a plan; what is still without a place then
 * may have a short jump, which takes padding, so that it takes none which others need, and
 * windows that are landed on, which need sites for the jumps that land (redirect.c); then
 * a pun, which takes no bytes from other sites; a trap comes last.
 */
#include <errno.h>
#include <string.h>

#include "plan/choose/pick.h"

enum {
	MERGE = 16,		/* an exit this near to the site before it joins
				 * it: one window costs less than two */
	LEVELS = 100,		/* of sites that lead into each other */
	PASSED = 8,		/* instructions before an entry is recorded, */
	PASSED_LAST = 32,	/* and where else it would not be */
	LOWERED = 512,		/* bytes of its stack that it has taken by then */
	AHEAD = 8,		/* instructions that a window may go on behind a
				 * conditional exit */
};

/* For the n-th pick, counted from 1. */
static void claim_window(struct body *b, const struct window *w, uint32_t n)
{
	ground_take(b->impl, window_pc(b, w), w->size + w->dead);
	for (size_t i = w->first; i <= w->last; i++)
		b->steps[i].pick = n;
}

static void release_window(struct body *b, const struct window *w)
{
	ground_release(b->impl, window_pc(b, w), w->size + w->dead);
	for (size_t i = w->first; i <= w->last; i++)
		b->steps[i].pick = 0;
}

static void claim_hole(struct body *b, struct pick *k, raddr_t hole)
{
	ground_take(b->impl, hole, b->impl->arch->jump_size);
	k->hole = hole;
}

static void release_hole(struct body *b, struct pick *k)
{
	if (k->hole && !k->hosted)
		ground_release(b->impl, k->hole, b->impl->arch->jump_size);
	k->hole = 0;
}

static void drop_pick(struct body *b, struct picks *ks)
{
	struct pick *k = &ks->v[--ks->n];

	release_window(b, &k->window);
	release_hole(b, k);
}

static struct pick *add_pick(struct body *b, struct picks *ks, struct window w)
{
	struct pick *k = &ks->v[ks->n++];

	*k = (struct pick){ .window = w };
	claim_window(b, &w, ks->n);
	return k;
}

/* Take `w` for a short jump, if there is a hole for it. */
static bool add_short(struct body *b, struct picks *ks, struct window w)
{
	struct pick *k = add_pick(b, ks, w);
	raddr_t hole = window_hole(b, window_pc(b, &w));

	if (hole)
		claim_hole(b, k, hole);
	else
		drop_pick(b, ks);
	return hole != 0;
}

/* Take `w` for a short jump to a hole that a host makes. */
static bool add_hosted(struct body *b, struct picks *ks, struct window w, size_t exit)
{
	struct window host;

	claim_window(b, &w, 0);
	raddr_t hole = host_find(b, exit, window_pc(b, &w), &host);

	release_window(b, &w);
	if (!hole)
		return false;
	add_pick(b, ks, host)->host = true;
	struct pick *k = add_pick(b, ks, w);

	k->hole = hole;
	k->hosted = true;
	return true;
}

/* The shortest window of `need` bytes from the entry on. */
static enum refusal find_entry(struct body *b, size_t need, struct window *ret)
{
	enum refusal why = REFUSED_TOO_SHORT;

	for (size_t last = b->entry + (b->ncheck ? b->ncheck - 1 : 0); last < b->nsteps &&
	     last - b->entry < SITE_INSNS && why == REFUSED_TOO_SHORT; last++)
		why = window_check(b, b->entry, last, need, ret);
	return why == REFUSED_TOO_SHORT ? window_short(b, b->entry, need) : why;
}

/* The shortest window that ends with step `last` and holds the exit. */
static enum refusal find_back(struct body *b, size_t exit, size_t last,
			      size_t need, struct window *ret)
{
	enum refusal why = REFUSED_TOO_SHORT;

	for (size_t first = exit + 1; first-- > 0 && last - first < SITE_INSNS; ) {
		if (b->steps[first].piece != b->steps[exit].piece)
			break;
		enum refusal now = window_check(b, first, last, need, ret);

		if (!now)
			return REFUSED_NONE;
		why = why == REFUSED_TOO_SHORT ? now : why;
		/* Further back only what stands in the way stays there. */
		if (now != REFUSED_TOO_SHORT && now != REFUSED_PAGE_CROSSING)
			break;
	}
	return why;
}

/* A conditional exit that is not taken goes on, and so may its window. */
static enum refusal find_exit(struct body *b, size_t exit, size_t need,
			      struct window *ret)
{
	enum refusal why = find_back(b, exit, exit, need, ret);

	for (size_t last = exit + 1; why && last < b->nsteps && last <= exit + AHEAD &&
	     !insn_ends(&b->steps[last - 1].insn) &&
	     b->steps[last].piece == b->steps[exit].piece; last++)
		if (!find_back(b, exit, last, need, ret))
			return REFUSED_NONE;
	return why;
}

/* Let a site reach as far as an exit behind it. */
static bool extend_by(struct body *b, struct pick *k, size_t exit, size_t need)
{
	struct window w;
	uint32_t n = b->steps[k->window.first].pick;

	release_window(b, &k->window);
	bool ok = !window_check(b, k->window.first, exit, need, &w);

	if (ok)
		k->window = w;
	claim_window(b, &k->window, n);
	return ok;
}

/* A short jump becomes a full one if there is room for that now. */
static bool choose_extend(struct body *b, struct pick *k, size_t exit)
{
	if (extend_by(b, k, exit, b->impl->arch->jump_size)) {
		release_hole(b, k);
		k->pun = k->trap = false;
		return true;
	}
	return k->hole && extend_by(b, k, exit, b->impl->arch->short_size);
}

static bool is_near(const struct body *b, const struct pick *k, size_t exit)
{
	const struct insn *in = &b->steps[exit].insn;

	return b->steps[k->window.first].piece == b->steps[exit].piece &&
	       in->pc + in->size - window_pc(b, &k->window) <= MERGE;
}

static bool choose_short(struct body *b, size_t exit, const struct choice *c,
			 struct picks *ks)
{
	struct window w;

	if (!c->may_short || find_exit(b, exit, b->impl->arch->short_size, &w))
		return false;
	return add_short(b, ks, w) ||
		(c->may_host && !b->runtime->no_padding && add_hosted(b, ks, w, exit));
}

/* The pick nearest before a step, or NULL. */
static struct pick *pick_before(const struct body *b, const struct picks *ks, size_t step)
{
	for (size_t i = step; i-- > 0 && step - i < SITE_INSNS; )
		if (b->steps[i].pick)
			return &ks->v[b->steps[i].pick - 1];
	return NULL;
}

/* A breakpoint over one instruction: control never arrives inside of one. */
static bool choose_trap(struct body *b, size_t step, const struct choice *c,
			struct picks *ks)
{
	struct window w;

	if (!c->may_trap || b->runtime->no_traps || compiled_is_sled(b, step) ||
	    window_trap(b, step, &w))
		return false;
	add_pick(b, ks, w)->trap = true;
	return true;
}

/* What takes no bytes from other sites. */
static bool choose_last(struct body *b, size_t step, const struct choice *c,
			struct picks *ks)
{
	struct window w;

	if (!c->may_pun || !pun_exit(b, step, c->space, &w))
		return choose_trap(b, step, c, ks);
	add_pick(b, ks, w)->pun = true;
	return true;
}

/* Have a site that holds this step. */
static enum refusal displace(struct body *b, size_t step, const struct choice *c,
			     struct picks *ks)
{
	struct pick *before = pick_before(b, ks, step);
	struct window w;

	if (b->steps[step].pick)	/* is inside one already */
		return REFUSED_NONE;
	if (before && is_near(b, before, step) && choose_extend(b, before, step))
		return REFUSED_NONE;
	enum refusal why = find_exit(b, step, b->impl->arch->jump_size, &w);

	if (!why)
		add_pick(b, ks, w);
	else if ((before && choose_extend(b, before, step)) || choose_short(b, step, c, ks))
		why = REFUSED_NONE;
	return why;
}

/*
 * Have a site for every link that leads to `from` or up to the end of a pick's
 * window. No two windows hold links into each other: what is displaced here
 * stands in windows that are older, or that no jump lands in.
 */
static bool displace_links(struct body *b, raddr_t from, size_t pick,
			   const struct choice *c, struct picks *ks)
{
	struct window *w = &ks->v[pick].window;
	raddr_t end = window_pc(b, w) + w->size;

	for (size_t i = redirect_link(b, from);
	     i < b->nlinks && b->links[i].to < end; i++) {
		const struct step *s = &b->steps[b->links[i].step];

		/* Before the entry's window there is only the way into it. */
		if (!s->live || (!b->place && s < b->steps + b->entry &&
				 body_is_entry(b, s->insn.dest)))
			continue;
		if (compiled_is_sled(b, b->links[i].step) ||
		    (displace(b, b->links[i].step, c, ks) &&
		     !choose_last(b, b->links[i].step, c, ks)))
			return false;
		if (w->level && s->pick != pick + 1)
			w->level = MAX(w->level, ks->v[s->pick - 1].window.level + 1);
	}
	return w->level < LEVELS;
}

/* A window for an exit that links lead into. */
static bool choose_landed(struct body *b, size_t exit, const struct choice *c,
			  struct picks *ks)
{
	size_t pick = ks->n;
	struct window w;

	if (!c->may_short)
		return false;
	b->may_land = true;
	enum refusal why = find_exit(b, exit, b->impl->arch->jump_size, &w);

	b->may_land = false;
	if (why)
		return false;
	add_pick(b, ks, w);
	if (displace_links(b, window_pc(b, &w) + 1, pick, c, ks))
		return true;
	while (ks->n > pick)
		drop_pick(b, ks);
	return false;
}

static enum refusal place_exit(struct body *b, size_t exit, const struct choice *c,
			       struct picks *ks)
{
	enum refusal why = displace(b, exit, c, ks);

	if (why && (choose_landed(b, exit, c, ks) || choose_last(b, exit, c, ks)))
		why = REFUSED_NONE;
	return why;
}

/* Have a site that ends with step `last`, and records an exit as the last thing. */
static enum refusal place_leaving(struct body *b, size_t last, const struct choice *c,
				  struct picks *ks)
{
	enum refusal why = place_exit(b, last, c, ks);

	if (!why)
		ks->v[b->steps[last].pick - 1].leaves = true;
	return why;
}

/* Have a site that ends right before an exit that is not to be moved. Control may arrive there
 * otherwise only by a jump of this function: those are exits themselves. */
static enum refusal place_before(struct body *b, size_t exit, const struct choice *c,
				 struct picks *ks)
{
	size_t begin = compiled_sled_begin(b, exit);
	const struct step *last = begin ? &b->steps[begin - 1] : NULL;

	if (!last || last->piece != b->steps[exit].piece)
		return REFUSED_EXIT_NO_ROOM;
	for (size_t i = begin; i <= exit; i++) {
		raddr_t pc = b->steps[i].insn.pc;

		if (ground_any(b->impl, LAYER_TARGET, pc, 1) && !redirect_covers(b, pc))
			return REFUSED_EXIT_NO_ROOM;
	}
	if (!last->live || last->ends)
		return REFUSED_NONE;
	if (last->insn.kind == INSN_CALL || last->insn.kind == INSN_CALL_INDIRECT)
		return REFUSED_EXIT_NO_ROOM;
	return place_leaving(b, begin - 1, c, ks);
}

static enum refusal place_entry_here(struct body *b, const struct choice *c, struct picks *ks)
{
	const struct arch *arch = b->impl->arch;
	struct window w;

	if (b->entry < b->ready)
		return REFUSED_RESERVED;
	enum refusal why = find_entry(b, arch->jump_size, &w);

	if (why && c->may_short) {
		if (!find_entry(b, arch->short_size, &w) && add_short(b, ks, w))
			return REFUSED_NONE;
		b->may_land = true;
		why = find_entry(b, arch->jump_size, &w);
		b->may_land = false;
	}
	if (!why) {
		add_pick(b, ks, w);
	} else if (c->may_pun && !b->ncheck && pun_entry(b, c->space, &w)) {
		add_pick(b, ks, w)->pun = true;
		why = REFUSED_NONE;
	} else if (choose_trap(b, b->entry, c, ks)) {
		why = REFUSED_NONE;
	}
	return why;
}

/* Is this step left where it is, and the entry recorded behind it? Behind a push a record
 * takes longer: only where no jump has a place otherwise. Ways that part are passed at
 * last. */
static bool choose_pass(struct body *b, const struct choice *c, size_t most)
{
	size_t lowered, next = later_step(b, c->last ? most : b->entry + 1, &lowered);

	if (!next || b->lowered + lowered > (b->runtime->may_lower(c) ? LOWERED : 0))
		return false;
	b->entry = next;
	b->lowered += (uint16_t)lowered;
	return true;
}

/* A call that does not come so far has met a fault. */
static bool place_later(struct body *b, const struct choice *c, struct picks *ks)
{
	size_t first = b->entry, most = first + (c->last ? PASSED_LAST : PASSED);
	uint16_t lowered = b->lowered;

	while (b->entry < most && choose_pass(b, c, most))
		if (!place_entry_here(b, c, ks))
			return true;
	b->entry = first;
	b->lowered = lowered;
	return false;
}

/* What may fault has to stay, and is passed before memory is made for a pun. What leaves
 * no room otherwise is passed at last; where padding is of no use, at once. */
static enum refusal place_entry(struct body *b, const struct choice *c, struct picks *ks)
{
	struct choice here = *c;

	here.may_pun = here.may_trap = false;
	enum refusal why = place_entry_here(b, &here, ks);

	if (why == REFUSED_MAY_FAULT && !b->runtime->no_padding && place_later(b, &here, ks))
		return REFUSED_NONE;
	if (why && (c->may_pun || c->may_trap))
		why = place_entry_here(b, c, ks);
	if (why && (b->runtime->no_padding || c->may_pun) && place_later(b, c, ks))
		why = REFUSED_NONE;
	return why;
}

static enum refusal choose_entry(struct body *b, const struct choice *c,
				 struct picks *ks)
{
	enum refusal why = place_entry(b, c, ks);
	bool landed = !why && ks->v[0].window.level;

	if (why || !(b->loops || landed))
		return why;
	if (displace_links(b, b->func->range.start, 0, c, ks))
		return REFUSED_NONE;
	while (ks->n)
		drop_pick(b, ks);
	return b->loops ? REFUSED_LOOP_ENTRY : REFUSED_BRANCH_INSIDE;
}

/* What stands in the way of an exit, where it is not just that there is no room. */
static enum refusal exit_refusal(enum refusal why)
{
	bool told = why == REFUSED_PAGE_CROSSING || why == REFUSED_UNKNOWN_INSN ||
		    why == REFUSED_UNMOVABLE || why == REFUSED_MAY_FAULT;

	return told ? why : REFUSED_EXIT_NO_ROOM;
}

static enum refusal choose_exits(struct body *b, const struct choice *c,
				 struct picks *ks)
{
	enum refusal why = REFUSED_NONE;

	for (size_t i = 0; i < b->nsteps && !why; i++) {
		if (!b->steps[i].exit)
			continue;
		why = compiled_is_sled(b, i) ? place_before(b, i, c, ks) :
			place_exit(b, i, c, ks);
	}
	if (!why && b->falls)
		why = place_leaving(b, b->falls - 1, c, ks);
	return why ? exit_refusal(why) : REFUSED_NONE;
}

static enum refusal why_entry_only(const struct body *b, const struct choice *c)
{
	if (c->entry_only)
		return REFUSED_ENTRY_ONLY_ASKED;
	/* One that never returns has all exits probed: a throw or longjmp ends its calls. */
	return b->entry_only;
}

/* A landing pad stays, and what comes to it is marked behind it. */
static enum refusal pass_landing(struct body *b)
{
	const struct step *s = &b->steps[b->entry];

	if (!b->impl->arch->keeps_landing || !(s->insn.flags & INSN_LANDING))
		return REFUSED_NONE;
	if (b->entry + 1 == b->nsteps || s[1].piece != s->piece ||
	    ground_any(b->impl, LAYER_TARGET, s[1].insn.pc, 1))
		return REFUSED_UNMOVABLE;
	b->entry++;
	return REFUSED_NONE;
}

/* Has the place the stack pointer lower than where the function began? If the frame is told by
 * another register it is up, but where the function is about to leave. */
static bool is_framed(const struct body *b)
{
	const struct step *s = &b->steps[b->entry];
	int64_t cfa = 0;
	int err = symbols_cfa_offset(b->impl->symbols, s->insn.pc, &cfa);

	return err ? err == -ENOTSUP && !s->exit : cfa > 0;
}

/* Of a place within the function. Its window begins there or before it, and what comes by is
 * marked in its middle. Its pick is the first: it has no host. */
static enum refusal choose_place(struct body *b, const struct choice *c, struct picks *ks)
{
	struct choice alone = *c;
	struct window w;
	enum refusal why = pass_landing(b);

	alone.may_host = false;
	if (why)
		return why;
	why = find_entry(b, b->impl->arch->jump_size, &w);
	if (!why)
		add_pick(b, ks, w);
	else if (!place_exit(b, b->entry, &alone, ks))
		why = REFUSED_NONE;
	return why;
}

/* Picks for a probe that is not refused; 1 if a later tactic is to be tried too. */
static int choose_picks(struct body *b, const struct choice *c, struct picks *ks,
			struct probe *probe)
{
	bool retry = !c->last && b->impl->arch->short_size;
	int err = b->loops || c->may_short ? redirect_prepare(b) : 0;

	if (err)
		return err;
	if (b->place) {
		probe->entry_only = REFUSED_PLACE;
		probe->framed = !b->impl->arch->calls_push && is_framed(b);
		probe->refusal = choose_place(b, c, ks);
		return probe->refusal ? retry : 0;
	}
	probe->entry_only = why_entry_only(b, c);
	probe->refusal = choose_entry(b, c, ks);
	if (probe->refusal)
		return retry;
	if (probe->entry_only)
		return 0;
	probe->entry_only = choose_exits(b, c, ks);
	if (!probe->entry_only)
		return 0;
	while (ks->n)
		drop_pick(b, ks);
	if (retry)
		return 1;
	/* It may have been extended to reach an exit: choose it anew. */
	probe->refusal = choose_entry(b, c, ks);
	return 0;
}

/* The entry, each exit and each link, with a host for each. */
static size_t most_picks(const struct body *b)
{
	size_t n = b->falls != 0;

	for (size_t i = 0; i < b->nsteps; i++)
		n += b->steps[i].exit || b->steps[i].insn.kind == INSN_JUMP ||
			b->steps[i].insn.kind == INSN_BRANCH;
	return 2 * n + 1;
}

int choose_sites(struct body *b, const struct choice *c, struct probe *probe)
{
	size_t n = most_picks(b);
	struct pick *v = b->impl->picks;

	probe->routines = b->tight ? ROUTINES_TIGHT : b->runtime->routines;
	probe->g = b->tight && b->runtime->routines == ROUTINES_MOVED ? b->impl->g : 0;
	b->last = c->last;
	probe->nexits = b->nexits;
	probe->refusal = b->refusal;
	if (!b->refusal && exclusive_is_parted(b, b->entry))
		probe->refusal = REFUSED_EXCLUSIVE;
	if (probe->refusal)
		return 0;
	if (n > b->impl->npicks) {
		v = reallocarray(v, n, sizeof(*v));
		if (!v)
			return fail(ENOMEM, "plan %s", b->func->name);
		b->impl->picks = v;
		b->impl->npicks = n;
	}
	memset(v, 0, n * sizeof(*v));
	struct picks ks = { .v = v };
	int err = choose_picks(b, c, &ks, probe);

	return err || probe->refusal ? err : pick_fill(b, &ks, probe);
}
