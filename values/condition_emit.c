/* SPDX-License-Identifier: MIT */
/* condition_emit: a tree becomes operations. */
#include <errno.h>
#include <string.h>

#include "values/condition_build.h"

static int emit_boolean(struct building *, int node);

/* How many values wait at most, while it is executed. */
static unsigned int height(const struct building *b, int node)
{
	const struct node *n = node_at(b, node);
	unsigned int left, right;

	switch (n->kind) {
	case NODE_NEGATE:
	case NODE_COMPLEMENT:
	case NODE_NOT:
		return height(b, n->left);
	case NODE_COMPUTE:
	case NODE_COMPARE:
	case NODE_BOTH:
	case NODE_EITHER:
		left = height(b, n->left);
		right = height(b, n->right);
		return left == right ? left + 1 : MAX(left, right);
	default:
		return 1;
	}
}

static bool right_first(const struct building *b, const struct node *n)
{
	return b->deeper_first && height(b, n->right) > height(b, n->left);
}

static int emit(struct building *b, const struct node *n, struct condition_op op)
{
	return build_op(b, n->column, &op);
}

static int emit_constant(struct building *b, const struct node *n, uint8_t set)
{
	b->c->unknown |= set == CONDITION_UNKNOWN;
	return emit(b, n, (struct condition_op){ .code = CONDITION_CONSTANT, .index = set });
}

/* ---- numbers ------------------------------------------------------------- */

/* A number in a result, which is pushed, or compared with another. */
static int number_in(struct building *b, const struct node *n, const struct operand *o,
		     struct condition_op *op)
{
	unsigned int bits = o->value.bits ? o->value.bits :
		(unsigned int)(8 * MIN(signature_type_at(b->s, o->value.type)->size, 8));
	unsigned int size = (o->value.bit + bits + 7) / 8;
	struct read_bytes bytes;
	int err;

	if (size > 8)
		return build_wrong(b, n->column, -ENOENT, "this bit field is in more than 8 bytes");
	err = names_bytes(b, n->column, &o->value, size, &bytes);
	if (err)
		return err;
	op->index = bytes.op;
	op->at = bytes.at;
	op->form = (uint8_t)(size | (bytes.at_exit ? FORM_AT_EXIT : 0) |
			     (o->is_unsigned ? 0 : FORM_SIGNED));
	op->shift = o->value.bit;
	op->bits = (uint8_t)bits;
	return 0;
}

static int emit_operand(struct building *b, const struct node *n, const struct operand *o)
{
	struct condition_op op = { .code = CONDITION_VALUE };
	int err = 0;

	if (o->from == FROM_ITSELF)
		op = (struct condition_op){ .code = CONDITION_NUMBER, .number = o->number };
	else if (o->from == FROM_FACT)
		op = (struct condition_op){ .code = CONDITION_FACT, .index = o->fact };
	else if (o->value.gone)
		op.code = CONDITION_NOTHING;
	else
		err = number_in(b, n, o, &op);
	b->c->unknown |= op.code == CONDITION_NOTHING;
	return err ? err : emit(b, n, op);
}

static int emit_number(struct building *b, int node, uint32_t enumeration)
{
	const struct node *n = node_at(b, node);
	struct operand o, left;
	int err = types_of(b, node, enumeration, &o);
	bool flipped;

	if (err || o.from != FROM_OPERATION)
		return err ? err : emit_operand(b, n, &o);
	if (n->kind != NODE_COMPUTE) {
		err = emit_number(b, n->left, 0);
		return err ? err : emit(b, n, (struct condition_op){
			.code = n->kind == NODE_NEGATE ? CONDITION_NEGATE : CONDITION_COMPLEMENT });
	}
	flipped = right_first(b, n) && n->op != CONDITION_SUB && n->op != CONDITION_DIV &&
		n->op != CONDITION_MOD && n->op != CONDITION_SHL && n->op != CONDITION_SHR;
	err = types_of(b, n->left, 0, &left);
	err = err ? err : emit_number(b, flipped ? n->right : n->left,
				      flipped ? left.enumeration : 0);
	err = err ? err : emit_number(b, flipped ? n->left : n->right,
				      flipped ? 0 : left.enumeration);
	return err ? err : emit(b, n, (struct condition_op){
		.code = n->op,
		.flags = (n->op == CONDITION_SHR ? left.is_signed : o.is_signed) ?
			CONDITION_SIGNED : 0 });
}

