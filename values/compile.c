/* SPDX-License-Identifier: MIT */
#include "values/compile_impl.h"

#include <string.h>

enum {
	VALUE_MAX = 256,	/* bytes of one parameter */
	RESERVED_MAX = READS_BYTES_MAX / 2,	/* for the exit */
};

/* ---- parameters ---------------------------------------------------------- */

/* What its source has. */
static uint16_t piece_most(const struct piece *p)
{
	switch (p->from) {
	case FROM_GENERAL:
		return p->offset >= 0 && p->offset < 8 ? 8 - p->offset : 0;
	case FROM_VECTOR:
		return 16;
	case FROM_X87:
		return 10;
	case FROM_LITERAL:
		return 8;
	case FROM_STACK:
	case FROM_MEMORY:
		return VALUE_MAX;
	default:
		return 0;
	}
}

/* What an address is made of; it is read once, and is of no value by itself. */
static uint8_t add_word(struct compiling *c, struct read_op op)
{
	const struct read_plan *p = c->plan;

	for (unsigned int i = 0; i < p->nops; i++)
		if (p->ops[i].role == READ_LENGTH && p->ops[i].source == op.source &&
		    p->ops[i].index == op.index && p->ops[i].offset == op.offset &&
		    p->ops[i].high == op.high && p->ops[i].cap == 8 && !c->at_exit)
			return i;
	op.role = READ_LENGTH;
	op.cap = 8;
	return compile_add(c, op);
}

static uint8_t add_register(struct compiling *c, uint8_t number)
{
	return add_word(c, (struct read_op){ .source = READ_GENERAL, .index = number });
}

/* Which operation has the address, or what `offset` has to be added to; READS_NONE: no room. */
static uint8_t add_address(struct compiling *c, const struct piece *p, int32_t *offset)
{
	bool named = p->number == PIECE_NO_REGISTER;
	uint8_t base = !named ? add_register(c, p->number) :
		add_word(c, (struct read_op){ .source = READ_LITERAL,
					      .offset = (int32_t)(uint32_t)p->literal,
					      .high = (int32_t)(p->literal >> 32) });

	*offset = p->offset;
	if (p->index == PIECE_NO_REGISTER || base == READS_NONE)
		return base;
	struct read_op sum = { .source = READ_SUM, .role = READ_LENGTH, .cap = 8, .index = base,
			       .length_index = add_register(c, p->index), .length_size = 8,
			       .unit = p->scale, .offset = p->offset };

	*offset = 0;
	return sum.length_index == READS_NONE ? READS_NONE : compile_add(c, sum);
}

static void add_memory(struct compiling *c, const struct piece *p, uint8_t role, uint16_t cap)
{
	bool memory = p->from == FROM_MEMORY;
	struct read_op op = { .source = memory ? READ_MEMORY : READ_SUM, .role = role,
			      .at = p->at, .cap = memory ? cap : MIN(cap, 8) };

	op.index = add_address(c, p, &op.offset);
	op.cap = MIN(op.cap, c->left);
	if (op.index != READS_NONE)
		compile_add(c, op);
}

static void add_piece(struct compiling *c, const struct piece *p, uint8_t role, uint16_t cap)
{
	static const uint8_t sources[] = {
		[FROM_GENERAL] = READ_GENERAL, [FROM_VECTOR] = READ_VECTOR,
		[FROM_X87] = READ_X87, [FROM_STACK] = READ_STACK, [FROM_LITERAL] = READ_LITERAL,
	};
	bool literal = p->from == FROM_LITERAL;

	if (p->from == FROM_MEMORY || p->from == FROM_ADDRESS) {
		add_memory(c, p, role, cap);
		return;
	}
	compile_add(c, (struct read_op){
		.source = sources[p->from % ARRAY_SIZE(sources)], .index = p->number,
		.role = role, .at = p->at,
		.offset = literal ? (int32_t)(uint32_t)p->literal : p->offset,
		.high = literal ? (int32_t)(p->literal >> 32) : 0, .cap = MIN(cap, piece_most(p)),
	});
}

static uint16_t value_cap(const struct compiling *c, uint32_t type)
{
	return MIN(MIN(signature_type_at(c->s, type)->size, VALUE_MAX), c->left);
}

/* The value itself, behind the pointer that was read last. */
static void add_pointed(struct compiling *c, uint32_t type, uint8_t pointer)
{
	compile_add(c, (struct read_op){ .source = READ_MEMORY, .index = pointer, .role = READ_PART,
					 .cap = value_cap(c, type) });
}

static void add_value(struct compiling *c, const struct parameter *p)
{
	const struct place *place = &p->place;

	if (place->kind == PLACE_POINTED && place->n) {
		uint8_t pointer = c->plan->nops;

		add_piece(c, &place->pieces[0], READ_POINTER, 8);
		if (c->plan->nops > pointer)
			add_pointed(c, p->type, pointer);
	}
	for (unsigned int i = 0; place->kind == PLACE_PIECES && i < place->n; i++)
		add_piece(c, &place->pieces[i], READ_PART,
			  MIN(MIN(place->pieces[i].size, VALUE_MAX), c->left));
}

/* The result's pointer, of a convention in which it is known at the entry only: x8. */
static uint8_t keep_pointer(struct compiling *c)
{
	const struct place *place = &c->s->result.place;

	c->param = READS_RESULT;
	if (place->kind != PLACE_POINTED || !place->kept)
		return READS_NONE;
	add_piece(c, &place->pieces[0], READ_POINTER, 8);
	return c->plan->nops ? c->plan->nops - 1 : READS_NONE;
}

