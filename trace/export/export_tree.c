/* SPDX-License-Identifier: MIT */
/* export_tree: formats that have chains of calls: folded, speedscope, dot. */
#include <errno.h>
#include <string.h>

#include "trace/export/export.h"
#include "trace/show/json.h"
#include "trace/read/tree.h"

struct writing {
	struct view *view;
	const struct about *about;
	const struct tree_node *nodes;
	size_t n;
	bool first;
	bool weights;		/* of speedscope: the second pass */
};

/* The tree of a view, for one of the functions below. */
static int export_tree_begin(struct view *v, struct tree **t, struct writing *ret)
{
	int err = tree_make(v, t);

	*ret = (struct writing){ .view = v, .about = view_about(v), .first = true };
	return err ?: tree_nodes(*t, &ret->nodes, &ret->n);
}

static uint64_t self_ns(const struct writing *w, const struct tree_node *n)
{
	return clock_ns(&w->about->clock, n->self);
}

/* ---- folded: outer;inner NANOSECONDS ------------------------------------- */

/* Two characters divide a line. */
static void folded_name(struct output *out, const char *name)
{
	size_t n = strlen(name);
	char *p = output_room(out, n);

	for (size_t i = 0; p && i < n; i++)
		p[i] = name[i] == ';' ? ':' : name[i];
	if (p)
		output_take(out, n);
}

static int folded_node(void *ctx, const struct tree *t, const struct tree_node *node,
		       struct output *out)
{
	const struct reader_func *path[TREE_DEPTH];
	size_t n;

	if (!node->self)
		return 0;
	n = tree_path(t, node, path);
	for (size_t i = 0; i < n; i++) {
		folded_name(out, path[i]->name);
		output_text(out, i + 1 < n ? ";" : " ", 1);
	}
	output_printf(out, "%llu\n", (unsigned long long)self_ns(ctx, node));
	return 0;
}

static int export_folded(struct view *v, struct output *out)
{
	struct tree *t = NULL;
	struct writing w;
	int err = export_tree_begin(v, &t, &w) ?: tree_walk(t, folded_node, &w, out);

	tree_free(t);
	return err;
}

const struct export_format format_folded = { "folded", .run = export_folded, .chains = true };

/* ---- speedscope ---------------------------------------------------------- */

static int speedscope_node(void *ctx, const struct tree *t, const struct tree_node *node,
			   struct output *out)
{
	const struct reader_func *path[TREE_DEPTH];
	struct writing *w = ctx;
	size_t n;

	if (!node->self)
		return 0;
	if (!w->first)
		output_text(out, ",", 1);
	w->first = false;
	if (w->weights) {
		output_printf(out, "%llu", (unsigned long long)self_ns(w, node));
		return 0;
	}
	n = tree_path(t, node, path);
	for (size_t i = 0; i < n; i++)
		output_printf(out, "%s%zu", i ? "," : "[", (size_t)(path[i] - w->about->funcs));
	output_text(out, "]\n", 2);
	return 0;
}

/* Weights add up as they are printed. */
static uint64_t sum_of(const struct writing *w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->n; i++)
		sum += self_ns(w, &w->nodes[i]);
	return sum;
}

static int speedscope_frames(const struct writing *w, struct output *out)
{
	int err = 0;

	/* There is one more, for functions that are not known. */
	for (size_t i = 0; i <= w->about->nfuncs && !err; i++) {
		output_printf(out, "%s{\"name\":", i ? ",\n" : "");
		json_string(out, w->about->funcs[i].name);
		output_printf(out, ",\"file\":");
		json_string(out, w->about->funcs[i].module);
		output_text(out, "}", 1);
		err = output_flush(out);
	}
	return err;
}

