/* SPDX-License-Identifier: MIT */
/* compile_follow: what is behind a value's pointers, and is to be read with it? */
#include "values/compile_impl.h"

enum { COW_LENGTH = -24 };	/* libstdc++'s _Rep, before the characters: its length */

/* ---- what is behind pointers --------------------------------------------- */

/* A reference is to one character. */
static bool is_text(const struct type *pointer, const struct type *t)
{
	return t->kind == TYPE_CHAR && t->size == 1 && pointer->kind != TYPE_REFERENCE;
}

/* Is there something to be shown behind a pointer to this? One to bytes is to a buffer, unless it
 * is a reference. */
static bool is_shown_behind(const struct type *pointer, const struct type *t)
{
	return t->size &&
		!(t->kind == TYPE_INT && t->size == 1 && pointer->kind != TYPE_REFERENCE) &&
		t->kind != TYPE_UNKNOWN && t->kind != TYPE_VOID && t->kind != TYPE_CODE &&
		!(t->flags & TYPE_OPAQUE);
}

/* What the pointer at `w` leads to; `type` is the pointer's. */
static void follow_target(struct compiling *c, uint32_t type, struct where w, unsigned int deep,
			  unsigned int nested)
{
	const struct type *pointer = signature_type_at(c->s, type);
	const struct type *t = signature_type_at(c->s, pointer->of);
	struct read_op op;

	if (is_text(pointer, t)) {
		if (compile_behind(c, type, w, c->o.text, &op)) {
			op.flags = READ_TEXT;
			compile_add(c, op);
		}
		return;
	}
	if (!is_shown_behind(pointer, t) ||
	    !compile_behind(c, type, w, (uint32_t)MIN(t->size, (uint64_t)BEHIND_MAX), &op))
		return;
	uint8_t made = compile_add(c, op);

	if (made != READS_NONE)
		compile_follow(c, pointer->of, (struct where){ made, 0 }, deep, nested + 1);
}

static void follow_members(struct compiling *c, const struct type *t, struct where w,
			   unsigned int deep, unsigned int nested)
{
	for (uint32_t i = 0; i < t->n && c->plan->nops < READS_MAX; i++) {
		const struct member *m = signature_member_at(c->s, t, i);

		if (m && !m->bits)
			compile_follow(c, m->type, (struct where){ w.op, w.at + m->at }, deep,
				       nested + 1);
	}
}

static void follow_elements(struct compiling *c, const struct type *t, struct where w,
			    unsigned int deep, unsigned int nested)
{
	uint64_t size = signature_type_at(c->s, t->of)->size;

	for (uint32_t i = 0; i < MIN(t->n, (uint32_t)ELEMENTS_MAX) && size <= BEHIND_MAX; i++)
		compile_follow(c, t->of, (struct where){ w.op, w.at + i * (uint32_t)size }, deep,
		       nested + 1);
}

/* ---- shapes -------------------------------------------------------------- */

static void follow_cow(struct compiling *c, uint32_t type, struct where pointer)
{
	struct read_op length, text;

	if (!compile_behind(c, type, pointer, 8, &length) ||
	    !compile_behind(c, type, pointer, c->o.text, &text))
		return;
	length.role = READ_LENGTH;
	length.offset = COW_LENGTH;
	text.length_index = compile_add(c, length);
	text.length_size = 8;
	if (text.length_index != READS_NONE)
		compile_add(c, text);
}

/* Elements, or characters: as many as a length or an end says. */
static void follow_run(struct compiling *c, uint32_t type, struct where w, unsigned int deep,
		       unsigned int nested)
{
	const struct type *t = signature_type_at(c->s, type);
	bool text = t->shape == SHAPE_TEXT || t->shape == SHAPE_TEXT_LIBCXX;
	uint64_t size = text ? 1 : signature_type_at(c->s, t->of)->size;
	uint32_t cap = text ? c->o.text : size <= BEHIND_MAX ? BEHIND_MAX / MAX(size, 1) * size : 0;
	struct read_op op;
	uint8_t length;
	uint16_t at;

	if (!size || !cap || size > UINT16_MAX ||
	    !compile_behind(c, type, (struct where){ w.op, w.at + t->pointer_at }, cap, &op) ||
	    !compile_find(c, (struct where){ w.op, w.at + t->length_at }, 8, &length, &at))
		return;
	op.length_index = length;
	op.length_at = at;
	op.length_size = 8;
	op.unit = (uint16_t)size;
	if (t->shape == SHAPE_VECTOR)
		op.flags = READ_TO_END;
	uint8_t made = compile_add(c, op);

	if (made == READS_NONE || text)
		return;
	for (uint32_t i = 0; i < ELEMENTS_MAX && (i + 1) * size <= cap; i++)
		compile_follow(c, t->of, (struct where){ made, i * (uint32_t)size }, deep,
			       nested + 1);
}

