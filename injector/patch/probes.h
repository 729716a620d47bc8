/* SPDX-License-Identifier: MIT */
/*
 * probes: the plans of a selection as they are to stand in one process: checked
 * against its memory, their stubs written, their journal made. Nothing refers
 * to a stub yet, and no byte of text changes here.
 */
#ifndef INJECTOR_PROBES_H
#define INJECTOR_PROBES_H

#include "injector/infect/infect.h"
#include "injector/modules/select.h"
#include "injector/ptrace/text.h"
#include "trace/event.h"

/* One site in the process. */
struct live_site {
	raddr_t start;		/* of its window, run-time */
	uint8_t size;		/* bytes in which no PC may rest, from start */
	const struct site *site;
	struct probe *probe;
	const struct module *module;
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

/* The journal's slots by address: where has a place been patched before? */
struct slot_index {
	const struct slot *slots;
	uint32_t *by_addr;	/* sorted; owned */
	uint32_t n;
};

int slot_index_make(const struct slot *, uint32_t n, struct slot_index *ret);
void slot_index_clear(struct slot_index *);
/* The first, in by_addr, of a place or beyond. */
uint32_t slot_index_first(const struct slot_index *, raddr_t addr);
/* The slot of a place and a kind, or -1. */
int64_t slot_index_find(const struct slot_index *, raddr_t addr, enum slot_kind);
/* What a site is in the journal. */
enum slot_kind site_kind(const struct site *);
/* Link-time addresses of an arena's recording routines, as a probe needs them. */
struct routines arena_routines(const struct session *, const struct arena *,
			       const struct module *, const struct probe *);

/*
 * Refuse what cannot be probed in this process: text that differs from its
 * file, a foreign breakpoint or jump, text that is mapped shared. Sets the
 * refusals in the plans. Touches nothing.
 */
int probes_check(const struct target *, struct selection *);
/*
 * Stubs are immutable and stay for life, so a site that had one at an earlier
 * visit gets the same again, if it would be byte for byte the same: sets the
 * sites' `stub` and the probes' `id`. `old` must be of this very payload.
 */
int probes_adopt(const struct target *, const struct old_session *old,
		 struct selection *);
/* What the probes that are left need: bytes of new stubs per module (owned by
 * the caller, one entry per selected module), and journal slots. */
int probes_needs(const struct selection *, struct arena_need **needs,
		 uint32_t *slots);
/* One more than the greatest id that they will have, where `next` is given next. */
size_t probes_ids(const struct selection *, size_t next);
/* Ids, stubs, journal. `needs` as infect() has filled them. */
int probes_place(const struct target *, struct infection *, struct selection *,
		 const struct arena_need *needs, struct live *ret);
/* The site whose window holds `pc` strictly inside, or NULL. */
const struct live_site *probes_site_at(const struct live *, raddr_t pc);
/*
 * Take one function out again, before its changes are written; and with it
 * those whose puns keep bytes that it would have written.
 */
void probes_drop(struct live *, struct infection *, struct probe *, enum refusal);
void probes_clear(struct live *);

/* puns.c: take out what does not find the bytes behind it that it needs. */
int puns_check(struct live *, struct infection *);
/* One whose pun keeps bytes that this one writes, or NULL. */
struct probe *puns_on(const struct live *, const struct probe *);

#endif
