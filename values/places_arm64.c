/* SPDX-License-Identifier: MIT */
/* places_arm64: AAPCS64, parameters (6.8.2) and results (6.9). Rules by their names there. */
#include "values/places.h"

enum { REGISTERS = 8, RESULT_POINTER = 8, HOMOGENEOUS_MAX = 4 };

struct assigned {
	unsigned int general, vector;	/* NGRN, NSRN */
	uint64_t stack;			/* NSAA, from the stack pointer at the entry */
	bool lost;			/* a type was not known: from there on nothing is */
};

/* ---- homogeneous aggregates (5.9.5) -------------------------------------- */

struct elements {
	uint64_t size;		/* of each */
	unsigned int n;
	uint8_t kind;		/* a float, or a vector */
};

static bool add_elements(struct elements *e, uint8_t kind, uint64_t size, unsigned int n)
{
	if (e->n && (e->size != size || e->kind != kind))
		return false;
	e->kind = kind;
	e->size = size;
	e->n += n;
	return e->n <= HOMOGENEOUS_MAX;
}

static bool find_elements(const struct signature *, uint32_t type, struct elements *,
			  unsigned int depth);

static bool find_members(const struct signature *s, const struct type *t, struct elements *e,
			 unsigned int depth)
{
	struct elements most = *e;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(s, t, i);
		struct elements own = *e;

		if (!m || m->bits)
			return false;
		if (t->kind == TYPE_STRUCT) {
			if (!find_elements(s, m->type, e, depth + 1))
				return false;
			continue;
		}
		if (!find_elements(s, m->type, &own, depth + 1) ||
		    (most.n && (most.size != own.size || most.kind != own.kind)))
			return false;
		if (own.n > most.n)
			most = own;
	}
	if (t->kind == TYPE_UNION)
		*e = most;
	return !(t->flags & TYPE_OPAQUE);
}

static bool find_elements(const struct signature *s, uint32_t type, struct elements *e,
			  unsigned int depth)
{
	const struct type *t = signature_type_at(s, type);

	if (depth > NESTED_MAX)
		return false;
	switch (t->kind) {
	case TYPE_FLOAT:
		return add_elements(e, TYPE_FLOAT, t->size, 1);
	case TYPE_COMPLEX:
		return add_elements(e, TYPE_FLOAT, t->size / 2, 2);
	case TYPE_VECTOR:
		return (t->size == 8 || t->size == 16) && add_elements(e, TYPE_VECTOR, t->size, 1);
	case TYPE_STRUCT:
	case TYPE_UNION:
		return find_members(s, t, e, depth);
	case TYPE_ARRAY:
		if (t->n > HOMOGENEOUS_MAX)
			return false;
		for (uint32_t i = 0; i < t->n; i++)
			if (!find_elements(s, t->of, e, depth + 1))
				return false;
		return true;
	default:
		return false;
	}
}

static bool is_homogeneous(const struct signature *s, uint32_t type, struct elements *e)
{
	*e = (struct elements){ 0 };
	/* Padding that an alignment adds makes it another type. */
	return find_elements(s, type, e, 0) && e->n &&
		e->size * e->n == signature_type_at(s, type)->size;
}

/* -------------------------------------------------------------------------- */

static bool is_composite(const struct type *t)
{
	return t->kind == TYPE_STRUCT || t->kind == TYPE_UNION || t->kind == TYPE_ARRAY;
}

static void place_stack(const struct signature *s, uint32_t type, struct assigned *a,
			struct place *ret)
{
	uint64_t size = signature_type_at(s, type)->size;

	/* C.4, C.14 */
	a->stack = ALIGN_UP(a->stack, MIN(16, MAX(8, signature_align(s, type))));
	if (size > UINT16_MAX || a->stack > INT16_MAX * 16) {
		a->lost = true;
		return;
	}
	ret->kind = PLACE_PIECES;
	place_add(ret, &(struct piece){ .from = FROM_STACK, .offset = (int32_t)a->stack,
					.size = (uint16_t)size });
	a->stack += ALIGN_UP(size, 8);
}

