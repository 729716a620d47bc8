/* SPDX-License-Identifier: MIT */
/* condition_names: which value has this name, or this path of members and elements? */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "values/condition_build.h"

enum {
	SPAN_MOST = 64,		/* bytes behind a pointer that are read at once */
	COUNTED_MOST = 256,	/* of elements */
};

static const struct type *type_at(const struct building *b, uint32_t type)
{
	return signature_type_at(b->s, type);
}

/* ---- what there is, for messages ----------------------------------------- */

struct listing {
	char text[120];
	size_t n;
};

static void list(struct listing *l, const char *name)
{
	size_t n = strlen(name);

	if (!n || l->n + n + 6 > sizeof(l->text))
		return;
	l->n += (size_t)snprintf(l->text + l->n, sizeof(l->text) - l->n, "%s%s",
				 l->n ? ", " : "", name);
}

/* Tuples have __0 where users write 0. */
static const char *member_name(const struct building *b, const struct member *m)
{
	const char *name = signature_name_at(b->s, m->name);

	return !strncmp(name, "__", 2) && name[2] >= '0' && name[2] <= '9' ? name + 2 : name;
}

static void list_members(const struct building *b, const struct type *t, struct listing *l,
			 unsigned int nested)
{
	for (uint32_t i = 0; i < t->n && nested < NESTED_MAX; i++) {
		const struct member *m = signature_member_at(b->s, t, i);

		if (m && (!m->name || m->flags & MEMBER_BASE))
			list_members(b, type_at(b, m->type), l, nested + 1);
		else if (m)
			list(l, member_name(b, m));
	}
}

int names_missing(struct building *b, const struct node *n)
{
	struct listing l = { .n = 0 };

	for (size_t i = 0; b->s && i < b->s->nparams; i++)
		if (!b->s->params[i].hidden)
			list(&l, signature_name_at(b->s, b->s->params[i].name));
	if (!b->s)
		build_wrong(b, n->column, -ENOENT, "no argument '%s': nothing is known of this "
			    "function's", node_name(b, n));
	else
		build_wrong(b, n->column, -ENOENT, "no argument '%s' (it has %s)", node_name(b, n),
			    l.n ? l.text : b->s->nparams ? "some without names: arg1 ..." :
			    "none");
	b->err->unnamed = true;
	return -ENOENT;
}

/* ---- values -------------------------------------------------------------- */

bool node_is_path(const struct node *n)
{
	return n->kind == NODE_NAME || n->kind == NODE_MEMBER || n->kind == NODE_ELEMENT ||
		n->kind == NODE_BEHIND;
}

static uint8_t numbered_param(const struct building *b, const char *name)
{
	char *end;
	unsigned long i;

	if (strncmp(name, "arg", 3) || name[3] < '1' || name[3] > '9')
		return READS_NONE;
	i = strtoul(name + 3, &end, 10);
	return !*end && i <= b->s->nparams && !b->s->params[i - 1].hidden ? (uint8_t)(i - 1) :
		READS_NONE;
}

uint8_t names_param(const struct building *b, const char *name)
{
	for (size_t i = 0; b->s && i < b->s->nparams; i++)
		if (!b->s->params[i].hidden &&
		    !strcmp(signature_name_at(b->s, b->s->params[i].name), name))
			return (uint8_t)i;
	return b->s ? numbered_param(b, name) : READS_NONE;
}

static const struct parameter *param_at(const struct building *b, uint8_t param)
{
	return param == READS_RESULT ? &b->s->result : &b->s->params[param];
}

void names_begin(const struct building *b, uint8_t param, struct value *ret)
{
	const struct parameter *p = param_at(b, param);

	*ret = (struct value){ .type = p->type, .own = true, .param = param,
			       .gone = !p->place.n || (p->place.kind != PLACE_PIECES &&
						       p->place.kind != PLACE_POINTED),
			       .at_exit = param == READS_RESULT };
}

static int take_pointer(struct building *b, size_t column, const struct value *v, uint32_t at,
			struct read_bytes *ret)
{
	struct value pointer = *v;

