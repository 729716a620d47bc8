/* SPDX-License-Identifier: MIT */
/*
 * islands: what a pun keeps stands behind it, so the search goes through the
 * sites twice: downwards to see what can be, upwards to settle it.
 *
 *  1. A byte that no site writes is given: it is what the file has.
 *  2. So are the first bytes of another site's jump. Those that say where that
 *     one leads are free, as the pun's own are, until a pun has settled them.
 *  3. Downwards: a pun has a number of prefixes with which its given bytes lead
 *     to some free memory. Several may do, and those below it see which it is:
 *     of all ways one is looked for in which the fewest are lost.
 *  4. Upwards: each is led to a place; bytes of the site behind that it needed
 *     are settled with that.
 *  5. A full jump with settled bytes leads to an island, too.
 *
 * What then has no place is given up, and the search begins anew.
 *
 * Bytes of two sites depend on each other only if they lie in one page and are
 * of one level, so that they are written in one go; holes never are.
 */
#include "injector/islands/islands.h"

#include <errno.h>
#include <string.h>

enum {
	MARGIN = 1 << 16,	/* of a jump's reach, kept in reserve */
	CHAIN = 64,		/* sites that are looked at together */
	STEPS = 4000,		/* in search of a better way for a chain */
};

/* How a site is written. */
struct way {
	uint8_t prefix, level;	/* as in struct placed_site, and its site */
	bool lost;		/* not at all: there is no place for it */
};

/* A site that is to be written. */
struct spot {
	raddr_t pc;		/* run-time */
	struct placed_site *placed;
	struct placed_probe *probe;
	const struct module *module;
	size_t of;		/* the place of that in the selection */
	uint16_t given;		/* bytes of its jump that puns below it need */
	uint8_t bytes[ARCH_JUMP_MAX];
	raddr_t island;		/* run-time; 0: none */
	struct way way, best;
};

struct choosing {
	const struct arch *arch;
	struct spot *spots;	/* ascending */
	size_t nspots, spots_cap;
	struct range *holes;	/* ascending */
	size_t nholes, holes_cap;
	struct range *rooms;	/* where stubs will be, for each module of the selection */
	struct pages pages;
};

/* --- what will stand at a place --- */

static int add_spot(struct choosing *c, const struct selection *sel, size_t of,
		    struct placed_probe *p, struct placed_site *placed)
{
	const struct module *m = sel->v[of].module;
	const struct site *s = &placed->site;
	struct spot *spot = vec_push(c->spots, c->nspots, c->spots_cap);

	if (!spot)
		return fail(ENOMEM, "look for islands");
	*spot = (struct spot){ .pc = s->pc + m->bias, .placed = placed, .probe = p, .module = m,
				.of = of, .way.level = s->level };
	if (!s->hole.len)
		return 0;
	struct range *hole = vec_push(c->holes, c->nholes, c->holes_cap);

	if (!hole)
		return fail(ENOMEM, "look for islands");
	*hole = (struct range){ s->hole.pc + m->bias, s->hole.pc + m->bias + s->hole.len };
	return 0;
}

static int by_pc(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int list_spots(struct choosing *c, struct selection *sel)
{
	int err = 0;

	c->nspots = c->nholes = 0;
	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].nprobes; j++) {
			struct placed_probe *p = &sel->v[i].probes[j];

			for (size_t k = 0; !p->refusal && k < p->nsites && !err; k++)
				err = add_spot(c, sel, i, p, &p->sites[k]);
		}
	if (c->nspots)
		qsort(c->spots, c->nspots, sizeof(*c->spots), by_pc);
	if (c->nholes)
		qsort(c->holes, c->nholes, sizeof(*c->holes), by_start);
	return err;
}

static bool in_hole(const struct choosing *c, raddr_t a)
{
	size_t n = vec_prefix(c->nholes, i, c->holes[i].start <= a);

	return n && range_has(c->holes[n - 1], a);
}

/* The site above spot `i` whose jump is to be written over `a`. */
static struct spot *writer_of(const struct choosing *c, size_t i, raddr_t a)
{
	for (i++; i < c->nspots && c->spots[i].pc <= a; i++)
		if (!c->spots[i].way.lost && a < c->spots[i].pc + c->spots[i].placed->site.jump.len)
			return &c->spots[i];
	return NULL;
}

/* A byte that a jump keeps, or is to have. */
struct kept {
	bool given;
	uint8_t value;
	struct spot *free;	/* whose jump may still choose it */
	const struct spot *writer;	/* whose jump it is of; NULL: the file's */
};

/* 2. */
static void byte_of_jump(const struct choosing *c, struct spot *w, size_t off,
			 struct kept *ret)
{
	uint8_t jump[ARCH_JUMP_MAX];
	const struct site *s = &w->placed->site;

