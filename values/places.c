/* SPDX-License-Identifier: MIT */
#include "values/places.h"

#include <elf.h>

static bool is_register(const struct piece *p)
{
	return p->from == FROM_GENERAL || p->from == FROM_VECTOR;
}

/* Do the debug information and the convention speak of other registers, for any byte? */
static bool contradict(const struct place *told, const struct place *meant)
{
	if (told->kind != PLACE_PIECES && told->kind != PLACE_POINTED)
		return false;
	if (meant->kind == PLACE_UNKNOWN)
		return false;
	for (unsigned int i = 0; i < told->n; i++) {
		const struct piece *a = &told->pieces[i];
		bool found = !is_register(a);

		for (unsigned int k = 0; k < meant->n && !found; k++)
			found = a->from == meant->pieces[k].from &&
				a->number == meant->pieces[k].number;
		if (!found)
			return true;
	}
	return false;
}

/* What is told of later code only is true if the convention has it there. */
static void settle_later(struct place *p, const struct place *meant)
{
	uint8_t kind = p->kind == PLACE_BY_TYPE ? PLACE_POINTED : p->kind;

	if (!meant || meant->kind != kind || contradict(p, meant))
		*p = (struct place){ .kind = meant && meant->kind == PLACE_UNKNOWN ?
			PLACE_UNKNOWN : PLACE_GONE };
}

static void settle(struct place *p, const struct place *by_type)
{
	if (p->kind == PLACE_BY_TYPE || p->packed)
		*p = *by_type;
}

const struct convention *convention_of(uint16_t machine)
{
	return machine == EM_X86_64 ? &convention_x86_64 :
		machine == EM_AARCH64 ? &convention_arm64 : NULL;
}

static bool is_same(const struct place *a, const struct place *b)
{
	if (a->kind != b->kind || a->n != b->n || a->kept != b->kept)
		return false;
	for (unsigned int i = 0; i < a->n; i++) {
		const struct piece *x = &a->pieces[i], *y = &b->pieces[i];

		if (x->from != y->from || x->number != y->number || x->at != y->at ||
		    x->size != y->size || x->offset != y->offset)
			return false;
	}
	return true;
}

/* What one convention has elsewhere than the other is not known. */
static void agree(struct place *a, const struct place *b)
{
	if (!is_same(a, b))
		*a = (struct place){ .kind = PLACE_UNKNOWN };
}

/* Are there registers in the debug information that one convention has, and the other has not? */
static bool tells_apart(const struct signature *s, const struct place *one,
			const struct place *other)
{
	for (size_t i = 0; i < s->nparams; i++) {
		const struct place *told = &s->params[i].place;

		if (contradict(told, &other[i]) && !contradict(told, &one[i]))
			return true;
	}
	return false;
}

/* Rust has its own convention, and that of C for functions which nothing else tells. */
static void place_rust(const struct signature *s, const struct convention *c,
		       struct place params[PARAMS_MAX], struct place *result)
{
	struct place others[PARAMS_MAX], other;

	places_rust(s, c->rust, params, result);
	if (!places_rust_foreign(s))
		return;
	c->place(s, others, &other);
	if (tells_apart(s, params, others))
		return;
	for (size_t i = 0; i < s->nparams; i++)
		agree(&params[i], &others[i]);
	agree(result, &other);
}

/* False: the language's convention is not known. */
static bool place_all(const struct signature *s, const struct convention *c,
		      struct place params[PARAMS_MAX], struct place *result)
{
	switch (s->language) {
	case LANGUAGE_C:
		c->place(s, params, result);
		return true;
	case LANGUAGE_RUST:
		if (c->rust)
			place_rust(s, c, params, result);
		return c->rust;
	case LANGUAGE_GO:
		return c->go && places_go(s, c->go, params, result);
	default:
		return false;
	}
}

void places_settle(struct signature *s)
{
	const struct convention *c = convention_of(s->machine);
	const struct place unknown = { .kind = PLACE_UNKNOWN };
	struct place params[PARAMS_MAX], result;
	bool own = s->own_convention || !c;

	signature_bound(s);
	if (!own)
		own = !place_all(s, c, params, &result);
	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].place.later)
			settle_later(&s->params[i].place, own ? NULL : &params[i]);
	for (size_t i = 0; i < s->nparams && !own; i++)
		own = contradict(&s->params[i].place, &params[i]);
	s->own_convention = own;
	for (size_t i = 0; i < s->nparams; i++)
		settle(&s->params[i].place, own ? &unknown : &params[i]);
	settle(&s->result.place, own ? &unknown : &result);
}
