/* SPDX-License-Identifier: MIT */
/* filter_when: another condition (-w) for all functions of a session that goes on by itself; and
 * which filters it may have. */
#ifndef INJECTOR_FILTER_WHEN_H
#define INJECTOR_FILTER_WHEN_H

#include "injector/session/plans.h"
#include "injector/verbs/visit.h"

/* Of functions that do not have what it asks for. */
struct left_out {
	char names[400];	/* of the first */
	size_t n;
};

/* Does the session leave out calls, may a condition be asked in it, and are its calls paired in the
 * process, so that it is known there how deep they are? 0, or an error that says what to do. */
int filter_sifts(const struct visit *);
int filter_asks(const struct visit *);
int filter_pairs(struct visit *);
/* May a condition of this text ask for the processor? The session is told where a thread finds
 * that, if only the C library knows. */
int filter_tell_cpu(const struct visit *, struct modules *, const char *text, bool *tells);
/* Put the plans of all functions with this condition ("": without any) where they wait for
 * plans_switch(). An error if no function has what it asks for. */
int when_put(struct visit *, const char *text, struct plans *, struct left_out *);

#endif
