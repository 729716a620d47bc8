/* SPDX-License-Identifier: MIT */
/*
 * asked: what searches have found, for those that come to the same register again.
 *
 * A search for what code names asks what two registers are of which one is the sum, those ask
 * the same of others, and in a loop they come to the same few places time and again: most of
 * what is asked was asked before. What is found there depends on the function, on how many
 * searches this one is within, and on how much may still be looked at: so an answer is kept
 * of a search that had enough, and given to one that has no less. What else the search has
 * left behind, it leaves again: the words of the frame that it met, what it took, and whether
 * something depended on itself.
 *
 * A search for where control comes from looks at what was looked for before (search_jumps): it
 * is none of these.
 */
#include <string.h>

#include "plan/flow/flow.h"

enum {
	ANSWERS = 128,		/* kept of one function: one for each hash */
	SHORT = 16,		/* steps of a search that is made again as soon */
	VALUES = 3, WORDS = 4,	/* of one answer; of more than that none is kept */
};

struct answer {
	uint32_t step;
	uint8_t reg, depth;	/* depth 0: there is none */
	uint8_t n, nslots;
	bool rounds;		/* a flow's */
	size_t took;		/* of the budget */
	struct value v[VALUES];
	struct slot slots[WORDS];
};

/* None. NULL: there is no memory. */
static struct answer *make_answers(void)
{
	struct answer *ret = malloc(ANSWERS * sizeof(*ret));

	for (size_t i = 0; ret && i < ANSWERS; i++)
		ret[i].depth = 0;
	return ret;
}

static struct answer *answer_of(const struct flow *f, size_t step, int reg)
{
	uint32_t key = (uint32_t)step << 7 | (uint32_t)reg << 3 | f->depth;

	return &f->answers[(key * 0x9e3779b1u) >> 16 & (ANSWERS - 1)];
}

bool asked_before(struct flow *f, size_t step, int reg, struct values *ret)
{
	const struct answer *a = f->answers ? answer_of(f, step, reg) : NULL;

	if (!a || a->depth != f->depth || a->step != step || a->reg != reg ||
	    a->took >= f->budget || f->nslots + a->nslots > ARRAY_SIZE(f->slots))
		return false;
	f->budget -= a->took;
	f->rounds |= a->rounds;
	for (size_t i = 0; i < a->nslots; i++)
		flow_slot(f, a->slots[i].base, a->slots[i].number);
	memcpy(ret->v, a->v, sizeof(a->v));
	ret->n = a->n;
	return true;
}

struct asking asked_begin(struct flow *f)
{
	struct asking before = { f->budget, f->met, f->rounds };

	f->met = 0;
	f->rounds = false;
	return before;
}

void asked_end(struct flow *f, size_t step, int reg, const struct asking *before,
	       const struct values *found)
{
	unsigned int met = (unsigned int)__builtin_popcountll(f->met);

	size_t took = before->budget - f->budget;

	if (took > SHORT && !f->answers)
		f->answers = make_answers();
	if (took > SHORT && f->answers && f->budget && found->n <= VALUES && met <= WORDS) {
		struct answer *a = answer_of(f, step, reg);

		*a = (struct answer){ .step = (uint32_t)step, .reg = (uint8_t)reg,
				      .depth = (uint8_t)f->depth, .n = (uint8_t)found->n,
				      .rounds = f->rounds, .took = took };
		memcpy(a->v, found->v, found->n * sizeof(*a->v));
		for (uint64_t left = f->met; left; left &= left - 1)
			a->slots[a->nslots++] = f->slots[__builtin_ctzll(left)];
	}
	f->met |= before->met;
	f->rounds |= before->rounds;
}