static void place_pointer(struct assigned *a, struct place *ret)
{
	ret->kind = PLACE_POINTED;
	if (a->general < REGISTERS) {
		place_add(ret, &(struct piece){ .from = FROM_GENERAL, .number = a->general++,
						.size = 8 });
		return;
	}
	a->stack = ALIGN_UP(a->stack, 8);
	place_add(ret, &(struct piece){ .from = FROM_STACK, .offset = (int32_t)a->stack,
					.size = 8 });
	a->stack += 8;
}

/* C.1 to C.5 */
static void place_vectors(const struct signature *s, uint32_t type, const struct elements *e,
			  struct assigned *a, struct place *ret)
{
	if (a->vector + e->n > REGISTERS) {
		a->vector = REGISTERS;
		place_stack(s, type, a, ret);
		return;
	}
	ret->kind = PLACE_PIECES;
	for (unsigned int i = 0; i < e->n; i++)
		place_add(ret, &(struct piece){ .from = FROM_VECTOR, .number = a->vector++,
						.at = e->size * i, .size = e->size });
}

/* C.9 to C.14 */
static void place_general(const struct signature *s, uint32_t type, struct assigned *a,
			  struct place *ret)
{
	uint64_t size = signature_type_at(s, type)->size;
	unsigned int n = (size + 7) / 8;

	if (signature_align(s, type) >= 16)
		a->general = ALIGN_UP(a->general, 2);
	if (a->general + n > REGISTERS) {
		a->general = REGISTERS;
		place_stack(s, type, a, ret);
		return;
	}
	ret->kind = n ? PLACE_PIECES : PLACE_NOWHERE;
	for (unsigned int i = 0; i < n; i++)
		place_add(ret, &(struct piece){ .from = FROM_GENERAL, .number = a->general++,
						.at = 8 * i, .size = MIN(8, size - 8 * i) });
}

static bool is_known(const struct signature *s, const struct type *t)
{
	return t->kind != TYPE_UNKNOWN && t->kind != TYPE_VOID && !(t->flags & TYPE_OPAQUE) &&
		!(t->kind == TYPE_VECTOR && t->size != 8 && t->size != 16);
}

static void place_value(const struct signature *s, uint32_t type, struct assigned *a,
			struct place *ret)
{
	const struct type *t = signature_type_at(s, type);
	struct elements e;

	*ret = (struct place){ .kind = PLACE_UNKNOWN };
	if (t->flags & TYPE_INDIRECT)
		place_pointer(a, ret);
	else if (!is_known(s, t))
		a->lost = true;
	else if (is_homogeneous(s, type, &e))
		place_vectors(s, type, &e, a, ret);
	else if (is_composite(t) && t->size > 16)
		place_pointer(a, ret);		/* B.4 */
	else
		place_general(s, type, a, ret);
}

/* As if it were the first parameter; where that would be a pointer or memory, x8 has it. */
static void place_result(const struct signature *s, struct place *ret)
{
	const struct type *t = signature_type_at(s, s->result.type);
	struct assigned a = { 0 };

	*ret = (struct place){ .kind = PLACE_NOWHERE };
	if (t->kind == TYPE_VOID)
		return;
	place_value(s, s->result.type, &a, ret);
	if (ret->kind == PLACE_POINTED) {
		ret->kept = true;
		ret->pieces[0].number = RESULT_POINTER;
	}
}

static void place_all(const struct signature *s, struct place params[PARAMS_MAX],
		      struct place *result)
{
	struct assigned a = { 0 };

	place_result(s, result);
	for (size_t i = 0; i < s->nparams; i++) {
		params[i] = (struct place){ .kind = PLACE_UNKNOWN };
		if (!a.lost)
			place_value(s, s->params[i].type, &a, &params[i]);
	}
}

/* Registers: AADWARF64, 4.1. */
/* Conventions of Rust and Go were not measured on it. */
const struct convention convention_arm64 = {
	place_all, { 31, 29, 64, 32, 31 }, false, NULL, NULL,
};
