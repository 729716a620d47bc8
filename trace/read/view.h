/* SPDX-License-Identifier: MIT */
/*
 * view: a part of a recording, as calls.
 *
 * With functions left out, or times, all is as if the rest had not been recorded: a
 * call that began before --since is one that began before.
 */
#ifndef TRACE_VIEW_H
#define TRACE_VIEW_H

#include "symbols/symbols.h"
#include "trace/read/archive.h"
#include "trace/read/frames.h"
#include "trace/read/groups.h"
#include "trace/output/output.h"

struct view_options {
	const char *path;
	struct frames_options frames;
	struct pattern *include, *exclude;	/* over names as recorded */
	size_t ninclude, nexclude;
	bool net;		/* subtract what recording took */
	bool short_names;	/* without arguments of templates: shorten.h */
	uint64_t since, until;	/* ns from the begin; until 0: to the end */
	const char *const *by;	/* values by which calls of a function are told: groups.h */
	size_t nby;
	bool ended;		/* and of those that have ended: the result, too */
	archive_note *note;
	void *ctx;
};

struct view;

/* 0; -ENODATA, with a message, if no function matches; -errno. */
int view_open(const struct view_options *, struct view **ret);
void view_close(struct view *);	/* NULL is legal */
struct archive *view_archive(const struct view *);
const struct about *view_about(const struct view *);
/* With `by`: functions are followed by their groups, which come as the calls do. What view_about
 * tells grows meanwhile, up to so many: */
size_t view_room(const struct view *);
/* and what is known of one. NULL: it is no group. */
const struct group *view_group(const struct view *, const struct reader_func *);
/* The names of the values, as they were given: how many. */
size_t view_by(const struct view *, const char *const **ret);
/* Were there more different values than were told apart? */
bool view_groups_full(const struct view *);
/* What callers are called; and as functions, which view_about has behind those that were probed:
 * which of them has this address? What is inlined there are others, `level` 0 the innermost, up
 * to what has the code itself; NULL: no more. */
const struct caller_names *view_names(const struct view *);
const struct reader_func *view_caller(const struct view *, uint64_t address, size_t level);
/* The first moment that is looked at, and the last one, in ticks. */
uint64_t view_begin(const struct view *);
uint64_t view_end(const struct view *);

struct view_counts {
	uint64_t calls, events, lost;
};

/* Give all calls to the sink. `out`, if it is not NULL, is written meanwhile, so that
 * it keeps little. -EPIPE without a message when no process reads it. Once. */
int view_run(struct view *, const struct sink *, struct output *out);
/* The same as events, of the functions and the time chosen, in the order of time; what
 * chooses calls or threads is left to the caller. Once, in place of view_run. */
int view_events(struct view *, int (*each)(void *ctx, const struct event *), void *ctx);
/* Do calls end in it whose begins were recorded, and are left out? */
bool view_is_part(const struct view *);
/* The one thread that is asked for; 0: all. */
int32_t view_tid(const struct view *);
void view_counts(const struct view *, struct view_counts *ret);

#endif
