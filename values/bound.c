/* SPDX-License-Identifier: MIT */
/*
 * bound: no walk over a type takes long. A type that comes from a file may hold itself, or
 * hold others that hold others, so often that to visit all would take for ever.
 */
#include <string.h>

#include "values/signature.h"

enum { VISITS_MAX = 1024, ELEMENTS_MAX = 16, BUSY = -1 };

/* What is not told takes one visit. */
static int32_t leave_out(struct type *t)
{
	t->flags |= TYPE_OPAQUE;
	t->shape = SHAPE_NONE;
	t->n = 0;
	return 1;
}

/* Visits of a type and of all that is in it; more than VISITS_MAX if it cannot be walked. */
static int32_t weigh(struct signature *s, uint32_t type, int32_t *weights, unsigned int depth)
{
	struct type *t = &s->types[type < s->ntypes ? type : 0];
	int32_t *weight = &weights[t - s->types], sum = 1;

	if (*weight == BUSY || depth > NESTED_MAX)
		return VISITS_MAX + 1;
	if (*weight > 0)
		return *weight;
	*weight = BUSY;
	if (t->kind == TYPE_STRUCT || t->kind == TYPE_UNION || t->kind == TYPE_VARIANTS)
		for (uint32_t i = 0; i < t->n && sum <= VISITS_MAX; i++) {
			const struct member *m = signature_member_at(s, t, i);

			sum += m ? weigh(s, m->type, weights, depth + 1) : VISITS_MAX;
		}
	else if (t->kind == TYPE_ARRAY || t->kind == TYPE_VECTOR)
		sum += (int32_t)MIN(t->n, (uint32_t)ELEMENTS_MAX) *
			weigh(s, t->of, weights, depth + 1);
	*weight = sum > VISITS_MAX ? leave_out(t) : sum;
	return *weight;
}

void signature_bound(struct signature *s)
{
	auto_free int32_t *weights = calloc(s->ntypes, sizeof(*weights));

	s->out_of_memory |= !weights;
	for (uint32_t i = 0; i < s->ntypes; i++)
		if (weights)
			weigh(s, i, weights, 0);
		else
			leave_out(&s->types[i]);
}
