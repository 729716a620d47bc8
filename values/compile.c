/* SPDX-License-Identifier: MIT */
#include "values/compile.h"

#include <string.h>

enum {
	VALUE_MAX = 256,	/* bytes of one parameter */
	BEHIND_MAX = 64,	/* of what a pointer points to */
	ELEMENTS_MAX = 4,	/* of an array that are followed */
	RESERVED_MAX = READS_BYTES_MAX / 2,	/* for the exit */
	COW_LENGTH = -24,	/* libstdc++'s _Rep, before the characters: its length */
};

/* Only if a byte of an earlier result is that. */
struct condition {
	uint8_t index, mask, value;
	uint16_t at;
};

struct compiling {
	const struct signature *s;
	struct compile_options o;
	struct read_plan *plan;
	struct condition condition;
	uint8_t param;		/* whose operations are made */
	uint16_t left;		/* bytes */
	bool at_exit;
};

/* Where bytes of a type are: in the results of the parameter's own pieces, or of one operation. */
struct where {
	uint8_t op;		/* READS_NONE: the parameter's own */
	uint32_t at;
};

/* Its index, READS_NONE if there is no room. */
static uint8_t add_op(struct compiling *c, struct read_op op)
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

/* Which result has these bytes, and where; false if none has all of them. */
static bool find_bytes(const struct compiling *c, struct where w, uint32_t size, uint8_t *op,
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

/* An operation that reads behind the pointer at `w`, of which `type` says what it leads to. */
static bool behind(const struct compiling *c, uint32_t type, struct where w, uint32_t cap,
		   struct read_op *ret)
{
	uint8_t op;
	uint16_t at;

	if (!find_bytes(c, w, 8, &op, &at))
		return false;
	*ret = (struct read_op){ .source = READ_MEMORY, .role = READ_BEHIND, .index = op,
				 .pointer_at = at, .cap = (uint16_t)MIN(cap, READS_BYTES_MAX),
				 .type = (uint16_t)type };
	return true;
}

/* ---- what is behind pointers --------------------------------------------- */

static void follow(struct compiling *, uint32_t type, struct where, unsigned int deep,
		   unsigned int nested);

static bool is_text(const struct type *t)
{
	return t->kind == TYPE_CHAR && t->size == 1;
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

	if (is_text(t)) {
		if (behind(c, type, w, c->o.text, &op)) {
			op.flags = READ_TEXT;
			add_op(c, op);
		}
		return;
	}
	if (!is_shown_behind(pointer, t) ||
	    !behind(c, type, w, (uint32_t)MIN(t->size, (uint64_t)BEHIND_MAX), &op))
		return;
	uint8_t made = add_op(c, op);

	if (made != READS_NONE)
		follow(c, pointer->of, (struct where){ made, 0 }, deep, nested + 1);
}

static void follow_members(struct compiling *c, const struct type *t, struct where w,
			   unsigned int deep, unsigned int nested)
{
	for (uint32_t i = 0; i < t->n && c->plan->nops < READS_MAX; i++) {
		const struct member *m = signature_member_at(c->s, t, i);

		if (m && !m->bits)
			follow(c, m->type, (struct where){ w.op, w.at + m->at }, deep, nested + 1);
	}
}

static void follow_elements(struct compiling *c, const struct type *t, struct where w,
			    unsigned int deep, unsigned int nested)
{
	uint64_t size = signature_type_at(c->s, t->of)->size;

	for (uint32_t i = 0; i < MIN(t->n, (uint32_t)ELEMENTS_MAX) && size <= BEHIND_MAX; i++)
		follow(c, t->of, (struct where){ w.op, w.at + i * (uint32_t)size }, deep,
		       nested + 1);
}

/* ---- shapes -------------------------------------------------------------- */

static void follow_cow(struct compiling *c, uint32_t type, struct where pointer)
{
	struct read_op length, text;

	if (!behind(c, type, pointer, 8, &length) || !behind(c, type, pointer, c->o.text, &text))
		return;
	length.role = READ_LENGTH;
	length.offset = COW_LENGTH;
	text.length_index = add_op(c, length);
	text.length_size = 8;
	if (text.length_index != READS_NONE)
		add_op(c, text);
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
	    !behind(c, type, (struct where){ w.op, w.at + t->pointer_at }, cap, &op) ||
	    !find_bytes(c, (struct where){ w.op, w.at + t->length_at }, 8, &length, &at))
		return;
	op.length_index = length;
	op.length_at = at;
	op.length_size = 8;
	op.unit = (uint16_t)size;
	if (t->shape == SHAPE_VECTOR)
		op.flags = READ_TO_END;
	uint8_t made = add_op(c, op);

	if (made == READS_NONE || text)
		return;
	for (uint32_t i = 0; i < ELEMENTS_MAX && (i + 1) * size <= cap; i++)
		follow(c, t->of, (struct where){ made, i * (uint32_t)size }, deep, nested + 1);
}

/* The same under the condition that a byte of the value itself is that. */
static bool set_condition(struct compiling *c, struct where w, uint32_t at, uint8_t mask,
			  uint8_t value)
{
	if (c->condition.mask ||
	    !find_bytes(c, (struct where){ w.op, w.at + at }, 1, &c->condition.index,
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
			c->condition = (struct condition){ 0 };
		}
		break;
	case SHAPE_OWNER:
		if (deep)
			follow_target(c, type, pointer, deep - 1, nested);
		break;
	case SHAPE_INNER:
		follow(c, t->of, pointer, deep, nested + 1);
		break;
	case SHAPE_OPTIONAL:
		if (set_condition(c, w, t->length_at, 1, 1)) {
			follow(c, t->of, pointer, deep, nested + 1);
			c->condition = (struct condition){ 0 };
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
			follow(c, m->type, (struct where){ w.op, w.at + m->at }, deep, nested + 1);
		if (own)
			c->condition = (struct condition){ 0 };
	}
}

/* -------------------------------------------------------------------------- */

static void follow(struct compiling *c, uint32_t type, struct where w, unsigned int deep,
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
	return add_op(c, op);
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
	return sum.length_index == READS_NONE ? READS_NONE : add_op(c, sum);
}

static void add_memory(struct compiling *c, const struct piece *p, uint8_t role, uint16_t cap)
{
	bool memory = p->from == FROM_MEMORY;
	struct read_op op = { .source = memory ? READ_MEMORY : READ_SUM, .role = role,
			      .at = p->at, .cap = memory ? cap : MIN(cap, 8) };

	op.index = add_address(c, p, &op.offset);
	op.cap = MIN(op.cap, c->left);
	if (op.index != READS_NONE)
		add_op(c, op);
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
	add_op(c, (struct read_op){
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
	add_op(c, (struct read_op){ .source = READ_MEMORY, .index = pointer, .role = READ_PART,
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
		op->length_index = add_op(c, length);
		op->length_size = k->length_size;
		op->flags &= ~READ_SIGNED;
	}
	return op->length_index != READS_NONE && (op->length_size == 1 || op->length_size == 2 ||
						  op->length_size == 4 || op->length_size == 8);
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
		follow(c, p->type, (struct where){ READS_NONE, 0 }, c->o.deep, 0);
		return;
	}
	if (!behind(c, p->type, (struct where){ READS_NONE, 0 }, c->o.text, &op))
		return;
	op.flags = k->behind == BEHIND_TEXT ? READ_TEXT : 0;
	if (!set_length(c, k, &op))
		return;
	c->param = param;
	add_op(c, op);
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
