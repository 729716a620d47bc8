/* SPDX-License-Identifier: MIT */
#include "injector/islands/pages.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/proc/procfs.h"
#include "injector/session/ours.h"
#include "injector/session/session.h"

enum {
	MOST_PAGES = 1 << 14,	/* new ones in one visit: 64 MiB */
	SHARE = 4,		/* of the mappings that are left to the target */
	DEFAULT_MAPPINGS = 65530,
	TRIES = 64,		/* places in one gap */
};

static bool is_used(const struct page *p, raddr_t a, size_t n)
{
	for (size_t i = a - p->at; n--; i++)
		if (i >= PAGE || p->used[i / 64] >> (i % 64) & 1)
			return true;
	return false;
}

static void use(uint64_t *used, size_t from, size_t n)
{
	for (size_t i = from; i < from + n && i < PAGE; i++)
		used[i / 64] |= 1ull << (i % 64);
}

/* The first page that ends behind `at`: an index in `order`. */
static size_t page_behind(const struct pages *ps, raddr_t at)
{
	return vec_prefix(ps->norder, i, ps->v[ps->order[i]].at + PAGE <= at);
}

static struct page *page_at(const struct pages *ps, raddr_t at)
{
	size_t i = page_behind(ps, at);

	return i < ps->norder && ps->v[ps->order[i]].at == at ? &ps->v[ps->order[i]] : NULL;
}

static bool add_order(struct pages *ps, size_t page)
{
	size_t i = page_behind(ps, ps->v[page].at);

	if (!vec_push(ps->order, ps->norder, ps->order_cap))
		return false;
	memmove(&ps->order[i + 1], &ps->order[i], (ps->norder - 1 - i) * sizeof(*ps->order));
	ps->order[i] = (uint32_t)page;
	return true;
}

static struct page *page_new(struct pages *ps, raddr_t at)
{
	struct page *p = vec_push(ps->v, ps->n, ps->cap);

	if (!p)
		return NULL;
	p->at = at;
	if (add_order(ps, ps->n - 1))
		return p;
	ps->n--;
	return NULL;
}

/* May an island be anywhere in a page? */
static bool is_anywhere(const struct jump_set *set)
{
	return !(set->mask & (PAGE - 1));
}

static bool take_in_page(const struct pages *ps, struct page *p, const struct jump_set *set,
			 raddr_t *ret)
{
	if (p->full)
		return false;
	for (raddr_t a = p->at; jump_set_next(set, a, &a) && a + ps->size <= p->at + PAGE; a++)
		if (!is_used(p, a, ps->size)) {
			use(p->used, a - p->at, ps->size);
			*ret = a;
			return true;
		}
	p->full = is_anywhere(set);
	return false;
}

/* In a page that there is. */
static bool take_known(struct pages *ps, struct range reach, const struct jump_set *set,
		       raddr_t *ret)
{
	raddr_t a = reach.start;

	while (jump_set_next(set, a, &a) && a < reach.end) {
		size_t i = page_behind(ps, a);
		struct page *p = i < ps->norder ? &ps->v[ps->order[i]] : NULL;

		if (!p)
			return false;
		if (p->at <= a && take_in_page(ps, p, set, ret))
			return true;
		a = p->at <= a ? p->at + PAGE : p->at;
	}
	return false;
}

/* In a new page; those that there are have been tried. */
static bool take_in_gap(struct pages *ps, struct range gap, const struct jump_set *set,
			raddr_t *ret)
{
	raddr_t a = gap.start;

	for (int i = 0; i < TRIES && jump_set_next(set, a, &a) && a + ps->size <= gap.end; i++) {
		raddr_t at = ALIGN_DOWN(a, PAGE);

		if (page_at(ps, at)) {
			a = at + PAGE;
		} else if (a + ps->size > at + PAGE) {
			a++;
		} else {
			struct page *p = page_new(ps, at);

			return p && take_in_page(ps, p, set, ret);
		}
	}
	return false;
}

static struct range pages_common(struct range gap, struct range reach)
{
	return (struct range){ MAX(gap.start, ALIGN_UP(reach.start, PAGE)),
			       MIN(gap.end, ALIGN_DOWN(reach.end, PAGE)) };
}