/* ---- comparisons --------------------------------------------------------- */

static uint8_t flip(uint8_t relation)
{
	static const uint8_t flipped[] = {
		[RELATION_LT] = RELATION_GT, [RELATION_LE] = RELATION_GE,
		[RELATION_GT] = RELATION_LT, [RELATION_GE] = RELATION_LE,
		[RELATION_EQ] = RELATION_EQ, [RELATION_NE] = RELATION_NE,
	};

	return flipped[relation];
}

static uint8_t signs(const struct operand *left, const struct operand *right)
{
	return (left->is_signed ? CONDITION_SIGNED : 0) |
		(right->is_signed ? CONDITION_OTHER_SIGNED : 0);
}

/* A value or fact, with a literal: in one operation. */
static int emit_test(struct building *b, const struct node *n, const struct operand *o,
		     const struct operand *literal, uint8_t relation)
{
	struct condition_op op = { .code = CONDITION_TEST, .relation = relation,
				   .flags = signs(o, literal), .number = literal->number };
	int err = 0;

	if (o->from == FROM_FACT) {
		op.code = CONDITION_TEST_FACT;
		op.index = o->fact;
	} else if (o->value.gone) {
		return emit_constant(b, n, CONDITION_UNKNOWN);
	} else {
		err = number_in(b, n, o, &op);
	}
	return err ? err : emit(b, n, op);
}

static bool is_plain(const struct operand *o)
{
	return o->from == FROM_VALUE || o->from == FROM_FACT;
}

static int emit_numbers(struct building *b, const struct node *n, const struct operand *left,
			const struct operand *right)
{
	bool flipped = right_first(b, n);
	int first = flipped ? n->right : n->left, second = flipped ? n->left : n->right, err;

	if (is_plain(left) && right->from == FROM_ITSELF)
		return emit_test(b, n, left, right, n->op);
	if (is_plain(right) && left->from == FROM_ITSELF)
		return emit_test(b, n, right, left, flip(n->op));
	/* A literal is as its comparison has converted it. */
	const struct operand *o = flipped ? right : left, *p = flipped ? left : right;

	err = o->from == FROM_OPERATION ? emit_number(b, first, 0) :
		emit_operand(b, node_at(b, first), o);
	if (!err)
		err = p->from == FROM_OPERATION ? emit_number(b, second, 0) :
			emit_operand(b, node_at(b, second), p);
	return err ? err : emit(b, n, (struct condition_op){
		.code = CONDITION_COMPARE, .relation = flipped ? flip(n->op) : n->op,
		.flags = signs(o, p) });
}

/* ---- floats -------------------------------------------------------------- */

struct float_place {
	uint8_t index, form;
	uint16_t at;
};

static int literal_float(struct building *b, const struct node *n, const struct operand *o,
			 struct float_place *ret)
{
	ret->form = 8 | FORM_POOL;
	if (o->kind == OPERAND_FLOAT)
		return build_pool(b, n->column, &o->real, 8, &ret->at);
	ret->form |= FORM_INTEGER | (o->is_signed ? FORM_SIGNED : 0);
	return build_pool(b, n->column, &o->number, 8, &ret->at);
}

static int float_place(struct building *b, const struct node *n, const struct operand *o,
		       struct float_place *ret)
{
	const struct type *t = signature_type_at(b->s, o->value.type);
	uint32_t size = (uint32_t)t->size;
	struct read_bytes bytes;
	int err;

