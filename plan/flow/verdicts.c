/* SPDX-License-Identifier: MIT */
/* verdicts: what does each jump go by that goes by an address? */
#include <errno.h>

#include "plan/arrivals.h"
#include "plan/flow/value.h"

/* Are all places that it may be in the body? */
static bool is_inside(const struct body *b, const struct value *v)
{
	if (v->kind == VALUE_NUMBER)
		return body_has(b, v->number);
	return v->kind == VALUE_POINT && v->stride && body_has(b, v->number) &&
		body_has(b, v->number + v->most);
}

bool verdict_is_own_call(const struct body *b, const struct values *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct value *v = &s->v[i];

		if (v->kept || (v->named && (v->kind == VALUE_POINT || v->kind == VALUE_PLACE)) ||
		    (v->kind == VALUE_NUMBER && body_has(b, v->number) &&
		     v->number != b->func->range.start))
			return true;
	}
	return false;
}

int verdict_note(struct plan_impl *p, const struct body *b, size_t step,
		 const struct values *s, bool certain)
{
	struct verdict *new = vec_push(p->verdicts, p->nverdicts, p->verdicts_cap);
	bool words = s->n, switches = s->n, inside = s->n;

	if (!new)
		return -ENOMEM;
	*new = (struct verdict){ .pc = b->steps[step].insn.pc, .goes = GOES_UNPROVED };
	for (size_t i = 0; i < s->n; i++) {
		const struct value *v = &s->v[i];

		words &= (v->kind == VALUE_WORD && !v->kept) ||
			(v->kind == VALUE_NUMBER && !is_inside(b, v));
		switches &= distances_is_switch(p, v) && (!i || v->number == s->v[0].number);
		inside &= is_inside(b, v);
	}
	if (switches)
		new->table = s->v[0].number;
	new->goes = switches ? GOES_SWITCH : inside ? GOES_INSIDE :
		words || !certain ? GOES_WORD : GOES_UNPROVED;
	return 0;
}

enum goes arrivals_goes(const struct plan_impl *p, raddr_t pc, raddr_t *table)
{
	size_t at = vec_prefix(p->nverdicts, i, p->verdicts[i].pc < pc);
	enum goes ret = GOES_WORD;

	*table = 0;
	if (p->arch->effect && (at == p->nverdicts || p->verdicts[at].pc != pc))
		return GOES_UNPROVED;
	/* A piece that several functions share is judged with each. */
	for (size_t i = at; i < p->nverdicts && p->verdicts[i].pc == pc; i++) {
		if (i != at && (p->verdicts[i].goes != ret || p->verdicts[i].table != *table))
			return GOES_UNPROVED;
		ret = p->verdicts[i].goes;
		*table = p->verdicts[i].table;
	}
	return ret;
}

bool arrivals_doubts(const struct plan_impl *p, raddr_t pc)
{
	raddr_t table;

	return arrivals_returns_otherwise(p, pc) && arrivals_goes(p, pc, &table) == GOES_UNPROVED;
}

bool arrivals_returns_otherwise(const struct plan_impl *p, raddr_t pc)
{
	size_t at = vec_prefix(p->nverdicts, i, p->verdicts[i].pc < pc);

	return at < p->nverdicts && p->verdicts[at].pc == pc;
}
