/* SPDX-License-Identifier: MIT */
/*
 * tables: which jump tables does a function name, and where do their entries lead?
 *
 * Tables have no length that could be trusted. They are read until an entry
 * leads out of the function; an entry too many is one more place that jumps
 * may not cover, never one too few.
 */
#include <errno.h>
#include <string.h>

#include "plan/text/tables.h"

enum {
	TABLE_MAX = 1 << 16,	/* entries */
	AT_HAND = 4096,		/* bytes of a table that are asked for together */
};

void tables_clear(struct tables *t)
{
	free(t->v);
	free(t->words);
	free(t->entries);
}

/* An entry for what cannot happen may lead to the end of a piece, where there is
 * nothing. */
static bool is_inside(const struct body *b, raddr_t a)
{
	for (size_t i = 0; i < b->npieces; i++)
		if (a >= b->pieces[i].start && a <= b->pieces[i].end)
			return true;
	return false;
}

/* Is this a fragment that no other function is known to own? What stands behind a table is the
 * next one as a rule, whose distances may lead to any function's. */
static bool may_own(const struct body *b, raddr_t a)
{
	const struct plan_impl *p = b->impl;
	size_t left;
	const struct func *f = symbols_text(p->symbols, a, &left) ?
		symbols_func_at(p->symbols, a) : NULL;

	if (!f || f->parent >= 0 || !ground_may_be_piece(p, f))
		return false;
	for (size_t i = ground_edge(p, f->range.start, range_size(f->range));
	     i < p->nedges && p->edges[i].to < f->range.end; i++)
		if (!body_has(b, edge_from(&p->edges[i])) &&
		    !range_has(f->range, edge_from(&p->edges[i])))
			return false;
	return true;
}

static bool may_be_entry(const struct body *b, raddr_t a)
{
	return is_inside(b, a) || may_own(b, a);
}

/* A table of 32-bit distances from its own start, or of 64-bit addresses. */
struct entries {
	const struct symbols *symbols;
	raddr_t table;
	bool relative;
	raddr_t from;		/* of these some bytes are at hand: */
	const uint8_t *bytes;	/* owned by the symbols */
	size_t n;
};

static struct entries entries_at(const struct body *b, raddr_t table, bool relative)
{
	return (struct entries){ .symbols = b->impl->symbols, .table = table,
				 .relative = relative };
}

/* The i-th; false: the file has none. */
static bool read_entry(struct entries *e, size_t i, raddr_t *ret)
{
	size_t size = e->relative ? sizeof(int32_t) : sizeof(*ret);
	raddr_t at = e->table + i * size;
	int32_t d;

	if (at - e->from > e->n || e->n - (at - e->from) < size) {
		e->from = at;
		e->bytes = symbols_bytes(e->symbols, at, AT_HAND, &e->n);
		if (e->n < size)
			return false;
	}
	memcpy(e->relative ? (void *)&d : ret, e->bytes + (at - e->from), size);
	if (e->relative)
		*ret = e->table + (raddr_t)(int64_t)d;
	return true;
}

/* Does this instruction name what may be a table of distances? */
static bool names_distances(const struct insn *in)
{
	return in->flags & INSN_PCREL && in->kind == INSN_PLAIN;
}

/* Of text that is not near, symbols alone tell. */
static bool is_function(const struct plan_impl *p, raddr_t a)
{
	const struct func *f = symbols_func_at(p->symbols, a);

	return f && f->range.start == a && !ground_is_fragment(p, f);
}

/* How many entries from the first on lead inside? And so many up to the last of these that may lead
 * out, too, for where a piece ends a function may begin. */
static size_t count_inside(const struct body *b, struct entries *e, size_t *out)
{
	size_t n = 0;
	raddr_t a;

	*out = 0;
	while (n < TABLE_MAX && read_entry(e, n, &a) && may_be_entry(b, a)) {
		n++;
		if (!body_has(b, a) && is_function(b->impl, a))
			*out = n;
	}
	return n;
}

static size_t count_distances(const struct body *b, raddr_t table)
{
	struct entries e = entries_at(b, table, true);
	size_t out;

	return count_inside(b, &e, &out);
}

/* By address, but those that share no words apart. */
static int by_words(const void *a, const void *b)
{
	const struct table *x = a, *y = b;
	raddr_t i = x->base % sizeof(raddr_t), k = y->base % sizeof(raddr_t);

	if (i != k)
		return i < k ? -1 : 1;
	return x->base < y->base ? -1 : x->base > y->base;
}

