/* SPDX-License-Identifier: MIT */
/* callgraph: the tree of calls, all of the same kind taken together, as text. */
#include "trace/callgraph.h"

#include <string.h>

#include "trace/put.h"
#include "trace/span.h"
#include "trace/tree.h"

static int print_node(void *ctx, const struct tree *t, const struct tree_node *n,
		      struct output *out)
{
	const struct clock *clock = ctx;
	char *start = output_room(out, 3 * SPAN_MOST + n->depth * 2 + strlen(n->func->name) + 8);
	char *p = start;

	if (!start)
		return 0;
	p = put_span(put_text(p, "  "), clock_ns(clock, n->total), false);
	p = put_span(put_text(p, "  "), clock_ns(clock, n->self), false);
	p = put_number(put_text(p, "  "), n->calls, 10, ' ');
	p = put_text(p, "  ");
	memset(p, ' ', (n->depth - 1) * 2);
	p = put_text(p + (n->depth - 1) * 2, n->func->name);
	*p++ = '\n';
	output_take(out, (size_t)(p - start));
	return 0;
}

int callgraph_print(struct view *v, struct output *out)
{
	struct tree *t = NULL;
	int err = tree_make(v, &t);

	if (!err) {
		output_printf(out, "# %10s  %10s  %10s  %s\n", "TOTAL", "SELF", "CALLS", "FUNCTION");
		err = tree_walk(t, print_node, (void *)&view_about(v)->clock, out);
	}
	tree_free(t);
	return err;
}
