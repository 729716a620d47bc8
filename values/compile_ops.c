/* SPDX-License-Identifier: MIT */
/* compile_ops: one more operation of a plan, and where bytes are that earlier ones bring. */
#include "values/compile_impl.h"

uint8_t compile_add(struct compiling *c, struct read_op op)
{
	struct read_plan *p = c->plan;

	if (p->nops == READS_MAX || !op.cap || op.cap > c->left)
		return READS_NONE;
	op.flags |= c->at_exit ? READ_AT_EXIT : 0;
	op.param = c->param;
	op.unit = MAX(op.unit, 1);
	if (!op.length_size)
		op.length_index = READS_NONE;
	op.if_index = c->condition.mask ? c->condition.index : READS_NONE;
	op.if_at = c->condition.at;
	op.if_mask = c->condition.mask;
	op.if_value = c->condition.value;
	c->left -= op.cap;
	p->bytes += op.cap;
	p->ops[p->nops] = op;
	return p->nops++;
}

bool compile_find(const struct compiling *c, struct where w, uint32_t size, uint8_t *op,
		  uint16_t *at)
{
	const struct read_plan *p = c->plan;

	if (w.op != READS_NONE) {
		*op = w.op;
		*at = (uint16_t)w.at;
		return w.at + (uint64_t)size <= p->ops[w.op].cap;
	}
	for (unsigned int i = 0; i < p->nops; i++) {
		const struct read_op *o = &p->ops[i];

		if (o->param != c->param || o->role != READ_PART || w.at < o->at ||
		    w.at + (uint64_t)size > (uint64_t)o->at + o->cap)
			continue;
		*op = i;
		*at = (uint16_t)(w.at - o->at);
		return true;
	}
	return false;
}

bool compile_behind(const struct compiling *c, uint32_t type, struct where w, uint32_t cap,
		    struct read_op *ret)
{
	uint8_t op;
	uint16_t at;

	if (!compile_find(c, w, 8, &op, &at))
		return false;
	*ret = (struct read_op){ .source = READ_MEMORY, .role = READ_BEHIND, .index = op,
				 .pointer_at = at, .cap = (uint16_t)MIN(cap, READS_BYTES_MAX),
				 .type = (uint16_t)type };
	return true;
}
