/* SPDX-License-Identifier: MIT */
/* back: may a function change the way back that it returns by? */
#ifndef PLAN_BACK_H
#define PLAN_BACK_H

#include "plan/flow/value.h"

/* Where the stack is behind a change, or where a jump leads. */
struct back_way {
	raddr_t to;
	int32_t sp, fp;
	int32_t high;			/* sp, or the highest that it may be */
	bool stale;			/* fp */
};

struct back {
	const struct plan_impl *impl;
	struct range func;
	struct stack stack;
	bool known;			/* and where it is */
	bool rounded;			/* a register of it was: it is lower then, or the same */
	struct stack high;		/* as if none had been rounded */
	bool pushed;			/* something was, since a jump or call */
	bool copies;			/* a register has an address of it: */
	uint32_t held;			/* which, but for the stack's and the frame's; a bit each */
	uint32_t left;			/* those of which a jump forwards has left that, */
	int32_t left_at[ARCH_REGISTERS_MAX];	/* and which */
	uint32_t ever;			/* those that have ever had one, from here on */
	raddr_t since[ARCH_REGISTERS_MAX];
	int32_t ever_at[ARCH_REGISTERS_MAX];
	bool copied;			/* the frame's has one that is not its own's */
	uint32_t stale;			/* registers that have none any more, if a call has set
					 * them that may: a bit each */
	bool may;			/* the function may change its way back, */
	bool takes;			/* or loads it, as what it may compute with */
	raddr_t block;			/* behind the last end, if no jump is known that leads to
					 * there or behind it; 0 */
	raddr_t above;			/* the instruction that writes highest above it, */
	raddr_t above_block;		/* the block that the last one is in, */
	int32_t above_end, above_most;	/* up to here, from where it is; the highest so far */
	raddr_t called;			/* behind the last call, and what pads there */
	bool judged, told;		/* does the file tell where the stack is? */
	bool lost_way;			/* a jump forwards was forgotten */
	bool astray;			/* an instruction has lost the stack, not ways that join; or
					 * one has put something there then, untold by the file */
	int32_t deep;			/* where it was deepest, */
	raddr_t deepest;		/* behind here */
	struct back_way changes[64];	/* in their order; if all are used, there were more */
	size_t nchanges;
	struct back_way ways[64];	/* of jumps forwards, by where they lead */
};

void back_enter(struct back *, const struct plan_impl *, const struct func *);
/* The next instruction, of which `glance` tells: true, once, if now it may. */
bool back_pass(struct back *, const struct insn *, const uint8_t *bytes, size_t left,
	       unsigned int glance);

/* The highest that a register may be. */
static inline int32_t back_high(const struct back *b, int reg)
{
	return b->rounded ? b->high.at[reg] : b->stack.at[reg];
}

/* May this register hold an address of the stack? */
static inline bool back_reaches(const struct back *b, int reg)
{
	return reg >= 0 && b->stack.at[reg] != STACK_NOT;
}

#endif
