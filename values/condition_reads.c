/* SPDX-License-Identifier: MIT */
/* condition_reads: which operation of a plan brings these bytes, and where is room for others? */
#include <errno.h>

#include "values/condition_build.h"

static const uint8_t length_flags = READ_SIGNED | READ_TO_END;

static bool same_length(const struct read_op *a, const struct read_op *b)
{
	if (a->length_index != b->length_index || a->length_index == READS_NONE)
		return a->length_index == b->length_index;
	return a->length_at == b->length_at && a->length_size == b->length_size &&
		a->unit == b->unit && (a->flags & length_flags) == (b->flags & length_flags);
}

static bool same_condition(const struct read_op *a, const struct read_op *b)
{
	return a->if_index == b->if_index &&
		(a->if_index == READS_NONE || (a->if_at == b->if_at && a->if_mask == b->if_mask &&
					       a->if_value == b->if_value));
}

/* Does it bring all that `want` would, and from which byte on? */
static bool brings(const struct read_op *have, const struct read_op *want, uint16_t *at)
{
	bool memory = have->source == READ_MEMORY || have->source == READ_STACK;
	int64_t ahead = (int64_t)want->offset - have->offset;

	*at = 0;
	if (have->source != want->source || !same_length(have, want) ||
	    !same_condition(have, want) || (have->flags ^ want->flags) & READ_AT_EXIT)
		return false;
	if (have->source != READ_STACK && have->index != want->index)
		return false;
	if (have->source == READ_MEMORY && have->pointer_at != want->pointer_at)
		return false;
	if (have->source == READ_LITERAL && have->high != want->high)
		return false;
	/* What has a length of its own, or ends at a NUL, is taken as a whole. */
	if (want->flags & READ_TEXT || want->length_index != READS_NONE ||
	    have->flags & READ_TEXT)
		return !ahead && have->cap >= want->cap &&
			(!((have->flags ^ want->flags) & READ_TEXT) ||
			 want->length_index != READS_NONE);
	if (!memory && have->source != READ_GENERAL)
		return !ahead && have->cap >= want->cap;
	*at = (uint16_t)ahead;
	return ahead >= 0 && ahead + want->cap <= have->cap;
}

static unsigned int count(const struct building *b)
{
	unsigned int ret = 0;

	for (unsigned int i = 0; i < b->nops; i++)
		ret += !b->ops[i].gone;
	return ret;
}

static bool needs(const struct read_op *o, unsigned int op)
{
	return (o->source == READ_MEMORY && o->index == op) || o->length_index == op ||
		o->if_index == op;
}

static bool is_needed(const struct building *b, unsigned int op)
{
	if (b->ops[op].used || b->ops[op].op.role != READ_BEHIND)
		return true;
	for (unsigned int i = 0; i < b->nops; i++)
		if (!b->ops[i].gone && needs(&b->ops[i].op, op))
			return true;
	return false;
}

/* What is only shown, the last of it first: it is printed as a pointer. */
static bool give_up_one(struct building *b)
{
	unsigned int i = b->nops;

	while (i && (b->ops[i - 1].gone || is_needed(b, i - 1)))
		i--;
	if (!i)
		return false;
	b->ops[i - 1].gone = true;
	b->left += b->ops[i - 1].op.cap;
	return true;
}

bool reads_find(struct building *b, const struct read_op *op, struct read_bytes *ret)
{
	for (unsigned int i = 0; i < b->nops; i++) {
		if (b->ops[i].gone || !brings(&b->ops[i].op, op, &ret->at))
			continue;
		b->ops[i].used = true;
		ret->op = (uint8_t)i;
		ret->at_exit = b->ops[i].op.flags & READ_AT_EXIT;
		return true;
	}
	return false;
}

int reads_get(struct building *b, const struct read_op *op, struct read_bytes *ret)
{
	if (reads_find(b, op, ret))
		return 0;
	while (count(b) == READS_MAX || b->left < op->cap)
		if (!give_up_one(b))
			return -ENOSPC;
	if (b->nops == ARRAY_SIZE(b->ops))
		return -ENOSPC;
	*ret = (struct read_bytes){ (uint8_t)b->nops, op->flags & READ_AT_EXIT, 0 };
	b->ops[b->nops++] = (struct planned){ .op = *op, .used = true };
	b->left -= op->cap;
	return 0;
}

void reads_begin(struct building *b, const struct read_plan *p)
{
	b->left = READS_BYTES_MAX;
	for (b->nops = 0; b->nops < p->nops; b->nops++) {
		b->ops[b->nops] = (struct planned){ .op = p->ops[b->nops] };
		b->left -= p->ops[b->nops].cap;
	}
}

static uint8_t moved(const uint8_t *to, uint8_t index)
{
	return index == READS_NONE ? index : to[index];
}

static void move(const uint8_t *to, struct read_op *o)
{
	if (o->source == READ_MEMORY)
		o->index = to[o->index];
	o->length_index = moved(to, o->length_index);
	o->if_index = moved(to, o->if_index);
}

static bool has_result(uint8_t form)
{
	return !(form & FORM_POOL);
}

/* In the condition, too; what it needs of the entry is kept. */
static void move_operand(struct condition *c, const struct read_plan *p, const uint8_t *to,
			 uint8_t *index)
{
	*index = to[*index];
	if (*index < p->nentry)
		c->kept |= 1ull << *index;
}

static void move_condition(struct condition *c, const struct read_plan *p, const uint8_t *to)
{
	for (unsigned int i = 0; i < c->nops; i++) {
		struct condition_op *o = &c->ops[i];
		bool text = o->code == CONDITION_TEXTS, two = text || o->code == CONDITION_FLOATS;

		if (!two && o->code != CONDITION_TEST && o->code != CONDITION_VALUE)
			continue;
		if (has_result(o->form) && !(text && (o->form & FORM_SIZE) == TEXT_COMM))
			move_operand(c, p, to, &o->index);
		if (two && has_result(o->other_form) &&
		    !(text && (o->other_form & FORM_SIZE) == TEXT_COMM))
			move_operand(c, p, to, &o->other_index);
	}
	c->link = c->link ? to[c->link - 1] + 1 : 0;
}

void reads_finish(struct building *b, struct read_plan *ret)
{
	uint8_t to[2 * READS_MAX] = { 0 };

	ret->nops = 0;
	ret->bytes = 0;
	for (int at_exit = 0; at_exit < 2; at_exit++) {
		for (unsigned int i = 0; i < b->nops; i++) {
			struct read_op *o = &b->ops[i].op;

			if (b->ops[i].gone || !!(o->flags & READ_AT_EXIT) != at_exit)
				continue;
			move(to, o);
			to[i] = (uint8_t)ret->nops;
			ret->ops[ret->nops++] = *o;
			ret->bytes += o->cap;
		}
		if (!at_exit)
			ret->nentry = ret->nops;
	}
	move_condition(b->c, ret, to);
}