	ret->given = true;
	if (s->tactic == TACTIC_TRAP)
		memcpy(jump, c->arch->trap, c->arch->trap_size);
	else if (s->tactic == TACTIC_SHORT)
		c->arch->jump_short(s->pc, s->hole.pc, jump);
	else
		c->arch->pun(s->pc, w->way.prefix, s->pc, jump);
	ret->value = jump[off];
	if (s->tactic == TACTIC_SHORT || s->tactic == TACTIC_TRAP ||
	    off < (size_t)w->way.prefix + c->arch->jump_fixed)
		return;
	ret->given = w->given >> off & 1;
	ret->value = w->bytes[off];
	ret->free = ret->given ? NULL : w;
}

/* What will stand at `a`, behind the window of spot `i`? False: nothing that
 * can be relied on. */
static bool byte_behind(const struct choosing *c, size_t i, raddr_t a, struct kept *ret)
{
	const struct spot *s = &c->spots[i];
	struct spot *w = writer_of(c, i, a);
	size_t left;

	*ret = (struct kept){ 0 };
	if (in_hole(c, a))
		return false;
	if (w) {
		if (w->placed->site.host || a / PAGE != s->pc / PAGE ||
		    w->pc / PAGE != s->pc / PAGE)
			return false;
		byte_of_jump(c, w, a - w->pc, ret);
		ret->writer = w;
		return true;
	}
	const uint8_t *file = symbols_text(s->module->symbols, a - s->module->bias, &left);

	if (file)						/* 1 */
		*ret = (struct kept){ .given = true, .value = *file };
	return file != NULL;
}

/* --- the search --- */

/* What can be reached from the module, and from where its stubs will be. */
static struct range reach_of(const struct choosing *c, const struct spot *s)
{
	uint64_t most = (uint64_t)c->arch->reach - MARGIN;
	struct range room = c->rooms[s->of], span = s->module->span;

	if (room.end)
		span = (struct range){ MIN(span.start, room.start), MAX(span.end, room.end) };
	return (struct range){ span.end > most ? span.end - most : 0, span.start + most };
}

/* Is there an island of an earlier visit for the stub that the site has kept? */
static bool has_earlier(const struct choosing *c, const struct spot *s,
			const struct jump_set *set, raddr_t *ret)
{
	raddr_t stub = s->placed->stub + s->module->bias;

	return s->placed->stub && pages_earlier(&c->pages, s->pc, stub, set, ret);
}

/* Or for another one that the place has had, and that it is now to lead away from? */
static bool has_other(const struct choosing *c, const struct spot *s,
		      const struct jump_set *set, raddr_t *ret)
{
	return pages_earlier(&c->pages, s->pc, 0, set, ret);
}

/* Is there free memory in the set at all? */
static bool may_lead(const struct choosing *c, const struct spot *s,
		     const struct jump_set *set)
{
	raddr_t earlier;

	return has_other(c, s, set, &earlier) ||
		pages_may(&c->pages, set, reach_of(c, s));
}

/* Memory for the island of a spot: where it was before, or a free place. */
static bool find_place(struct choosing *c, struct spot *s, const struct jump_set *set)
{
	return has_earlier(c, s, set, &s->island) ||
		pages_take(&c->pages, set, reach_of(c, s), &s->island) ||
		has_other(c, s, set, &s->island);
}

/*
 * A pun is written with the jumps that it keeps bytes of, so it has their level;
 * it may have a higher one than it needs if no jump into another window is in
 * what it displaces.
 */
static bool join_level(struct spot *s, const struct spot *w, const struct spot *before)
{
	uint8_t least = s->placed->site.level;

	if (before)
		return w->way.level == before->way.level;
	if (w->way.level < least || (w->way.level > least && s->probe->planned->linked))
		return false;
	s->way.level = w->way.level;
	return true;
}

/* The bytes of a jump of `size` at spot `i` that are given. */
static bool look_behind(const struct choosing *c, size_t i, size_t size,
			uint8_t bytes[ARCH_JUMP_MAX], uint16_t *given,
			struct kept kept[ARCH_JUMP_MAX])
{
	struct spot *s = &c->spots[i];
	size_t room = s->placed->site.jump.len;
	const struct spot *before = NULL;

	memcpy(bytes, s->bytes, ARCH_JUMP_MAX);
	*given = s->given;
	s->way.level = s->placed->site.level;
	for (size_t k = room; k < size; k++) {
		if (!byte_behind(c, i, s->pc + k, &kept[k]) ||
		    (kept[k].writer && !join_level(s, kept[k].writer, before)))
			return false;
		before = kept[k].writer ? kept[k].writer : before;
		bytes[k] = kept[k].value;
		*given |= (uint16_t)(kept[k].given << k);
	}
	return true;
}

