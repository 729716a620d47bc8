/* SPDX-License-Identifier: MIT */
/* arrivals: which addresses of code does a module hold, make and go by? */
#ifndef PLAN_ARRIVALS_H
#define PLAN_ARRIVALS_H

#include "plan/impl.h"

/* Once all branches are known (ground_make): find all else that leads into text, and what
 * nobody knows of that. 0 or -ENOMEM. */
int arrivals_find(struct plan_impl *);
/* What a function has that arrivals_find is to look at. */
enum suspect {
	SUSPECT_GOAL = 1,	/* something goes by an address */
	SUSPECT_NAME = 2,	/* an address of code, or one that any code may have left in
				 * memory: what is added to that is judged, too */
};

void arrivals_suspect(struct plan_impl *, const struct func *, enum suspect);
/* Code names this address: *kept if it may be a table of distances. 0 or -ENOMEM. */
int arrivals_name(struct plan_impl *, raddr_t, bool *kept);
/* Something that is no code of nobody's leads there, or names it. 0 or -ENOMEM. */
int arrivals_way(struct plan_impl *, raddr_t);
int arrivals_doubt(struct plan_impl *, raddr_t pc, enum unproved);

/* Judge what a body goes by and, if `names`, what it computes from addresses. 0 or
 * -ENOMEM. */
int arrivals_judge(struct plan_impl *, const struct body *, bool names);
/* nobody.c: the same of the code around `at` that no function has; *done is its end. */
int nobody_judge(struct plan_impl *, raddr_t at, raddr_t *done);
/* words.c: what data may lead to, by whatever its words may mean; once all tables are known.
 * 0 or -ENOMEM. */
int words_note(struct plan_impl *);
/* The same of the operands of an instruction, where addresses are numbers. */
int words_operand(struct plan_impl *, const uint8_t *bytes, const struct insn *);
/* noreturn.c: calls that never come back end what they stand in. */
void noreturn_mark(struct plan_impl *, struct body *);

#endif
