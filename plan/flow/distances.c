/* SPDX-License-Identifier: MIT */
/*
 * distances: tables that jumps go by whose entries are distances from somewhere: which are
 * there, where do they end, and where do they lead?
 */
#include <errno.h>
#include <string.h>

#include "plan/arrivals.h"
#include "plan/flow/value.h"
#include "plan/text/crew.h"

enum {
	ENTRIES = 1 << 16,	/* of a table, at most; */
	ENTRIES_PROVED = 1 << 24, /* of one that a jump goes by for certain, which ends the
				 * one before */
	HOLES_PACKED = 64,	/* that end a table whose entries may begin at any byte */
	COUNT_MOST = 1 << 12,	/* entries, as a word before them may tell */
	SHARE = 256,		/* tables that one of several threads reads in one go */
	ENTRIES_TRIED = 4, WORDS_TRIED = DISTANCES_HOLES, /* to see whether there is a table */
};

/* Where a segment that may run has data, too, numbers that are no distances lead there: a
 * table of them would be read to the most that a table may have. */
static bool is_of_code(const struct plan_impl *p, raddr_t a)
{
	size_t left;

	return symbols_text(p->symbols, a, &left) &&
		(!symbols_is_data(p->symbols, a, NULL) || symbols_func_at(p->symbols, a));
}

/* Does one of the first so many entries of this width lead from there into text? */
static bool leads_to_text(const struct plan_impl *p, raddr_t a, size_t width, size_t entries)
{
	size_t n;
	const uint8_t *at = symbols_bytes(p->symbols, a, width * entries, &n);
	bool leads = false;

	for (size_t i = 0; at && i < MIN(n / width, entries) && !leads; i++) {
		int64_t d = 0;

		memcpy(&d, at + i * width, width);
		d = width == 4 ? (int32_t)d : d;
		leads = d && is_of_code(p, a + (raddr_t)d);
	}
	return leads;
}

/* May a table of distances from there begin there, of entries of this width? Then one of its first
 * leads into text. */
static bool is_like_table(const struct plan_impl *p, raddr_t a, size_t width, size_t entries)
{
	bool leads = leads_to_text(p, a, width, entries);
	size_t left;

	if (!leads || !symbols_text(p->symbols, a, &left))
		return leads && symbols_is_tabled(p->symbols, a);
	const struct func *f = symbols_func_at(p->symbols, a);

	return !f || f->range.start != a;
}

bool distances_may_be(const struct plan_impl *p, raddr_t a)
{
	return is_like_table(p, a, 4, WORDS_TRIED);
}

/* What does the first word say? It leads into text, or it is a small number, which leads nowhere:
 * how many entries there are, or an operation that there is not. False: it says neither. */
static bool may_begin(const struct plan_impl *p, raddr_t a, bool *small)
{
	int32_t d;
	size_t n;
	const uint8_t *at = symbols_bytes(p->symbols, a, sizeof(d), &n);

	if (!at || n < sizeof(d))
		return false;
	memcpy(&d, at, sizeof(d));
	*small = d >= -1 && d < COUNT_MOST;
	return *small || range_has(p->texts, a + (raddr_t)(int64_t)d);
}

/* Strings are named that stand before such tables: the first word says what it is. */
int arrivals_name(struct plan_impl *p, raddr_t a, bool *kept)
{
	bool small;

	*kept = may_begin(p, a, &small) &&
		(is_like_table(p, a, 4, small ? WORDS_TRIED : 1) ||
		 (small && is_like_table(p, a, 8, WORDS_TRIED)));
	if (!*kept)
		return 0;
	raddr_t *new = vec_push(p->maybes, p->nmaybes, p->maybes_cap);

	if (!new)
		return -ENOMEM;
	*new = a;
	return 0;
}

bool distances_is_table(const struct value *v)
{
	return (v->kind == VALUE_PLACE || v->kind == VALUE_ENTRY) && v->table && v->width < 8;
}

/* What compilers make of a switch: distances of four bytes from the table's own start. The
 * entry may be one that a path knows, and not the first. */
bool distances_is_switch(const struct plan_impl *p, const struct value *v)
{
	return v->kind == VALUE_PLACE && v->named && v->width == 4 && v->extends &&
		v->scale == 1 && v->table - v->number < 4 * ENTRIES &&
		(v->table - v->number) % 4 == 0 && distances_may_be(p, v->number);
}

