/* SPDX-License-Identifier: MIT */
/* condition_check: may these bytes be executed as a condition? */
#include "values/condition.h"

#include <errno.h>
#include <string.h>

/* What is on the stack. */
enum held { NUMBER, BOOLEAN };

struct judged {
	const struct condition *c;
	enum held stack[CONDITION_STACK];
	unsigned int n;
	uint8_t needs;
	bool at_exit, samples;
};

static bool pop(struct judged *j, enum held which)
{
	return j->n && j->stack[--j->n] == which;
}

static bool push(struct judged *j, enum held which)
{
	if (j->n == CONDITION_STACK)
		return false;
	j->stack[j->n++] = which;
	return true;
}

static bool result_is_good(struct judged *j, uint8_t index, uint8_t form)
{
	j->at_exit |= !!(form & FORM_AT_EXIT);
	return index < READS_MAX;
}

static bool number_is_good(struct judged *j, const struct condition_op *o)
{
	unsigned int n = o->form & FORM_SIZE;

	return result_is_good(j, o->index, o->form) && !(o->form & (FORM_POOL | FORM_INTEGER)) &&
		n && n <= 8 && o->bits && o->shift + o->bits <= 8 * n;
}

static bool float_is_good(struct judged *j, uint8_t index, uint8_t form, uint16_t at)
{
	unsigned int n = form & FORM_SIZE ? form & FORM_SIZE : 16;

	if (form & FORM_INTEGER ? n > 8 : n != 4 && n != 8 && n != 10 && n != 16)
		return false;
	return form & FORM_POOL ? at + n <= CONDITION_POOL : result_is_good(j, index, form);
}

static bool text_is_good(struct judged *j, uint8_t index, uint8_t form, uint16_t at,
			 uint16_t limit)
{
	unsigned int kind = form & FORM_SIZE;

	if (form & FORM_POOL)
		return (unsigned int)at + limit <= CONDITION_POOL;
	if (kind == TEXT_COMM)
		j->needs |= CONDITION_COMM;
	return kind < TEXTS && (kind == TEXT_COMM || result_is_good(j, index, form));
}

uint8_t condition_needs(uint8_t fact)
{
	static const uint8_t needs[FACTS] = {
		[FACT_DURATION] = CONDITION_DURATION, [FACT_TID] = CONDITION_TID,
		[FACT_PID] = CONDITION_PID, [FACT_CPU] = CONDITION_CPU,
		[FACT_DEPTH] = CONDITION_DEPTH, [FACT_CALLER] = CONDITION_CALLER,
	};

	return fact < FACTS ? needs[fact] : 0;
}

static bool fact_is_good(struct judged *j, uint8_t fact)
{
	if (fact >= FACTS)
		return false;
	j->needs |= condition_needs(fact);
	j->at_exit |= fact == FACT_DURATION;
	return true;
}

static bool relation_is_good(const struct condition_op *o)
{
	return o->relation <= RELATION_NE;
}

static bool is_equality(const struct condition_op *o)
{
	return o->relation == RELATION_EQ || o->relation == RELATION_NE;
}

static bool set_is_good(uint8_t set)
{
	return set == CONDITION_FALSE || set == CONDITION_TRUE || set == CONDITION_UNKNOWN;
}

static bool term_is_good(struct judged *j, const struct condition_op *o)
{
	switch (o->code) {
	case CONDITION_TEST:
		return relation_is_good(o) && number_is_good(j, o) && push(j, BOOLEAN);
	case CONDITION_TEST_FACT:
		return relation_is_good(o) && fact_is_good(j, o->index) && push(j, BOOLEAN);
	case CONDITION_TEXTS:
		return is_equality(o) && text_is_good(j, o->index, o->form, o->at, o->limit) &&
			text_is_good(j, o->other_index, o->other_form, o->other_at,
				     o->other_limit) && push(j, BOOLEAN);
	case CONDITION_FLOATS:
		return relation_is_good(o) && float_is_good(j, o->index, o->form, o->at) &&
			float_is_good(j, o->other_index, o->other_form, o->other_at) &&
			push(j, BOOLEAN);
	case CONDITION_CALLED:
		j->needs |= CONDITION_CALLER;
		return is_equality(o) && o->shift + o->bits <= j->c->nranges && push(j, BOOLEAN);
	case CONDITION_SAMPLE:
		j->samples = true;
		return o->number && push(j, BOOLEAN);
	case CONDITION_CONSTANT:
		return set_is_good(o->index) && push(j, BOOLEAN);
	case CONDITION_NUMBER:
	case CONDITION_NOTHING:
		return push(j, NUMBER);
	case CONDITION_VALUE:
		return number_is_good(j, o) && push(j, NUMBER);
	default:
		return fact_is_good(j, o->index) && push(j, NUMBER);
	}
}

static bool op_is_good(struct judged *j, const struct condition_op *o)
{
	if (o->code <= CONDITION_NOTHING)
		return term_is_good(j, o);
	switch (o->code) {
	case CONDITION_NEGATE:
	case CONDITION_COMPLEMENT:
		return pop(j, NUMBER) && push(j, NUMBER);
	case CONDITION_COMPARE:
		return relation_is_good(o) && pop(j, NUMBER) && pop(j, NUMBER) &&
			push(j, BOOLEAN);
	case CONDITION_TRUTH:
		return pop(j, NUMBER) && push(j, BOOLEAN);
	case CONDITION_GIVEN:
		return set_is_good(o->index) && pop(j, BOOLEAN) && push(j, BOOLEAN);
	case CONDITION_NOT:
		return pop(j, BOOLEAN) && push(j, BOOLEAN);
	case CONDITION_BOTH:
	case CONDITION_EITHER:
	case CONDITION_ELSE:
		return pop(j, BOOLEAN) && pop(j, BOOLEAN) && push(j, BOOLEAN);
	default:
		return o->code <= CONDITION_SHR && pop(j, NUMBER) && pop(j, NUMBER) &&
			push(j, NUMBER);
	}
}

int condition_check(const struct condition *c)
{
	struct judged j = { .c = c };

	if (c->nops > CONDITION_OPS || c->nranges > CONDITION_RANGES)
		return -EINVAL;
	for (unsigned int i = 0; i < c->nops; i++)
		if (!op_is_good(&j, &c->ops[i]))
			return -EINVAL;
	if (!pop(&j, BOOLEAN) || j.n)
		return -EINVAL;
	return c->needs == j.needs && c->at_exit == j.at_exit && c->samples == j.samples ? 0 :
		-EINVAL;
}