/* The same under the condition that a byte of the value itself is that. */
static bool set_condition(struct compiling *c, struct where w, uint32_t at, uint8_t mask,
			  uint8_t value)
{
	if (c->condition.mask ||
	    !compile_find(c, (struct where){ w.op, w.at + at }, 1, &c->condition.index,
			&c->condition.at))
		return false;
	c->condition.mask = mask;
	c->condition.value = value;
	return true;
}

static void follow_shape(struct compiling *c, uint32_t type, struct where w, unsigned int deep,
			 unsigned int nested)
{
	const struct type *t = signature_type_at(c->s, type);
	struct where pointer = { w.op, w.at + t->pointer_at };

	switch (t->shape) {
	case SHAPE_TEXT_COW:
		follow_cow(c, type, pointer);
		break;
	case SHAPE_TEXT_LIBCXX:
		/* The lowest bit of the first byte: it is long. */
		if (set_condition(c, w, 0, 1, 1)) {
			follow_run(c, type, w, deep, nested);
			c->condition = (struct if_byte){ 0 };
		}
		break;
	case SHAPE_OWNER:
		if (deep)
			follow_target(c, type, pointer, deep - 1, nested);
		break;
	case SHAPE_INNER:
		compile_follow(c, t->of, pointer, deep, nested + 1);
		break;
	case SHAPE_INTERFACE:
		compile_interface(c, type, w);
		break;
	case SHAPE_OPTIONAL:
		if (set_condition(c, w, t->length_at, 1, 1)) {
			compile_follow(c, t->of, pointer, deep, nested + 1);
			c->condition = (struct if_byte){ 0 };
		}
		break;
	default:
		follow_run(c, type, w, deep, nested);
	}
}

/* ---- variants ------------------------------------------------------------ */

/* A byte of the number that is not 0, if there is one: small numbers have it at the begin, and
 * those beside what a pointer or length may be at the end. */
static uint32_t telling_byte(uint64_t number, uint64_t size)
{
	uint32_t i = number & 0xff ? 0 : (uint32_t)MIN(MAX(size, 1), 8) - 1;

	return number >> (8 * i) & 0xff ? i : 0;
}

/* A condition that holds for the variant, and may hold for others: what is read in vain is not
 * shown. */
static bool set_variant(struct compiling *c, const struct type *t, uint32_t i, struct where w)
{
	const struct enumerator *e = variant_number(c->s, t, i);
	uint64_t size = signature_type_at(c->s, t->of)->size;
	uint32_t byte = e ? telling_byte((uint64_t)e->value, size) : 0;

	return e && size && set_condition(c, w, t->pointer_at + byte, 0xff,
					  (uint8_t)((uint64_t)e->value >> (8 * byte)));
}

static void follow_variants(struct compiling *c, const struct type *t, struct where w,
			    unsigned int deep, unsigned int nested)
{
	for (uint32_t i = 0; i < t->n && c->plan->nops < READS_MAX; i++) {
		const struct member *m = signature_member_at(c->s, t, i);
		bool own = m && set_variant(c, t, i, w);

		if (m)
			compile_follow(c, m->type, (struct where){ w.op, w.at + m->at }, deep,
				       nested + 1);
		if (own)
			c->condition = (struct if_byte){ 0 };
	}
}

/* -------------------------------------------------------------------------- */

void compile_follow(struct compiling *c, uint32_t type, struct where w, unsigned int deep,
		   unsigned int nested)
{
	const struct type *t = signature_type_at(c->s, type);

	if (nested > NESTED_MAX)
		return;
	if (t->shape) {
		follow_shape(c, type, w, deep, nested);
		return;
	}
	switch (t->kind) {
	case TYPE_POINTER:
		if (deep)
			follow_target(c, type, w, deep - 1, nested);
		break;
	case TYPE_REFERENCE:
		/* Rust has them within structures as others have pointers. */
		if (!nested || c->s->language != LANGUAGE_RUST)
			follow_target(c, type, w, deep, nested);
		else if (deep)
			follow_target(c, type, w, deep - 1, nested);
		break;
	case TYPE_VARIANTS:
		follow_variants(c, t, w, deep, nested);
		break;
	case TYPE_STRUCT:
		follow_members(c, t, w, deep, nested);
		break;
	case TYPE_ARRAY:
		follow_elements(c, t, w, deep, nested);
		break;
	default:
		/* Which member of a union is valid is not known. */
		break;
	}
}
