/* SPDX-License-Identifier: MIT */
/*
 * value: what may a register hold where control leaves by it?
 *
 * An address of code is a whole word: an argument, a word of memory, a number that the
 * code names. Or it is computed, of a base and an entry of a table, or of nobody knows
 * what. The difference is what the safety of windows rests on: see HACKING.md.
 */
#ifndef PLAN_VALUE_H
#define PLAN_VALUE_H

#include "plan/impl.h"

enum value_kind {
	VALUE_WORD,		/* passed, returned or loaded as a whole, and never summed */
	VALUE_NUMBER,		/* `number` */
	VALUE_POINT,		/* the address `number`, and something added: a range, or (stride
				 * 0) unknown */
	VALUE_ENTRY,		/* an entry of a table, which is at or around `table` */
	VALUE_PLACE,		/* the same and the address `number`, added */
	VALUE_RANGE,		/* a multiple of `stride` from 0 to `most` */
	VALUE_SUM,		/* of two whole words */
	VALUE_ANY,		/* nobody knows */
};

struct value {
	uint8_t kind;		/* enum value_kind */
	bool named;		/* `number` is an address of this module */
	bool field;		/* a word of an object that is reached by a pointer */
	bool indexed;		/* a word that is one of several in memory */
	bool extends;		/* an entry of `width` bytes is sign-extended, */
	uint8_t width, scale;	/* and multiplied */
	raddr_t number;
	raddr_t table;		/* 0: of which nobody knows where it is */
	uint32_t stride;	/* of a range; of an entry, 0 if nobody knows */
	uint32_t most;		/* how far behind the first of its table it is */
};

enum { VALUES_MAX = 8 };

/* What it may be, by the way that control came. More than fit are one ANY. */
struct values {
	struct value v[VALUES_MAX];
	size_t n;
};

/* A word of a frame, as instructions name it. */
struct slot {
	int64_t number;
	int base;
};

/* A body of which values are asked. */
struct flow {
	const struct body *body;
	struct link *links;	/* jumps, branches and calls that lead into it, by `to` */
	size_t nlinks, links_cap;
	struct effect *effects;	/* by step, as far as they were asked for: */
	bool *known;
	bool *led;		/* by step: control comes there otherwise than by falling in */
	bool *leads;		/* by step: an indirect jump, all of whose targets are links */
	uint64_t *seen[6];	/* by depth, a bit per place of each step */
	uint32_t *touched[6];
	size_t ntouched[6];
	uint64_t from_jumps[6];
	struct slot slots[48];
	size_t nslots;		/* words of the frame, as instructions name them */
	unsigned int depth;
	bool near_only;		/* what arrives otherwise brings nothing that is known */
	bool patient;		/* look as far for where calls lead as for jumps */
	size_t budget;		/* steps that may still be looked at */
};

/* 0 or -ENOMEM. */
int flow_make(const struct body *, struct flow *ret);
void flow_clear(struct flow *);
/* Control may also come from this step to `to`; flow_ready once all are told. */
int flow_link(struct flow *, size_t step, raddr_t to);
void flow_ready(struct flow *);

/* What control goes by at this step, if it leaves by an address: an indirect jump or call, or
 * a return by what the function has put there itself. False: it does not. */
bool flow_goal(struct flow *, size_t step, struct values *ret);

/* What a step makes by adding to one of these registers, or otherwise computing with it.
 * False: it does not. */
bool flow_sum(struct flow *, size_t step, const struct effect *, uint32_t regs,
	      struct values *ret);
/* The effect of a step. */
void effect_of(const struct flow *, size_t step, struct effect *ret);
/* How much lower is the stack pointer behind this? False: nobody knows. */
bool effect_lowers(const struct effect *, int stack, int64_t *ret);

/* whole.c. 0; 1: nobody knows; or -ENOMEM. To be freed in any case. */
struct whole;
int flow_whole(struct flow *, struct whole **ret);
void flow_whole_free(struct whole *);
/* Is what this register holds before a step certainly a whole word? */
bool flow_is_whole(struct whole *, size_t step, int reg);

#endif
