/* SPDX-License-Identifier: MIT */
/* condition_texts: where are the bytes of a string, and how are two compared? */
#include <errno.h>
#include <string.h>

#include "values/condition_build.h"

enum {
	UNTOLD = 64,		/* bytes of a string that is compared with another one */
	ROUNDED = 32,		/* so that one operation serves several literals */
	COW_LENGTH = -24,	/* libstdc++'s _Rep, before the characters: its length */
	LIBCXX_SIZE = 24,
	COMM_MOST = 15,
};

/* A string, of which one place or another has the bytes. */
struct string {
	struct text_place {
		uint8_t index, form;
		uint16_t at, limit;
	} v[2];
	unsigned int n;		/* 0: it is never known */
	const struct node *literal;
	struct read_bytes null;	/* a pointer that is 0 where the string is empty */
	bool may_be_null;
};

struct wanted {
	const struct node *n;	/* the comparison */
	uint32_t bytes;		/* that are enough to tell */
	bool told;		/* by a literal */
	uint32_t limit;		/* of str(p, limit) */
	const struct operand *length;	/* of str(p, length) */
};

static const struct type *type_at(const struct building *b, uint32_t type)
{
	return signature_type_at(b->s, type);
}

static void add_place(struct string *s, const struct read_bytes *r, uint8_t kind, uint32_t limit)
{
	s->v[s->n++] = (struct text_place){ r->op, kind | (r->at_exit ? FORM_AT_EXIT : 0), r->at,
					    (uint16_t)limit };
}

/* ---- lengths ------------------------------------------------------------- */

