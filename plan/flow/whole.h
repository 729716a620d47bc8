/* SPDX-License-Identifier: MIT */
/* whole: what the files share that go forward over a function, and that say what is found. */
#ifndef PLAN_WHOLE_H
#define PLAN_WHOLE_H

#include "plan/flow/flow.h"
#include "plan/text/ground.h"

enum {
	SLOTS = 128 - REGISTERS,/* what is left of `bits` */
	ROUNDS = 64,
	STATE_NEAR = 128,	/* steps between states, at most */
	WORD = 8,
	VECTORS = 32,		/* registers, */
	VECTOR_WORDS = 4,	/* and words of each; the last is what is above, too */
	VECTOR_ALL = (1 << VECTOR_WORDS) - 1,
};

/* A bit for each register, and above them for each slot. */
typedef unsigned __int128 bits;

struct state {
	bits computed;		/* what may be computed */
	bits put, pushed;	/* slots that the body has written to; by pushes */
	bits vectors;		/* words of vector registers that may be computed: the lowest of
				 * each, then the next of each */
	uint32_t returned;	/* registers with what a call returned */
	struct stack stack;
	uint32_t step;		/* before which it is */
	bool reached;
	bool buried;		/* the other stack is this one, too: what is above where it
				 * begins the body may have put there, */
	int32_t high;		/* and this is how high that may be; else STACK_NOT */
	bool guessed;		/* control has not come from the entry: where the stack is
				 * something else says */
};

struct whole {
	const struct body *body;
	struct flow *flow;
	int sp, fp;		/* registers: arch->stack, arch->frame */
	uint32_t *at;		/* by step: its state before it; 0: none is kept there */
	struct state *states;	/* the first is never reached */
	size_t nstates;
	uint64_t *news;		/* bit n: state n has changed since all behind it was gone
				 * through */
	uint64_t *fixed;	/* bit n: control may arrive there otherwise */
	struct state anywhere;	/* where control arrives otherwise: as the body's own jumps
				 * leave it */
	bool left;		/* they do, and say where the stack is */
	bool moved;		/* those of code of no function have it elsewhere than at an
				 * entry */
	int64_t slots[SLOTS];	/* from where the stack pointer is at the entry */
	size_t nslots;
	bool vectors;		/* they matter */
	bits by_stack, by_frame, by_others; /* slots that are written by the stack pointer, the
					     * frame's register, or others */
	bool frame;		/* something computed is written to the frame, anywhere */
	bool frame_asked;	/* whether it is was asked; */
	bool again;		/* then it was, or new words were asked for: all is to be gone
				 * through again */
	bool pushes, stores;	/* something computed: onto the stack, by the stack pointer */
	/* Words for which there was no room, and that are copied to one that is asked for. */
	int64_t lacked[WANTED_MOST];
	size_t nlacked;
	bool lies;		/* what the file tells of the stack is wrong */
	bool changed;
	bool waits, late;	/* what is not reached yet may be by a jump; that was waited for */
};

static inline bits whole_bit(size_t slot)
{
	return (bits)1 << (REGISTERS + slot);
}

/* whole_round.c */
/* How high may a register be once it is rounded? */
int32_t whole_high(const struct state *, int reg);
/* Something is written, up to `end`: words of the stack as it was before it was rounded, so that
 * `high` is known. */
bits whole_put_over(const struct whole *w, int64_t end, bool computed, struct state *s);
/* Which of these registers, but for the stack's, reach the stack once an instruction has rounded
 * them; and the highest that they are. */
uint16_t whole_rounds(const struct whole *, uint32_t rounds, const struct state *, int32_t *most);

/* whole_told.c */
/* Where the stack is as the file tells; false: it does not. */
bool whole_tell_stack(const struct whole *w, size_t step, struct stack *ret);
/* The same, or else as where a function begins. */
void whole_begin_stack(const struct whole *w, size_t step, struct stack *ret);
void whole_find_stack(const struct whole *w, size_t step, struct stack *s);
void whole_note_lost(struct whole *w, size_t step);
bool whole_find_top(struct whole *w, size_t step, const struct state *s, int64_t *ret);
bool whole_never_comes_back(const struct whole *w, size_t step, const struct state *s);

static inline void whole_put(struct state *s, bits bit, bool computed)
{
	s->computed = computed ? s->computed | bit : s->computed & ~bit;
}

/* Is something computed written to the frame? */
static inline bool whole_frame(struct whole *w)
{
	w->frame_asked = true;
	return w->frame;
}

/* whole_slots.c. The bit of a word of the frame of which something is asked; 0: there are too
 * many. */
bits whole_slot(struct whole *w, int64_t at);
/* Does it reach memory of the stack, wherever that is? */
bool whole_is_somewhere(const struct effect *, const struct state *);
/* Is anything of these eight bytes asked for? */
bool whole_has_slot(const struct whole *, int64_t at);
/* Is it one of those above another stack? */
bool whole_is_buried(int64_t at, const struct state *s);
bool whole_slot_computed(struct whole *w, int64_t at, const struct state *s);
/* So many bytes of the frame are written, of which bit n of `words` says whether word n is computed
 * (`some`: or they are not). A word of which only a part is written is none any more, and not what
 * is loaded from there; but a way back stays one. Which slots those are. */
bits whole_put_slots(struct whole *w, int64_t at, size_t size, unsigned int words, bool some,
		     struct state *s);
/* Memory of the frame of which it is not known where it is. */
bool whole_is_lost(const struct whole *w, const struct effect *e, const struct state *s);
/* May what is loaded be computed? */
bool whole_loads_computed(struct whole *w, const struct effect *e, const struct state *s);

/* whole_vector.c. Bit n: word n of a vector register may be computed. */
unsigned int whole_vector_words(const struct state *s, int vector);
void whole_pass_vectors(struct whole *w, size_t step, const struct effect *e, struct state *s);
/* A vector is stored to the frame, of which these words may be computed. Where room is scarce, so
 * that it was not asked what it was loaded from, that is asked of the words that are asked for
 * where it is stored. */
unsigned int whole_words_copied(struct whole *, size_t step, int64_t at, size_t size,
				const struct state *, unsigned int words);

/* whole.c */
bool whole_goes_by_computed(struct whole *w, size_t step, const struct state *s);
int whole_rest(struct whole *w);
/* All is to be gone through once more. */
void whole_go_again(struct whole *w);
void whole_pass(struct whole *w, size_t step, struct state *s);

#endif
