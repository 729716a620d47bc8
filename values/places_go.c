/* SPDX-License-Identifier: MIT */
/*
 * places_go: the convention that Go's compiler has for its own functions since version 1.17
 * (ABIInternal: cmd/compile/abi-internal.md). A value is in registers, each of its parts in one, if
 * all of it has room there; else it is on the stack.
 */
#include "values/places.h"

struct assigned {
	const struct registers *r;
	unsigned int general, vector;	/* registers that are taken */
	uint64_t stack;			/* bytes of the arguments that are there */
	bool lost;			/* a type was not known: from there on nothing is */
};

enum fit { FIT_REGISTERS, FIT_STACK, FIT_UNKNOWN };

static enum fit fit_all(const struct signature *, uint32_t type, uint64_t at, struct assigned *,
			struct place *, unsigned int depth);

static enum fit fit_part(uint64_t at, uint64_t size, bool is_float, struct assigned *a,
			 struct place *ret)
{
	struct piece p = { .at = (uint16_t)at, .size = (uint16_t)size };

	if (size > 8 || at > UINT16_MAX)
		return FIT_UNKNOWN;
	if (is_float ? a->vector == a->r->nvector : a->general == a->r->ngeneral)
		return FIT_STACK;
	p.from = is_float ? FROM_VECTOR : FROM_GENERAL;
	p.number = is_float ? (uint8_t)a->vector++ : a->r->general[a->general++];
	return place_add(ret, &p) ? FIT_REGISTERS : FIT_UNKNOWN;
}

static enum fit fit_members(const struct signature *s, const struct type *t, uint64_t at,
			    struct assigned *a, struct place *ret, unsigned int depth)
{
	enum fit fit = t->flags & TYPE_OPAQUE ? FIT_UNKNOWN : FIT_REGISTERS;

	for (uint32_t i = 0; i < t->n && fit == FIT_REGISTERS; i++) {
		const struct member *m = signature_member_at(s, t, i);

		fit = m ? fit_all(s, m->type, at + m->at, a, ret, depth + 1) : FIT_UNKNOWN;
	}
	return fit;
}

/* Of arrays only those of one element have registers. */
static enum fit fit_all(const struct signature *s, uint32_t type, uint64_t at, struct assigned *a,
			struct place *ret, unsigned int depth)
{
	const struct type *t = signature_type_at(s, type);
	enum fit fit;

	if (depth > NESTED_MAX)
		return FIT_UNKNOWN;
	switch (t->kind) {
	case TYPE_STRUCT:
		return fit_members(s, t, at, a, ret, depth);
	case TYPE_ARRAY:
		return t->n > 1 ? FIT_STACK : !t->n ? FIT_REGISTERS :
			fit_all(s, t->of, at, a, ret, depth + 1);
	case TYPE_FLOAT:
		return fit_part(at, t->size, true, a, ret);
	case TYPE_COMPLEX:
		fit = fit_part(at, t->size / 2, true, a, ret);
		return fit == FIT_REGISTERS ?
			fit_part(at + t->size / 2, t->size / 2, true, a, ret) : fit;
	default:
		return type_is_scalar(t) && t->size ? fit_part(at, t->size, false, a, ret) :
			FIT_UNKNOWN;
	}
}

static void place_stack(const struct signature *s, uint32_t type, struct assigned *a,
			struct place *ret)
{
	uint64_t size = signature_type_at(s, type)->size;

	a->stack = ALIGN_UP(a->stack, (uint64_t)signature_align(s, type));
	if (size > UINT16_MAX || a->stack > INT16_MAX * 16) {
		a->lost = true;
		return;
	}
	*ret = (struct place){ .kind = PLACE_PIECES };
	place_add(ret, &(struct piece){ .from = FROM_STACK, .size = (uint16_t)size,
					.offset = (int32_t)a->stack + a->r->stack });
	a->stack += size;
}

static void place_param(const struct signature *s, uint32_t type, struct assigned *a,
			struct place *ret)
{
	struct assigned next = *a;
	enum fit fit;

	*ret = (struct place){ .kind = PLACE_PIECES };
	fit = fit_all(s, type, 0, &next, ret, 0);
	if (fit == FIT_REGISTERS) {
		*a = next;
		if (!ret->n)
			ret->kind = PLACE_NOWHERE;
		return;
	}
	*ret = (struct place){ .kind = PLACE_UNKNOWN };
	if (fit == FIT_STACK)
		place_stack(s, type, a, ret);
	else
		a->lost = true;
}

/* Several results are members of one: each is in registers, or on the stack, by itself. What is
 * on the stack is not looked for. */
static void place_result(const struct signature *s, const struct registers *r, struct place *ret)
{
	const struct type *t = signature_type_at(s, s->result.type);
	struct assigned a = { .r = r };
	enum fit fit;

	*ret = (struct place){ .kind = PLACE_NOWHERE };
	if (t->kind == TYPE_VOID)
		return;
	ret->kind = PLACE_PIECES;
	fit = fit_all(s, s->result.type, 0, &a, ret, 0);
	if (fit != FIT_REGISTERS)
		*ret = (struct place){ .kind = PLACE_UNKNOWN };
	else if (!ret->n)
		ret->kind = PLACE_NOWHERE;
}

/* A parameter that would be in registers, and is told to be in memory, is of a function with the
 * older convention. */
static bool is_older(const struct signature *s, const struct place *params)
{
	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].place.kind == PLACE_BY_TYPE &&
		    params[i].kind == PLACE_PIECES && params[i].pieces[0].from != FROM_STACK)
			return true;
	return false;
}

bool places_go(const struct signature *s, const struct registers *r,
	       struct place params[PARAMS_MAX], struct place *result)
{
	struct assigned a = { .r = r };

	place_result(s, r, result);
	for (size_t i = 0; i < s->nparams; i++) {
		params[i] = (struct place){ .kind = PLACE_UNKNOWN };
		if (!a.lost)
			place_param(s, s->params[i].type, &a, &params[i]);
	}
	return !is_older(s, params);
}
