/* SPDX-License-Identifier: MIT */
/*
 * plans: what is read of calls, and which of them pass, changes in a session that goes on by
 * itself, while its threads run.
 *
 *  1. New plans are written where nothing refers to;
 *  2. the list of all functions' plans, that does not hold, behind them;
 *  3. and then one byte, which says that it holds: for all functions and threads at once.
 *
 * Killed before 3, nothing has changed but memory that nothing refers to. A call that is open keeps
 * the plan of its entry; whether that is still there its number says (struct capture_plan).
 */
#ifndef INJECTOR_PLANS_H
#define INJECTOR_PLANS_H

#include "injector/modules/valued.h"
#include "injector/ptrace/target.h"
#include "injector/session/segment.h"

struct plans {
	const struct target *target;
	const struct segment *segment;
	const struct session *s;	/* as it was when we came */
	uint32_t *now, *next;		/* by function id: as struct capture_plan has it; owned */
	uint32_t number;		/* of this change */
	struct range *taken;		/* of bytes from plans_off on, sorted; owned */
	size_t ntaken, taken_cap;
	size_t passed;			/* of these; what is free begins behind them, */
	uint64_t free;			/* here */
	struct plan_put {
		uint64_t hash;
		uint32_t at, size;
	} *put;				/* those of this change, by their bytes; owned */
	size_t nput, put_cap;
	bool idle;			/* no thread is in what an earlier change has replaced */
};

/* The session has room for plans. `next` is as `now`. */
int plans_open(const struct target *, const struct segment *, const struct session *,
	       struct plans *ret);
/* 1. A function has this plan from now on (NULL, or one of size 0: none). -ENOSPC: no room is
 * left, or none for such a function. */
int plans_put(struct plans *, uint32_t func, const struct valued *);
/* 2. and 3. */
int plans_switch(struct plans *);
void plans_close(struct plans *);

#endif