static int export_speedscope(struct view *v, struct output *out)
{
	struct tree *t = NULL;
	struct writing w;
	int err = export_tree_begin(v, &t, &w);

	if (!err) {
		output_printf(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
				   "\"exporter\":\"inject " INJECT_VERSION "\",\"name\":");
		json_string(out, w.about->program ?: "");
		output_printf(out, ",\"shared\":{\"frames\":[");
		err = speedscope_frames(&w, out);
	}
	if (!err) {
		output_printf(out, "]},\"profiles\":[{\"type\":\"sampled\",\"name\":\"all threads\","
				   "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%llu,"
				   "\"samples\":[", (unsigned long long)sum_of(&w));
		err = tree_walk(t, speedscope_node, &w, out);
	}
	if (!err) {
		output_printf(out, "],\"weights\":[");
		w.first = w.weights = true;
		err = tree_walk(t, speedscope_node, &w, out);
		output_printf(out, "]}]}\n");
	}
	tree_free(t);
	return err;
}

const struct export_format format_speedscope = {
	"speedscope", .run = export_speedscope, .chains = true,
};

/* ---- dot ----------------------------------------------------------------- */

struct edge {
	uint32_t from, to;	/* functions; from UINT32_MAX: the node itself */
	uint64_t calls, timed, total, self;
};

static int by_ends(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

/* Every node of the tree is a call from one function to another, and a part of its
 * function. */
static size_t export_tree_collect(const struct writing *w, struct edge *ret)
{
	size_t n = 0, merged = 0;

	for (size_t i = 1; i < w->n; i++) {
		const struct tree_node *node = &w->nodes[i];
		const struct reader_func *from = w->nodes[node->parent].func;
		uint32_t to = (uint32_t)(node->func - w->about->funcs);

		if (!node->full)
			continue;
		ret[n++] = (struct edge){ UINT32_MAX, to, node->calls, node->timed,
					  node->nested ? 0 : node->total, node->self };
		if (from)
			ret[n++] = (struct edge){ (uint32_t)(from - w->about->funcs), to,
						  node->calls, node->timed, node->total, 0 };
	}
	vec_sort(ret, n, by_ends);
	for (size_t i = 0; i < n; i++) {
		if (!merged || by_ends(&ret[merged - 1], &ret[i])) {
			ret[merged++] = ret[i];
			continue;
		}
		ret[merged - 1].calls += ret[i].calls;
		ret[merged - 1].timed += ret[i].timed;
		ret[merged - 1].total += ret[i].total;
		ret[merged - 1].self += ret[i].self;
	}
	return merged;
}

static void dot_name(struct output *out, const char *name)
{
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			output_text(out, "\\", 1);
		output_text(out, name, 1);
	}
}

static double ms(const struct writing *w, uint64_t ticks)
{
	return (double)clock_ns(&w->about->clock, ticks) / 1e6;
}

static void dot_node(const struct writing *w, const struct edge *e, struct output *out)
{
	output_printf(out, "\tf%u [label=\"", e->to);
	dot_name(out, w->about->funcs[e->to].name);
	output_printf(out, "\\n%llu calls\\n", (unsigned long long)e->calls);
	if (e->timed)
		output_printf(out, "%.3f ms, self %.3f ms\"];\n", ms(w, e->total), ms(w, e->self));
	else
		output_printf(out, "not timed\"];\n");
}

static int dot_edges(const struct writing *w, const struct edge *e, size_t n, struct output *out)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (e[i].from != UINT32_MAX)
			output_printf(out, "\tf%u -> f%u [label=\"%llu\"];\n", e[i].from, e[i].to,
				      (unsigned long long)e[i].calls);
		else
			dot_node(w, &e[i], out);
		err = output_flush(out);
	}
	return err;
}

static int export_dot(struct view *v, struct output *out)
{
	auto_free struct edge *edges = NULL;
	struct tree *t = NULL;
	struct writing w;
	int err = export_tree_begin(v, &t, &w);

	if (!err) {
		edges = calloc(w.n * 2, sizeof(*edges));
		err = edges ? 0 : fail(ENOMEM, "draw the calls");
	}
	if (!err) {
		output_printf(out, "digraph calls {\n\tnode [shape=box, fontname=\"monospace\"];\n");
		err = dot_edges(&w, edges, export_tree_collect(&w, edges), out);
		output_printf(out, "}\n");
	}
	tree_free(t);
	return err;
}

const struct export_format format_dot = { "dot", .run = export_dot, .chains = true };