/* Bytes of the sites behind that this pun has now chosen. */
static void islands_settle(const struct choosing *c, const struct spot *s, size_t size,
			   const struct kept kept[ARCH_JUMP_MAX])
{
	uint8_t jump[ARCH_JUMP_MAX];

	if (c->arch->pun(s->pc, s->way.prefix, s->island, jump) != (int)size)
		return;
	for (size_t k = s->placed->site.jump.len; k < size; k++) {
		struct spot *w = kept[k].free;
		size_t off = w ? s->pc + k - w->pc : 0;

		if (!w)
			continue;
		w->given |= (uint16_t)(1u << off);
		w->bytes[off] = jump[k];
	}
}

/* Where spot `i` can lead with so many prefixes, run-time. */
static bool set_of(const struct choosing *c, size_t i, size_t prefix,
		   struct kept kept[ARCH_JUMP_MAX], struct jump_set *ret)
{
	const struct spot *s = &c->spots[i];
	size_t size = prefix + c->arch->jump_size;
	uint8_t bytes[ARCH_JUMP_MAX];
	uint16_t given;

	if (size > (size_t)s->placed->site.jump.len + s->placed->site.kept ||
	    !look_behind(c, i, size, bytes, &given, kept) ||
	    plan_pun(c->arch, s->placed, prefix, bytes, given, ret))
		return false;
	ret->base += s->module->bias;
	return true;
}

/* Spots first .. first + n - 1, in which each pun reaches the next. */
struct chain {
	struct choosing *c;
	size_t first, n;
	size_t lost;		/* in the best way so far */
	size_t steps;
};

static void note_best(struct chain *ch, size_t lost)
{
	ch->lost = lost;
	for (size_t i = ch->first; i < ch->first + ch->n; i++) {
		struct spot *s = &ch->c->spots[i];

		s->best = s->way;
	}
}

/* 3. All ways for the lowest `left` spots, given those above. The first is that
 * of fewest prefixes. */
static void explore(struct chain *ch, size_t left, size_t lost)
{
	size_t i = ch->first + left - 1;
	struct spot *s = left ? &ch->c->spots[i] : NULL;
	struct kept kept[ARCH_JUMP_MAX];
	struct jump_set set;

	if (lost >= ch->lost || !ch->steps)
		return;
	ch->steps--;
	if (!s)
		return note_best(ch, lost);
	if (s->placed->site.tactic != TACTIC_PUN)
		return explore(ch, left - 1, lost);
	for (size_t n = 0; n <= ch->c->arch->pun_prefixes; n++) {
		s->way.prefix = (uint8_t)n;
		s->way.lost = false;
		if (set_of(ch->c, i, n, kept, &set) && may_lead(ch->c, s, &set))
			explore(ch, left - 1, lost);
	}
	s->way.lost = true;
	explore(ch, left - 1, lost + 1);
}

/* Is what the spot below would keep part of this one? */
static bool is_reached(const struct choosing *c, size_t i)
{
	const struct spot *below = &c->spots[i - 1];
	const struct site *s = &below->placed->site;

	return s->tactic == TACTIC_PUN && below->pc + s->jump.len + s->kept > c->spots[i].pc;
}

/* The chain whose highest spot is `last`; how many spots it has. */
static size_t choose_prefixes(struct choosing *c, size_t last)
{
	struct chain ch = { .c = c, .first = last, .n = 1, .lost = SIZE_MAX, .steps = STEPS };

	while (ch.first && ch.n < CHAIN && is_reached(c, ch.first)) {
		ch.first--;
		ch.n++;
	}
	explore(&ch, ch.n, 0);
	for (size_t i = ch.first; i <= last; i++) {
		c->spots[i].way = c->spots[i].best;
	}
	return ch.n;
}

/* 4. */
static bool place_pun(struct choosing *c, size_t i)
{
	struct kept kept[ARCH_JUMP_MAX];
	struct spot *s = &c->spots[i];
	struct jump_set set;

	if (!set_of(c, i, s->way.prefix, kept, &set) || !find_place(c, s, &set))
		return false;
	islands_settle(c, s, s->way.prefix + (size_t)c->arch->jump_size, kept);
	return true;
}

/* Is a full jump as it would be what the puns below need? */
static bool suits(const struct choosing *c, const struct spot *s)
{
	raddr_t to = s->placed->island ? s->placed->island : s->placed->stub;
	uint8_t jump[ARCH_JUMP_MAX];

	if (!s->given)
		return true;
	if (!to || c->arch->jump(s->placed->site.pc, to, jump) < 0)
		return false;
	for (size_t i = 0; i < s->placed->site.jump.len; i++)
		if (s->given >> i & 1 && jump[i] != s->bytes[i])
			return false;
	return true;
}