	if (o->from == FROM_ITSELF)
		return literal_float(b, n, o, ret);
	/* Of the x87's the last six bytes are of no meaning. */
	if (t->kind == TYPE_FLOAT && size == 16 && !(t->flags & TYPE_QUAD))
		size = 10;
	err = names_bytes(b, n->column, &o->value, size, &bytes);
	if (err)
		return err;
	*ret = (struct float_place){ bytes.op, size & FORM_SIZE, bytes.at };
	if (t->kind != TYPE_FLOAT)
		ret->form |= FORM_INTEGER | (o->is_unsigned ? 0 : FORM_SIGNED);
	if (bytes.at_exit)
		ret->form |= FORM_AT_EXIT;
	return 0;
}

static int emit_floats(struct building *b, const struct node *n, uint8_t relation,
		       const struct operand *left, const struct operand *right)
{
	struct float_place l = { 0 }, r = { 0 };
	int err;

	if ((left->from == FROM_VALUE && left->value.gone) ||
	    (right->from == FROM_VALUE && right->value.gone))
		return emit_constant(b, n, CONDITION_UNKNOWN);
	err = float_place(b, n, left, &l);
	err = err ? err : float_place(b, n, right, &r);
	return err ? err : emit(b, n, (struct condition_op){
		.code = CONDITION_FLOATS, .relation = relation, .index = l.index, .form = l.form,
		.at = l.at, .other_index = r.index, .other_form = r.form, .other_at = r.at });
}

/* ---- callers ------------------------------------------------------------- */

static bool is_caller(const struct building *b, int node)
{
	const struct node *n = node_at(b, node);

	return n->kind == NODE_NAME && !strcmp(node_name(b, n), "caller");
}

static int emit_caller(struct building *b, const struct node *n, const struct node *name)
{
	struct condition *c = b->c;
	size_t got = 0, room = (size_t)(CONDITION_RANGES - c->nranges);
	int err;

	if (n->op != RELATION_EQ && n->op != RELATION_NE)
		return build_wrong(b, n->column, -EINVAL, "a caller is compared by == and != only");
	err = !b->names || !b->names->ranges ? -ENOENT :
		b->names->ranges(b->names->ctx, node_name(b, name), c->ranges + c->nranges, room,
				 &got);
	if (err == -E2BIG || got > room)
		return build_wrong(b, name->column, -ENOSPC, "'%s' is more than %d functions, or "
				   "parts of some", node_name(b, name), CONDITION_RANGES);
	if (err || !got)
		return build_wrong(b, name->column, -EINVAL, "no function '%s' is known",
				   node_name(b, name));
	c->nranges += got;
	return emit(b, n, (struct condition_op){
		.code = CONDITION_CALLED, .relation = n->op,
		.shift = (uint8_t)(c->nranges - got), .bits = (uint8_t)got });
}

static bool is_function(const struct node *n)
{
	return n->kind == NODE_NAME || n->kind == NODE_TEXT;
}

static int emit_compare(struct building *b, const struct node *n)
{
	const struct node *l = node_at(b, n->left), *r = node_at(b, n->right);
	struct operand left, right;
	int err;

	if (is_caller(b, n->left) && is_function(r))
		return emit_caller(b, n, r);
	if (is_caller(b, n->right) && is_function(l))
		return emit_caller(b, n, l);
	err = types_compared(b, n, &left, &right);
	if (err)
		return err;
	if (left.kind == OPERAND_TEXT && (left.from != FROM_ITSELF || right.from != FROM_ITSELF))
		return texts_emit(b, n, &left, &right);
	if (left.from == FROM_ITSELF && right.from == FROM_ITSELF)
		return build_wrong(b, n->column, -EINVAL, "both sides are written here: this is "
				   "always the same");
	if (left.kind == OPERAND_FLOAT || right.kind == OPERAND_FLOAT)
		return emit_floats(b, n, n->op, &left, &right);
	return emit_numbers(b, n, &left, &right);
}

/* ---- booleans ------------------------------------------------------------ */

