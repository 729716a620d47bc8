/* SPDX-License-Identifier: MIT */
/* sweep: what the linear reading of a text (sweep.c, shares.c) and the second one (again.c)
 * share. */
#ifndef PLAN_SWEEP_H
#define PLAN_SWEEP_H

#include "plan/arrivals.h"
#include "plan/arrive/back.h"
#include "plan/arrive/framed.h"
#include "plan/text/ground.h"

/* The function under the sweep, and where it is. */
struct sweep {
	struct plan_impl *impl;
	const struct ground *ground;
	const struct func *func;	/* last that has begun; NULL: none yet */
	bool names, entries;		/* it names data, and loads a distance */
	bool puts;			/* code behind it puts a word on the stack */
	bool again;			/* a second reading: see again.c */
	raddr_t from;			/* where what is to be swept next begins */
	raddr_t limit;			/* where the next function does */
	raddr_t pc;			/* all that is to be read before this was */
	raddr_t dead;			/* control did not come to here, and what pads
					 * from here to there is dead; 0: it did */
	struct framed framed;		/* of the function, */
	struct back way_back;		/* of the function, in a linear reading */
	raddr_t back;			/* where the last call comes back to, if it does;
					 * 0: something else came behind it */
	uint64_t word, read;		/* bits of PLANE_READ that are not set yet */
};

/* From the start of this function on, */
void sweep_enter(struct sweep *, const struct func *);
/* or from where `from` is, up to where the next function begins. 0 or -errno. */
int sweep_to(struct sweep *, raddr_t limit);
int sweep_measure(const struct sweep *, raddr_t pc, struct insn *ret);
/* Note where an instruction leads, and what it names. 0 or -errno. */
int sweep_note(struct sweep *, const uint8_t *bytes, const struct insn *);
/* above.c: note what the function has written to above its way back, and to what it hands the
 * stack at this call, or end of a way. 0 or -ENOMEM. */
int above_note(struct sweep *, const struct insn *);
/* May control leave here by an address? */
bool sweep_is_goal(const struct sweep *, const struct insn *);

#endif