static bool is_length_size(uint64_t n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

static int set_length(struct building *b, const struct wanted *w, const struct value *v,
		      struct read_op *op)
{
	const struct type *t = type_at(b, v->type);
	struct read_bytes length;
	int err;

	if (v->gone || v->bits || !is_length_size(t->size))
		return build_wrong(b, w->n->column, -ENOENT, "the length of the string is not "
				   "known");
	err = names_bytes(b, w->n->column, v, (uint32_t)t->size, &length);
	if (err)
		return err;
	if (length.at_exit && !(op->flags & READ_AT_EXIT))
		return build_wrong(b, w->n->column, -EINVAL, "the length is known at the return "
				   "only, and the string is read at the entry");
	op->length_index = length.op;
	op->length_at = length.at;
	op->length_size = (uint8_t)t->size;
	op->flags |= t->flags & TYPE_SIGNED ? READ_SIGNED : 0;
	return 0;
}

/* As a prototype tells it. */
static int set_told_length(struct building *b, const struct wanted *w, const struct contents *k,
			   struct read_op *op)
{
	uint8_t of = k->from == LENGTH_RESULT ? READS_RESULT : k->param;
	struct read_bytes length;
	struct value v;
	int err;

	if (k->from == LENGTH_FIXED || (of != READS_RESULT && of >= b->s->nparams))
		return 0;
	names_begin(b, of, &v);
	op->unit = (uint16_t)k->unit;
	if (k->from != LENGTH_POINTED)
		return set_length(b, w, &v, op);
	err = v.gone ? -ENOENT : names_behind(b, w->n->column, &v);
	if (err)
		return err;
	v.at_exit |= op->flags & READ_AT_EXIT;
	err = names_bytes(b, w->n->column, &v, k->length_size, &length);
	op->length_index = length.op;
	op->length_at = length.at;
	op->length_size = k->length_size;
	return err;
}

/* ---- where they are ------------------------------------------------------ */

/* Bytes that are enough to tell, as one operation of several has them. */
static uint16_t rounded(const struct wanted *w)
{
	return (uint16_t)MIN(ALIGN_UP(w->bytes, ROUNDED), READS_BYTES_MAX);
}

/* Up to a NUL, of memory that has no length: what is there already may be longer than it is
 * wanted. */
static int unbounded(struct building *b, const struct wanted *w, const struct value *v,
		     bool at_exit, struct read_op op, struct string *s)
{
	struct read_bytes bytes;
	int err;

	op.cap = (uint16_t)MIN(w->bytes, w->limit);
	op.flags = READ_TEXT;
	op = names_op(v, at_exit, op);
	if (reads_find(b, &op, &bytes)) {
		add_place(s, &bytes, TEXT_RESULT, w->limit);
		return 0;
	}
	/* Behind the last byte that is of interest nothing is read. */
	if (w->told) {
		op.flags &= ~READ_TEXT;
		op.cap = (uint16_t)MIN(rounded(w), w->limit);
	}
	err = names_get(b, w->n->column, &op, &bytes);
	add_place(s, &bytes, TEXT_UP_TO_NUL, w->limit);
	return err;
}

static bool is_param(const struct building *b, const struct value *v)
{
	return v->own && !v->at && v->param != READS_RESULT &&
		v->type == b->s->params[v->param].type;
}

/* What a pointer leads to. */
static int behind(struct building *b, const struct wanted *w, const struct value *v,
		  struct string *s)
{
	static const struct contents nothing;
	const struct contents *k = is_param(b, v) ? &b->s->params[v->param].contents : &nothing;
	bool told = !w->length && w->limit == UINT16_MAX &&
		(k->behind == BEHIND_TEXT || k->behind == BEHIND_BYTES);
	bool at_exit = v->at_exit || k->out;
	struct read_bytes pointer, bytes;
	struct wanted own = *w;
	int err = names_bytes(b, w->n->column, v, 8, &pointer);

	if (err)
		return err;
	at_exit |= pointer.at_exit;
	struct read_op op = { .source = READ_MEMORY, .index = pointer.op,
			      .pointer_at = pointer.at, .cap = rounded(w),
			      .flags = at_exit ? READ_AT_EXIT : 0 };

	if (told && k->from == LENGTH_FIXED && k->length)
		own.limit = MIN(k->length, UINT16_MAX);
	if (w->length)
		err = set_length(b, w, &w->length->value, &op);
	else if (told)
		err = set_told_length(b, w, k, &op);
	if (err || !op.length_size)
		return err ? err : unbounded(b, &own, v, at_exit, op, s);
	op = names_op(v, at_exit, op);
	err = names_get(b, w->n->column, &op, &bytes);
	add_place(s, &bytes, TEXT_UP_TO_NUL, w->limit);
	return err;
}

/* Characters, as many as a length says. */
static int run_of(struct building *b, const struct wanted *w, const struct value *v,
		  struct read_op op, const struct read_bytes *length, struct string *s)
{
	struct read_bytes bytes;
	int err;

	op.source = READ_MEMORY;
	op.cap = rounded(w);
	op.length_index = length->op;
	op.length_at = length->at;
	op.length_size = 8;
	op = names_op(v, v->at_exit, op);
	err = names_get(b, w->n->column, &op, &bytes);
	add_place(s, &bytes, TEXT_RESULT, w->limit);
	return err;
}

static int text_shape(struct building *b, const struct wanted *w, const struct value *v,
		      struct string *s)
{
	const struct type *t = type_at(b, v->type);
	struct value part = *v;
	struct read_bytes length, flag;
	struct read_op op = { .source = READ_MEMORY }, of;
	int err;

	part.at = v->at + t->pointer_at;
	err = names_bytes(b, w->n->column, &part, 8, &s->null);
	if (err)
		return err;
	op.index = s->null.op;
	op.pointer_at = s->null.at;
	if (t->shape == SHAPE_TEXT_COW) {
		of = op;
		of.offset = COW_LENGTH;
		of.cap = 8;
		of = names_op(v, v->at_exit, of);
		err = names_get(b, w->n->column, &of, &length);
	} else {
		part.at = v->at + t->length_at;
		err = names_bytes(b, w->n->column, &part, 8, &length);
	}
	s->may_be_null = t->shape == SHAPE_TEXT;
	if (err || t->shape != SHAPE_TEXT_LIBCXX)
		return err ? err : run_of(b, w, v, op, &length, s);
	/* The lowest bit of the first byte: it is long. Else it is in there. */
	err = names_bytes(b, w->n->column, v, LIBCXX_SIZE, &flag);
	if (err)
		return err;
	op.if_index = flag.op;
	op.if_at = flag.at;
	op.if_mask = op.if_value = 1;
	err = run_of(b, w, v, op, &length, s);
	add_place(s, &flag, TEXT_SHORT, w->limit);
	return err;
}

static int characters(struct building *b, const struct wanted *w, const struct value *v,
		      struct string *s)
{
	uint32_t n = type_at(b, v->type)->n, size = MIN(n, w->bytes);
	struct read_bytes bytes;
	int err;

	if (!w->told && n > READS_BYTES_MAX / 4)
		return build_wrong(b, w->n->column, -ENOENT, "this is too long to be compared with "
				   "another string");
	if (!w->told)
		size = n;
	if (!size)
		return build_wrong(b, w->n->column, -ENOENT, "how many characters there are is not "
				   "known");
	err = names_bytes(b, w->n->column, v, size, &bytes);
	if (err)
		return err;
	add_place(s, &bytes, TEXT_UP_TO_NUL, MIN(size, w->limit));
	return 0;
}

/* ---- operands ------------------------------------------------------------ */

/* str(p, N), str(p, n) */
static int take_limit(struct building *b, const struct operand *o, struct operand *length,
		      struct wanted *w)
{
	const struct node *n = node_at(b, o->node);
	int err;

	w->limit = UINT16_MAX;
	w->length = NULL;
	if (n->kind != NODE_STR || n->right == NODE_NONE)
		return 0;
	err = types_of(b, n->right, 0, length);
	if (err)
		return err;
	n = node_at(b, n->right);
	if (length->kind != OPERAND_NUMBER || (length->from != FROM_ITSELF &&
					       length->from != FROM_VALUE))
		return build_wrong(b, n->column, -EINVAL, "a length is a number, or an argument or "
				   "member that is one");
	if (length->from == FROM_VALUE) {
		w->length = length;
		return 0;
	}
	if (!length->number || length->number > CONDITION_POOL)
		return build_wrong(b, n->column, -EINVAL, "a length is from 1 to %d",
				   CONDITION_POOL);
	w->limit = (uint32_t)length->number;
	return 0;
}

static int value_string(struct building *b, const struct operand *o, struct wanted *w,
			struct string *s)
{
	const struct type *t = type_at(b, o->value.type);
	struct operand length;
	int err = take_limit(b, o, &length, w);

	if (err || o->value.gone)
		return err;
	if ((t->shape || t->kind == TYPE_ARRAY) && w->length)
		return build_wrong(b, w->n->column, -EINVAL, "this string has a length of its own");
	if (t->shape)
		return text_shape(b, w, &o->value, s);
	if (t->kind == TYPE_ARRAY)
		return characters(b, w, &o->value, s);
	return behind(b, w, &o->value, s);
}

static int string_of(struct building *b, const struct node *n, const struct operand *o,
		     const struct operand *other, struct string *s)
{
	struct wanted w = { .n = n, .bytes = UNTOLD };
	const struct node *text = node_at(b, o->node);
	uint16_t at;
	int err;

	*s = (struct string){ .n = 0 };
	if (o->from == FROM_FACT) {
		s->v[s->n++] = (struct text_place){ .form = TEXT_COMM };
		return 0;
	}
	if (o->from == FROM_VALUE) {
		w.told = other->from == FROM_ITSELF;
		if (w.told)
			w.bytes = node_at(b, other->node)->n + 1u;
		return value_string(b, o, &w, s);
	}
	s->literal = text;
	if (other->from == FROM_FACT && text->n > COMM_MOST)
		return build_wrong(b, text->column, -EINVAL, "the name of a thread has at most %d "
				   "bytes", COMM_MOST);
	err = build_pool(b, text->column, node_name(b, text), text->n, &at);
	s->v[s->n++] = (struct text_place){ .form = FORM_POOL, .at = at, .limit = text->n };
	return err;
}

/* ---- operations ---------------------------------------------------------- */

static int emit_else(struct building *b, const struct node *n)
{
	return build_op(b, n->column, &(struct condition_op){ .code = CONDITION_ELSE });
}

/* Where the pointer is 0, the string is empty. */
static int emit_null(struct building *b, const struct node *n, const struct string *s, bool empty)
{
	bool holds = (n->op == RELATION_EQ) == empty;
	int err = build_op(b, n->column, &(struct condition_op){
		.code = CONDITION_TEST, .relation = RELATION_EQ, .index = s->null.op,
		.at = s->null.at, .form = 8 | (s->null.at_exit ? FORM_AT_EXIT : 0), .bits = 64 });

	err = err ? err : build_op(b, n->column, &(struct condition_op){
		.code = CONDITION_GIVEN, .index = holds ? CONDITION_TRUE : CONDITION_FALSE });
	return err ? err : emit_else(b, n);
}

static int emit_pair(struct building *b, const struct node *n, const struct text_place *l,
		     const struct text_place *r)
{
	return build_op(b, n->column, &(struct condition_op){
		.code = CONDITION_TEXTS, .relation = n->op, .index = l->index, .form = l->form,
		.at = l->at, .limit = l->limit, .other_index = r->index, .other_form = r->form,
		.other_at = r->at, .other_limit = r->limit });
}

int texts_emit(struct building *b, const struct node *n, const struct operand *left,
	       const struct operand *right)
{
	struct string l, r;
	int err = string_of(b, n, left, right, &l);

	err = err ? err : string_of(b, n, right, left, &r);
	if (err)
		return err;
	if (!l.n || !r.n) {
		b->c->unknown = 1;
		return build_op(b, n->column, &(struct condition_op){
			.code = CONDITION_CONSTANT, .index = CONDITION_UNKNOWN });
	}
	for (unsigned int i = 0; i < l.n * r.n && !err; i++) {
		err = emit_pair(b, n, &l.v[i / r.n], &r.v[i % r.n]);
		if (!err && i)
			err = emit_else(b, n);
	}
	if (!err && l.may_be_null && r.literal)
		err = emit_null(b, n, &l, !r.literal->n);
	if (!err && r.may_be_null && l.literal)
		err = emit_null(b, n, &r, !l.literal->n);
	return err;
}
