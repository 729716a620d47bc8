/* SPDX-License-Identifier: MIT */
/*
 * reads_run: execute a read plan. Each access is checked against what was really read, for a
 * result may be shorter than its operation's cap.
 */
#include "values/reads.h"

#define HEAD ((uint16_t)sizeof(struct read_result))

/* Little-endian, as both machines are; false if it was not read. */
static bool take_number(const struct reads_state *s, uint8_t index, uint16_t at, uint8_t size,
			uint64_t *ret)
{
	*ret = 0;
	if (index >= READS_MAX || !s->v[index].done || s->v[index].status == READ_NOT ||
	    (uint32_t)at + size > s->v[index].n)
		return false;
	const uint8_t *from = s->capture + s->v[index].at + at;

	if (size == 8)
		__builtin_memcpy(ret, from, 8);
	for (uint8_t i = 0; size < 8 && i < size; i++)
		*ret |= (uint64_t)from[i] << (8 * i);
	return true;
}

static int64_t extend(uint64_t value, uint8_t size)
{
	unsigned int shift = 64 - 8 * size;

	return (int64_t)(value << shift) >> shift;
}

static void copy(uint8_t *to, const uint8_t *from, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		to[i] = from[i];
}

/* Most are words. */
static void copy_number(uint8_t *to, uint64_t value, uint16_t n)
{
	if (n == 8) {
		__builtin_memcpy(to, &value, 8);
		return;
	}
	if (n == 4) {
		__builtin_memcpy(to, &(uint32_t){ (uint32_t)value }, 4);
		return;
	}
	for (uint16_t i = 0; i < n; i++)
		to[i] = (uint8_t)(value >> (8 * i));
}

static bool is_wanted(const struct read_op *o, const struct reads_state *s)
{
	uint64_t byte;

	return o->if_index == READS_NONE ||
		(take_number(s, o->if_index, o->if_at, 1, &byte) &&
		 (byte & o->if_mask) == o->if_value);
}

/* How many bytes are wanted, at most cap; false if none are. */
static bool take_length(const struct read_op *o, const struct reads_state *s, uint64_t from,
			uint16_t *n, uint8_t *status)
{
	uint64_t length;

	*n = o->cap;
	if (o->length_index == READS_NONE)
		return true;
	if (!take_number(s, o->length_index, o->length_at, o->length_size, &length))
		return false;
	if (o->flags & READ_SIGNED && extend(length, o->length_size) < 0)
		return false;
	if (o->flags & READ_TO_END) {
		if (length < from)
			return false;
		length -= from;
	} else if (__builtin_mul_overflow(length, o->unit, &length)) {
		length = UINT64_MAX;
	}
	if (length <= o->cap)
		*n = (uint16_t)length;
	else
		*status = READ_CUT;
	return true;
}

/* Where the NUL is; n: there is none. */
static uint16_t find_nul(const uint8_t *text, uint16_t n)
{
	const uint64_t ones = ~0ull / 0xff;
	uint16_t i = 0;

	for (uint64_t eight; i + 8 <= n; i += 8) {
		__builtin_memcpy(&eight, text + i, 8);
		if ((eight - ones) & ~eight & ones << 7)
			break;
	}
	while (i < n && text[i])
		i++;
	return i;
}

/* Text ends at its NUL, at its length if that is told, or at the cap, if a NUL follows. */
static uint8_t end_of_text(const struct read_op *o, uint64_t at, const struct reads_memory *m,
			   const uint8_t *to, uint16_t *n, uint8_t status)
{
	uint16_t end = find_nul(to, *n);
	uint8_t next;

	if (end < *n) {
		*n = end;
		return READ_DONE;
	}
	if (status == READ_FAILED || (o->length_index != READS_NONE && status == READ_DONE))
		return status;
	return m->read(m->ctx, at + *n, &next, 1) == 1 && !next ? READ_DONE : READ_CUT;
}

static uint8_t read_memory(const struct read_op *o, uint64_t at, const struct reads_memory *m,
			   const struct reads_state *s, uint8_t *to, uint16_t *n)
{
	uint8_t status = READ_DONE;
	uint16_t want;

	if (!take_length(o, s, at, &want, &status))
		return READ_NOT;
	*n = want ? (uint16_t)m->read(m->ctx, at, to, want) : 0;
	if (*n < want)
		status = READ_FAILED;
	return o->flags & READ_TEXT ? end_of_text(o, at, m, to, n, status) : status;
}

static uint8_t read_sum(const struct read_op *o, const struct reads_state *s, uint8_t *to,
			uint16_t *n)
{
	uint64_t at, more = 0;

	if (!take_number(s, o->index, o->pointer_at, 8, &at) ||
	    (o->length_index != READS_NONE &&
	     !take_number(s, o->length_index, o->length_at, o->length_size, &more)))
		return READ_NOT;
	copy_number(to, at + more * o->unit + (uint64_t)(int64_t)o->offset, o->cap);
	*n = o->cap;
	return READ_DONE;
}

static uint8_t run_op(const struct read_op *o, const struct reads_registers *r,
		      const struct reads_memory *m, const struct reads_state *s, uint8_t *to,
		      uint16_t *n)
{
	uint64_t at;

	*n = 0;
	if (!is_wanted(o, s))
		return READ_NOT;
	switch (o->source) {
	case READ_STACK:
		return read_memory(o, r->stack + (int64_t)o->offset, m, s, to, n);
	case READ_MEMORY:
		if (!take_number(s, o->index, o->pointer_at, 8, &at) || !at)
			return READ_NOT;
		return read_memory(o, at + (int64_t)o->offset, m, s, to, n);
	case READ_SUM:
		return read_sum(o, s, to, n);
	case READ_GENERAL:
		copy_number(to, r->general[o->index] >> (8 * o->offset), o->cap);
		break;
	case READ_VECTOR:
		copy(to, r->vector[o->index], o->cap);
		break;
	case READ_X87:
		copy(to, r->x87[o->index], o->cap);
		break;
	default:
		copy_number(to, (uint32_t)o->offset | (uint64_t)(uint32_t)o->high << 32, o->cap);
	}
	*n = o->cap;
	return READ_DONE;
}

void reads_run(const struct read_plan *p, bool at_exit, const struct reads_registers *r,
	       const struct reads_memory *m, struct reads_state *s)
{
	unsigned int end = at_exit ? p->nops : p->nentry;

	for (unsigned int i = at_exit ? p->nentry : 0; i < end; i++) {
		uint16_t at = s->used + HEAD, n;

		if (at + p->ops[i].cap > READS_CAPTURE_MAX)
			return;
		uint8_t status = run_op(&p->ops[i], r, m, s, s->capture + at, &n);

		s->v[i].at = at;
		s->v[i].n = n;
		s->v[i].status = status;
		s->v[i].done = 1;
		copy_number(s->capture + s->used, n, 2);
		s->capture[s->used + 2] = status;
		s->capture[s->used + 3] = (uint8_t)i;
		s->used = (at + n + 3) & ~3;
	}
}
