/* SPDX-License-Identifier: MIT */
/* graph: how does a call look in the call graph? Like uftrace's replay. */
#ifndef TRACE_GRAPH_H
#define TRACE_GRAPH_H

#include "trace/read/frames.h"
#include "trace/output/output.h"

struct graph;

/* `clock` and `out` stay valid until graph_free. `time`: the wall clock at
 * each line: of the begin of a call, or, at a closing brace, of its end. */
int graph_new(const struct clock *, struct output *out, bool time, bool color,
	      struct graph **ret);
/* Where callers get their names from, if there are any; it stays valid likewise. */
struct caller_names;
void graph_name(struct graph *, const struct caller_names *);
/* With columns for the time with a processor and without one. Before the first line. */
void graph_off_cpu(struct graph *);
/* From now on lines come in the order of their times, and so some later. 0 or -ENOMEM. */
int graph_order(struct graph *);
void graph_free(struct graph *);	/* NULL is legal */
/* What frames_new takes. */
struct sink graph_sink(struct graph *);
/* The line of column names. */
void graph_header(struct graph *);
/* Say what was left out last, if anything was. */
void graph_end(struct graph *);

#endif
