/* SPDX-License-Identifier: MIT */
/*
 * choose: which windows does a probe take, and by which tactic?
 *
 * Exits all or none: one that is missing would leave calls open. Full jumps
 * come first, for all probes of a plan; what is still without a place then
 * may take padding for tactic 3, so that it takes none which others need; then
 * tactic 4, which takes nothing from anybody.
 */
#include <errno.h>
#include <string.h>

#include "plan/impl.h"

enum {
	MERGE = 16,		/* an exit this near to the site before it joins
				 * it: one window costs less than two */
	AHEAD = 8,		/* instructions that a window may go on behind a
				 * conditional exit */
};

/* A window that has been claimed. */
struct pick {
	struct window window;
	raddr_t hole;		/* 0: tactic 1 */
	bool leaves;		/* ends before an exit that stays */
	bool hosted;		/* the hole is in the window of the pick before */
	bool host;
	bool pun;		/* tactic 4 */
};

/* picks[0] is the entry's, the exits' follow in the order of the steps. */
struct picks {
	struct pick *v;
	size_t n;
};

static raddr_t window_pc(const struct body *b, const struct window *w)
{
	return b->steps[w->first].insn.pc;
}

static void claim_window(struct body *b, const struct window *w)
{
	ground_set(b->impl, LAYER_TAKEN, window_pc(b, w), w->size + w->dead);
}

static void release_window(struct body *b, const struct window *w)
{
	ground_clear(b->impl, LAYER_TAKEN, window_pc(b, w), w->size + w->dead);
}

static void claim_hole(struct body *b, struct pick *k, raddr_t hole)
{
	ground_set(b->impl, LAYER_TAKEN, hole, b->impl->arch->jump_size);
	k->hole = hole;
}

static void release_hole(struct body *b, struct pick *k)
{
	if (k->hole && !k->hosted)
		ground_clear(b->impl, LAYER_TAKEN, k->hole, b->impl->arch->jump_size);
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
	claim_window(b, &w);
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

	claim_window(b, &w);
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

	for (size_t last = b->entry; last < b->nsteps &&
	     last - b->entry < SITE_INSNS && why == REFUSED_TOO_SHORT; last++)
		why = window_check(b, b->entry, last, need, ret);
	return why;
}

static enum refusal choose_entry(struct body *b, const struct choice *c,
				 struct picks *ks)
{
	const struct arch *arch = b->impl->arch;
	struct window w;
	enum refusal why = find_entry(b, arch->jump_size, &w);

	if (!why)
		add_pick(b, ks, w);
	else if (c->may_short && !find_entry(b, arch->short_size, &w) &&
		 add_short(b, ks, w))
		why = REFUSED_NONE;
	else if (c->may_pun && pun_entry(b, c->space, &w)) {
		add_pick(b, ks, w)->pun = true;
		why = REFUSED_NONE;
	}
	return why;
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

	release_window(b, &k->window);
	bool ok = !window_check(b, k->window.first, exit, need, &w);

	if (ok)
		k->window = w;
	claim_window(b, &k->window);
	return ok;
}

