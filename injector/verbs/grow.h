/* SPDX-License-Identifier: MIT */
/*
 * grow: libraries that the target has loaded since the attach: probe what matches
 * in them, too.
 *
 * The dynamic loader keeps a list of what it has loaded, for debuggers. It is read
 * now and then; when it has changed, and is consistent, the new files are planned
 * like the first ones, and their probes go in by a second commit (steps 2 to 9,
 * with the session that is there). Nothing waits in the target for that: what a
 * library does in its first moments is not seen.
 */
#ifndef INJECTOR_GROW_H
#define INJECTOR_GROW_H

#include "injector/launch/rdebug.h"
#include "injector/patch/commit.h"
#include "injector/session/callers.h"
#include "injector/show/follow.h"

struct growth;
struct grown_module;

struct grow {
	/* Set by the caller, which owns them; alive until grow_clear. */
	struct target *target;
	struct infection *infection;
	struct live *live;	/* all that stands: it grows */
	struct select_options select;
	struct valued_options values;
	struct commit_options commit;
	struct rdebug list;	/* the loader's, if it was found */
	struct callers_tables *callers;	/* NULL: none are taken */

	size_t nfuncs, refused;	/* selected in later libraries, over all of them */
	uint64_t pause;		/* longest, of a later commit */

	/* Our own. */
	uint64_t seen;		/* what it looked like */
	uint64_t next;		/* monotonic ns: not before */
	struct grown_module *known;
	size_t known_n, known_cap;
	struct growth *growths;
	unsigned int ngrowths;
};

/* Where is the loader's list? Without it no library is noticed later. It takes a look at
 * the loader's symbols: before probes stand, for calls are not read meanwhile. */
void grow_find_list(struct modules *, struct rdebug *ret);
/* `mods` are those of the attach. */
int grow_begin(struct grow *, struct modules *mods);
/* To be called often: looks, and does what there is to do. What fails is said, and
 * leaves the target with the probes that it has. */
void grow_tick(struct grow *, struct follow *);
/* After the removal. */
void grow_clear(struct grow *);

#endif
