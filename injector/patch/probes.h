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

/* Link-time addresses of an arena's recording routines, as a probe needs them. */
struct routines arena_routines(const struct session *, const struct arena *,
			       const struct module *, const struct placed_probe *);

/*
 * Refuse what cannot be probed in this process: text that differs from its
 * file, a foreign breakpoint or jump, text that is mapped shared. Sets the
 * refusals in the placements. Touches nothing.
 */
int probes_check(const struct target *, struct selection *);
/* May a probe have an id that its place had? */
struct adopt_ids {
	bool (*may)(const void *ctx, uint32_t id, const struct placed_probe *);
	const void *ctx;
};

/*
 * Stubs are immutable and stay for life, so a site that had one at an earlier
 * visit gets the same again, if it would be byte for byte the same: sets the
 * sites' `stub` and the probes' `id`, of those that it may have (NULL: the last one). `old` must
 * be of this very payload.
 */
int probes_adopt(const struct target *, const struct old_session *old, struct selection *,
		 const struct adopt_ids *);
/* One more than the greatest id that they will have, where `next` is given next. */
size_t probes_ids(const struct selection *, size_t next);
/* Ids, stubs, journal. `needs` as infect() has filled them. */
int probes_place(const struct target *, struct infection *, struct selection *,
		 const struct arena_need *needs, struct live *ret);

/* puns.c: take out what does not find the bytes behind it that it needs. */
int puns_check(struct live *, struct infection *);

#endif
