/* SPDX-License-Identifier: MIT */
/* value: what comes of adding, cutting and loading what is known of registers? */
#include "plan/arrivals.h"
#include "plan/flow/flow.h"

enum { RANGE_MOST = 1 << 20 };	/* of an index that is bounded */

const struct value value_any = { .kind = VALUE_ANY }, value_word = { .kind = VALUE_WORD };
const struct value value_put = { .kind = VALUE_ANY, .kept = true };

static const struct value value_sum_of_words = { .kind = VALUE_SUM };

/* ---- sets ------------------------------------------------------------------ */

static bool is_same(const struct value *a, const struct value *b)
{
	return a->kind == b->kind && a->named == b->named && a->extends == b->extends &&
		a->width == b->width && a->scale == b->scale && a->number == b->number &&
		a->table == b->table && a->stride == b->stride && a->most == b->most &&
		a->indexed == b->indexed && a->field == b->field && a->kept == b->kept;
}

static bool is_whole(const struct value *v)
{
	return v->kind == VALUE_WORD || v->kind == VALUE_NUMBER;
}

void values_add(struct values *s, struct value v)
{
	for (size_t i = 0; i < s->n; i++)
		if (is_same(&s->v[i], &v))
			return;
	if (s->n < VALUES_MAX) {
		s->v[s->n++] = v;
		return;
	}
	bool whole = is_whole(&v), any = v.kind == VALUE_ANY, words = true, put = any && v.kept;

	for (size_t i = 0; i < s->n; i++) {
		whole &= is_whole(&s->v[i]);
		any |= s->v[i].kind == VALUE_ANY;
		put |= s->v[i].kind == VALUE_ANY && s->v[i].kept;
	}
	for (size_t i = 0; i < s->n; i++)
		words &= is_whole(&s->v[i]) || s->v[i].kind >= VALUE_RANGE;
	/* Words, and what nothing is known of. */
	words &= any && !put && (is_whole(&v) || v.kind >= VALUE_RANGE);
	s->v[0] = whole || words ? value_word : put ? value_put : value_any;
	s->v[1] = value_any;
	s->n = words ? 2 : 1;
}

void values_add_all(struct values *s, const struct values *more)
{
	for (size_t i = 0; i < more->n; i++)
		values_add(s, more->v[i]);
}

/* ---- arithmetic ------------------------------------------------------------ */

/* Does the file have something there? Then a number is an address, where addresses are
 * numbers. */
static bool is_there(const struct flow *f, raddr_t a)
{
	const struct symbols *syms = f->body->impl->symbols;
	size_t left;

	/* Of so many places of text many look like numbers: those that code in here may
	 * mean are its own, functions, what lies between functions, and tables, which may
	 * stand behind a function whose end is not known. */
	if (symbols_text(syms, a, &left) && !body_has(f->body, a)) {
		const struct func *at = symbols_func_at(syms, a);

		/* Where padding begins a function ends, from which distances may count. */
		if (!at)
			return !arrivals_pads(f->body->impl, a) ||
				!arrivals_pads(f->body->impl, a - 1);
		return at->range.start == a ||
			(at->flags & FUNC_NO_SIZE && distances_may_be(f->body->impl, a));
	}
	return arrivals_is_address(f->body->impl, a);
}

/* Numbers that the code has: may they be addresses? */
static bool are_addresses(const struct flow *f)
{
	const struct symbols *syms = f->body->impl->symbols;
	const struct runtime *rt = f->body->runtime;

	return !syms->is_pie && !(rt->is_relative && rt->is_relative(syms));
}

struct value value_number(const struct flow *f, raddr_t n, bool named)
{
	return (struct value){ .kind = VALUE_NUMBER, .number = n,
			       .named = named || (are_addresses(f) && is_there(f, n)) };
}

struct value value_times(const struct flow *f, struct value v, unsigned int scale)
{
	if (scale == 1)
		return v;
	if (v.kind == VALUE_NUMBER && !v.named)
		return value_number(f, v.number * scale, false);
	if (v.kind == VALUE_RANGE && (uint64_t)v.most * scale <= RANGE_MOST) {
		v.most *= scale;
		v.stride *= scale;
		return v;
	}
	if (v.kind == VALUE_ENTRY && v.scale * scale <= 64) {
		v.scale = (uint8_t)(v.scale * scale);
		return v;
	}
	return value_any;
}

/* An address and a number that is none. */
static struct value moved(const struct flow *f, struct value a, struct value n)
{
	switch (n.kind) {
	case VALUE_NUMBER:
		/* What is left of one when another is taken from it is no address. */
		return value_number(f, a.number + n.number, f->body->impl->symbols->is_pie ||
				    a.number + n.number + SMALL > 2 * SMALL);
	case VALUE_ENTRY:
		n.kind = VALUE_PLACE;
		n.number = a.number;
		n.named = true;
		return n;
	case VALUE_PLACE:
		if (n.named)
			return value_any;
		n.number += a.number;
		n.named = true;
		return n;
	}
	struct value v = { .kind = VALUE_POINT, .number = a.number, .named = true };