int distances_add(struct plan_impl *p, raddr_t pc, const struct value *v, bool proved)
{
	struct table_at *t = vec_push(p->tables, p->ntables, p->tables_cap);

	if (!t)
		return -ENOMEM;
	*t = (struct table_at){ .base = v->number,
				.at = distances_is_switch(p, v) ? v->number : v->table,
				.most = v->stride && !distances_is_switch(p, v) ? v->most + 1 : 0,
				.width = v->width, .scale = v->scale, .extends = v->extends,
				.stride = v->number && v->stride % v->width == 0 ? v->width : 1,
				.proved = proved, .pc = pc };
	return 0;
}

/* The i-th entry of a table, or of what stands before it; false: the file has none. */
bool distances_read(const struct plan_impl *p, const struct table_at *t, int64_t i, raddr_t *ret)
{
	size_t n;
	raddr_t from = t->at + (raddr_t)(i * t->stride);
	const uint8_t *at = symbols_bytes(p->symbols, from, t->width, &n);
	uint64_t v = 0;

	if (!at || n < t->width)
		return false;
	memcpy(&v, at, t->width);
	unsigned int shift = 64 - 8 * t->width;

	if (t->extends && shift)
		v = (uint64_t)((int64_t)(v << shift) >> shift);
	*ret = t->base + v * t->scale;
	return true;
}

/* Does an entry near a table's first lead into text? */
bool distances_lead_to_text(const struct plan_impl *p, const struct value *v)
{
	struct table_at t = { .base = v->number, .at = v->table, .width = v->width,
			      .stride = v->width, .scale = v->scale, .extends = v->extends };
	raddr_t a;

	for (int64_t i = -ENTRIES_TRIED; i < ENTRIES_TRIED && v->width < 8; i++)
		if (distances_read(p, &t, i, &a) && is_of_code(p, a))
			return true;
	return false;
}

/* The same place may be read in two ways. */
static int by_base(const void *a, const void *b)
{
	const struct table_at *x = a, *y = b;
	const uint64_t of_x[] = { x->at, x->most, x->base, x->width, x->scale, x->stride,
				  x->extends };
	const uint64_t of_y[] = { y->at, y->most, y->base, y->width, y->scale, y->stride,
				  y->extends };

	for (size_t i = 0; i < ARRAY_SIZE(of_x); i++)
		if (of_x[i] != of_y[i])
			return of_x[i] < of_y[i] ? -1 : 1;
	return 0;
}

/* Does an entry lead into the middle of a function that does not go by it? It may be another
 * table's, or none. */
static bool is_stray(const struct plan_impl *p, const struct table_at *t, raddr_t a)
{
	const struct func *to = symbols_func_at(p->symbols, a);
	const struct func *from = symbols_func_at(p->symbols, t->pc);

	return t->pc && !t->shared && to && from != to && to->range.start != a &&
		!(from && ground_is_fragment(p, from)) && !ground_is_fragment(p, to);
}

/* `before`: by an entry before its first, which another table's last may be. */
static void lead_to(struct plan_impl *p, const struct table_at *t, raddr_t a, bool before)
{
	bool strays = is_stray(p, t, a);

	if (runtimes_is_number(p, a))
		return;
	if (t->pc && !strays && !before)
		ground_add_target(p, a);
	else
		ground_add_entry(p, a, strays);
}

/* Its entries from the first on, or (step -1) before that, to `end`, or to where so many
 * lead to no code that it cannot be the table any more. */
static int read_table(struct plan_impl *p, struct table_at *t, int step, raddr_t end)
{
	int holes = 0, most = t->stride == t->width ? DISTANCES_HOLES : HOLES_PACKED;
	int64_t entries = t->proved ? ENTRIES_PROVED : ENTRIES;
	raddr_t a;
	int err = 0;

	for (int64_t i = step < 0 ? -1 : 0; (holes < most || t->most) && i < entries &&
	     i > -ENTRIES && !err; i += step) {
		if (step > 0 ? t->at + (raddr_t)(i * t->stride) >= end :
		    t->at + (raddr_t)(i * t->stride) < end)
			return err;
		if (!distances_read(p, t, i, &a))
			return err;
		if (is_of_code(p, a)) {
			lead_to(p, t, a, step < 0);
			/* Code that no function has is judged if something leads to it. */
			err = t->proved && step > 0 ? arrivals_way(p, a) : 0;
			holes = 0;
			if (step > 0)
				t->end = t->at + (raddr_t)((i + 1) * t->stride);
		} else {
			holes++;
		}
	}
	return err;
}

