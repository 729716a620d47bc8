/* SPDX-License-Identifier: MIT */
/*
 * add_values: what is read of the calls of functions that are added to a session that goes on by
 * itself, and which of them pass.
 *
 * Their plans are put beside those that hold (session/plans.h), and what callers are found by
 * beside what there is (session/callers_later.h): before their probes stand, so that no call of
 * theirs has another one. Calls of functions that are probed already are read, and judged, as
 * before.
 */
#ifndef INJECTOR_ADD_VALUES_H
#define INJECTOR_ADD_VALUES_H

#include "injector/options/options.h"
#include "injector/session/callers.h"
#include "injector/session/plans.h"
#include "injector/verbs/visit.h"

struct add_values {
	const struct options *options;
	struct visit *visit;
	char *when;		/* the condition for what is added; NULL: none. Owned */
	bool own;		/* it is not the session's */
	struct plans plans;
	struct callers_tables callers;
	bool reads;		/* memory was not read yet, and may be once the probes stand */
};

/* Can the session read what is asked for, and ask that of calls? 0, or an error that says why
 * not. */
int add_values_begin(struct add_values *, struct visit *, const struct options *);
/* Are functions to be probed, too, that tell of seccomp filters? */
bool add_values_guards(const struct add_values *);
/* Of what of the selection is not refused. */
int add_values_choose(struct add_values *, struct modules *, struct selection *);
/* For struct adopt_ids: is the same read of the probe as of the function that has this id? What was
 * recorded of it is understood by that. */
bool add_values_same(const void *add_values, uint32_t id, const struct placed_probe *);
/* Is memory to be read from now on, if no filter is against it? By the probes as placed. */
bool add_values_reads(const struct add_values *, const struct selection *);
/* By the probes as they are placed, of which none stands yet. */
int add_values_write(struct add_values *, const struct selection *);
void add_values_clear(struct add_values *);

#endif
