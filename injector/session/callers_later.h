/* SPDX-License-Identifier: MIT */
/*
 * callers_later: the tables by which stacks are walked, in a session that goes on by itself.
 *
 *  1. Where nothing refers to: rows and rules of what the session does not know,
 *  2. the list of all modules that does not hold,
 *  3. and how many it has;
 *  4. one number, which says that it holds.
 *
 * Killed before 4, nothing has changed but memory that nothing refers to.
 */
#ifndef INJECTOR_CALLERS_LATER_H
#define INJECTOR_CALLERS_LATER_H

#include "injector/session/callers.h"
#include "injector/session/segment.h"

/* The tables have been read of the process as it is now; the session has room for callers of as
 * many functions as for plans. `most` callers of each call, or more, if the session has more. */
int callers_later(struct callers_tables *, const struct segment *, const struct session *,
		  uint32_t most);
/* The callers of this function are taken from now on, or not any more. */
int callers_later_choose(const struct segment *, const struct session *, uint32_t func,
			 enum callers_of);

#endif
