/* SPDX-License-Identifier: MIT */
/*
 * infect: step 4 of the attach: bring the session, the arenas and the payload
 * into the target.
 *
 * Up to its end nothing of the target's text has changed. One thread is
 * borrowed for about a millisecond, and some more times where there are many islands;
 * on failure it goes on as before, and what was mapped is unmapped again, unless a
 * thread that could not be given back may still use it.
 */
#ifndef INJECTOR_INFECT_H
#define INJECTOR_INFECT_H

#include "injector/islands/islands.h"
#include "injector/islands/needs.h"
#include "injector/modules/modules.h"
#include "injector/remote/remote.h"
#include "injector/session/session.h"
#include "injector/session/ways.h"

struct infection {
	struct session_map map;
	struct old_session old;	/* what was there before */
	raddr_t base;		/* where the target has mapped the session */
	bool old_owners;		/* threads may still point at what was theirs in an earlier
				 * visit, and is another's in this one */
};

struct infect_options {
	uint64_t buffer;	/* bytes per thread, 0: default */
	uint64_t notes;		/* bytes for what later visits are to know */
	uint32_t plans_funcs;	/* functions that may come to have read plans; 0: none */
	uint64_t plans;		/* bytes of these */
	uint64_t callers;	/* bytes of the tables by which stacks are walked, for as many
				 * functions; 0: none are */
	/* What there is room for is added later, perhaps: left out where addresses are few. */
	bool spare_plans, spare_callers;
	bool keep_last;		/* of a ring that is full */
	const struct way *way;	/* to record */
	bool sparse;		/* records may be far apart in time */
	int file;		/* that is to hold the session, not consumed; 0: none,
				 * but memory */
	uint32_t max_slots;
	int64_t reach;		/* of a jump */
	struct arena_need *needs;
	size_t nneeds;
	struct islands *islands;	/* pages to be mapped where they can be */
};

/* To be called on the tracer thread. */
int infect(struct target *, struct modules *, const struct infect_options *,
	   struct infection *ret);
/* Room for further stubs in a target that is infected. */
int infect_more(struct target *, struct modules *, const struct infect_options *,
		struct infection *);
/*
 * In the stop in which the first probes are put in: no thread has a struct thread yet.
 * A thread that had one in an earlier visit would go on with it without asking, and by now
 * it may be another's.
 */
void infect_forget_threads(const struct target *, const struct infection *);
/*
 * In the stop in which probes are put in: will the payload know each of these threads?
 * Where a language's runtime has made them, that is seen here only. -EBUSY: not one that is
 * just being born.
 */
int infect_check_threads(const struct target *, const struct infection *);
void infection_clear(struct infection *);

#endif
