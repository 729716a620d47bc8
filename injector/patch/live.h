/* SPDX-License-Identifier: MIT */
/* live: the probes of one process: what is to stand, or stands, and where a thread may be. */
#ifndef INJECTOR_LIVE_H
#define INJECTOR_LIVE_H

#include "injector/infect/infect.h"
#include "injector/ptrace/text.h"
#include "trace/format/event.h"

/* One site in the process. */
struct live_site {
	raddr_t start;		/* of its window, run-time */
	uint8_t size;		/* bytes in which no PC may rest, from start */
	const struct placed_site *placed;
	struct placed_probe *probe;
	const struct module *module;
};

/* A counter that says that it is looked at: semaphores.h. */
struct live_semaphore {
	raddr_t addr;		/* run-time */
	uint32_t slot;		/* in the journal */
};

struct live {
	struct live_site *sites;	/* sorted by start */
	size_t nsites, sites_cap;
	struct change *changes;	/* in writing order */
	size_t nchanges, changes_cap;
	struct change *moves;	/* of islands that lead to another visit's stubs */
	size_t nmoves, moves_cap;
	struct reader_func *funcs;	/* by function id */
	size_t nfuncs;
	struct copy_ended *ends;	/* which they refer to, */
	uint32_t *with;			/* and these */
	struct live_semaphore *semaphores;
	size_t nsemaphores, semaphores_cap;
	size_t nprobed, nentry_only;
	size_t ntraps;		/* functions that trap somewhere */
	bool asked;		/* some are, or were, that were asked for */
};

/* Is nothing left to be done? Nothing is done for unwinders alone, once what they were
 * to find their way through has been given up. */
static inline bool live_is_empty(const struct live *l)
{
	return !l->nchanges || (l->asked && !l->nprobed);
}

/* Among those that are probed (1), or not any more (-1). One that was not asked for is not
 * counted. */
void live_count(struct live *, const struct placed_probe *, int n);
/* The probe whose jump, or hole, is written at an address; NULL: none is. */
struct placed_probe *live_probe_at(const struct live *, raddr_t);
/* The site whose window holds `pc` strictly inside, or NULL. */
const struct live_site *live_site_at(const struct live *, raddr_t pc);
/*
 * Take one function out again, before its changes are written; and with it
 * those whose puns keep bytes that it would have written.
 */
void live_drop(struct live *, struct infection *, struct placed_probe *, enum refusal);
/* The journal's last word, so that a later visit does not look for its changes. */
void live_removed(const struct live *, struct infection *);
void live_clear(struct live *);

#endif
