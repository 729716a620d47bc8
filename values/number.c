/* SPDX-License-Identifier: MIT */
#include "values/number.h"

#include <string.h>

bool number_is(const struct type *t)
{
	return !t->shape && t->size && t->size <= SCALAR_MAX &&
		(t->kind == TYPE_INT || t->kind == TYPE_FLOAT);
}

__int128 number_of(const struct type *t, const uint8_t bytes[SCALAR_MAX])
{
	unsigned int shift = 128 - 8 * (unsigned int)MIN(MAX(t->size, 1u), (uint64_t)SCALAR_MAX);
	unsigned __int128 v;

	memcpy(&v, bytes, sizeof(v));
	v <<= shift;
	return t->flags & TYPE_SIGNED ? (__int128)v >> shift : (__int128)(v >> shift);
}

enum held take_bit_field(const struct capture *c, const struct member *m, struct spot s,
			 uint8_t ret[SCALAR_MAX])
{
	const struct type *t = signature_type_at(c->signature, m->type);
	unsigned int n = (m->bit % 8 + m->bits + 7) / 8, shift = 64 - m->bits;
	uint8_t raw[SCALAR_MAX] = { 0 };
	unsigned __int128 v;
	enum held held;

	memset(ret, 0, SCALAR_MAX);
	if (!m->bits || m->bits > 64 || t->size > 8 || n > sizeof(raw))
		return HELD_CUT;
	s.at += m->bit / 8;
	held = capture_take(c, s, n, raw);
	memcpy(&v, raw, sizeof(v));
	uint64_t field = (uint64_t)(v >> (m->bit % 8));

	field = t->flags & TYPE_SIGNED ? (uint64_t)((int64_t)(field << shift) >> shift) :
		field << shift >> shift;
	memcpy(ret, &field, sizeof(field));
	return held;
}

enum held take_scalar(const struct capture *c, const struct type *t, struct spot s,
		      uint8_t ret[SCALAR_MAX])
{
	bool x87 = t->kind == TYPE_FLOAT && t->size == 16 && !(t->flags & TYPE_QUAD);

	memset(ret, 0, SCALAR_MAX);
	if (t->shape || !t->size || t->size > SCALAR_MAX)
		return HELD_NOT;
	return capture_take(c, s, x87 ? X87_SIZE : (uint32_t)t->size, ret);
}

bool number_take(const struct capture *c, const struct pick *pick, struct number *ret)
{
	const struct type *t = signature_type_at(c->signature, pick->type);
	uint8_t bytes[SCALAR_MAX];
	struct spot s;
	bool null;

	if (!number_is(t) || pick_spot(c, pick, &s, &null) != HELD)
		return false;
	enum held held = pick->bits ? take_bit_field(c, pick->bits, s, bytes) :
		take_scalar(c, t, s, bytes);

	if (held != HELD)
		return false;
	*ret = (struct number){ .real = t->kind == TYPE_FLOAT,
				.is_unsigned = !(t->flags & TYPE_SIGNED) };
	if (ret->real)
		ret->d = float_value(bytes, t->size, t->flags);
	else
		ret->i = number_of(t, bytes);
	return true;
}
