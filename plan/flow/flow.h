/* SPDX-License-Identifier: MIT */
/* flow: what the files share that search for what registers hold: value.c, flow.c,
 * flow_search.c and flow_goal.c. All others ask by value.h. */
#ifndef PLAN_FLOW_H
#define PLAN_FLOW_H

#include "plan/flow/value.h"

enum {
	REGISTERS = ARCH_REGISTERS_MAX,	/* places of a search; above them words of the frame */
	SMALL = UINT16_MAX,	/* what is no larger has nothing of an address */
	DEPTH = ARRAY_SIZE(((struct flow *)0)->seen),
};

/* value.c. Sets: one that is full becomes ANY, or WORD if it has whole words only. */
extern const struct value value_any, value_word;
/* What is in the frame, and may be something that the body has computed. */
extern const struct value value_put;
void values_add(struct values *, struct value);
void values_add_all(struct values *, const struct values *more);
struct value value_number(const struct flow *, raddr_t, bool named);
struct value value_times(const struct flow *, struct value, unsigned int scale);
struct value value_added(const struct flow *, struct value, struct value);
/* The low half of it; the same sign-extended. */
struct value value_cut(const struct flow *, struct value);
struct value value_widened(const struct flow *, struct value);
/* Hidden or shown again; of which only the bits of `most` are left. */
struct value value_coded(struct value);
struct value value_clipped(struct value, raddr_t most);
/* What an effect loads from there. */
struct value value_loaded(const struct flow *, struct value at, const struct effect *);
bool value_is_address(struct value);

/* flow.c. The first link that leads to a step; if none does, as many as there are. */
static inline size_t flow_first_link(const struct flow *f, size_t step)
{
	return f->led[step] > 1 ? f->led[step] - 2 : f->nlinks;
}

/* The step that a jump, branch or call leads to; the number of steps: none. */
static inline size_t flow_led_to(const struct flow *f, size_t step)
{
	return f->to[step] ? f->to[step] - 1 : f->body->nsteps;
}

/* Room for one more search; false: there is none. */
bool flow_enter(struct flow *);
void flow_leave(struct flow *);

/* asked.c. Was it found before what the search finds that was just begun? Then it has no more to
 * do. */
bool asked_before(struct flow *, size_t step, int reg, struct values *ret);
/* Else its answer is kept: what a flow had before it was asked. */
struct asking {
	size_t budget;
	uint64_t met;
	bool rounds;
};

struct asking asked_begin(struct flow *);
void asked_end(struct flow *, size_t step, int reg, const struct asking *,
	       const struct values *found);

/* flow.c. The registers that an address of the stack is moved to, somewhere: a bit each. */
uint32_t flow_copies(struct flow *);
/* The place that a word of the frame is in a search: like a register, one that calls keep.
 * -1: there are too many. */
int flow_slot(struct flow *, int base, int64_t number);

/* flow_near.c. What an index is at most, if that is told shortly before, and nowhere else. */
struct value flow_bound(struct flow *, size_t step, int reg);
/* Is the register set to a number shortly before? */
bool flow_number(struct flow *, size_t step, int reg, uint64_t *ret);
/* May a register have an address of the stack there, by instructions that move and add? */
bool flow_may_be_stack(struct flow *, size_t step, int reg);
/* What it makes of vector registers. */
void flow_vectors(struct flow *, size_t step, struct vectors *ret);
/* Does code name all of them, or what they were computed from? */
bool values_are_named(const struct values *);
/* Are all of them addresses that code names, and is there one? */
bool values_are_known(const struct values *);
bool values_are_whole(const struct values *);
bool values_are_words(const struct values *);	/* and no numbers */

/* flow_search.c. A search of its own (reg -1: the number 0). */
void flow_ask(struct flow *, size_t step, int reg, struct values *ret);
void flow_set_by_slot(struct flow *, size_t step, const struct slot *, struct values *ret);
void flow_set_by_load(struct flow *, size_t step, const struct effect *, struct values *ret);
void flow_set_by_sum(struct flow *, size_t step, const struct effect *, struct values *ret);
void flow_set_by_one(struct flow *, size_t step, const struct effect *, struct values *ret);

#endif