/* What stands where a comparison could: it is not 0. */
static int emit_truth(struct building *b, int node)
{
	const struct node *n = node_at(b, node);
	struct operand o, zero = { .kind = OPERAND_NUMBER, .is_signed = true };
	int err = types_of(b, node, 0, &o);

	if (err)
		return err;
	if (o.kind == OPERAND_TEXT)
		return build_wrong(b, n->column, -EINVAL, "a string is no condition: compare it");
	if (o.kind == OPERAND_TIME)
		return build_wrong(b, n->column, -EINVAL, "a time is no condition: compare it, as "
				   "in duration > 10ms");
	if (o.kind == OPERAND_FLOAT && o.from == FROM_VALUE)
		return emit_floats(b, n, RELATION_NE, &o, &zero);
	if (o.from == FROM_ITSELF)
		return emit_constant(b, n, o.number || (o.kind == OPERAND_FLOAT && o.real) ?
				     CONDITION_TRUE : CONDITION_FALSE);
	if (is_plain(&o))
		return emit_test(b, n, &o, &zero, RELATION_NE);
	err = emit_number(b, node, 0);
	return err ? err : emit(b, n, (struct condition_op){ .code = CONDITION_TRUTH });
}

static int emit_boolean(struct building *b, int node)
{
	const struct node *n = node_at(b, node);
	bool flipped;
	int err;

	switch (n->kind) {
	case NODE_BOTH:
	case NODE_EITHER:
		flipped = right_first(b, n);
		err = emit_boolean(b, flipped ? n->right : n->left);
		err = err ? err : emit_boolean(b, flipped ? n->left : n->right);
		return err ? err : emit(b, n, (struct condition_op){
			.code = n->kind == NODE_BOTH ? CONDITION_BOTH : CONDITION_EITHER });
	case NODE_NOT:
		err = emit_boolean(b, n->left);
		return err ? err : emit(b, n, (struct condition_op){ .code = CONDITION_NOT });
	case NODE_COMPARE:
		return emit_compare(b, n);
	case NODE_SAMPLE:
		return emit(b, n, (struct condition_op){ .code = CONDITION_SAMPLE,
							 .number = n->number });
	default:
		return emit_truth(b, node);
	}
}

/* Outside of the process nothing else tells the caller. */
static int read_link(struct building *b)
{
	const struct read_op *link = b->names ? b->names->link : NULL;
	struct read_bytes bytes = { .op = READS_NONE };
	int err = 0;

	if (!link || !(b->c->needs & CONDITION_CALLER))
		return 0;
	err = names_get(b, node_at(b, b->t->root)->column, link, &bytes);
	b->c->link = err ? 0 : (uint8_t)(bytes.op + 1);
	return err;
}

static int build(struct building *b, const struct read_plan *plan, struct read_plan *new)
{
	int err;

	*b->c = (struct condition){ 0 };
	*new = *plan;
	b->npool = 0;
	reads_begin(b, plan);
	err = emit_boolean(b, b->t->root);
	err = err ? err : read_link(b);
	if (!err)
		reads_finish(b, new);
	return err;
}

int condition_compile(const char *expr, const struct signature *s, struct read_plan *plan,
		      const struct condition_names *names, struct condition *ret,
		      struct condition_error *error)
{
	struct condition_error unused = { 0 };
	struct condition made;
	struct tree tree;
	struct building b = { .t = &tree, .s = s, .names = names, .c = &made,
			      .err = error ? error : &unused };
	struct read_plan new;
	int err = condition_parse(expr, &tree, b.err);

	/* As it is written, so that the first thing that is wrong is found first. If too many
	 * values would wait so, the deeper side goes before the other. */
	err = err ? err : build(&b, plan, &new);
	if (!err && condition_check(&made)) {
		b.deeper_first = true;
		err = build(&b, plan, &new);
	}
	if (!err && (condition_check(&made) || reads_check(&new)))
		err = build_wrong(&b, node_at(&b, tree.root)->column, -ENOSPC,
				  "this is nested too deeply");
	if (err)
		return err;
	*plan = new;
	*ret = made;
	return 0;
}
