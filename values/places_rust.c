/* SPDX-License-Identifier: MIT */
/*
 * places_rust: the convention that rustc has for its own functions. Nothing promises it; it is as
 * rustc_ty_utils (layout, abi) and rustc_target (callconv) have it, and measured with versions
 * 1.63 and 1.95.
 *
 * A value is one scalar, two scalars, or memory. Scalars are passed each by itself, also those of
 * a pair: in the next register of their class, or in the next word of the stack. Memory of up to
 * eight bytes is passed as an integer, what is larger by a pointer.
 */
#include <string.h>

#include "values/places.h"

enum {
	WORD = 8,
	VERSION_OLD = 63, VERSION_NEW = 95,	/* that were measured */
};

enum layout_kind {
	LAYOUT_UNKNOWN,
	LAYOUT_NONE,		/* no bytes */
	LAYOUT_SCALARS,		/* n: one or two */
	LAYOUT_MEMORY,
};

struct scalar {
	bool is_float, is_pointer, is_signed;
	uint32_t at, size;
};

struct layout {
	uint8_t kind;		/* enum layout_kind */
	uint8_t n;
	struct scalar v[2];
};

static struct layout layout_of(const struct signature *, uint32_t type, unsigned int depth);

static struct layout layout(enum layout_kind kind)
{
	return (struct layout){ .kind = kind };
}

static bool is_scalar(const struct layout *l)
{
	return l->kind == LAYOUT_SCALARS && l->n == 1;
}

static struct layout scalar_layout(const struct type *t)
{
	struct scalar v = {
		.is_float = t->kind == TYPE_FLOAT,
		.is_pointer = t->kind == TYPE_POINTER || t->kind == TYPE_REFERENCE ||
			t->kind == TYPE_CODE,
		.is_signed = t->flags & TYPE_SIGNED, .size = (uint32_t)t->size,
	};

	if (t->size > 16 || (v.is_float && t->size != 4 && t->size != 8))
		return layout(LAYOUT_UNKNOWN);
	return (struct layout){ LAYOUT_SCALARS, 1, { v } };
}

/* Two scalars, the second as near to the first as it can be, and nothing behind them. */
static struct layout pair_layout(struct scalar a, struct scalar b, uint64_t size)
{
	if (a.size > WORD || b.size > WORD)
		return layout(LAYOUT_UNKNOWN);	/* alignment of 16 bytes depends on the version */
	if (a.at > b.at) {
		struct scalar first = b;

		b = a;
		a = first;
	}
	if (a.at || b.at != ALIGN_UP(a.size, b.size) ||
	    size != ALIGN_UP(b.at + b.size, MAX(a.size, b.size)))
		return layout(LAYOUT_MEMORY);
	return (struct layout){ LAYOUT_SCALARS, 2, { a, b } };
}

/* ---- structures ---------------------------------------------------------- */

struct parts {
	struct layout v[2];
	uint32_t at[2];
	unsigned int n;		/* members that have bytes */
	bool unknown;
};

static struct parts parts_of(const struct signature *s, const struct type *t, unsigned int depth)
{
	struct parts ret = { .unknown = t->flags & TYPE_OPAQUE };

	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(s, t, i);
		struct layout l = m ? layout_of(s, m->type, depth + 1) : layout(LAYOUT_UNKNOWN);

		if (l.kind == LAYOUT_NONE)
			continue;
		ret.unknown |= l.kind == LAYOUT_UNKNOWN || m->bits;
		if (ret.n < 2 && m) {
			ret.v[ret.n] = l;
			ret.at[ret.n] = m->at;
		}
		ret.n++;
	}
	return ret;
}

static struct scalar shifted(struct scalar v, uint32_t by)
{
	v.at += by;
	return v;
}

/* What is around one value is passed as that value is; but a float within repr(C), which is not
 * told from others, as an integer. */
static struct layout wrapper_layout(const struct parts *p, uint64_t size)
{
	const struct layout *l = &p->v[0];
	uint64_t end = 0;

	for (unsigned int i = 0; i < l->n; i++)
		end = ALIGN_UP(l->v[i].at + l->v[i].size, MAX(l->v[0].size, l->v[i].size));
	if (l->kind != LAYOUT_SCALARS || p->at[0] || end != size)
		return layout(LAYOUT_MEMORY);
	return is_scalar(l) && l->v[0].is_float ? layout(LAYOUT_UNKNOWN) : *l;
}

static struct layout struct_layout(const struct signature *s, const struct type *t,
				   unsigned int depth)
{
	struct parts p = parts_of(s, t, depth);

	if (p.unknown)
		return layout(LAYOUT_UNKNOWN);
	if (!p.n)
		return layout(t->size ? LAYOUT_MEMORY : LAYOUT_NONE);
	if (p.n == 1)
		return wrapper_layout(&p, t->size);
	if (p.n > 2 || !is_scalar(&p.v[0]) || !is_scalar(&p.v[1]))
		return layout(LAYOUT_MEMORY);
	return pair_layout(shifted(p.v[0].v[0], p.at[0]), shifted(p.v[1].v[0], p.at[1]), t->size);
}

