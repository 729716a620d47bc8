/* SPDX-License-Identifier: MIT */
/*
 * tree: which calls were made from where, all of the same kind taken together?
 *
 * A node is a chain of functions from the outermost one. Their number is bounded:
 * what is deeper than DEPTH or comes after NODES is counted with the node around it.
 */
#ifndef TRACE_TREE_H
#define TRACE_TREE_H

#include "trace/output/output.h"
#include "trace/read/view.h"

enum {
	TREE_DEPTH = 1024,
	TREE_NODES = 1 << 20,
};

struct tree_node {
	const struct reader_func *func;	/* NULL: the root, which is node 0 */
	uint32_t parent;	/* lower than its own number */
	uint32_t child, next;	/* the first one; the next of the same parent; 0: none */
	uint32_t depth;
	bool nested;		/* a node around it has the same function, whatever the values */
	bool full;		/* it has calls, or one within it has: once sorted */
	uint64_t calls;
	uint64_t timed;		/* of them those whose time is known, */
	uint64_t parts;		/* and those of which a part is in the record */
	uint64_t total, self;	/* ticks */
	uint64_t wait;		/* of the total, without a processor, */
	uint64_t waits;		/* of so many calls; of others it is not known, */
	uint64_t unknown;	/* which are so many, */
	uint64_t unknown_total;	/* and take so many ticks */
};

struct tree;

/* For a view that is run then. */
int tree_new(const struct view *, struct tree **ret);
void tree_free(struct tree *);	/* NULL is legal */
/* For view_run. */
struct sink tree_sink(struct tree *);
/* Called for each call that has ended; nested: a call around it is of the same
 * function, whatever the values by which the view tells them. */
void tree_watch(struct tree *, void (*each)(void *ctx, const struct call *, bool nested),
		void *ctx);
/* Node 0 is the root. 0, or -ENOMEM if memory has run out meanwhile. */
int tree_nodes(const struct tree *, const struct tree_node **ret, size_t *n);
/* Order the children of every node, the one with the largest total first. Those of which no
 * call was shown, nor any within them, are no node's children then. */
int tree_sort(struct tree *);

/* The sorted tree of a view, which is run. */
int tree_make(struct view *, struct tree **ret);
/* Each node but the root, those around it first; `out` is written meanwhile. Ends when
 * `each` does not return 0, with what it returned. */
int tree_walk(const struct tree *,
	      int (*each)(void *ctx, const struct tree *, const struct tree_node *,
			  struct output *), void *ctx, struct output *out);
/* The functions around a node and its own: at most TREE_DEPTH of them, the outermost
 * first. Returns how many. */
size_t tree_path(const struct tree *, const struct tree_node *,
		 const struct reader_func *ret[TREE_DEPTH]);

#endif