/* A short jump becomes a full one if there is room for that now. */
static bool extend(struct body *b, struct pick *k, size_t exit)
{
	if (extend_by(b, k, exit, b->impl->arch->jump_size)) {
		release_hole(b, k);
		k->pun = false;
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
	return add_short(b, ks, w) || (c->may_host && add_hosted(b, ks, w, exit));
}

/* A window that ends right before an exit that is not to be moved. Nobody may
 * arrive at that other than by falling out of the window. */
static enum refusal choose_before(struct body *b, size_t exit, struct picks *ks)
{
	struct pick *before = &ks->v[ks->n - 1];
	const struct insn *in = &b->steps[exit].insn;
	struct window w;

	if (!exit || b->steps[exit - 1].ends || b->steps[exit - 1].piece != b->steps[exit].piece ||
	    b->steps[exit - 1].insn.kind == INSN_CALL ||
	    b->steps[exit - 1].insn.kind == INSN_CALL_INDIRECT ||
	    ground_any(b->impl, LAYER_TARGET, in->pc, 1))
		return REFUSED_EXIT_NO_ROOM;
	bool near = before->window.last == exit - 1 ||
		(is_near(b, before, exit - 1) && extend(b, before, exit - 1));
	enum refusal why = near ? REFUSED_NONE :
		find_back(b, exit - 1, exit - 1, b->impl->arch->jump_size, &w);

	if (!why && !near)
		before = add_pick(b, ks, w);
	else if (why && extend(b, before, exit - 1))
		why = REFUSED_NONE;
	before->leaves = !why;
	return why;
}

static bool choose_pun(struct body *b, size_t exit, const struct choice *c,
		       struct picks *ks)
{
	struct window w;

	if (!c->may_pun || !pun_exit(b, exit, c->space, &w))
		return false;
	add_pick(b, ks, w)->pun = true;
	return true;
}

static enum refusal choose_exit(struct body *b, size_t exit, const struct choice *c,
				struct picks *ks)
{
	struct pick *before = &ks->v[ks->n - 1];
	struct window w;

	if (exit <= before->window.last)	/* is inside already */
		return REFUSED_NONE;
	if (compiled_is_sled(b, exit))
		return choose_before(b, exit, ks);
	if (is_near(b, before, exit) && extend(b, before, exit))
		return REFUSED_NONE;
	enum refusal why = find_exit(b, exit, b->impl->arch->jump_size, &w);

	if (!why)
		add_pick(b, ks, w);
	else if (extend(b, before, exit) || choose_short(b, exit, c, ks) ||
		 choose_pun(b, exit, c, ks))
		why = REFUSED_NONE;
	return why;
}

/* Users are told what stands in the way of an exit where it is not just that
 * there is no room. */
static enum refusal exit_refusal(enum refusal why)
{
	return why == REFUSED_PAGE_CROSSING || why == REFUSED_UNKNOWN_INSN ||
	       why == REFUSED_UNMOVABLE ? why : REFUSED_EXIT_NO_ROOM;
}

static enum refusal choose_exits(struct body *b, const struct choice *c,
				 struct picks *ks)
{
	enum refusal why = REFUSED_NONE;

	for (size_t i = 0; i < b->nsteps && !why; i++)
		if (b->steps[i].exit)
			why = choose_exit(b, i, c, ks);
	return why ? exit_refusal(why) : REFUSED_NONE;
}

static void fill_patch(const struct body *b, raddr_t pc, uint8_t len,
		       struct patch *ret)
{
	size_t left;

	*ret = (struct patch){ .pc = pc, .len = len };
	memcpy(ret->old, symbols_text(b->impl->symbols, pc, &left), len);
}

static void fill_insns(const struct body *b, const struct window *w,
		       bool with_exits, struct site *s)
{
	for (size_t i = w->first; i <= w->last; i++) {
		const struct step *step = &b->steps[i];
		struct site_insn *in = &s->insns[s->ninsns++];

		in->off = step->insn.pc - s->pc;
		in->exit = with_exits && step->exit;
		s->nexits += in->exit;
	}
}

static void fill_site(const struct body *b, const struct pick *k, bool entry,
		      bool with_exits, struct site *s)
{
	const struct arch *arch = b->impl->arch;

	*s = (struct site){ .pc = window_pc(b, &k->window),
			    .window = k->window.size, .dead = k->window.dead,
			    .tactic = k->pun ? TACTIC_PUN : k->hole ? TACTIC_SHORT :
				entry && compiled_is_site(b, &k->window) ?
				TACTIC_SITE : TACTIC_JUMP,
			    .entry = entry, .leaves = with_exits && k->leaves,
			    .host = k->host };
	fill_insns(b, &k->window, with_exits, s);
	s->nexits += s->leaves;
	size_t kept = 0, len = k->pun ? pun_room(b, &k->window, &kept) :
		k->hole ? arch->short_size : arch->jump_size;

	fill_patch(b, s->pc, len, &s->jump);
	s->kept = kept;
	if (k->hole)
		fill_patch(b, k->hole, arch->jump_size, &s->hole);
	s->stub_size = place_bound(b, &k->window, s);
}

static int fill_probe(const struct body *b, const struct picks *ks,
		      struct probe *probe)
{
	bool with_exits = !probe->entry_only;

	probe->sites = calloc(ks->n, sizeof(*probe->sites));
	if (!probe->sites)
		return fail(ENOMEM, "plan %s", b->func->name);
	for (size_t i = 1; i < ks->n; i++)
		fill_site(b, &ks->v[i], false, with_exits, &probe->sites[i - 1]);
	fill_site(b, &ks->v[0], true, with_exits, &probe->sites[ks->n - 1]);
	probe->nsites = ks->n;
	return 0;
}

static enum refusal why_entry_only(const struct body *b, const struct choice *c)
{
	if (c->entry_only)
		return REFUSED_ENTRY_ONLY_ASKED;
	/* One that never returns has all of its exits probed: its calls end
	 * when something around them does, by a throw or a longjmp. */
	return b->entry_only;
}

/* Picks for a probe that is not refused; 1 if a later tactic is to be tried too. */
static int choose_picks(struct body *b, const struct choice *c, struct picks *ks,
			struct probe *probe)
{
	bool retry = !c->last && b->impl->arch->short_size;

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

int choose_sites(struct body *b, const struct choice *c, struct probe *probe)
{
	auto_free struct pick *v = NULL;

	probe->nexits = b->nexits;
	probe->refusal = b->refusal;
	if (b->refusal)
		return 0;
	v = calloc(2 * b->nexits + 1, sizeof(*v));	/* with a host for each */
	if (!v)
		return fail(ENOMEM, "plan %s", b->func->name);
	struct picks ks = { .v = v };
	int err = choose_picks(b, c, &ks, probe);

	return err || probe->refusal ? err : fill_probe(b, &ks, probe);
}