static bool take_new(struct pages *ps, const struct gaps *gaps, struct range reach,
		     const struct jump_set *set, raddr_t *ret)
{
	for (size_t i = 0; i < gaps->n && ps->n < ps->most; i++) {
		struct range gap = pages_common(gaps->v[i], reach);

		if (gap.start < gap.end && take_in_gap(ps, gap, set, ret))
			return true;
	}
	return false;
}

bool pages_may(const struct pages *ps, const struct jump_set *set, struct range reach)
{
	raddr_t at;

	for (size_t i = 0; i < ps->nold; i++)
		if (range_has(reach, ps->v[i].at) && jump_set_next(set, ps->v[i].at, &at) &&
		    at < ps->v[i].at + PAGE)
			return true;
	for (size_t i = 0; i < ps->last.n; i++) {
		struct range gap = pages_common(ps->last.v[i], reach);

		if (gap.start < gap.end && jump_set_next(set, gap.start, &at) && at < gap.end)
			return true;
	}
	return false;
}

bool pages_take(struct pages *ps, const struct jump_set *set, struct range reach, raddr_t *ret)
{
	return take_known(ps, reach, set, ret) ||
		take_new(ps, &ps->gaps, reach, set, ret) ||
		take_new(ps, &ps->last, reach, set, ret);
}

void pages_reset(struct pages *ps)
{
	size_t kept = 0;

	ps->n = ps->nold;
	for (size_t i = 0; i < ps->norder; i++)
		if (ps->order[i] < ps->nold)
			ps->order[kept++] = ps->order[i];
	ps->norder = kept;
	for (size_t i = 0; i < ps->n; i++) {
		ps->v[i].full = false;
		memcpy(ps->v[i].used, ps->v[i].before, sizeof(ps->v[i].used));
	}
}

bool pages_like_ours(const struct mapping *m)
{
	return !m->ino && !m->path[0] && m->read && m->exec && !m->write && !m->shared;
}

/* The journal is not believed: only in memory as ours is can there be one, but not where
 * stubs are. */
static int confirm(void *ctx, const struct mapping *m)
{
	struct pages *ps = ctx;

	for (size_t i = page_behind(ps, m->range.start);
	     i < ps->norder && ps->v[ps->order[i]].at < m->range.end; i++) {
		struct page *p = &ps->v[ps->order[i]];

		p->used[0] = pages_like_ours(m) && !ours_has(ps->session, p->at);
	}
	return 0;
}

/* Does a jump into what is ours begin there? How many bytes it has, or 0. */
static size_t island_at(const struct pages *ps, raddr_t at, const uint8_t *code, size_t n)
{
	struct insn in;

	if (n < ps->size || arch_host()->measure(code, ps->size, at, &in) ||
	    in.kind != INSN_JUMP || in.size != ps->size ||
	    !ours_has(ps->session, in.dest))
		return 0;
	return in.size;
}

/* What is not zero is used, and has to be islands: else the page is not ours. */
static bool read_page(const struct target *t, const struct pages *ps, struct page *p)
{
	uint8_t now[PAGE];

	if (target_read(t, p->at, now, sizeof(now)) < 0) {
		fail_clear();
		return false;
	}
	for (size_t i = 0, n; i < PAGE; i += n) {
		n = now[i] ? island_at(ps, p->at + i, now + i, PAGE - i) : 1;
		if (!n)
			return false;
		if (now[i])
			use(p->before, i, n);
	}
	return true;
}

static int list_islands(const struct old_session *old, struct pages *ps)
{
	for (uint32_t i = 0; i < old->s.nislands; i++) {
		raddr_t at = ALIGN_DOWN(old->islands[i], PAGE);

		if (old->islands[i] % PAGE != ISLAND_MAPPED || page_at(ps, at))
			continue;
		if (!page_new(ps, at))
			return fail(ENOMEM, "list the islands");
	}
	return 0;
}