/* What code or data name and looks like a table of distances from itself is read as one: its
 * address may be passed to the code that goes by it. */
static int add_maybes(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;
	bool kept;
	int err = 0;

	for (size_t i = 0; i < syms->ndata_pointers && !err; i++)
		err = arrivals_name(p, syms->data_pointers[i], &kept);
	/* Where addresses are numbers, too many numbers are addresses of text. */
	for (size_t i = 0; i < syms->npointers && syms->is_pie && !err; i++)
		err = arrivals_name(p, syms->pointers[i], &kept);
	base_sort(p->maybes, p->nmaybes, sizeof(*p->maybes));
	for (size_t i = 0; i < p->nmaybes && !err; i++) {
		raddr_t a = p->maybes[i];
		struct value v = { .kind = VALUE_PLACE, .named = true, .scale = 1, .extends = true,
				   .width = distances_may_be(p, a) ? 4 : 8, .number = a,
				   .table = a };

		if (!i || a != p->maybes[i - 1])
			err = distances_add(p, 0, &v, false);
	}
	return err;
}

/* The same table, once more. */
static void join_table(const struct plan_impl *p, struct table_at *t, const struct table_at *with)
{
	t->shared |= t->pc && with->pc &&
		symbols_func_at(p->symbols, t->pc) != symbols_func_at(p->symbols, with->pc);
	t->pc = t->pc ? t->pc : with->pc;
	t->proved |= with->proved;
}

/* Each once. */
static void sort_tables(struct plan_impl *p)
{
	size_t kept = 0;

	vec_sort(p->tables, p->ntables, by_base);
	for (size_t i = 0; i < p->ntables; i++)
		if (!kept || by_base(&p->tables[i], &p->tables[kept - 1]))
			p->tables[kept++] = p->tables[i];
		else
			join_table(p, &p->tables[kept - 1], &p->tables[i]);
	p->ntables = kept;
}

/* What is certainly a table ends one that goes on to there. */
static void find_stops(struct plan_impl *p)
{
	raddr_t proved = UINT64_MAX, next = UINT64_MAX;

	for (size_t i = p->ntables; i-- > 0;) {
		struct table_at *t = &p->tables[i];

		if (i + 1 < p->ntables && t[1].at != t->at)
			next = proved;
		t->stop = t->most ? t->at + t->most : next;
		proved = t->proved ? t->at : proved;
	}
}

static int read_both_ways(struct plan_impl *p, size_t i)
{
	struct table_at *t = &p->tables[i];
	int err = read_table(p, t, 1, t->stop);

	if (err || t->most)
		return err;
	return read_table(p, t, -1, !i ? 0 : t->proved && t[-1].proved ? t[-1].end : t[-1].at);
}

static bool is_only_named(const struct table_at *t)
{
	return !t->pc && !t->proved;
}

/* What is only named: it says the same of a place, whichever of the threads is first to say it. */
static int read_named(struct plan_impl *own, size_t part, void *ctx)
{
	size_t end = MIN((part + 1) * SHARE, own->ntables);
	int err = 0;

	(void)ctx;
	for (size_t i = part * SHARE; i < end && !err; i++)
		if (is_only_named(&own->tables[i]))
			err = read_both_ways(own, i);
	return err;
}

int distances_read_all(struct plan_impl *p)
{
	const struct crew_work work = { .work = read_named, .ahead = SIZE_MAX };
	int err = add_maybes(p);

	if (err)
		return err;
	sort_tables(p);
	find_stops(p);
	/* In their order: one that is proved begins behind the last entry of the one before. */
	for (size_t i = 0; i < p->ntables && !err; i++)
		if (!is_only_named(&p->tables[i]))
			err = read_both_ways(p, i);
	return err ? err : crew_run(p, &work, (p->ntables + SHARE - 1) / SHARE);
}