	pointer.at += at;
	return names_bytes(b, column, &pointer, 8, ret);
}

/* The value that may be there. Of one within another it cannot be asked for both. */
static int take_optional(struct building *b, size_t column, struct value *v)
{
	const struct type *t = type_at(b, v->type);
	struct value flag = *v;
	struct read_bytes is;
	int err;

	if (v->only.if_mask || v->counted)
		return build_wrong(b, column, -ENOENT, "this is too deep within what may be there");
	flag.at += t->length_at;
	err = v->gone ? 0 : names_bytes(b, column, &flag, 1, &is);
	if (!err && !v->gone)
		v->only = (struct read_op){ .if_index = is.op, .if_at = is.at, .if_mask = 1,
					    .if_value = 1 };
	v->type = t->of;
	v->at += t->pointer_at;
	return err;
}

int names_behind(struct building *b, size_t column, struct value *v)
{
	const struct type *t = type_at(b, v->type);
	struct read_bytes pointer = { .op = READS_NONE };
	bool owner = t->shape == SHAPE_OWNER;
	int err;

	if (t->shape == SHAPE_OPTIONAL)
		return take_optional(b, column, v);
	if (!owner && (t->shape || (t->kind != TYPE_POINTER && t->kind != TYPE_REFERENCE)))
		return build_wrong(b, column, -EINVAL, "this is no pointer");
	err = v->gone ? 0 : take_pointer(b, column, v, owner ? t->pointer_at : 0, &pointer);
	if (err)
		return err;
	*v = (struct value){
		.type = t->of, .gone = v->gone, .param = v->param, .pointer = pointer,
		.span = (uint16_t)MIN(type_at(b, t->of)->size, (uint64_t)SPAN_MOST),
		.at_exit = v->at_exit || (v->own && param_at(b, v->param)->contents.out),
	};
	return 0;
}

/* What is as good as its contents: a reference, and what wraps something else. */
static int unwrap(struct building *b, size_t column, struct value *v)
{
	for (unsigned int i = 0; i < NESTED_MAX; i++) {
		const struct type *t = type_at(b, v->type);
		int err = 0;

		if (type_is_inner(t)) {
			v->type = t->of;
			v->at += t->pointer_at;
		} else if (!t->shape && t->kind == TYPE_REFERENCE) {
			err = names_behind(b, column, v);
		} else {
			break;
		}
		if (err)
			return err;
	}
	return 0;
}

/* ---- members ------------------------------------------------------------- */

static bool is_member(const struct building *b, const struct member *m, const char *name)
{
	return !(m->flags & MEMBER_BASE) &&
		(!strcmp(signature_name_at(b->s, m->name), name) ||
		 !strcmp(member_name(b, m), name));
}

/* Its own, and else one of what it inherits from, or of what has no name. */
static bool find_member(const struct building *b, const struct type *t, const char *name,
			unsigned int nested, struct value *v)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(b->s, t, i);

		if (!m || !is_member(b, m, name))
			continue;
		v->type = m->type;
		v->at += m->at + (m->bits ? m->bit / 8 : 0);
		v->bit = m->bits ? m->bit % 8 : 0;
		v->bits = m->bits;
		return true;
	}
	for (uint32_t i = 0; i < t->n && nested < NESTED_MAX; i++) {
		const struct member *m = signature_member_at(b->s, t, i);
		const struct type *of = m ? type_at(b, m->type) : NULL;

		if (!m || (m->name && !(m->flags & MEMBER_BASE)) ||
		    (of->kind != TYPE_STRUCT && of->kind != TYPE_UNION) ||
		    !find_member(b, of, name, nested + 1, v))
			continue;
		v->at += m->at;
		return true;
	}
	return false;
}

static bool has_members(const struct type *t)
{
	return t->kind == TYPE_STRUCT || t->kind == TYPE_UNION;
}

static bool leads(const struct type *t)
{
	return t->shape ? t->shape == SHAPE_OWNER || t->shape == SHAPE_OPTIONAL :
		t->kind == TYPE_POINTER;
}

