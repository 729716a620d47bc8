/* SPDX-License-Identifier: MIT */
/*
 * follow: from "the probes are in" to "take them out": read, show, and notice
 * every reason to stop.
 *
 *	follow_begin(&f, &summary);	before the probes are in
 *	follow(&f);			returns when it is time to remove them
 *	(remove the probes)
 *	follow_finish(&f, &summary);	the rest, the open calls, the summary
 *	follow_end(&f);
 *
 * Nothing here touches the target.
 */
#ifndef INJECTOR_FOLLOW_H
#define INJECTOR_FOLLOW_H

#include "injector/options/options.h"
#include "injector/reader/reader.h"
#include "injector/show/counts.h"
#include "injector/show/describe.h"
#include "injector/show/hist_values.h"
#include "injector/show/naming.h"
#include "injector/show/summary.h"
#include "injector/show/top.h"
#include "trace/read/frames.h"
#include "trace/read/spans.h"
#include "trace/read/within.h"
#include "trace/show/graph.h"
#include "trace/show/json.h"
#include "trace/output/output.h"
#include "trace/write/record.h"

enum follow_why {
	FOLLOW_ON,		/* no reason to stop yet */
	FOLLOW_SIGNAL,
	FOLLOW_DURATION,
	FOLLOW_CALLS,		/* -n */
	FOLLOW_FULL,		/* --max-size or --min-free */
	FOLLOW_CLOSED,		/* the results are not read any more */
	FOLLOW_GONE,		/* the target ended, or runs another program */
	FOLLOW_FAILED,		/* the results cannot be kept: see fail_text */
};

struct follow {
	/* Set by the caller, which owns them; alive until follow_end. */
	struct reader *reader;
	const struct reader_func *funcs;
	size_t nfuncs;
	struct output *out;
	const struct options *options;
	struct description *description;	/* of a recording, which goes to a directory; then
				 * `out` may be NULL. Else NULL */
	const char *directory;	/* that one */
	const struct caller_names *names;	/* of callers; NULL: none are taken */
	pid_t pid;
	uint64_t since;		/* monotonic ns: what -d counts from; 0: follow()
				 * sets it */
	bool recorded;		/* what is counted is recorded, for us to count */
	bool off_cpu;		/* the reader tells of threads without a processor, too */
	const char *exe;	/* the program's file, by which @exe is known; NULL */
	const char *unnamed;	/* a file of which hardly a function is known; NULL */
	/* True if the process lives but no longer has our session (it called
	 * exec). Asked whenever we are awake; may be NULL. */
	bool (*left)(void *ctx);
	/* The process has ended, or has left: are there others whose calls are
	 * to be followed? Asked once a second then; may be NULL. */
	bool (*others)(void *ctx);
	/* Called for each event before it is shown or recorded; 0, or -errno, which
	 * ends it all. May be NULL. */
	int (*seen)(void *ctx, const struct event *);
	/* Called every 50 ms; may be NULL. */
	void (*tick)(void *ctx);
	/* All that was recorded is read, and nothing is said of it yet; may be NULL. */
	void (*drained)(void *ctx, struct summary *);
	void *ctx;

	enum follow_why why;	/* the result */

	/* Our own. */
	struct frames *frames;
	struct spans *spans;	/* behind them, where spans are asked for; or NULL */
	struct within *within;	/* or what slow calls have made is asked for */
	struct graph *graph;
	struct json *json;
	struct record *record;
	struct counts *counts;	/* where the target counts: instead of frames */
	struct hist_values *hist;	/* of values, which the target does not count */
	struct top *top;	/* of `top` on a terminal */
	uint64_t next_flush;	/* monotonic ns */
	int pidfd;
	uint64_t began, next_drain, next_tick, next_ask;	/* monotonic ns */
	uint64_t interval;	/* between drains, ns */
	uint64_t ended;		/* ticks: when the probes were out */
	bool hinted, mute;
	bool orphaned;		/* the others are followed */
	int err;
};

/* Prints the header. `s` has the counts of functions; pause_ns may be 0. */
int follow_begin(struct follow *, const struct summary *s);
/* From a tick: there are more functions now. The table before stays alive. 0 or
 * -ENOMEM. */
int follow_name(struct follow *, const struct reader_func *funcs, size_t nfuncs);
/* Likewise: there are more modules. They stay until follow_end. 0 or -ENOMEM. */
int follow_modules(struct follow *, const struct modules *);
/* Returns 0 with the reason in f->why, or -errno for FOLLOW_FAILED. */
int follow(struct follow *);
/* `s` has what the removal has found; calls, events and lost are filled in.
 * 0, or -errno when results could not be written (a closed reader is none). */
int follow_finish(struct follow *, struct summary *s);
void follow_end(struct follow *);
/* Has the target ended? Until follow_end. */
bool follow_ended(const struct follow *);

#endif
