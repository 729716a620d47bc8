/* SPDX-License-Identifier: MIT */
/* condition_pool: operations and literals of a condition, one behind the other. */
#include <errno.h>
#include <string.h>

#include "values/condition_build.h"

static void note_operand(struct condition *c, uint8_t form)
{
	c->at_exit |= !!(form & FORM_AT_EXIT);
}

static void note_fact(struct condition *c, uint8_t fact)
{
	c->needs |= condition_needs(fact);
	c->at_exit |= fact == FACT_DURATION;
}

static bool is_comm(uint8_t form)
{
	return !(form & FORM_POOL) && (form & FORM_SIZE) == TEXT_COMM;
}

/* What it takes to execute it. */
static void note(struct condition *c, const struct condition_op *op)
{
	switch (op->code) {
	case CONDITION_TEXTS:
		if (is_comm(op->form) || is_comm(op->other_form))
			c->needs |= CONDITION_COMM;
		note_operand(c, op->form | op->other_form);
		break;
	case CONDITION_FLOATS:
		note_operand(c, op->form | op->other_form);
		break;
	case CONDITION_TEST:
	case CONDITION_VALUE:
		note_operand(c, op->form);
		break;
	case CONDITION_TEST_FACT:
	case CONDITION_FACT:
		note_fact(c, op->index);
		break;
	case CONDITION_CALLED:
		c->needs |= CONDITION_CALLER;
		break;
	case CONDITION_SAMPLE:
		c->samples = 1;
		break;
	}
}

int build_op(struct building *b, size_t column, const struct condition_op *op)
{
	if (b->c->nops == CONDITION_OPS)
		return build_wrong(b, column, -ENOSPC, "this is too long: a condition has at most "
				   "%d operations", CONDITION_OPS);
	note(b->c, op);
	b->c->ops[b->c->nops++] = *op;
	return 0;
}

int build_pool(struct building *b, size_t column, const void *bytes, size_t n, uint16_t *ret)
{
	if (n > CONDITION_POOL - b->npool)
		return build_wrong(b, column, -ENOSPC, "texts and floats have at most %d bytes, "
				   "together", CONDITION_POOL);
	memcpy(b->c->pool + b->npool, bytes, n);
	*ret = (uint16_t)b->npool;
	b->npool += n;
	return 0;
}