/* `.` and `->` are the same, for not all languages have both. */
static int take_member(struct building *b, const struct node *n, struct value *v)
{
	const char *name = node_name(b, n);
	struct listing l = { .n = 0 };
	int err = unwrap(b, n->column, v);

	for (unsigned int i = 0; !err && i < NESTED_MAX && leads(type_at(b, v->type)); i++) {
		err = names_behind(b, n->column, v);
		err = err ? err : unwrap(b, n->column, v);
	}
	if (err)
		return err;
	const struct type *t = type_at(b, v->type);

	if (has_members(t) && find_member(b, t, name, 0, v))
		return unwrap(b, n->column, v);
	list_members(b, t, &l, 0);
	if (t->kind == TYPE_VARIANTS)
		return build_wrong(b, n->column, -EINVAL, "no member '%s': which variant is there "
				   "is not asked for", name);
	if (!has_members(t))
		return build_wrong(b, n->column, -ENOENT, "no member '%s': it is no structure",
				   name);
	return build_wrong(b, n->column, -ENOENT, "no member '%s' (it has %s)", name,
			   l.n ? l.text : "none that is known");
}

static bool is_counted(const struct type *t)
{
	return t->shape == SHAPE_SPAN || t->shape == SHAPE_VECTOR;
}

/* An element of a vector or slice: those before it are read, too, as many as there are. */
static int take_counted(struct building *b, const struct node *n, int64_t index, struct value *v)
{
	const struct type *t = type_at(b, v->type);
	uint64_t size = type_at(b, t->of)->size;
	struct read_op op = { .source = READ_MEMORY, .length_size = 8, .unit = (uint16_t)size,
			      .flags = t->shape == SHAPE_VECTOR ? READ_TO_END : 0 };
	struct read_bytes pointer, length;
	int err;

	if (!size || size > COUNTED_MOST || index < 0 || index >= (int64_t)(COUNTED_MOST / size))
		return build_wrong(b, n->column, -ENOENT, "this element is not read: the first %d "
				   "bytes are", COUNTED_MOST);
	err = v->gone ? 0 : take_pointer(b, n->column, v, t->pointer_at, &pointer);
	err = err || v->gone ? err : take_pointer(b, n->column, v, t->length_at, &length);
	if (!err && !v->gone) {
		op.index = pointer.op;
		op.pointer_at = pointer.at;
		op.length_index = length.op;
		op.length_at = length.at;
		op.cap = (uint16_t)((uint64_t)(index + 1) * size);
		op = names_op(v, v->at_exit || pointer.at_exit, op);
		err = names_get(b, n->column, &op, &pointer);
	}
	if (!err)
		*v = (struct value){ .type = t->of, .gone = v->gone, .param = v->param,
				     .counted = true, .pointer = pointer, .span = op.cap };
	return err;
}

static int take_element(struct building *b, const struct node *n, struct value *v)
{
	const struct type *t = type_at(b, v->type);
	int64_t index = n->minus ? -(int64_t)n->number : (int64_t)n->number;
	int err = 0;

	if (t->kind == TYPE_ARRAY || t->kind == TYPE_VECTOR) {
		if (index < 0 || index >= (int64_t)t->n)
			return build_wrong(b, n->column, -ENOENT, "no element %lld: there are %u",
					   (long long)index, t->n);
		v->type = t->of;
	} else if (is_counted(t)) {
		err = take_counted(b, n, index, v);
	} else if (leads(t) && t->shape != SHAPE_OPTIONAL) {
		err = names_behind(b, n->column, v);
	} else {
		err = build_wrong(b, n->column, -EINVAL, "this has no elements");
	}
	v->at += index * (int64_t)MIN(type_at(b, v->type)->size, (uint64_t)INT32_MAX);
	return err ? err : unwrap(b, n->column, v);
}

/* ---- paths --------------------------------------------------------------- */

