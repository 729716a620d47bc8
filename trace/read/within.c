/* SPDX-License-Identifier: MIT */
#include "trace/read/within.h"

#include <errno.h>
#include <string.h>

#include "trace/read/choose.h"
#include "trace/read/kept.h"

enum { BYTES_MOST = 1 << 26 };	/* of all that is kept */

/* A call that may turn out to take long, and those within it, in the order in which they began. */
struct root {
	struct call *v;
	size_t n, cap;
	uint32_t depth;		/* its own */
	bool used;
};

struct within {
	const struct clock *clock;
	struct within_options options;
	struct sink sink;
	const struct reader_func *funcs;
	size_t nfuncs;
	bool *is_root;		/* by function */
	struct root **roots;	/* they stay where they are */
	size_t n, cap;
	size_t bytes;
	uint64_t shown;
};

static void kept_clear(struct within *w, struct call *k)
{
	w->bytes -= call_bytes(k);
	call_drop(k);
}

static void root_clear(struct within *w, struct root *r)
{
	for (size_t i = 0; i < r->n; i++)
		kept_clear(w, &r->v[i]);
	free(r->v);
	*r = (struct root){ 0 };
}

void within_free(struct within *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++) {
		root_clear(w, w->roots[i]);
		free(w->roots[i]);
	}
	free(w->roots);
	free(w->is_root);
	free(w);
}

int within_name(struct within *w, const struct about *a)
{
	bool *is_root = calloc(a->nfuncs + 1, sizeof(*is_root));
	size_t found = 0;
	int err = is_root ? 0 : fail(ENOMEM, "keep calls");

	for (size_t i = 0; i < w->options.nroots && !err; i++)
		err = choose_names(a, &w->options.roots[i], true, is_root, &found);
	if (err) {
		free(is_root);
		return err;
	}
	free(w->is_root);
	w->is_root = is_root;
	w->funcs = a->funcs;
	w->nfuncs = a->nfuncs;
	return 0;
}

int within_new(const struct clock *clock, const struct about *a, const struct within_options *o,
	       const struct sink *sink, struct within **ret)
{
	struct within *w = calloc(1, sizeof(*w));

	if (!w)
		return fail(ENOMEM, "keep calls");
	w->clock = clock;
	w->options = *o;
	w->sink = *sink;
	int err = within_name(w, a);

	if (err)
		within_free(w);
	else
		*ret = w;
	return err;
}

/* ---- what is kept --------------------------------------------------------- */

static struct root *free_root(struct within *w, size_t *at)
{
	for (*at = 0; *at < w->n; ++*at)
		if (!w->roots[*at]->used)
			return w->roots[*at];
	struct root *r = calloc(1, sizeof(*r)), **p = r ? vec_push(w->roots, w->n, w->cap) : NULL;

	if (!p) {
		free(r);
		return NULL;
	}
	return *p = r;
}

/* A mark has the root's number + 1 above, and the call's below; a call that is not kept has that of
 * the root alone. */
static struct root *root_of(const struct within *w, uint64_t mark)
{
	size_t i = mark >> 32;

	return i && i <= w->n && w->roots[i - 1]->used ? w->roots[i - 1] : NULL;
}

static struct call *kept_of(struct root *r, uint64_t mark)
{
	size_t i = (uint32_t)mark;

	return i && i <= r->n ? &r->v[i - 1] : NULL;
}

static void keep(struct within *w, const struct root *r, struct call *k, const struct call *c)
{
	*k = call_keep(c);
	k->depth = c->depth - r->depth;
	w->bytes += call_bytes(k);
}

/* One more call of the root's; its mark. */
static uint64_t add(struct within *w, struct root *r, uint64_t mark, const struct call *c)
{
	const uint64_t none = mark >> 32 << 32;
	struct call *k = r->n < WITHIN_CALLS && w->bytes < BYTES_MOST ?
		vec_push(r->v, r->n, r->cap) : NULL;

	if (!k)
		return none;
	keep(w, r, k, c);
	return none | r->n;
}

static uint64_t within_begin(void *ctx, uint64_t outer, const struct call *c)
{
	struct within *w = ctx;
	struct root *r = root_of(w, outer);
	size_t func = (size_t)(c->func - w->funcs), at;

	if (r)
		return add(w, r, outer, c);
	if (func >= w->nfuncs || !w->is_root[func])
		return 0;
	r = free_root(w, &at);
	if (!r)
		return 0;
	r->depth = c->depth;
	uint64_t mark = add(w, r, (uint64_t)(at + 1) << 32, c);

	/* Without room it is no root, for its end would not be known for that. */
	r->used = r->n;
	return r->used ? mark : 0;
}

/* From number i on, with those within it; the number of the next. */
static size_t give(struct within *w, struct root *r, size_t i)
{
	struct call *c = &r->v[i++];

	c->opened = i < r->n && r->v[i].depth > c->depth && w->sink.open(w->sink.ctx, c);
	while (i < r->n && r->v[i].depth > c->depth)
		i = give(w, r, i);
	w->sink.end(w->sink.ctx, c);
	return i;
}

static bool within_open(void *ctx, const struct call *c)
{
	return true;
}

static void within_end(void *ctx, const struct call *c)
{
	struct within *w = ctx;
	struct root *r = root_of(w, c->mark);
	struct call *k = r ? kept_of(r, c->mark) : NULL;

	if (!k)
		return;
	kept_clear(w, k);
	keep(w, r, k, c);
	k->opened = false;
	if (k != r->v)
		return;
	if (clock_ns(w->clock, c->span) >= w->options.min_ns && !within_full(w)) {
		w->shown++;
		give(w, r, 0);
	}
	root_clear(w, r);
}

static void within_lost(void *ctx, const struct event *e)
{
	struct within *w = ctx;

	w->sink.lost(w->sink.ctx, e);
}

struct sink within_sink(struct within *w)
{
	return (struct sink){ .begin = within_begin, .open = within_open, .end = within_end,
			      .lost = within_lost, .ctx = w };
}

bool within_full(const struct within *w)
{
	return w->options.calls && w->shown >= w->options.calls;
}
