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

static void settle(struct place *p, const struct place *by_type)
{
	if (p->kind == PLACE_BY_TYPE)
		*p = *by_type;
}

const struct convention *convention_of(uint16_t machine)
{
	return machine == EM_X86_64 ? &convention_x86_64 :
		machine == EM_AARCH64 ? &convention_arm64 : NULL;
}

void places_settle(struct signature *s)
{
	const struct convention *c = convention_of(s->machine);
	const struct place unknown = { .kind = PLACE_UNKNOWN };
	struct place params[PARAMS_MAX], result;
	bool own = s->own_convention || !c;

	signature_bound(s);
	if (!own)
		c->place(s, params, &result);
	for (size_t i = 0; i < s->nparams; i++) {
		struct place *p = &s->params[i].place;

		if (p->later && (own || params[i].kind != p->kind || contradict(p, &params[i])))
			*p = (struct place){ .kind = PLACE_GONE };
	}
	for (size_t i = 0; i < s->nparams && !own; i++)
		own = contradict(&s->params[i].place, &params[i]);
	s->own_convention = own;
	for (size_t i = 0; i < s->nparams; i++)
		settle(&s->params[i].place, own ? &unknown : &params[i]);
	settle(&s->result.place, own ? &unknown : &result);
}
