/* SPDX-License-Identifier: MIT */
/* condition_types: what is each operand, and do they go together? */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "values/condition_build.h"
#include "values/condition_compute.h"

#define wrong(b, node, ...) build_wrong(b, (node)->column, -EINVAL, __VA_ARGS__)

static bool is_literal(const struct operand *o)
{
	return o->from == FROM_ITSELF;
}

static void set_number(struct operand *o, uint64_t v, bool minus)
{
	o->kind = OPERAND_NUMBER;
	o->from = FROM_ITSELF;
	o->number = minus ? 0 - v : v;
	o->is_signed = minus || v <= INT64_MAX;
}

/* ---- values -------------------------------------------------------------- */

static bool is_characters(const struct type *t)
{
	return t->kind == TYPE_CHAR && t->size == 1;
}

static bool is_text_shape(const struct type *t)
{
	return t->shape == SHAPE_TEXT || t->shape == SHAPE_TEXT_COW ||
		t->shape == SHAPE_TEXT_LIBCXX;
}

static const char *describe(const struct type *t)
{
	if (t->shape == SHAPE_OPTIONAL)
		return "a value that may not be there: * is before what is compared";
	if (t->shape == SHAPE_SPAN || t->shape == SHAPE_VECTOR)
		return "a list: its elements are compared";
	switch (t->kind) {
	case TYPE_STRUCT:
		return "a structure: its members are compared";
	case TYPE_UNION:
		return "a union: its members are compared";
	case TYPE_ARRAY:
	case TYPE_VECTOR:
		return "an array: its elements are compared";
	case TYPE_VARIANTS:
		return "one of several variants, which are not asked for";
	case TYPE_INT:
	case TYPE_FLOAT:
		return "a number of a size that is not compared";
	default:
		return "of a type that is not compared";
	}
}

static int value_operand(struct building *b, const struct node *n, struct operand *o)
{
	const struct type *t = signature_type_at(b->s, o->value.type);
	bool scalar = t->kind == TYPE_INT || t->kind == TYPE_CHAR || t->kind == TYPE_BOOL ||
		t->kind == TYPE_ENUM || t->kind == TYPE_POINTER;

	o->from = FROM_VALUE;
	if (t->shape == SHAPE_OWNER) {
		o->kind = OPERAND_NUMBER;
		o->is_unsigned = true;
		o->value.at += t->pointer_at;
	} else if (is_text_shape(t) || (t->kind == TYPE_ARRAY && !t->shape &&
				 is_characters(signature_type_at(b->s, t->of)))) {
		o->kind = OPERAND_TEXT;
	} else if (!t->shape && scalar && t->size && t->size <= 8) {
		o->kind = OPERAND_NUMBER;
		o->is_unsigned = !(t->flags & TYPE_SIGNED);
		o->is_signed = !o->is_unsigned || t->size < 8 ||
			(o->value.bits && o->value.bits < 64);
		o->enumeration = t->kind == TYPE_ENUM ? o->value.type : 0;
	} else if (!t->shape && t->kind == TYPE_FLOAT &&
		   (t->size == 4 || t->size == 8 || t->size == 16)) {
		o->kind = OPERAND_FLOAT;
	} else {
		return wrong(b, n, "this is %s", describe(t));
	}
	return 0;
}

/* ---- names --------------------------------------------------------------- */