/* ---- enums with values --------------------------------------------------- */

struct common {
	struct scalar v;	/* what all variants have that have something */
	bool is_there, differs, unknown;
};

/* Newer versions take integers and pointers of one size for the same. */
static void add_common(const struct signature *s, struct common *c, struct scalar v)
{
	if (!c->is_there) {
		c->v = v;
		c->is_there = true;
		return;
	}
	if (v.at != c->v.at || v.size != c->v.size || v.is_float != c->v.is_float)
		c->differs = true;
	else if (v.is_pointer == c->v.is_pointer && v.is_signed == c->v.is_signed)
		return;
	else if (s->compiler && s->compiler <= VERSION_OLD)
		c->differs = true;
	else if (s->compiler < VERSION_NEW)
		c->unknown = true;
}

static void add_variant(const struct signature *s, const struct member *m, struct common *c,
			unsigned int depth)
{
	const struct type *of = signature_type_at(s, m->type);
	struct parts p = of->kind == TYPE_STRUCT ? parts_of(s, of, depth + 1) :
		(struct parts){ .unknown = true };

	if (p.unknown)
		c->unknown = true;
	else if (p.n == 1 && is_scalar(&p.v[0]))
		add_common(s, c, shifted(p.v[0].v[0], p.at[0] + m->at));
	else if (p.n)
		c->differs = true;
}

/* The number, and perhaps one scalar that all variants have in one place. */
static struct layout tagged_layout(const struct signature *s, const struct type *t,
				   unsigned int depth)
{
	struct layout number = layout_of(s, t->of, depth + 1);
	struct common c = { 0 };

	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(s, t, i);

		if (!m || (m->flags & MEMBER_OTHERWISE))
			return layout(LAYOUT_UNKNOWN);
		add_variant(s, m, &c, depth);
	}
	if (!is_scalar(&number) || c.unknown)
		return layout(LAYOUT_UNKNOWN);
	number.v[0].at = t->pointer_at;
	if (c.differs)
		return layout(LAYOUT_MEMORY);
	if (c.is_there)
		return pair_layout(number.v[0], c.v, t->size);
	return t->pointer_at || number.v[0].size != t->size ? layout(LAYOUT_MEMORY) : number;
}

/* The number is one that a value within one variant never has, and the others are empty: it is
 * passed as that variant. */
static struct layout niche_layout(const struct signature *s, const struct type *t,
				  const struct member *with, unsigned int depth)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(s, t, i);
		const struct type *of = m ? signature_type_at(s, m->type) : NULL;
		struct parts p = { .unknown = true };

		if (m == with)
			continue;
		if (of && of->kind == TYPE_STRUCT)
			p = parts_of(s, of, depth + 1);
		if (p.unknown)
			return layout(LAYOUT_UNKNOWN);
		if (p.n)
			return layout(LAYOUT_MEMORY);
	}
	return layout_of(s, with->type, depth + 1);
}

static struct layout variants_layout(const struct signature *s, const struct type *t,
				     unsigned int depth)
{
	const struct member *with = NULL;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(s, t, i);

		if (m && m->flags & MEMBER_OTHERWISE) {
			if (with)
				return layout(LAYOUT_UNKNOWN);
			with = m;
		}
	}
	if (t->flags & TYPE_OPAQUE || !t->n)
		return layout(LAYOUT_UNKNOWN);
	return with ? niche_layout(s, t, with, depth) : tagged_layout(s, t, depth);
}

/* -------------------------------------------------------------------------- */

static struct layout layout_of(const struct signature *s, uint32_t type, unsigned int depth)
{
	const struct type *t = signature_type_at(s, type);

	if (depth > 2 * NESTED_MAX)
		return layout(LAYOUT_UNKNOWN);
	if (t->kind == TYPE_VOID || (!t->size && t->kind != TYPE_UNKNOWN &&
				     !(t->flags & TYPE_OPAQUE)))
		return layout(LAYOUT_NONE);
	switch (t->kind) {
	case TYPE_STRUCT:
		return struct_layout(s, t, depth);
	case TYPE_VARIANTS:
		return variants_layout(s, t, depth);
	case TYPE_ARRAY:
		return layout(LAYOUT_MEMORY);
	case TYPE_FLOAT:
		return scalar_layout(t);
	default:
		return type_is_scalar(t) ? scalar_layout(t) : layout(LAYOUT_UNKNOWN);
	}
}

/* ---- places -------------------------------------------------------------- */

struct assigned {
	const struct registers *r;
	unsigned int general, vector;	/* registers that are taken */
	int32_t stack;			/* where the next argument without one is */
	bool lost;			/* a type was not known: from there on nothing is */
};

static void add_stack(struct assigned *a, struct piece *p, struct place *ret)
{
	p->from = FROM_STACK;
	p->offset = a->stack;
	a->stack += WORD;
	place_add(ret, p);
}