/* 5. */
static bool place_jump(struct choosing *c, struct spot *s)
{
	struct jump_set set;

	s->island = island_of(s->placed, s->module);
	return suits(c, s) ||
		(!c->arch->pun_set(s->pc, 0, s->bytes, s->given, &set) &&
		 find_place(c, s, &set));
}

static bool place_spot(struct choosing *c, size_t i)
{
	struct spot *s = &c->spots[i];

	switch (s->way.lost ? TACTIC_NONE : s->placed->site.tactic) {
	case TACTIC_SITE:
	case TACTIC_JUMP:
		return place_jump(c, s);
	case TACTIC_PUN:
		return place_pun(c, i);
	default:
		return true;
	}
}

/* Because of which spots can spot `i` not be placed? The puns below that need bytes of it, if
 * there are any; else it is by itself that it has no place. */
static void lose(struct choosing *c, size_t i)
{
	struct spot *s = &c->spots[i];

	s->way.lost = !s->given;
	for (size_t j = i; s->given && j-- > 0 && s->pc - c->spots[j].pc < ARCH_JUMP_MAX; ) {
		struct spot *below = &c->spots[j];

		if (below->placed->site.tactic == TACTIC_PUN && !below->way.lost &&
		    below->pc + below->way.prefix + c->arch->jump_size > s->pc)
			below->way.lost = true;
	}
}

/* Give up every lost site. Entries first: a function without one is asked no more. */
static size_t give_up(struct choosing *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nspots; i++) {
		n += c->spots[i].way.lost;
		if (c->spots[i].way.lost && c->spots[i].placed->site.entry)
			plan_give_up(c->spots[i].probe, c->spots[i].placed);
	}
	/* This may move the sites of a probe: then it is done once for each. */
	for (size_t i = 0; i < c->nspots; i++) {
		struct placed_probe *p = c->spots[i].probe;

		if (c->spots[i].way.lost && !p->refusal && (p->planned->linked || !p->entry_only))
			plan_give_up(p, c->spots[i].placed);
	}
	return n;
}

/* One search over all spots; how many were given up. */
static size_t islands_search(struct choosing *c)
{
	pages_reset(&c->pages);
	for (size_t i = c->nspots; i > 0; )
		i -= choose_prefixes(c, i - 1);
	for (size_t i = 0; i < c->nspots; i++)
		if (!place_spot(c, i))
			lose(c, i);
	return give_up(c);
}

static void take_over(const struct choosing *c, struct spot *s)
{
	struct site *site = &s->placed->site;

	if (!s->island)
		return;
	s->placed->island = s->island - s->module->bias;
	if (site->tactic != TACTIC_PUN)
		return;
	size_t size = s->way.prefix + (size_t)c->arch->jump_size;

	s->placed->prefix = s->way.prefix;
	site->level = s->way.level;
	site->jump.len = (uint8_t)MIN((size_t)site->jump.len, size);
	site->kept = (uint8_t)(size - site->jump.len);
}

static int islands_report(struct choosing *c, struct islands *ret)
{
	for (size_t i = 0; i < c->nspots; i++)
		take_over(c, &c->spots[i]);
	for (size_t i = 0; i < c->pages.norder; i++) {
		uint32_t page = c->pages.order[i];

		if (page < c->pages.nold)
			continue;
		struct island_page *p = vec_push(ret->pages, ret->n, ret->cap);

		if (!p)
			return fail(ENOMEM, "list the islands");
		p->at = c->pages.v[page].at;
	}
	return 0;
}

static bool has_puns(const struct choosing *c)
{
	for (size_t i = 0; i < c->nspots; i++)
		if (c->spots[i].placed->site.tactic == TACTIC_PUN)
			return true;
	return false;
}

static int islands_choose_all(struct choosing *c, const struct target *t, struct selection *sel,
			      struct islands *ret)
{
	auto_free struct range *rooms = calloc(sel->n + 1, sizeof(*rooms));

	if (!rooms)
		return fail(ENOMEM, "look for islands");
	c->rooms = rooms;
	int err = pages_find(t, c->arch->jump_size, islands_heap(t->pid, sel), &c->pages);

	err = err ? err : islands_leave(t->pid, sel, &c->pages, rooms);
	/* What is given up may have been in the way of others. */
	while (!err && islands_search(c))
		err = list_spots(c, sel);
	return err ? err : islands_report(c, ret);
}

int islands_choose(const struct target *t, struct selection *sel, struct islands *ret)
{
	struct choosing c = { .arch = arch_host() };
	int err = list_spots(&c, sel);

	*ret = (struct islands){ 0 };
	if (!err && has_puns(&c))
		err = islands_choose_all(&c, t, sel, ret);
	free(c.spots);
	free(c.holes);
	pages_clear(&c.pages);
	if (err)
		islands_clear(ret);
	return err;
}

void islands_clear(struct islands *i)
{
	free(i->pages);
	*i = (struct islands){ 0 };
}