/* Does what the journal calls an island lead to its stub? */
static bool leads_to(const struct target *t, raddr_t at, raddr_t stub)
{
	uint8_t code[ARCH_JUMP_MAX], now[ARCH_JUMP_MAX];
	int size = arch_host()->jump(at, stub, code);
	bool same = size > 0 && target_read(t, at, now, (size_t)size) == 0 &&
		memcmp(now, code, (size_t)size) == 0;

	fail_clear();
	return same;
}

static int by_site(const void *a, const void *b)
{
	const struct earlier *x = a, *y = b;

	return x->site < y->site ? -1 : x->site > y->site;
}

/* The pages are those that were found. */
static int list_earlier(const struct target *t, const struct old_session *old,
			struct pages *ps)
{
	for (uint32_t i = 0; i < old->s.nslots; i++) {
		const struct slot *s = &old->slots[i];
		raddr_t at = s->addr + (raddr_t)(int64_t)s->island;

		if (!s->island || !page_at(ps, ALIGN_DOWN(at, PAGE)) ||
		    !leads_to(t, at, s->stub))
			continue;
		struct earlier *e = vec_push(ps->earlier, ps->nearlier, ps->earlier_cap);

		if (!e)
			return fail(ENOMEM, "list the islands");
		*e = (struct earlier){ s->addr, s->stub, at };
	}
	if (ps->nearlier)
		qsort(ps->earlier, ps->nearlier, sizeof(*ps->earlier), by_site);
	return 0;
}

bool pages_earlier(const struct pages *ps, raddr_t site, raddr_t stub,
		   const struct jump_set *set, raddr_t *ret)
{
	size_t k = vec_prefix(ps->nearlier, i, ps->earlier[i].site < site);

	for (; k < ps->nearlier && ps->earlier[k].site == site; k++)
		if ((!stub || ps->earlier[k].stub == stub) &&
		    jump_set_has(set, ps->earlier[k].at)) {
			*ret = ps->earlier[k].at;
			return true;
		}
	return false;
}

static int find_old(const struct target *t, struct pages *ps)
{
	struct old_session old;
	int err = session_find(t, &old);

	ps->session = &old.s;
	err = err ? err : list_islands(&old, ps);
	err = err || !ps->n ? err : procfs_maps(t->pid, confirm, ps);
	ps->norder = 0;
	for (size_t i = 0; i < ps->n && !err; i++)
		if (ps->v[i].used[0] && read_page(t, ps, &ps->v[i])) {
			ps->v[ps->nold++] = ps->v[i];
			err = add_order(ps, ps->nold - 1) ? 0 :
				fail(ENOMEM, "list the islands");
		}
	ps->n = ps->nold;
	err = err ? err : list_earlier(t, &old, ps);
	/* In the list there is room for so many more. */
	ps->most = ISLANDS_MOST - MIN(old.s.nislands, (uint32_t)ISLANDS_MOST);
	ps->session = NULL;
	session_forget(&old);
	return err;
}

/* One whose pages next to others were found to be islands'. */
static bool is_of_islands(void *ctx, const struct mapping *m)
{
	return pages_like_ours(m) && page_at(ctx, m->range.start) &&
		page_at(ctx, m->range.end - PAGE);
}

int pages_find(const struct target *t, size_t island_size, uint64_t heap, struct pages *ret)
{
	uint64_t limit;

	*ret = (struct pages){ .size = island_size };
	int err = find_old(t, ret);

	err = err ? err : gaps_find(t->pid, heap, is_of_islands, ret, &ret->gaps);
	err = err ? err : gaps_find(t->pid, MIN(heap, GAPS_HEAP_LEAST), is_of_islands, ret,
				    &ret->last);
	if (!procfs_number("/proc/sys/vm/max_map_count", &limit))
		limit = DEFAULT_MAPPINGS;
	limit -= MIN(limit, ret->gaps.mappings);
	ret->most = ret->nold + MIN(MIN(limit / SHARE, (uint64_t)MOST_PAGES), ret->most);
	return err;
}

void pages_clear(struct pages *ps)
{
	free(ps->v);
	free(ps->order);
	free(ps->earlier);
	gaps_clear(&ps->gaps);
	gaps_clear(&ps->last);
	*ps = (struct pages){ 0 };
}
