/* SPDX-License-Identifier: MIT */
/* pack: each structure has one function, which says its fields once, for both ways. */
#include "values/pack.h"

#include <errno.h>
#include <string.h>

struct packing {
	struct packed *out;	/* NULL: it is read */
	const uint8_t *at, *end;
	int err;		/* once there is one, the rest is a no-op */
};

static void put_byte(struct packing *p, uint8_t byte)
{
	uint8_t *at = p->err ? NULL : vec_push(p->out->v, p->out->n, p->out->cap);

	if (at)
		*at = byte;
	else if (!p->err)
		p->err = -ENOMEM;
}

static uint8_t take_byte(struct packing *p)
{
	if (!p->err && p->at == p->end)
		p->err = -EBADMSG;
	return p->err ? 0 : *p->at++;
}

static void put_number(struct packing *p, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_byte(p, (uint8_t)(value | 0x80));
	put_byte(p, (uint8_t)value);
}

static uint64_t take_number(struct packing *p)
{
	uint64_t ret = 0;
	uint8_t byte = 0x80;

	for (unsigned int shift = 0; byte & 0x80 && !p->err; shift += 7) {
		byte = take_byte(p);
		if (shift > 63)
			p->err = -EBADMSG;
		else
			ret |= (uint64_t)(byte & 0x7f) << shift;
	}
	return p->err ? 0 : ret;
}

/* A number of at most that value. */
static uint64_t pass_number(struct packing *p, uint64_t value, uint64_t most)
{
	if (p->out) {
		put_number(p, value);
		return value;
	}
	value = take_number(p);
	if (value > most)
		p->err = -EBADMSG;
	return p->err ? 0 : value;
}

/* The sign in the lowest bit, so that small ones are short. */
static int64_t pass_signed(struct packing *p, int64_t value)
{
	uint64_t raw = (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);

	raw = pass_number(p, raw, UINT64_MAX);
	return (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1);
}

#define UNSIGNED_MOST(field) (((uint64_t)1 << (8 * sizeof(field) - 1)) * 2 - 1)
/* What is put may be constant. */
#define PASS(field, value) do {								\
	__typeof__(field) value_ = (__typeof__(field))(value);				\
	if (!p->out)									\
		(field) = value_;							\
} while (0)
#define NUMBER(field) PASS(field, pass_number(p, (uint64_t)(field), UNSIGNED_MOST(field)))
#define SIGNED(field) PASS(field, pass_signed(p, (field)))
#define FLAG(field) PASS(field, pass_number(p, (field), 1))

/* How many elements follow; each takes a byte at least, so that there is no larger list than there
 * are bytes. */
static size_t pass_count(struct packing *p, size_t n, size_t most)
{
	if (!p->out)
		most = MIN(most, (size_t)(p->end - p->at));
	return (size_t)pass_number(p, n, most);
}

static void pass_type(struct packing *p, struct type *t)
{
	NUMBER(t->kind);
	NUMBER(t->flags);
	NUMBER(t->shape);
	NUMBER(t->name);
	NUMBER(t->size);
	NUMBER(t->align);
	NUMBER(t->of);
	NUMBER(t->first);
	NUMBER(t->n);
	NUMBER(t->pointer_at);
	NUMBER(t->length_at);
}

static void pass_member(struct packing *p, struct member *m)
{
	NUMBER(m->name);
	NUMBER(m->type);
	NUMBER(m->at);
	NUMBER(m->bit);
	NUMBER(m->bits);
	NUMBER(m->flags);
}

static void pass_enumerator(struct packing *p, struct enumerator *e)
{
	SIGNED(e->value);
	NUMBER(e->name);
}

static void pass_piece(struct packing *p, struct piece *piece)
{
	NUMBER(piece->from);
	NUMBER(piece->number);
	NUMBER(piece->at);
	NUMBER(piece->size);
	SIGNED(piece->offset);
	NUMBER(piece->literal);
	if (!p->out)
		piece->index = PIECE_NO_REGISTER;
}

static void pass_place(struct packing *p, struct place *place)
{
	NUMBER(place->kind);
	PASS(place->n, pass_count(p, place->n, PIECES_MAX));
	FLAG(place->kept);
	FLAG(place->later);
	for (uint8_t i = 0; i < place->n; i++)
		pass_piece(p, &place->pieces[i]);
}

static void pass_parameter(struct packing *p, struct parameter *q)
{
	NUMBER(q->name);
	NUMBER(q->type);
	pass_place(p, &q->place);
	NUMBER(q->contents.behind);
	FLAG(q->contents.out);
	NUMBER(q->contents.from);
	NUMBER(q->contents.param);
	NUMBER(q->contents.length_size);
	NUMBER(q->contents.length);
	NUMBER(q->contents.unit);
	FLAG(q->hidden);
}