static bool fact_operand(const char *name, struct operand *o)
{
	static const struct { const char *name; uint8_t kind, fact; } facts[] = {
		{ "duration", OPERAND_TIME, FACT_DURATION }, { "tid", OPERAND_NUMBER, FACT_TID },
		{ "pid", OPERAND_NUMBER, FACT_PID }, { "cpu", OPERAND_NUMBER, FACT_CPU },
		{ "depth", OPERAND_NUMBER, FACT_DEPTH }, { "comm", OPERAND_TEXT, 0 },
		{ "caller", OPERAND_NUMBER, FACT_CALLER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		if (!strcmp(facts[i].name, name)) {
			o->kind = facts[i].kind;
			o->from = FROM_FACT;
			o->fact = facts[i].fact;
			o->is_unsigned = true;
			return true;
		}
	return false;
}

static bool word_operand(const char *name, struct operand *o)
{
	if (!strcmp(name, "true"))
		set_number(o, 1, false);
	else if (!strcmp(name, "false") || !strcmp(name, "NULL") || !strcmp(name, "nullptr") ||
		 !strcmp(name, "nil"))
		set_number(o, 0, false);
	else
		return false;
	return true;
}

static int name_operand(struct building *b, int node, uint32_t enumeration, struct operand *o)
{
	const struct node *n = node_at(b, node);
	const char *name = node_name(b, n);
	int64_t number;
	int err;

	if (fact_operand(name, o) || word_operand(name, o))
		return 0;
	if (names_param(b, name) == READS_NONE && strcmp(name, "retval") &&
	    names_enumerator(b, name, enumeration, &number)) {
		set_number(o, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, number < 0);
		return 0;
	}
	err = names_value(b, node, &o->value);
	return err ? err : value_operand(b, n, o);
}

/* ---- str() --------------------------------------------------------------- */

static int str_operand(struct building *b, int node, struct operand *o)
{
	const struct node *n = node_at(b, node), *of = node_at(b, n->left);
	const struct type *t;
	int err;

	o->kind = OPERAND_TEXT;
	if (of->kind == NODE_TEXT)
		return wrong(b, of, "this is a string already");
	if (of->kind == NODE_NAME && names_param(b, node_name(b, of)) == READS_NONE &&
	    !strcmp(node_name(b, of), "comm"))
		return wrong(b, of, "comm is a string already");
	o->from = FROM_VALUE;
	if (!node_is_path(of))
		return wrong(b, of, "str() is of a pointer: an argument, or a member of one");
	err = names_value(b, n->left, &o->value);
	if (err)
		return err;
	t = signature_type_at(b->s, o->value.type);
	if (is_text_shape(t) || (!t->shape && t->kind == TYPE_POINTER) ||
	    (!t->shape && t->kind == TYPE_ARRAY && signature_type_at(b->s, t->of)->size == 1))
		return 0;
	/* By hand, or without types, a number may be one. */
	if (!t->shape && t->kind == TYPE_INT && t->size == 8)
		return 0;
	return wrong(b, of, "str() is of a pointer: this is %s",
		     t->kind == TYPE_INT ? "a number" : describe(t));
}

/* A pointer to characters that is compared with a string is the string. */
static int as_text(struct building *b, const struct node *n, int node, struct operand *o)
{
	const struct type *t;

	if (o->kind == OPERAND_TEXT)
		return 0;
	if (o->kind == OPERAND_NUMBER && o->from == FROM_VALUE) {
		t = signature_type_at(b->s, o->value.type);
		if (t->kind == TYPE_POINTER && !t->shape &&
		    is_characters(signature_type_at(b->s, t->of))) {
			o->kind = OPERAND_TEXT;
			return 0;
		}
		if (t->kind == TYPE_POINTER)
			return build_wrong(b, node_at(b, node)->column, -EINVAL,
					   "this is a pointer, and no string: write str(...)");
	}
	return wrong(b, n, "a string is compared with %s", o->kind == OPERAND_BOOLEAN ?
		     "a comparison" : o->kind == OPERAND_TIME ? "a time" : "a number");
}

/* ---- what is computed ---------------------------------------------------- */

static bool is_bitwise(uint8_t op)
{
	return op >= CONDITION_AND && op <= CONDITION_SHR;
}

static int check_computed(struct building *b, const struct node *n, const struct operand *o)
{
	const struct type *t = o->from == FROM_VALUE ? signature_type_at(b->s, o->value.type) :
		NULL;

	if (o->kind == OPERAND_BOOLEAN)
		return wrong(b, n, is_bitwise(n->op) && n->kind == NODE_COMPUTE ?
			     "comparisons bind more than & | ^: put ( and ) around the numbers" :
			     "a comparison is no number");
	if (o->kind == OPERAND_FLOAT)
		return wrong(b, n, "floats are compared only");
	if (o->kind == OPERAND_TEXT)
		return wrong(b, n, "a string is no number");
	if (t && t->kind == TYPE_POINTER && (n->op == CONDITION_ADD || n->op == CONDITION_SUB))
		return wrong(b, n, "nothing is added to pointers: an element is p[N]");
	return 0;
}

/* Times are added, and multiplied with numbers. */
static int time_kind(struct building *b, const struct node *n, const struct operand *left,
		     const struct operand *right, uint8_t *ret)
{
	bool a = left->kind == OPERAND_TIME, c = right->kind == OPERAND_TIME;

	*ret = OPERAND_TIME;
	if (!a && !c)
		*ret = OPERAND_NUMBER;
	else if (a && c && n->op == CONDITION_DIV)
		*ret = OPERAND_NUMBER;
	else if (!((a && c && (n->op == CONDITION_ADD || n->op == CONDITION_SUB ||
			       n->op == CONDITION_MOD)) ||
		   (a != c && n->op == CONDITION_MUL) || (a && !c && n->op == CONDITION_DIV)))
		return wrong(b, n, a != c && n->op <= CONDITION_SUB ?
			     "a number is added to a time: times have a unit, as in 10ms" :
			     "this is not computed with times");
	return 0;
}

static int computed_operand(struct building *b, const struct node *n, struct operand *o)
{
	struct operand left, right;
	uint8_t kind = 0;
	int err = types_of(b, n->left, 0, &left);

	err = err ? err : types_of(b, n->right, left.enumeration, &right);
	err = err ? err : check_computed(b, n, &left);
	err = err ? err : check_computed(b, n, &right);
	err = err ? err : time_kind(b, n, &left, &right, &kind);
	if (err)
		return err;
	bool is_shift = n->op == CONDITION_SHL || n->op == CONDITION_SHR;

	o->kind = kind;
	o->from = FROM_OPERATION;
	o->is_signed = left.is_signed && (right.is_signed || is_shift);
	o->is_unsigned = !o->is_signed;
	if (is_literal(&right) &&
	    condition_undefined(n->op, is_literal(&left) ? left.number : 0, right.number,
				o->is_signed))
		return wrong(b, n, "this has no result");
	if (!is_literal(&left) || !is_literal(&right))
		return 0;
	o->from = FROM_ITSELF;
	o->number = condition_compute(n->op, left.number, right.number, o->is_signed);
	return 0;
}

static int unary_operand(struct building *b, const struct node *n, struct operand *o)
{
	struct operand of;
	int err = types_of(b, n->left, 0, &of);

	err = err ? err : check_computed(b, n, &of);
	if (err)
		return err;
	if (of.kind == OPERAND_TIME)
		return wrong(b, n, "this is not computed with times");
	*o = (struct operand){ .kind = OPERAND_NUMBER, .from = FROM_OPERATION,
			       .is_signed = n->kind == NODE_NEGATE || of.is_signed };
	o->is_unsigned = !o->is_signed;
	if (is_literal(&of)) {
		o->from = FROM_ITSELF;
		o->number = n->kind == NODE_NEGATE ? 0 - of.number : ~of.number;
	}
	return 0;
}

int types_of(struct building *b, int node, uint32_t enumeration, struct operand *ret)
{
	const struct node *n = node_at(b, node);
	int err;

	*ret = (struct operand){ .node = node };
	switch (n->kind) {
	case NODE_NUMBER:
		if (n->minus && n->number > 1ull << 63)
			return wrong(b, n, "this number has more than 64 bits");
		set_number(ret, n->number, n->minus);
		return 0;
	case NODE_TIME:
		if (n->minus)
			return wrong(b, n, "a time is not below 0");
		set_number(ret, n->number, false);
		ret->kind = OPERAND_TIME;
		return 0;
	case NODE_REAL:
		ret->kind = OPERAND_FLOAT;
		ret->real = n->minus ? -n->real : n->real;
		return 0;
	case NODE_TEXT:
		ret->kind = OPERAND_TEXT;
		return 0;
	case NODE_NAME:
		return name_operand(b, node, enumeration, ret);
	case NODE_MEMBER:
	case NODE_ELEMENT:
	case NODE_BEHIND:
		err = names_value(b, node, &ret->value);
		return err ? err : value_operand(b, n, ret);
	case NODE_STR:
		return str_operand(b, node, ret);
	case NODE_NEGATE:
	case NODE_COMPLEMENT:
		return unary_operand(b, n, ret);
	case NODE_COMPUTE:
		return computed_operand(b, n, ret);
	default:
		ret->kind = OPERAND_BOOLEAN;
		ret->from = FROM_OPERATION;
		return 0;
	}
}

/* ---- comparisons --------------------------------------------------------- */

static bool is_order(const struct node *n)
{
	return n->op != RELATION_EQ && n->op != RELATION_NE;
}

/* (What an owner leads to is compared by its pointer, however large the owner is.) */
static unsigned int bits_of(const struct building *b, const struct operand *o)
{
	if (o->from != FROM_VALUE || o->kind != OPERAND_NUMBER)
		return 64;
	return o->value.bits ? o->value.bits :
		MIN(64u, 8 * (unsigned int)signature_type_at(b->s, o->value.type)->size);
}

/* As C has it, -1 is the number that has all bits of the other one's type; but it is not below
 * each of them. */
static int convert_negative(struct building *b, const struct node *n, const struct operand *other,
			    unsigned int bits, struct operand *literal)
{
	if (is_order(n) || other->from == FROM_FACT)
		return wrong(b, n, "this is never below 0%s", other->from == FROM_FACT ? "" :
			     ": its type has no sign");
	literal->number = literal->number << (64 - bits) >> (64 - bits);
	literal->is_signed = bits < 64;
	return 0;
}

/* So 0xff is what a signed char has with all bits set. What its type has no bits for no value is,
 * and each is on the same side of it. */
static int convert(struct building *b, const struct node *n, const struct operand *other,
		   struct operand *literal)
{
	unsigned int bits = bits_of(b, other);
	uint64_t all = ~0ull >> (64 - bits), positive = other->is_unsigned ? all : all >> 1;
	bool minus = literal->is_signed && (int64_t)literal->number < 0;

	if (!is_literal(literal) || is_literal(other))
		return 0;
	if (minus && other->is_unsigned)
		return convert_negative(b, n, other, bits, literal);
	if (other->from != FROM_VALUE || (minus ? ~literal->number : literal->number) <= positive)
		return 0;
	if (is_order(n) || minus || literal->number > all)
		return wrong(b, n, "the number is beyond its type, which has %" PRId64 " to %" PRIu64,
			     other->is_unsigned ? 0 : -(int64_t)positive - 1, positive);
	literal->number |= ~all;
	literal->is_signed = true;
	return 0;
}

/* A float has a place, or is written down; so has what it is compared with. */
static int check_floats(struct building *b, const struct node *n, const struct operand *left,
			const struct operand *right)
{
	const struct operand *both[] = { left, right };

	for (int i = 0; i < 2; i++) {
		const struct operand *o = both[i];

		if (o->kind != OPERAND_FLOAT && o->kind != OPERAND_NUMBER)
			return wrong(b, n, "a float is compared with %s", o->kind == OPERAND_TIME ?
				     "a time" : "what is no number");
		if (o->from == FROM_OPERATION || o->from == FROM_FACT || o->value.bits)
			return wrong(b, n, "a float is compared with a value, or a number that is "
				     "written here, and with nothing computed");
	}
	return 0;
}

static int check_pair(struct building *b, const struct node *n, struct operand *left,
		      struct operand *right)
{
	int err;

	if (left->kind == OPERAND_BOOLEAN || right->kind == OPERAND_BOOLEAN)
		return wrong(b, n, "comparisons are combined by && and ||, and not compared");
	if (left->kind == OPERAND_TEXT || right->kind == OPERAND_TEXT) {
		err = as_text(b, n, n->left, left);
		err = err ? err : as_text(b, n, n->right, right);
		return err ? err : !is_order(n) ? 0 :
			wrong(b, n, "strings are compared by == and != only");
	}
	if (left->kind == OPERAND_FLOAT || right->kind == OPERAND_FLOAT)
		return check_floats(b, n, left, right);
	if (left->kind != right->kind)
		return wrong(b, n, "a time is compared with a number: times have a unit, as in "
			     "10ms");
	err = convert(b, n, left, right);
	return err ? err : convert(b, n, right, left);
}

int types_compared(struct building *b, const struct node *n, struct operand *left,
		   struct operand *right)
{
	int err = types_of(b, n->left, 0, left);

	err = err ? err : types_of(b, n->right, left->enumeration, right);
	/* A name of an enumerator may stand before what tells its type. */
	if (!err && right->enumeration && node_at(b, n->left)->kind == NODE_NAME)
		err = types_of(b, n->left, right->enumeration, left);
	return err ? err : check_pair(b, n, left, right);
}
