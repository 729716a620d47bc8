/* SPDX-License-Identifier: MIT */
/*
 * value: what may a register hold where control leaves by it?
 *
 * An address of code is a whole word: an argument, a word of memory, a number that the
 * code names. Or it is computed, of a base and an entry of a table, or of what is
 * not known. The difference is what the safety of windows rests on: see docs/sites.md.
 */
#ifndef PLAN_VALUE_H
#define PLAN_VALUE_H

#include "plan/impl.h"

enum value_kind {
	VALUE_WORD,		/* passed, returned or loaded as a whole, and never summed */
	VALUE_NUMBER,		/* `number` */
	VALUE_POINT,		/* the address `number`, and something added: a range, or
				 * (stride 0) unknown */
	VALUE_ENTRY,		/* an entry of a table, which is at or around `table` */
	VALUE_PLACE,		/* the same and the address `number`, added */
	VALUE_RANGE,		/* a multiple of `stride` from 0 to `most` */
	VALUE_SUM,		/* of two whole words */
	VALUE_ANY,		/* not known */
};

struct value {
	uint8_t kind;		/* enum value_kind */
	bool named;		/* `number` is an address of this module */
	bool field;		/* a word of an object that is reached by a pointer */
	bool indexed;		/* a word that is one of several in memory */
	bool kept;		/* a word that the body itself may have computed before */
	bool extends;		/* an entry of `width` bytes is sign-extended, */
	uint8_t width, scale;	/* and multiplied */
	raddr_t number;
	raddr_t table;		/* 0: of which it is not known where it is */
	uint32_t stride;	/* of a range; of an entry, 0 if not known */
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

/* stack.c: how far from where the stack pointer was at the entry is the address that each register
 * holds? */
enum {
	STACK_NOT = INT32_MIN,	/* none of the stack, as far as is known */
	STACK_LOST,		/* one of the stack, perhaps, and not known which */
	STACK_ANEW = 1 << 28,	/* of another stack than the entry's: where that begins */
};

struct stack {
	int32_t at[ARCH_REGISTERS_MAX];
	uint16_t some;		/* by some ways, and by others something else: a bit each */
};

void stack_begin(const struct arch *, struct stack *);
/* Behind an instruction. The stack pointer is STACK_NOT if it comes from elsewhere. */
void stack_pass(const struct arch *, const struct effect *, struct stack *);
/* Behind a step: where a branch is not taken that is taken while the stack pointer and another
 * register differ, so that a loop ends which makes a large frame page by page. */
struct flow;
void stack_equal(const struct flow *, size_t step, struct stack *);
/* What holds whichever of two ways control came. */
void stack_join(const struct arch *, struct stack *, const struct stack *with);
/* Does it name memory of the stack, and which? */
bool stack_reaches(const struct effect *, const struct stack *, int64_t *ret);

static inline bool stack_is_known(const struct stack *s, int reg)
{
	return s->at[reg] != STACK_NOT && s->at[reg] != STACK_LOST;
}

/* Of a step, as a search sees it that comes back to it: a bit for each register, and these. */
enum {
	TOUCHES_SLOTS = 1 << ARCH_REGISTERS_MAX, /* it changes words of the frame, or where it is */
	TOUCHES_ALL = TOUCHES_SLOTS << 1,	/* a search stops there in any case */
	TOUCHES_UNKNOWN = TOUCHES_SLOTS << 2,	/* its effect was not asked for yet */
};

/* Which ways that an indirect jump takes within the body are links? */
enum leads {
	LEADS_ANYWHERE,		/* perhaps not all */
	LEADS_BY_SWITCH,	/* those of a table that ends where it is seen to end */
	LEADS_BY_TABLE,		/* all, and what follows in a table whose end is not known */
};

/* Words of a function that room is made for, as there is too little. */
enum { WANTED_MOST = 32 };

/* What a step does to vector registers. */
struct step_vectors {
	struct vectors v;
	bool known;
};

/* A body of which values are asked. */
struct flow {
	const struct body *body;
	const struct arch *arch; /* the body's: here it is near what asks at each step */
	struct link *links;	/* jumps, branches and calls that lead into it, by `to` */
	size_t nlinks, links_cap;
	struct effect *effects;	/* by step, as far as they were asked for; behind them what else
				 * is kept by step */
	struct step_vectors *vectors;	/* by step, as far as they were asked for; NULL: none was */
	uint32_t *touches;	/* by step: what a search for these places stops at */
	uint32_t *led;		/* by step: control comes there otherwise than by falling in;
				 * 1: by no link, else 2 + the first of those that lead there */
	uint32_t *to;		/* by step: 1 + the one that its jump, branch or call leads to, or
				 * the number of steps; 0: it leads out */
	uint8_t *leads;		/* by step: enum leads */
	uint64_t *seen[6];	/* by depth, a bit per place of each step */
	uint32_t *touched[6];
	size_t ntouched[6];
	uint64_t from_jumps[6];
	uint32_t *leavers;	/* steps that may lead to where control arrives otherwise */
	size_t nleavers;
	uint32_t *stores;	/* steps that write whole words to fixed places; */
	size_t nstores, stores_cap;
	bool stores_known;	/* once they were looked for */
	struct slot slots[64 - ARCH_REGISTERS_MAX];
	size_t nslots;		/* words of the frame, as instructions name them */
	uint64_t met;		/* which of them a search has come to, a bit each; all: there
				 * were too many */
	struct whole *whole;	/* flow_known; NULL: it was not asked for */
	void (*forget)(struct whole *);
	bool lost;		/* and there is no answer */
	int64_t wanted[WANTED_MOST];	/* words of the frame that it has room for, first */
	size_t nwanted;
	struct answer *answers;	/* asked.c; NULL: nothing is kept */
	unsigned int depth;
	bool near_only;		/* what arrives otherwise brings nothing that is known */
	bool rounds;		/* a sum that is judged where it is made depends on itself */
	bool patient;		/* look as far for where calls lead as for jumps */
	bool hurried;		/* it is not asked what the body may compute; */
	bool follows;		/* nor whether something else than a table's address is whole, for
				 * only such are sought: it may be anything */
	uint32_t copies;	/* registers that the stack's or the frame's is moved to, */
	bool copies_known;	/* once they were looked for */
	bool by_call;		/* what is asked for is what a call goes by */
	bool backs;		/* returns are asked of, too */
	bool only_named;	/* what is found beside something unnamed does not matter */
	size_t budget;		/* steps that may still be looked at */
};

/* 0 or -ENOMEM. */
int flow_make(const struct body *, struct flow *ret);
void flow_clear(struct flow *);
/* Control may also come from this step to `to`; flow_ready once all are told. */
int flow_link(struct flow *, size_t step, raddr_t to);
void flow_ready(struct flow *);
/* follow.c. Link what its jumps by tables lead to within it; *all: those are all ways that such
 * jumps have. 0 or -ENOMEM. */
int flow_follow(struct flow *, bool *all);

/* What control goes by at this step, if it leaves by an address: an indirect jump or call, or
 * a return by what the function has put there itself. False: it does not. */
bool flow_goal(struct flow *, size_t step, struct values *ret);
/* Is it enough to look near by, as so many goals were left in doubt, here or before? */
bool flow_hurries(const struct flow *, size_t doubts);
/* May it be anything? */
bool values_have_any(const struct values *);

/* What a step makes by adding to one of these registers, or otherwise computing with it.
 * False: it does not. */
bool flow_sum(struct flow *, size_t step, const struct effect *, uint32_t regs,
	      struct values *ret);
/* The same of a sum, by the jumps of the body, too, if all that it may be is made from what code
 * names. */
bool flow_sum_by_jumps(struct flow *, size_t step, const struct effect *, struct values *ret);
/* named.c: before each step, one after the other from the first on: the registers of which a
 * search may find that they surely hold what code names, or what is computed from that, a bit
 * each. */
struct named_state {
	uint8_t found[ARCH_REGISTERS_MAX];
};

struct named {
	struct flow *flow;
	struct named_state now, *before;	/* by step, where control may leave by a link */
	uint32_t may;		/* what named_next says, as of now */
};

/* 0 or -ENOMEM; once all links are told. `before` is to be freed. */
int named_begin(struct flow *, struct named *ret);
uint32_t named_next(struct named *, size_t step);

/* Does register `reg` hold an address there that the code names, or one computed from that?
 * What it may be in *ret. */
bool flow_named(struct flow *, size_t step, int reg, struct values *ret);
/* flow_near.c. Is what a step puts into a register used by nothing before a call, from which the
 * register does not come back, or before the body is left? (But for the `start` of a function it
 * may come back: from a call of code that is known, which need not change it, as by gcc's -fipa-ra;
 * by the second one that calls return by, where less is returned.) Most addresses of code are
 * passed so. */
bool flow_passes_on(struct flow *, size_t step, int reg, bool start);
/* call 1f; 1: pop %r: does it take its own address so? */
bool flow_is_own_address(const struct flow *, size_t step);
/* The effect of a step: the flow's. */
const struct effect *effect_find(const struct flow *, size_t step);

static inline const struct effect *effect_at(const struct flow *f, size_t step)
{
	return f->touches[step] & TOUCHES_UNKNOWN ? effect_find(f, step) : &f->effects[step];
}

/* How much lower is the stack pointer behind this? False: it is not known. */
bool effect_lowers(const struct effect *, int stack, int64_t *ret);

/* What a move or a sum puts into other registers, a bit each, by the one that it is of; and all
 * that these come to so. */
void effect_note_copies(const struct effect *, uint32_t *copies);
uint32_t effect_copied(uint32_t regs, const uint32_t *copies);

/* whole_make.c: what is known of all places of the body; NULL: nothing, or there is no memory. */
struct whole *flow_known(struct flow *);
/* Is what control goes by at this step certainly a whole word? */
bool flow_is_whole(struct flow *, size_t step);
/* Is a word of the frame written to by other registers than it is named by? */
bool flow_slot_has_others(struct flow *, size_t step, const struct slot *);
bool flow_slot_is_whole(struct flow *, size_t step, const struct slot *);
/* The same of what an effect loads. */
bool flow_load_is_whole(struct flow *, size_t step, const struct effect *);
/* Has the body itself put the word where a return at this step takes its way back, or pushed the
 * one that is `above` bytes above? */
bool flow_has_put(struct flow *, size_t step, int64_t above);

/* mixed.c. What does a step make of an address of code that the function names? */
enum mixes {
	MIXES_NOT,
	MIXES_PLACE,		/* another one, which is known */
	MIXES_START,		/* something of the start of a function, or */
	MIXES_LABEL,		/* of another place of code: nothing is known of what */
};

/* 0 or -ENOMEM. To be freed in any case. */
struct mixed;
int flow_mixed(struct flow *, bool takes, struct mixed **ret);
void flow_mixed_free(struct mixed *);
/* Of a step; of MIXES_PLACE, *place. */
enum mixes mixed_made(const struct mixed *, size_t step, raddr_t *place);

#endif
