/* SPDX-License-Identifier: MIT */
/*
 * condition_early: of the terms that all have to hold, which one does a register decide, and fails
 * most often?
 *
 * A number of up to 64 bits is moved to the upper end of a word: there an order of either sign is
 * a range of words without one, that may begin anywhere, and != is the range of all others.
 */
#include "values/condition_early.h"

#include <errno.h>

#include "values/condition.h"

/* The operation before all that make what the one at `end` pushes; -1: there is none. */
static int before(const struct condition *c, int end)
{
	int wanted = 1;

	for (; end >= 0 && wanted; end--) {
		uint8_t code = c->ops[end].code;
		bool two = (code >= CONDITION_ADD && code <= CONDITION_SHR) ||
			code == CONDITION_COMPARE || code == CONDITION_BOTH ||
			code == CONDITION_EITHER || code == CONDITION_ELSE;

		wanted += code <= CONDITION_NOTHING ? -1 : two;
	}
	return end;
}

/* ---- a number in a register ---------------------------------------------- */

struct number {
	unsigned int argument;		/* from 1 on */
	unsigned int from, bits;	/* of the register */
	bool is_signed;
};

static int number_in(const struct condition_op *o, const struct read_plan *plan,
		     const uint8_t *arguments, unsigned int n, struct number *ret)
{
	const struct read_op *r = o->index < plan->nentry ? &plan->ops[o->index] : NULL;
	unsigned int size = o->form & FORM_SIZE;

	if (!r || r->source != READ_GENERAL || r->flags || r->length_index != READS_NONE ||
	    r->if_index != READS_NONE || r->offset < 0 || r->offset > 7 ||
	    o->form & (FORM_AT_EXIT | FORM_POOL) || o->at > 7 || o->at + size > r->cap ||
	    !o->bits || o->shift + o->bits > 8 * size)
		return -ENOENT;
	*ret = (struct number){ .from = 8 * ((unsigned int)r->offset + o->at) + o->shift,
				.bits = o->bits, .is_signed = o->form & FORM_SIGNED };
	while (ret->argument < n && arguments[ret->argument] != r->index)
		ret->argument++;
	return ret->argument++ < n && ret->from + ret->bits <= 64 ? 0 : -ENOENT;
}

/* It may pass from `low` on, and `span` further; both in units of the number. */
static struct condition_early early(const struct number *n, uint64_t low, uint64_t span)
{
	unsigned int shift = 64 - n->bits;

	return (struct condition_early){ .scale = 1ull << (shift - n->from),
					 .mask = ~0ull << shift, .low = low << shift,
					 .span = span << shift, .argument = n->argument };
}

static uint64_t all_but_one(const struct number *n)
{
	return (~0ull >> (64 - n->bits)) - 1;
}

/* ---- terms --------------------------------------------------------------- */

/* As condition_run has it: whole numbers, whatever their types. */
static int of_test(const struct condition_op *o, const struct number *n,
		   struct condition_early *ret)
{
	__int128 least = n->is_signed ? -((__int128)1 << (n->bits - 1)) : 0;
	__int128 most = least + (__int128)(~0ull >> (64 - n->bits));
	__int128 with = o->flags & CONDITION_OTHER_SIGNED ? (__int128)(int64_t)o->number :
		(__int128)o->number;
	__int128 lo = least, hi = most;

	/* There the one's sign is not the other's. */
	if (n->is_signed ? !(o->flags & CONDITION_SIGNED) :
	    n->bits == 64 && o->flags & CONDITION_SIGNED)
		return -ENOENT;
	if (o->relation == RELATION_LT || o->relation == RELATION_LE)
		hi = with - (o->relation == RELATION_LT);
	else if (o->relation == RELATION_GT || o->relation == RELATION_GE)
		lo = with + (o->relation == RELATION_GT);
	else
		lo = hi = with;
	if (o->relation == RELATION_NE && with >= least && with <= most)
		*ret = early(n, (uint64_t)(with + 1), all_but_one(n));
	else if (o->relation != RELATION_NE && lo <= most && hi >= least)
		*ret = early(n, (uint64_t)(lo > least ? lo : least),
			     (uint64_t)((hi < most ? hi : most) - (lo > least ? lo : least)));
	else
		return -ENOENT;
	return 0;
}

/* The bits of a number that a literal has, and with what they are compared: `flags & 4`,
 * `(flags & 6) == 2`. */
static int of_bits(const struct condition *c, int end, const struct condition_op **number,
		   uint64_t *bits, uint64_t *with, bool *equal)
{
	const struct condition_op *o = &c->ops[end], *a, *b;
	bool compared = o->code == CONDITION_COMPARE;

	*with = 0;
	*equal = false;
	if (compared && end && c->ops[end - 1].code == CONDITION_NUMBER &&
	    (o->relation == RELATION_EQ || o->relation == RELATION_NE)) {
		*equal = o->relation == RELATION_EQ;
		*with = c->ops[--end].number;
	} else if (o->code != CONDITION_TRUTH) {
		return -ENOENT;
	}
	if (end < 3 || c->ops[end - 1].code != CONDITION_AND)
		return -ENOENT;
	a = &c->ops[end - 3];
	b = &c->ops[end - 2];
	*number = a->code == CONDITION_VALUE ? a : b;
	*bits = (a->code == CONDITION_VALUE ? b : a)->number;
	return a->code + b->code == CONDITION_VALUE + CONDITION_NUMBER && a->code != b->code ?
		0 : -ENOENT;
}

/* The term that ends there. */
static int of_term(const struct condition *c, int end, const struct read_plan *plan,
		   const uint8_t *arguments, unsigned int nargs, struct condition_early *ret)
{
	const struct condition_op *o = &c->ops[end];
	uint64_t bits, with;
	struct number n;
	bool equal;

	if (o->code == CONDITION_TEST)
		return number_in(o, plan, arguments, nargs, &n) ? -ENOENT : of_test(o, &n, ret);
	if (of_bits(c, end, &o, &bits, &with, &equal) ||
	    number_in(o, plan, arguments, nargs, &n))
		return -ENOENT;
	/* Of all bits one would be its sign. */
	if (n.bits == 64 || bits >> n.bits || with & ~bits)
		return -ENOENT;
	*ret = equal ? early(&n, with, 0) : early(&n, with + 1, all_but_one(&n));
	ret->mask = bits << (64 - n.bits);
	return 0;
}

/* Of those that all have to hold, up to there. */
static void choose(const struct condition *c, int end, const struct read_plan *plan,
		   const uint8_t *arguments, unsigned int nargs, struct condition_early *ret)
{
	struct condition_early found;

	if (end >= 0 && c->ops[end].code == CONDITION_BOTH) {
		choose(c, end - 1, plan, arguments, nargs, ret);
		choose(c, before(c, end - 1), plan, arguments, nargs, ret);
	} else if (end >= 0 && !of_term(c, end, plan, arguments, nargs, &found) &&
		   (!ret->argument || found.span < ret->span)) {
		*ret = found;
	}
}

void condition_early(const struct condition *c, const struct read_plan *plan,
		     const uint8_t *arguments, unsigned int nargs, struct condition_early *ret)
{
	*ret = (struct condition_early){ .argument = 0 };
	if (c->nops == 1 && c->ops[0].code == CONDITION_CONSTANT &&
	    c->ops[0].index == CONDITION_FALSE)
		*ret = (struct condition_early){ .argument = 1, .low = 1 };
	else if (c->nops && c->nops <= CONDITION_OPS)
		choose(c, c->nops - 1, plan, arguments, nargs, ret);
}