/* ---- what prototypes say of pointers ------------------------------------- */

/* Which operation brings the first bytes of a parameter or the result? */
static uint8_t part_of(const struct compiling *c, uint8_t param)
{
	for (unsigned int i = 0; i < c->plan->nops; i++)
		if (c->plan->ops[i].param == param && c->plan->ops[i].role == READ_PART)
			return i;
	return READS_NONE;
}

static bool set_length(struct compiling *c, const struct contents *k, struct read_op *op)
{
	uint8_t of = k->from == LENGTH_RESULT ? READS_RESULT : k->param;

	if (k->from == LENGTH_FIXED) {
		if (k->length)
			op->cap = MIN(op->cap, k->length);
		return true;
	}
	if (of != READS_RESULT && of >= c->s->nparams)
		return false;
	const struct parameter *p = of == READS_RESULT ? &c->s->result : &c->s->params[of];
	const struct type *t = signature_type_at(c->s, p->type);

	op->length_index = part_of(c, of);
	op->length_size = t->size;
	op->unit = k->unit;
	if (t->flags & TYPE_SIGNED)
		op->flags |= READ_SIGNED;
	if (k->from == LENGTH_POINTED) {
		struct read_op length = { .source = READ_MEMORY, .index = op->length_index,
					  .role = READ_LENGTH, .cap = k->length_size };

		if (length.index == READS_NONE)
			return false;
		op->length_index = compile_add(c, length);
		op->length_size = k->length_size;
		op->flags &= ~READ_SIGNED;
	}
	return op->length_index != READS_NONE && (op->length_size == 1 || op->length_size == 2 ||
						  op->length_size == 4 || op->length_size == 8);
}

/* Structures that are described by hand are: references in them, and at their ends texts. */
static unsigned int how_deep(const struct compiling *c)
{
	return c->s->source == SIGNATURE_BY_HAND ? MAX(c->o.deep, 1) : c->o.deep;
}

/* The first of them, and what these lead to. */
static void add_list(struct compiling *c, uint8_t param, const struct contents *k, uint32_t type)
{
	uint32_t of = signature_type_at(c->s, type)->of;
	uint32_t size = (uint32_t)signature_type_at(c->s, of)->size;
	struct read_op op;

	if (!size || size > BEHIND_MAX ||
	    !compile_behind(c, type, (struct where){ READS_NONE, 0 },
		    MIN((uint32_t)ELEMENTS_MAX, (uint32_t)BEHIND_MAX / size) * size, &op) ||
	    !set_length(c, k, &op))
		return;
	c->param = param;
	uint8_t made = compile_add(c, op);

	for (uint32_t at = 0; made != READS_NONE && at + size <= op.cap; at += size)
		compile_follow(c, of, (struct where){ made, at }, how_deep(c), 1);
}

static void add_contents(struct compiling *c, uint8_t param)
{
	const struct parameter *p = param == READS_RESULT ? &c->s->result : &c->s->params[param];
	const struct contents *k = &p->contents;
	struct read_op op;

	c->param = param;
	if (k->behind == BEHIND_NOTHING)
		return;
	if (k->behind == BEHIND_TYPE) {
		compile_follow(c, p->type, (struct where){ READS_NONE, 0 }, how_deep(c), 0);
		return;
	}
	if (k->behind == BEHIND_LIST) {
		add_list(c, param, k, p->type);
		return;
	}
	if (!compile_behind(c, p->type, (struct where){ READS_NONE, 0 }, c->o.text, &op))
		return;
	op.flags = k->behind == BEHIND_TEXT ? READ_TEXT : 0;
	if (!set_length(c, k, &op))
		return;
	c->param = param;
	compile_add(c, op);
}

/* -------------------------------------------------------------------------- */

/* Bytes that the exit must have room for, whatever the entry reads. */
static uint16_t reserve(const struct compiling *c)
{
	const struct type *t = signature_type_at(c->s, c->s->result.type);
	uint64_t sum = MIN(t->size, (uint64_t)VALUE_MAX) + c->o.text;

	for (size_t i = 0; i < c->s->nparams; i++)
		sum += c->s->params[i].contents.out ? c->o.text : 0;
	return MIN(sum, RESERVED_MAX);
}

static void compile_entry(struct compiling *c)
{
	const struct signature *s = c->s;

	for (size_t i = 0; i < s->nparams; i++) {
		c->param = i;
		if (!s->params[i].hidden)
			add_value(c, &s->params[i]);
	}
	for (size_t i = 0; i < s->nparams; i++)
		if (!s->params[i].contents.out && !s->params[i].hidden)
			add_contents(c, i);
}

static void compile_exit(struct compiling *c, uint8_t kept)
{
	const struct signature *s = c->s;

	c->param = READS_RESULT;
	if (kept != READS_NONE)
		add_pointed(c, s->result.type, kept);
	else
		add_value(c, &s->result);
	add_contents(c, READS_RESULT);
	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].contents.out)
			add_contents(c, i);
}

void reads_compile(const struct signature *s, const struct compile_options *o,
		   struct read_plan *ret)
{
	struct compiling c = { .s = s, .o = *o, .plan = ret };

	memset(ret, 0, sizeof(*ret));
	ret->machine = s->machine;
	c.o.text = MIN(o->text ? o->text : COMPILE_TEXT, READS_BYTES_MAX / 4);
	uint16_t reserved = reserve(&c);

	c.left = READS_BYTES_MAX - reserved;
	uint8_t kept = keep_pointer(&c);

	compile_entry(&c);
	ret->nentry = ret->nops;
	c.left += reserved;
	c.at_exit = true;
	compile_exit(&c, kept);
}