/* A list that is grown to `n` elements, if it is read. */
static bool make_room(struct packing *p, void **v, size_t n, size_t size)
{
	if (p->out || p->err)
		return !p->err;
	*v = calloc(MAX(n, (size_t)1), size);
	if (!*v)
		p->err = -ENOMEM;
	return *v;
}

#define LIST(v, count, most, pass) do {							\
	size_t n_ = pass_count(p, (count), (most));					\
	if (!make_room(p, (void **)&(v), n_, sizeof(*(v))))				\
		break;									\
	PASS(count, n_);								\
	for (size_t i_ = 0; i_ < n_; i_++)						\
		pass(p, &(v)[i_]);							\
} while (0)

/* Names are of any bytes, and each ends. */
static void pass_text(struct packing *p, struct signature *s)
{
	size_t n = pass_count(p, s->ntext, TEXT_MAX);

	if (!make_room(p, (void **)&s->text, n + 1, 1))
		return;
	PASS(s->ntext, n);
	for (size_t i = 0; i < n; i++) {
		if (p->out)
			put_byte(p, (uint8_t)s->text[i]);
		else
			s->text[i] = (char)take_byte(p);
	}
	if (!p->out && (!n || s->text[n - 1]))
		p->err = -EBADMSG;
}

static void pass_signature(struct packing *p, struct signature *s)
{
	LIST(s->types, s->ntypes, TYPES_MAX, pass_type);
	LIST(s->members, s->nmembers, MEMBERS_MAX, pass_member);
	LIST(s->enumerators, s->nenumerators, ENUMERATORS_MAX, pass_enumerator);
	pass_text(p, s);
	PASS(s->nparams, pass_count(p, s->nparams, PARAMS_MAX));
	for (size_t i = 0; i < s->nparams; i++)
		pass_parameter(p, &s->params[i]);
	pass_parameter(p, &s->result);
	NUMBER(s->name);
	NUMBER(s->machine);
	NUMBER(s->source);
	NUMBER(s->language);
	NUMBER(s->compiler);
	FLAG(s->variadic);
	FLAG(s->more);
	FLAG(s->own_convention);
	FLAG(s->halves);
	FLAG(s->out_of_memory);
}

static void pass_op(struct packing *p, struct read_op *o)
{
	NUMBER(o->source);
	NUMBER(o->index);
	NUMBER(o->flags);
	NUMBER(o->role);
	NUMBER(o->param);
	NUMBER(o->length_index);
	NUMBER(o->length_size);
	NUMBER(o->if_index);
	NUMBER(o->at);
	NUMBER(o->pointer_at);
	NUMBER(o->length_at);
	NUMBER(o->if_at);
	SIGNED(o->offset);
	NUMBER(o->cap);
	NUMBER(o->unit);
	NUMBER(o->if_mask);
	NUMBER(o->if_value);
	SIGNED(o->high);
	NUMBER(o->type);
}

static void pass_plan(struct packing *p, struct read_plan *plan)
{
	PASS(plan->nops, pass_count(p, plan->nops, READS_MAX));
	NUMBER(plan->nentry);
	NUMBER(plan->machine);
	NUMBER(plan->bytes);
	for (uint16_t i = 0; i < plan->nops; i++)
		pass_op(p, &plan->ops[i]);
}

static void pass_all(struct packing *p, struct signature *s, struct read_plan *plan)
{
	if (pass_number(p, PACK_VERSION, UINT32_MAX) != PACK_VERSION && !p->err)
		p->err = -EBADMSG;
	pass_signature(p, s);
	pass_plan(p, plan);
}

int values_pack(const struct signature *s, const struct read_plan *plan, struct packed *ret)
{
	struct packing p = { .out = ret };

	/* Nothing is changed that is put. */
	pass_all(&p, (struct signature *)s, (struct read_plan *)plan);
	return p.err;
}

int values_unpack(const uint8_t *bytes, size_t n, struct signature *ret, struct read_plan *plan)
{
	struct packing p = { .at = bytes, .end = bytes + n };

	*ret = (struct signature){ 0 };
	*plan = (struct read_plan){ 0 };
	pass_all(&p, ret, plan);
	if (!p.err && (p.at != p.end || !ret->ntypes || reads_check(plan)))
		p.err = -EBADMSG;
	if (p.err)
		signature_clear(ret);
	return p.err;
}
