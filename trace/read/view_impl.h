/* SPDX-License-Identifier: MIT */
/* view_impl: what the pieces of a view share. */
#ifndef TRACE_VIEW_IMPL_H
#define TRACE_VIEW_IMPL_H

#include "symbols/names/shorten.h"
#include "trace/read/earlier.h"
#include "trace/read/view.h"

struct view {
	struct view_options options;
	struct archive *archive;
	const struct about *about;	/* the archive's, or `renamed` */
	struct about renamed;
	struct reader_func *funcs;	/* its functions, NULL: none; and their names */
	struct strings names;
	struct groups *groups;	/* NULL: calls are told by their functions alone */
	struct caller_table callers;
	struct caller_names caller_names;
	uint32_t *caller_funcs;	/* what each caller is as a function, behind what is inlined in it:
				 * the innermost first; NULL: there are none. A caller's begin */
	size_t *caller_at;	/* there, and those of the one behind it here */
	uint32_t unknown, unknown_at;	/* the function of events that have none: in the archive,
				 * and here */
	struct archive_filter filter;
	bool *wanted;		/* by function id, and one more */
	uint64_t begin, end;
	struct view_counts counts;
	/* Of the run. */
	struct frames *frames;
	struct sink sink;
	struct output *out;
	uint64_t tick, next_tick;
	struct earlier *earlier;
	uint64_t nbefore;	/* found so far */
	uint64_t slow;		/* begin of the slow call, if that has just ended; else 0 */
	bool slow_ended;
	int err;		/* of what was found */
};

/* view_callers.c: have the callers as functions, too. 0 or -ENOMEM. */
int view_make_callers(struct view *);

#endif
