/* SPDX-License-Identifier: MIT */
/* callgraph: the tree of calls, all of the same kind taken together, as text. */
#ifndef TRACE_CALLGRAPH_H
#define TRACE_CALLGRAPH_H

#include "trace/output/output.h"
#include "trace/read/view.h"

/* Runs the view. */
int callgraph_print(struct view *, struct output *);

#endif
