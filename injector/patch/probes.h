/* SPDX-License-Identifier: MIT */
/*
 * probes: the plans of a selection as they are to stand in one process: checked
 * against its memory, their stubs written, their journal made. Nothing refers
 * to a stub yet, and no byte of text changes here.
 */
#ifndef INJECTOR_PROBES_H
#define INJECTOR_PROBES_H

#include "injector/modules/select.h"
#include "injector/patch/live.h"

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
/* One more than the greatest id that they will have, where `next` is given next. */
size_t probes_ids(const struct selection *, size_t next);
/* Ids, stubs, journal. `needs` as infect() has filled them. */
int probes_place(const struct target *, struct infection *, struct selection *,
		 const struct arena_need *needs, struct live *ret);

/* puns.c: take out what does not find the bytes behind it that it needs. */
int puns_check(struct live *, struct infection *);

#endif