static void add_scalar(struct assigned *a, const struct scalar *v, struct place *ret)
{
	struct piece p = { .at = (uint16_t)v->at, .size = (uint16_t)v->size };

	if (v->is_float && a->vector < a->r->nvector) {
		p.from = FROM_VECTOR;
		p.number = (uint8_t)a->vector++;
	} else if (!v->is_float && a->general < a->r->ngeneral) {
		p.from = FROM_GENERAL;
		p.number = a->r->general[a->general++];
	} else {
		add_stack(a, &p, ret);
		return;
	}
	place_add(ret, &p);
}

/* 16 bytes take two registers. Where one is left, and on the stack, it depends on the version. */
static bool add_wide(struct assigned *a, struct place *ret)
{
	if (a->general + 2 > a->r->ngeneral)
		return false;
	for (uint32_t i = 0; i < 2; i++)
		add_scalar(a, &(struct scalar){ .at = WORD * i, .size = WORD }, ret);
	return true;
}

static void place_param(const struct layout *l, uint64_t size, struct assigned *a,
			struct place *ret)
{
	static const struct scalar pointer = { .size = WORD };
	struct scalar whole = { .size = (uint32_t)size };

	*ret = (struct place){ .kind = PLACE_PIECES };
	switch (l->kind) {
	case LAYOUT_NONE:
		ret->kind = PLACE_NOWHERE;
		break;
	case LAYOUT_SCALARS:
		if (l->v[0].size <= WORD)
			for (unsigned int i = 0; i < l->n; i++)
				add_scalar(a, &l->v[i], ret);
		else if (!add_wide(a, ret))
			a->lost = true;
		break;
	case LAYOUT_MEMORY:
		if (size > WORD)
			ret->kind = PLACE_POINTED;
		add_scalar(a, size > WORD ? &pointer : &whole, ret);
		break;
	default:
		a->lost = true;
	}
	if (a->lost)
		*ret = (struct place){ .kind = PLACE_UNKNOWN };
}

/* The pointer to memory is passed before all else. It is not what the function returns, if LLVM
 * knows all callers. */
static void place_result_memory(uint64_t size, struct assigned *a, struct place *ret)
{
	ret->kind = PLACE_PIECES;
	if (size <= WORD) {
		place_add(ret, &(struct piece){ .number = a->r->results[0],
						.size = (uint16_t)size });
		return;
	}
	ret->kind = PLACE_POINTED;
	ret->kept = true;
	place_add(ret, &(struct piece){ .number = a->r->general[a->general++], .size = WORD });
}

static void place_result(const struct layout *l, uint64_t size, struct assigned *a,
			 struct place *ret)
{
	struct registers results = { a->r->results, 2, 2, { 0 }, 0 };
	struct assigned in = { .r = &results };

	*ret = (struct place){ .kind = PLACE_NOWHERE };
	if (l->kind == LAYOUT_MEMORY) {
		place_result_memory(size, a, ret);
	} else if (l->kind == LAYOUT_SCALARS) {
		place_param(l, size, &in, ret);
	} else if (l->kind == LAYOUT_UNKNOWN) {
		ret->kind = PLACE_UNKNOWN;
		a->lost = size > WORD;
	}
}

void places_rust(const struct signature *s, const struct registers *r,
		 struct place params[PARAMS_MAX], struct place *result)
{
	struct assigned a = { .r = r, .stack = r->stack };
	struct layout l = layout_of(s, s->result.type, 0);

	place_result(&l, signature_type_at(s, s->result.type)->size, &a, result);
	for (size_t i = 0; i < s->nparams; i++) {
		params[i] = (struct place){ .kind = PLACE_UNKNOWN };
		l = layout_of(s, s->params[i].type, 0);
		if (!a.lost)
			place_param(&l, signature_type_at(s, s->params[i].type)->size, &a,
				    &params[i]);
	}
}

/* ---- C's convention in Rust ---------------------------------------------- */

/* Tuples, "&dyn Trait". */
static bool is_own_struct(const struct type *t, const char *name)
{
	return t->kind == TYPE_STRUCT && (*name == '(' || *name == '&' || strstr(name, "dyn "));
}

/* A type that C has, too: no tuple, no array, and no pointer with something beside it. Of enums
 * with values it is a pointer that may be NULL. */
static bool is_foreign(const struct signature *s, uint32_t type)
{
	const struct type *t = signature_type_at(s, type);
	struct layout l = layout_of(s, type, 0);

	if (t->kind == TYPE_VARIANTS)
		return is_scalar(&l) && l.v[0].is_pointer;
	return (!t->shape || t->shape == SHAPE_INNER) && t->kind != TYPE_ARRAY &&
		!is_own_struct(t, signature_name_at(s, t->name));
}

bool places_rust_foreign(const struct signature *s)
{
	for (size_t i = 0; i < s->nparams; i++)
		if (!is_foreign(s, s->params[i].type))
			return false;
	return is_foreign(s, s->result.type);
}
