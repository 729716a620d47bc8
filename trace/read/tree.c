/* SPDX-License-Identifier: MIT */
/* tree: which calls were made from where, all of the same kind taken together? */
#include "trace/read/tree.h"

#include <errno.h>
#include <string.h>

struct tree {
	struct tree_node *nodes;
	size_t n, cap;
	uint32_t *index;	/* by hash of parent and function: node, or 0 */
	size_t index_cap;	/* a power of 2 */
	bool broken;		/* memory ran out */
	const struct view *of;
	const struct view *view;	/* its callers are nodes, too; NULL: they are not */
	void (*each)(void *ctx, const struct call *, bool nested);
	void *ctx;
};

/* In a call's mark: it is beyond the bounds, and the node is that around it. */
#define BEYOND (1ull << 32)

int tree_new(const struct view *of, struct tree **ret)
{
	struct tree *t = calloc(1, sizeof(*t));

	if (!t || !vec_push(t->nodes, t->n, t->cap)) {
		tree_free(t);
		return fail(ENOMEM, "count calls");
	}
	t->of = of;
	*ret = t;
	return 0;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	free(t->nodes);
	free(t->index);
	free(t);
}

/* The place of a child in the index: 0 stands there if there is none yet. */
static uint32_t *tree_place(const struct tree *t, uint32_t parent, const struct reader_func *func)
{
	uint64_t key = ((uint64_t)parent << 32 ^ (uintptr_t)func) * 0x9e3779b97f4a7c15u;
	size_t i = (key >> 32) & (t->index_cap - 1);

	while (t->index[i] && (t->nodes[t->index[i]].parent != parent ||
			       t->nodes[t->index[i]].func != func))
		i = (i + 1) & (t->index_cap - 1);
	return &t->index[i];
}

static bool tree_grow(struct tree *t)
{
	size_t cap = MAX(t->index_cap * 2, (size_t)256);
	uint32_t *index = calloc(cap, sizeof(*index));

	if (!index)
		return false;
	free(t->index);
	t->index = index;
	t->index_cap = cap;
	for (uint32_t i = 1; i < t->n; i++)
		*tree_place(t, t->nodes[i].parent, t->nodes[i].func) = i;
	return true;
}

/* The function that a group is of, or that is none. */
static const struct reader_func *whole(const struct tree *t, const struct reader_func *func)
{
	const struct group *g = view_group(t->of, func);

	return g ? reader_func_counted(g->func) : func;
}

static bool is_around(const struct tree *t, uint32_t node, const struct reader_func *func)
{
	func = whole(t, func);
	for (; node; node = t->nodes[node].parent)
		if (whole(t, t->nodes[node].func) == func)
			return true;
	return false;
}

static uint64_t new_child(struct tree *t, uint32_t parent, const struct reader_func *func)
{
	struct tree_node *node = vec_push(t->nodes, t->n, t->cap);
	uint32_t id = (uint32_t)(t->n - 1);

	if (!node) {
		t->broken = true;
		return parent | BEYOND;
	}
	node->func = func;
	node->parent = parent;
	node->depth = t->nodes[parent].depth + 1;
	node->next = t->nodes[parent].child;
	node->nested = is_around(t, parent, func);
	t->nodes[parent].child = id;
	*tree_place(t, parent, func) = id;
	return id;
}

static uint64_t child(struct tree *t, uint64_t outer, const struct reader_func *func)
{
	uint32_t parent = (uint32_t)outer, node;

	func = reader_func_counted(func);
	if (outer & BEYOND)
		return outer;
	/* At most half of the index is used. */
	if (t->n * 2 >= t->index_cap && !tree_grow(t)) {
		t->broken = true;
		return parent | BEYOND;
	}
	node = *tree_place(t, parent, func);
	if (node)
		return node;
	if (t->n >= TREE_NODES || t->nodes[parent].depth >= TREE_DEPTH)
		return parent | BEYOND;
	return new_child(t, parent, func);
}

/* How many callers of a call there are before those of the call around it, which has made the
 * last of them: where both stacks are the same from there on up. 0: that is not known. */
static size_t between(const struct call *c)
{
	for (size_t i = 1; c->nouter && i < c->ncallers; i++) {
		size_t n = 0;

		while (n < c->nouter && i + n < c->ncallers &&
		       c->callers[i + n] == c->outer_callers[n])
			n++;
		if (n == c->nouter || i + n == c->ncallers)
			return i;
	}
	return 0;
}

/* What has the code at an address, and what is inlined there, the innermost last; but not `around`,
 * which is a node already. */
static uint64_t tree_caller(struct tree *t, uint64_t mark, uint64_t address,
			    const struct reader_func *around)
{
	size_t n = 0;

	while (view_caller(t->view, address, n))
		n++;
	for (; n; n--) {
		const struct reader_func *f = view_caller(t->view, address, n - 1);

		if (!around || f->name != around->name)
			mark = child(t, mark, f);
		around = NULL;
	}
	return mark;
}