	if (n.kind == VALUE_RANGE)
		v.stride = n.stride, v.most = n.most;
	return v;
}

bool value_is_address(struct value v)
{
	return v.kind == VALUE_NUMBER && v.named;
}

/* The sum of two ranges: what steps both take. */
static struct value both(struct value a, struct value b)
{
	uint32_t x = a.stride, y = b.stride;

	while (y) {
		uint32_t r = x % y;

		x = y;
		y = r;
	}
	if ((uint64_t)a.most + b.most > RANGE_MOST)
		return value_any;
	a.stride = x;
	a.most += b.most;
	return a;
}

/* A word, or a field of four bytes, that is none of several in memory. */
static bool is_plain_word(struct value v)
{
	return !v.indexed && (v.kind == VALUE_WORD ||
			      (v.kind == VALUE_ENTRY && v.width == 4 && !v.table && v.scale == 1));
}

/* Of an object that was passed. */
static bool is_field(struct value v)
{
	return v.kind == VALUE_WORD && v.field;
}

/* Something was added to an address, or to a number that may be one. */
static bool is_placed(struct value v)
{
	return v.kind == VALUE_POINT || (v.kind == VALUE_PLACE && v.named);
}

struct value value_added(const struct flow *f, struct value a, struct value b)
{
	if (value_is_address(b) && !value_is_address(a))
		return moved(f, b, a);
	if (value_is_address(a))
		return value_is_address(b) ? value_any : moved(f, a, b);
	if (b.kind == VALUE_NUMBER && a.kind != VALUE_NUMBER) {
		struct value v = a;

		a = b;
		b = v;
	}
	if ((is_plain_word(a) && is_plain_word(b)) || (is_field(a) && b.kind == VALUE_ANY) ||
	    (is_field(b) && a.kind == VALUE_ANY))
		return value_sum_of_words;
	if (a.kind == VALUE_RANGE && b.kind == VALUE_RANGE)
		return both(a, b);
	if (a.kind != VALUE_NUMBER) {
		struct value v = is_placed(b) ? b : a;

		return is_placed(v) ? (struct value){ .kind = VALUE_POINT, .named = v.named,
						      .number = v.number } : value_any;
	}
	if (b.kind == VALUE_NUMBER)
		return value_number(f, a.number + b.number, false);
	if (!a.number)
		return b;
	if (b.kind == VALUE_PLACE || b.kind == VALUE_POINT) {
		b.number += a.number;
		return b;
	}
	if (b.kind != VALUE_ENTRY)
		return value_any;
	b.kind = VALUE_PLACE;
	b.number = a.number;
	return b;
}

/* Of these bits, moved to the left by so many, no others are set. */
struct value value_clipped(struct value v, raddr_t most)
{
	bool small = v.kind == VALUE_RANGE && v.most <= most && (v.most & (v.most + 1)) == 0;

	if (small || most > RANGE_MOST)
		return small ? v : value_any;
	return (struct value){ .kind = VALUE_RANGE, .stride = 1, .most = (uint32_t)most };
}

struct value value_cut(const struct flow *f, struct value v)
{
	bool low = !f->body->impl->symbols->is_pie;

	if (v.kind == VALUE_RANGE)
		return v;
	if (v.kind == VALUE_NUMBER)
		return value_number(f, (uint32_t)v.number, false);
	if (v.kind == VALUE_ENTRY && (v.width == 4 ? v.scale == 1 : v.width < 4 && !v.extends)) {
		v.extends = false;
		return v;
	}
	return low && v.kind != VALUE_ENTRY ? v : value_any;
}

struct value value_widened(const struct flow *f, struct value v)
{
	if (v.kind == VALUE_NUMBER)
		return value_number(f, (raddr_t)(int64_t)(int32_t)v.number, false);
	if (v.kind == VALUE_RANGE)
		return v;
	if (v.kind != VALUE_ENTRY || v.width > 4 || v.scale > 1)
		return value_any;
	v.extends |= v.width == 4;
	return v;
}

/* Hidden, or shown again: only a whole word is so. */
struct value value_coded(struct value v)
{
	return v.kind == VALUE_WORD ? value_word : value_any;
}

struct value value_loaded(const struct flow *f, struct value at, const struct effect *e)
{
	bool known = at.kind == VALUE_POINT || value_is_address(at) ||
		(at.kind == VALUE_PLACE && at.named);

	if (e->width == 8)
		return (struct value){ .kind = VALUE_WORD, .indexed = e->index >= 0,
				       .field = e->index < 0 && e->base >= 0 && !known &&
					       !arch_is_stack(f->arch, e->base) };
	return (struct value){ .kind = VALUE_ENTRY, .width = e->width, .scale = 1,
			       .indexed = e->index >= 0,
			       .extends = e->extends, .table = known ? at.number : 0,
			       .most = at.kind == VALUE_POINT && at.stride ? at.most : 0,
			       .stride = at.kind == VALUE_POINT ? at.stride : 0 };
}