static int take_name(struct building *b, const struct node *n, struct value *ret)
{
	const char *name = node_name(b, n);
	uint8_t param = names_param(b, name);
	bool result = n->kind == NODE_NAME && b->s && !strcmp(name, "retval");

	if (result && type_at(b, b->s->result.type)->kind == TYPE_VOID)
		return build_wrong(b, n->column, -ENOENT, "no retval: it returns nothing");
	if (param == READS_NONE && !result)
		return names_missing(b, n);
	names_begin(b, result ? READS_RESULT : param, ret);
	return unwrap(b, n->column, ret);
}

/* args.NAME is an argument, whatever else is called so. */
static bool is_args(const struct building *b, const struct node *n)
{
	const struct node *left = n->kind == NODE_MEMBER ? node_at(b, n->left) : NULL;

	return left && left->kind == NODE_NAME && !strcmp(node_name(b, left), "args") &&
		names_param(b, "args") == READS_NONE;
}

int names_value(struct building *b, int node, struct value *ret)
{
	const struct node *n = node_at(b, node);
	int err;

	if (n->kind == NODE_NAME || is_args(b, n))
		return take_name(b, n, ret);
	if (!node_is_path(n))
		return build_wrong(b, n->column, -EINVAL, "this is computed: it has no members, "
				   "elements or contents");
	err = names_value(b, n->left, ret);
	if (err)
		return err;
	if (n->kind == NODE_MEMBER)
		return take_member(b, n, ret);
	if (n->kind == NODE_ELEMENT)
		return take_element(b, n, ret);
	err = names_behind(b, n->column, ret);
	return err ? err : unwrap(b, n->column, ret);
}

/* ---- enumerators --------------------------------------------------------- */

/* All of it, or what stands behind its last ::. */
static bool is_called(const char *name, const char *wanted)
{
	const char *last = strstr(wanted, "::");

	if (!strcmp(name, wanted))
		return true;
	while (last && strstr(last + 2, "::"))
		last = strstr(last + 2, "::");
	return last && !strcmp(name, last + 2);
}

static bool find_enumerator(const struct building *b, const struct type *t, const char *name,
			    int64_t *ret)
{
	for (uint32_t i = 0; t->kind == TYPE_ENUM && i < t->n; i++) {
		const struct enumerator *e = signature_enumerator_at(b->s, t, i);

		if (!e || !is_called(signature_name_at(b->s, e->name), name))
			continue;
		*ret = e->value;
		return true;
	}
	return false;
}

bool names_enumerator(const struct building *b, const char *name, uint32_t type, int64_t *ret)
{
	if (!b->s || !*name)
		return false;
	if (find_enumerator(b, type_at(b, type), name, ret))
		return true;
	for (size_t i = 0; i < b->s->ntypes; i++)
		if (find_enumerator(b, &b->s->types[i], name, ret))
			return true;
	return false;
}

/* ---- bytes --------------------------------------------------------------- */

static uint32_t piece_most(const struct piece *p)
{
	switch (p->from) {
	case FROM_GENERAL:
		return p->offset >= 0 && p->offset < 8 ? 8 - (uint32_t)p->offset : 0;
	case FROM_VECTOR:
		return 16;
	case FROM_X87:
		return 10;
	case FROM_LITERAL:
		return 8;
	default:
		return UINT16_MAX;
	}
}

static struct read_op piece_op(const struct piece *p, uint32_t at, uint32_t size)
{
	static const uint8_t sources[] = {
		[FROM_GENERAL] = READ_GENERAL, [FROM_VECTOR] = READ_VECTOR,
		[FROM_X87] = READ_X87, [FROM_STACK] = READ_STACK, [FROM_LITERAL] = READ_LITERAL,
	};
	bool literal = p->from == FROM_LITERAL, stack = p->from == FROM_STACK;

	return (struct read_op){
		.source = sources[p->from % ARRAY_SIZE(sources)],
		.index = literal || stack ? 0 : p->number,
		.offset = literal ? (int32_t)(uint32_t)p->literal :
			p->offset + (stack ? (int32_t)at : 0),
		.high = literal ? (int32_t)(p->literal >> 32) : 0,
		.cap = (uint16_t)(stack ? size : MIN(p->size, piece_most(p))),
	};
}

