/* SPDX-License-Identifier: MIT */
#include "values/reads.h"

#include <errno.h>

#include "values/signature.h"

static bool is_length_size(uint8_t n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

static bool source_is_good(const struct read_plan *p, unsigned int i)
{
	const struct read_op *o = &p->ops[i];

	switch (o->source) {
	case READ_GENERAL:
		return o->index < READS_GENERAL && o->offset >= 0 && o->offset < 8 &&
			o->cap <= 8 - o->offset;
	case READ_VECTOR:
		return o->index < READS_VECTOR && o->cap <= 16;
	case READ_X87:
		return o->index < READS_X87 && o->cap <= 10;
	case READ_STACK:
		return true;
	case READ_MEMORY:
		return o->index < i;
	case READ_LITERAL:
		return o->cap <= 8;
	case READ_SUM:
		return o->index < i && o->cap <= 8;
	default:
		return false;
	}
}

static bool op_is_good(const struct read_plan *p, unsigned int i)
{
	const struct read_op *o = &p->ops[i];
	bool in_memory = o->source == READ_MEMORY || o->source == READ_STACK;

	if (!source_is_good(p, i) || !!(o->flags & READ_AT_EXIT) != (i >= p->nentry) ||
	    o->role > READ_LENGTH || (o->param >= PARAMS_MAX && o->param != READS_RESULT) ||
	    !o->cap || o->cap > READS_BYTES_MAX)
		return false;
	if (o->length_index != READS_NONE &&
	    ((!in_memory && o->source != READ_SUM) || o->length_index >= i ||
	     !is_length_size(o->length_size) || !o->unit))
		return false;
	if (o->flags & READ_TEXT && !in_memory)
		return false;
	return o->if_index == READS_NONE || o->if_index < i;
}

int reads_check(const struct read_plan *p)
{
	unsigned int sum = 0;

	if (p->nops > READS_MAX || p->nentry > p->nops)
		return -EINVAL;
	for (unsigned int i = 0; i < p->nops; i++) {
		if (!op_is_good(p, i))
			return -EINVAL;
		sum += p->ops[i].cap;
	}
	return sum <= READS_BYTES_MAX ? 0 : -EINVAL;
}

static uint64_t bit_of(uint8_t index, const struct read_plan *p)
{
	return index < p->nentry ? 1ull << index : 0;
}

uint64_t reads_kept(const struct read_plan *p)
{
	uint64_t ret = 0;

	for (unsigned int i = p->nentry; i < p->nops; i++) {
		const struct read_op *o = &p->ops[i];

		if (o->source == READ_MEMORY || o->source == READ_SUM)
			ret |= bit_of(o->index, p);
		ret |= bit_of(o->length_index, p) | bit_of(o->if_index, p);
	}
	return ret;
}

static unsigned int place_among(uint8_t reg, const uint8_t *registers, unsigned int n)
{
	unsigned int i = 0;

	while (i < n && registers[i] != reg)
		i++;
	return i;
}

unsigned int reads_registers(const struct read_plan *p, bool at_exit, const uint8_t *registers,
			     unsigned int n)
{
	unsigned int most = 0, end = at_exit ? p->nops : p->nentry;

	if (reads_kept(p))
		return 0;
	for (unsigned int i = at_exit ? p->nentry : 0; i < end; i++) {
		const struct read_op *o = &p->ops[i];
		unsigned int at = place_among(o->index, registers, n);

		if (o->source == READ_LITERAL || o->source == READ_SUM)
			continue;
		if (o->source != READ_GENERAL || at == n)
			return 0;
		most = MAX(most, at + 1);
	}
	return most;
}
