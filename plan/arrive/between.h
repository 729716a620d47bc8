/* SPDX-License-Identifier: MIT */
/* between: data that stand between the instructions of a function. */
#ifndef PLAN_BETWEEN_H
#define PLAN_BETWEEN_H

#include "plan/impl.h"

/* Where a second reading has found instructions that this one does not see; see again.c. */
struct unseen {
	const struct hidden *next, *end;
	size_t known;			/* steps before which it is known: it only saves time */
	bool reached;			/* whether control comes there; */
	bool parted;			/* data were found before, and what follows is read from
					 * behind them */
};

struct unseen between_from(const struct plan_impl *, raddr_t);
/* The step that was just measured, behind the last one of the body, may be read otherwise: it may
 * be data, or nothing is known of it. */
void between_part(struct body *, struct unseen *, struct step *);
/* What follows such data: something may lead into its middle, of which nothing is known, then. */
void between_check(struct body *, const struct step *);
/* No instruction is at `pc` in this piece, which ends at `end`: is all of it, from the last end of
 * a way on, data? */
bool between_is_data(const struct body *, size_t piece, raddr_t pc, raddr_t end);

#endif