/* The callers as nodes around it, the outermost first. The call around it is none of them again. */
static uint64_t tree_callers(struct tree *t, uint64_t mark, const struct call *c)
{
	size_t n = c->outer ? between(c) : c->ncallers;

	for (size_t i = n; i; i--)
		mark = tree_caller(t, mark, c->callers[i - 1],
				   c->outer && i == n ? c->outer : NULL);
	return mark;
}

static uint64_t tree_begin(void *ctx, uint64_t outer, const struct call *c)
{
	struct tree *t = ctx;

	return child(t, t->view && c->callers ? tree_callers(t, outer, c) : outer, c->func);
}

static bool tree_open(void *ctx, const struct call *c)
{
	return true;
}

static void add_total(struct tree_node *node, const struct call *c)
{
	node->total += c->span;
	node->waits += c->wait_known;
	node->wait += c->wait;
	node->unknown += !c->wait_known;
	node->unknown_total += c->wait_known ? 0 : c->span;
}

static void tree_end(void *ctx, const struct call *c)
{
	struct tree *t = ctx;
	struct tree_node *node = &t->nodes[(uint32_t)c->mark];
	bool beyond = c->mark & BEYOND;

	node->calls += !beyond;
	node->parts += !beyond && call_is_part(c);
	if (call_has_span(c)) {
		node->timed++;
		node->self += c->span - MIN(c->inner, c->span);
		if (!beyond)
			add_total(node, c);
	}
	if (t->each)
		t->each(t->ctx, c, beyond ? is_around(t, (uint32_t)c->mark,
						 reader_func_counted(c->func)) :
			node->nested);
}

static void tree_lost(void *ctx, const struct event *e)
{
}

struct sink tree_sink(struct tree *t)
{
	return (struct sink){ .begin = tree_begin, .open = tree_open, .end = tree_end,
			      .lost = tree_lost, .ctx = t };
}

void tree_watch(struct tree *t, void (*each)(void *, const struct call *, bool nested),
		void *ctx)
{
	t->each = each;
	t->ctx = ctx;
}

int tree_nodes(const struct tree *t, const struct tree_node **ret, size_t *n)
{
	*ret = t->nodes;
	*n = t->n;
	return t->broken ? fail(ENOMEM, "count calls") : 0;
}

static int larger_first(const void *x, const void *y, void *ctx)
{
	const struct tree_node *nodes = ctx;
	const struct tree_node *a = &nodes[*(const uint32_t *)x], *b = &nodes[*(const uint32_t *)y];

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return strcmp(a->func->name, b->func->name);
}

/* A node around another has a lower number. One that has no calls of its own, as of a caller, has
 * the time of those that it makes. */
static void find_full(struct tree *t)
{
	for (size_t i = t->n; i-- > 1;) {
		struct tree_node *node = &t->nodes[i], *around = &t->nodes[node->parent];

		node->full |= node->calls != 0;
		around->full |= node->full;
		if (!around->calls && node->parent && t->view) {
			around->timed += node->timed;
			around->total += node->total;
		}
	}
}

int tree_sort(struct tree *t)
{
	auto_free uint32_t *ids = calloc(t->n, sizeof(*ids));

	if (!ids)
		return fail(ENOMEM, "sort calls");
	find_full(t);
	for (size_t i = 0; i < t->n; i++) {
		size_t n = 0;
		uint32_t next = 0;

		for (uint32_t c = t->nodes[i].child; c; c = t->nodes[c].next)
			if (t->nodes[c].full)
				ids[n++] = c;
		qsort_r(ids, n, sizeof(*ids), larger_first, t->nodes);
		while (n) {
			t->nodes[ids[--n]].next = next;
			next = ids[n];
		}
		t->nodes[i].child = next;
	}
	return 0;
}

int tree_make(struct view *v, struct tree **ret)
{
	const struct tree_node *nodes;
	struct tree *t = NULL;
	struct sink sink;
	size_t n;
	int err = tree_new(v, &t);

	if (err)
		return err;
	sink = tree_sink(t);
	t->view = v;
	err = view_run(v, &sink, NULL) ?: tree_nodes(t, &nodes, &n) ?: tree_sort(t);
	if (err)
		tree_free(t);
	else
		*ret = t;
	return err;
}

/* The next one, depth first; 0 at the end. */
static uint32_t following(const struct tree *t, uint32_t i)
{
	if (t->nodes[i].child)
		return t->nodes[i].child;
	while (i && !t->nodes[i].next)
		i = t->nodes[i].parent;
	return t->nodes[i].next;
}

int tree_walk(const struct tree *t,
	      int (*each)(void *ctx, const struct tree *, const struct tree_node *,
			  struct output *), void *ctx, struct output *out)
{
	int err = 0;

	for (uint32_t i = following(t, 0); i && !err; i = following(t, i))
		err = each(ctx, t, &t->nodes[i], out) ?: output_flush(out);
	return err;
}

size_t tree_path(const struct tree *t, const struct tree_node *node,
		 const struct reader_func *ret[TREE_DEPTH])
{
	size_t n = node->depth;

	for (size_t i = n; i; i--) {
		ret[i - 1] = node->func;
		node = &t->nodes[node->parent];
	}
	return n;
}