struct read_op names_op(const struct value *v, bool at_exit, struct read_op op)
{
	/* In no text: whatever is printed has operations of its own. */
	op.role = READ_LENGTH;
	op.param = v->param;
	if (v->only.if_mask && !op.if_mask) {
		op.if_index = v->only.if_index;
		op.if_at = v->only.if_at;
		op.if_mask = v->only.if_mask;
		op.if_value = v->only.if_value;
	}
	op.flags |= at_exit ? READ_AT_EXIT : 0;
	op.unit = MAX(op.unit, 1);
	if (!op.if_mask)
		op.if_index = READS_NONE;
	if (!op.length_size)
		op.length_index = READS_NONE;
	return op;
}

int names_get(struct building *b, size_t column, const struct read_op *op, struct read_bytes *ret)
{
	int err = reads_get(b, op, ret);

	return err ? build_wrong(b, column, err, "there is no room to read this: with more than %d "
				 "bytes or %d reads of a call", READS_BYTES_MAX, READS_MAX) : 0;
}

/* Of a parameter that is in registers, or on the stack. */
static int own_bytes(struct building *b, size_t column, const struct value *v, uint32_t size,
		     struct read_bytes *ret)
{
	const struct place *place = &param_at(b, v->param)->place;

	for (unsigned int i = 0; i < place->n; i++) {
		const struct piece *p = &place->pieces[i];
		uint32_t most = MIN(p->size, piece_most(p));
		int64_t at = v->at - p->at;

		if (at < 0 || at + size > most)
			continue;
		struct read_op op = names_op(v, v->param == READS_RESULT,
					     piece_op(p, (uint32_t)at, size));
		int err = names_get(b, column, &op, ret);

		if (p->from != FROM_STACK)
			ret->at += (uint16_t)at;
		return err;
	}
	return build_wrong(b, column, -ENOENT, "this has no place of its own: it is in parts");
}

/* What a pointer leads to is read at once, if it is small: other members may be wanted, too. */
static int memory_bytes(struct building *b, size_t column, const struct value *v, uint32_t size,
			struct read_bytes *ret)
{
	bool shared = v->at >= 0 && v->at + size <= v->span;
	struct read_op op = { .source = READ_MEMORY, .index = v->pointer.op,
			      .pointer_at = v->pointer.at, .offset = shared ? 0 : (int32_t)v->at,
			      .cap = (uint16_t)(shared ? v->span : size) };
	int err;

	if (v->at != (int32_t)v->at || size > READS_BYTES_MAX)
		return build_wrong(b, column, -ENOENT, "this is too far from where it begins");
	op = names_op(v, v->at_exit || v->pointer.at_exit, op);
	err = names_get(b, column, &op, ret);
	if (shared)
		ret->at += (uint16_t)v->at;
	return err;
}

/* Of a parameter that is passed by a pointer; that to a result may be known at the entry only. */
static int pointed_bytes(struct building *b, size_t column, const struct value *v, uint32_t size,
			 struct read_bytes *ret)
{
	const struct place *place = &param_at(b, v->param)->place;
	struct value memory = *v;
	struct read_op op = names_op(v, v->at_exit && !place->kept,
				     piece_op(&place->pieces[0], 0, 8));
	int err = names_get(b, column, &op, &memory.pointer);

	return err ? err : memory_bytes(b, column, &memory, size, ret);
}

int names_bytes(struct building *b, size_t column, const struct value *v, uint32_t size,
		struct read_bytes *ret)
{
	if (v->counted) {
		*ret = v->pointer;
		ret->at += (uint16_t)v->at;
		return v->at >= 0 && v->at + size <= v->span ? 0 :
			build_wrong(b, column, -ENOENT, "this is not within an element");
	}
	if (!v->own)
		return memory_bytes(b, column, v, size, ret);
	return param_at(b, v->param)->place.kind == PLACE_POINTED ?
		pointed_bytes(b, column, v, size, ret) : own_bytes(b, column, v, size, ret);
}
