/* SPDX-License-Identifier: MIT */
/* pick: the windows that a probe takes, while they are chosen. */
#ifndef PLAN_PICK_H
#define PLAN_PICK_H

#include "plan/impl.h"

/* A window that has been claimed. */
struct pick {
	struct window window;
	raddr_t hole;		/* of a short jump; 0: it is none */
	bool leaves;		/* ends before an exit that stays */
	bool hosted;		/* the hole is in the window of the pick before */
	bool host;
	bool pun;		/* TACTIC_PUN */
	bool trap;		/* TACTIC_TRAP */
};

/* picks[0] is the entry's. */
struct picks {
	struct pick *v;
	size_t n;
};

static inline raddr_t window_pc(const struct body *b, const struct window *w)
{
	return b->steps[w->first].insn.pc;
}

/* fill.c: the sites of a probe from its picks. 0 or -ENOMEM. */
int pick_fill(const struct body *, const struct picks *, struct probe *);

#endif