static int list_words(const struct body *b, size_t first, struct tables *ret)
{
	for (size_t i = first; i < b->nsteps; i++) {
		raddr_t base = b->steps[i].insn.kind == INSN_JUMP_INDIRECT ?
			goal_table(b, i) : 0;

		if (!base)
			continue;
		struct table *t = vec_push(ret->words, ret->nwords, ret->words_cap);

		if (!t)
			return -ENOMEM;
		*t = (struct table){ .step = i, .base = base };
	}
	vec_sort(ret->words, ret->nwords, by_words);
	return 0;
}

/*
 * Tables of addresses lie one behind the other, and each is read as far as the last of
 * them: in one go, then. How many words are entries of the i-th, or of one that it goes
 * on with? *next is the first that it does not.
 */
static size_t count_words(const struct body *b, const struct tables *t, size_t i, size_t *next)
{
	raddr_t base = t->words[i].base, a;
	struct entries e = entries_at(b, base, false);
	size_t n = 0, most = TABLE_MAX;

	for (*next = i; ; n++) {
		for (; *next < t->nwords && t->words[*next].base == base + n * sizeof(a); ++*next)
			most = n + TABLE_MAX;
		if (n == most || !read_entry(&e, n, &a) || !may_be_entry(b, a))
			return n;
	}
}

/* The pieces that a table leads to, if it leads into the body, too. */
static int adopt_from(struct body *b, raddr_t table, bool relative, size_t n)
{
	struct entries e = entries_at(b, table, relative);
	size_t inside = 0, outside = 0;
	int err = 0;
	raddr_t a;

	for (size_t i = 0; i < n && read_entry(&e, i, &a); i++) {
		inside += body_has(b, a);
		outside += !is_inside(b, a);
	}
	for (size_t i = 0; i < n && inside && outside && !err; i++)
		if (read_entry(&e, i, &a) && !is_inside(b, a))
			err = body_adopt(b, a);
	return err;
}

static int adopt_by_words(struct body *b, size_t first)
{
	struct tables t = { 0 };
	int err = list_words(b, first, &t);

	for (size_t i = 0, next; i < t.nwords && !err; i = next) {
		size_t n = count_words(b, &t, i, &next);

		err = adopt_from(b, t.words[i].base, false, n);
	}
	tables_clear(&t);
	return err;
}

int tables_adopt(struct body *b, size_t first)
{
	if (!b->may_switch)
		return 0;
	int err = adopt_by_words(b, first);

	for (size_t i = first, n = b->nsteps; i < n && !err; i++) {
		const struct insn *in = &b->steps[i].insn;

		if (names_distances(in))
			err = adopt_from(b, in->ref, true, count_distances(b, in->ref));
	}
	return err;
}

/*
 * Take the n-th entry of a table. One that leads to a fragment without a known owner makes the
 * body incomplete. *back counts the entries up to the last that leads to the function's entry.
 */
static raddr_t take_entry(struct body *b, struct entries *e, size_t n, size_t *back)
{
	raddr_t a = 0;

	read_entry(e, n, &a);
	if (!is_inside(b, a))
		body_doubt(b, REFUSED_JUMP_TABLE);
	if (body_is_entry(b, a))
		*back = n + 1;
	ground_add_target(b->impl, a);
	return a;
}

/* To begin anew would need the stack that the entry finds: with a frame on it, where
 * the table is named, this is an entry too many. */
static void judge_way_back(struct body *b, size_t step)
{
	if (goal_frame_is_gone(b, b->steps[step].insn.pc) != 0)
		b->refusal = REFUSED_LOOP_ENTRY;
}

static int take_distances(struct body *b, size_t step, struct tables *ret)
{
	raddr_t base = b->steps[step].insn.ref;
	struct entries e = entries_at(b, base, true);
	size_t n = count_distances(b, base), back = 0;

	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++)
		take_entry(b, &e, i, &back);
	if (back)
		judge_way_back(b, step);
	struct table *t = vec_push(ret->v, ret->n, ret->cap);

	if (!t)
		return -ENOMEM;
	*t = (struct table){ .step = step, .base = base };
	return 0;
}

/* Takes the i-th table of words, and those that it goes on with; *next as of
 * count_words. */
