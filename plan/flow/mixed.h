/* SPDX-License-Identifier: MIT */
/* mixed: what mixed.c and mixed_step.c share. */
#ifndef PLAN_MIXED_H
#define PLAN_MIXED_H

#include "plan/flow/flow.h"

enum {
	VECTORS = 16,
	WORDS = 32,		/* of memory, that have held such an address */
	FIRST_WORD = REGISTERS + VECTORS,
	GENERAL = (1 << REGISTERS) - 1,	/* bits of the general registers */
	FIXED = -1,		/* bases of words: of none, */
	NOWHERE = -2,		/* one that is none, */
	POINTED = 32,		/* and, with its number added, one that a register leads to */
	LOST = INT32_MIN,	/* how deep the stack is is not known, */
	ELSEWHERE,		/* nor asked: control has come by no way that is known */
	AWAY = 1 << 28,		/* where that begins: its words are told apart all the same */
};

/* A bit for each register, vector and word of memory. */
struct mixed_state {
	uint64_t label, start;	/* may be of a label, or what comes of it; of a function's start */
	uint64_t parts;		/* of either, of which a part was written over */
	raddr_t number[REGISTERS];	/* is known, for these: */
	uint16_t known, named;	/* and is an address, */
	uint16_t stacked;	/* or one of the stack, from where its pointer was at the entry */
	int32_t depth, frame;	/* bytes on the stack since the entry; where the frame pointer is */
	bool reached, news;
};

/* Where ways meet, or one begins. */
struct place {
	uint32_t step;
	bool fixed;		/* control may arrive there otherwise */
	bool falls;		/* and from the step before */
};

/* What a step was seen to make when it was last gone through. */
struct made {
	raddr_t place;
	uint8_t what;		/* enum mixes */
};

struct mixed {
	struct flow *flow;
	int sp, fp;		/* registers: arch->stack, arch->frame */
	uint32_t *at;		/* by step: 1 + its state; 0: no ways meet there */
	struct mixed_state *states, anywhere;	/* one for each place */
	struct made *made;	/* by step */
	struct place *places;	/* by step */
	size_t nstates;
	struct slot words[WORDS];
	size_t nwords;
	bool changed;
	raddr_t place;		/* that the last step has computed */
	enum mixes found;	/* and what it is */
};

/* mixed_step.c. What a step does to what is known before it; *m has what it is that it makes. */
void mixed_pass(struct mixed *, size_t step, struct mixed_state *);

#endif
