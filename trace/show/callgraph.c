/* SPDX-License-Identifier: MIT */
/* callgraph: the tree of calls, all of the same kind taken together, as text. */
#include "trace/show/callgraph.h"

#include <errno.h>
#include <string.h>

#include "trace/output/parts.h"
#include "trace/output/put.h"
#include "trace/output/span.h"
#include "trace/read/tree.h"

static char *put_time(char *p, const struct tree_node *n, uint64_t ns)
{
	return n->timed ? put_span(p, ns, false) : put_no_span(p);
}

/* Of those calls of which it is known. */
static char *put_off_cpu(char *p, const struct tree_node *n, const struct clock *clock)
{
	uint64_t total = clock_ns(clock, n->total - n->unknown_total);
	uint64_t wait = MIN(clock_ns(clock, n->wait), total);

	p = put_text(p, "  ");
	p = n->waits ? put_span(p, total - wait, false) : put_no_span(p);
	p = put_text(p, "  ");
	return n->waits ? put_span(p, wait, false) : put_no_span(p);
}

static int print_node(void *ctx, const struct tree *t, const struct tree_node *n,
		      struct output *out)
{
	const struct about *about = ctx;
	const struct clock *clock = &about->clock;
	char *start = output_room(out, 5 * SPAN_MOST + n->depth * 2 + strlen(n->func->name) + 8);
	char *p = start;

	if (!start)
		return 0;
	p = put_time(put_text(p, "  "), n, clock_ns(clock, n->total));
	p = put_time(put_text(p, "  "), n, clock_ns(clock, n->self));
	if (about->off_cpu)
		p = put_off_cpu(p, n, clock);
	p = put_number(put_text(p, "  "), n->calls, 10, ' ');
	p = put_text(p, "  ");
	memset(p, ' ', (n->depth - 1) * 2);
	p = put_text(p + (n->depth - 1) * 2, n->func->name);
	*p++ = '\n';
	output_take(out, (size_t)(p - start));
	return 0;
}

static int print_parts(const struct tree *t, const struct about *a, const char *what,
		       struct output *out)
{
	auto_free uint64_t *calls = calloc(a->nfuncs + 1, sizeof(*calls));
	struct parts parts = { .out = out, .what = what };
	const struct tree_node *nodes;
	size_t n;
	int err = calls ? tree_nodes(t, &nodes, &n) : fail(ENOMEM, "count calls");

	for (size_t i = 1; !err && i < n; i++)
		calls[nodes[i].func - a->funcs] += what == parts_unknown ? nodes[i].unknown :
						   nodes[i].parts;
	for (size_t i = 0; !err && i <= a->nfuncs; i++)
		parts_add(&parts, a->funcs[i].name, calls[i]);
	parts_end(&parts);
	return err;
}

int callgraph_print(struct view *v, struct output *out)
{
	struct view_counts counts;
	struct tree *t = NULL;
	int err = tree_make(v, &t);

	if (!err) {
		output_printf(out, "# %10s  %10s  ", "TOTAL", "SELF");
		if (view_about(v)->off_cpu)
			output_printf(out, "%10s  %10s  ", "CPU", "WAIT");
		output_printf(out, "%10s  %s\n", "CALLS", "FUNCTION");
		err = tree_walk(t, print_node, (void *)view_about(v), out) ?:
		      print_parts(t, view_about(v), parts_of_record, out);
		if (!err && view_about(v)->off_cpu)
			err = print_parts(t, view_about(v), parts_unknown, out);
		view_counts(v, &counts);
		parts_missing(out, counts.lost, view_about(v)->disarmed);
	}
	tree_free(t);
	return err;
}