static int take_words(struct body *b, struct tables *t, size_t i, size_t *next)
{
	raddr_t base = t->words[i].base;
	struct entries e = entries_at(b, base, false);
	size_t n = count_words(b, t, i, next), back = 0;

	for (size_t k = 0; k < n; k++) {
		raddr_t *new = vec_push(t->entries, t->nentries, t->entries_cap);

		if (!new)
			return -ENOMEM;
		*new = take_entry(b, &e, k, &back);
	}
	for (; i < *next && t->words[i].base < base + back * sizeof(base); i++)
		judge_way_back(b, t->words[i].step);
	return 0;
}

static int by_address(const void *a, const void *b)
{
	raddr_t x = *(const raddr_t *)a, y = *(const raddr_t *)b;

	return x < y ? -1 : x > y;
}

int tables_find(struct body *b, struct tables *ret)
{
	int err = list_words(b, 0, ret);

	for (size_t i = 0, next; i < ret->nwords && !err; i = next)
		err = take_words(b, ret, i, &next);
	vec_sort(ret->entries, ret->nentries, by_address);
	for (size_t i = 0; i < b->nsteps && !err; i++)
		if (names_distances(&b->steps[i].insn))
			err = take_distances(b, i, ret);
	return err;
}

/* Does the entry behind so many, which is the first that leads elsewhere, lead out by a function's
 * start? The next table would begin with a place inside of its function. */
static bool ends_out(const struct body *b, struct entries *e, size_t n)
{
	raddr_t a;

	return n < TABLE_MAX && read_entry(e, n, &a) && is_function(b->impl, a);
}

/* Does an entry behind the first, which leads out, lead inside? */
static bool comes_back(const struct body *b, struct entries *e)
{
	size_t left;
	raddr_t a;

	for (size_t i = 0; i < TABLE_MAX && read_entry(e, i, &a) &&
	     symbols_text(b->impl->symbols, a, &left); i++)
		if (body_has(b, a) && a != b->func->range.start)
			return true;
	return false;
}

/* The same as count_inside, of a table of addresses. A function's tables lie one behind the
 * other, and what is read of one goes on to the end of the last: where that is says it of
 * all. */
static size_t judged_inside(const struct body *b, struct tables *t, struct entries *e, size_t *out)
{
	raddr_t at = e->table;
	size_t n;

	if (range_has(t->judged, at) && (at - t->judged.start) % sizeof(at) == 0) {
		*out = t->out > at ? (t->out - at) / sizeof(at) : 0;
		return (t->judged.end - at) / sizeof(at);
	}
	n = count_inside(b, e, out);
	if (n < TABLE_MAX) {
		t->judged = (struct range){ at, at + n * sizeof(at) };
		t->out = at + *out * sizeof(at);
	}
	return n;
}

enum indirect tables_judge(const struct body *b, struct tables *t, raddr_t table)
{
	struct entries e = entries_at(b, table, false);
	size_t out, n = judged_inside(b, t, &e, &out);

	if (!n)
		return comes_back(b, &e) ? INDIRECT_UNSURE : INDIRECT_TAIL;
	return out || ends_out(b, &e, n) ? INDIRECT_UNSURE : INDIRECT_INSIDE;
}

/* Do its entries lead inside, out to a function, and inside again? */
static bool leads_both_ways(const struct body *b, raddr_t table)
{
	struct entries e = entries_at(b, table, false);
	bool inside = false, out = false;
	raddr_t a;

	for (size_t i = 0; i < TABLE_MAX && read_entry(&e, i, &a); i++) {
		bool own = body_has(b, a) && a != b->func->range.start;

		if (own ? inside && out : !is_function(b->impl, a))
			return own;
		inside |= own;
		out |= inside && !own;
	}
	return false;
}

bool tables_lead_both_ways(const struct body *b)
{
	const struct plan_impl *p = b->impl;
	struct effect e;
	size_t left;

	for (size_t i = 0; i < b->nsteps && p->arch->effect; i++) {
		const struct insn *in = &b->steps[i].insn;
		raddr_t named = in->ref;

		if (!named && in->kind == INSN_PLAIN && !p->symbols->is_pie) {
			p->arch->effect(symbols_text(p->symbols, in->pc, &left), left, in, &e);
			named = e.op == EFFECT_NUMBER || e.memory ? (raddr_t)e.number : 0;
		}
		if (named && leads_both_ways(b, named))
			return true;
	}
	return false;
}

enum indirect tables_judge_distances(const struct body *b, raddr_t table)
{
	struct entries e = entries_at(b, table, true);
	size_t out, n = count_inside(b, &e, &out);

	return !n || out || ends_out(b, &e, n) ? INDIRECT_UNSURE : INDIRECT_INSIDE;
}
