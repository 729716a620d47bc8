/* SPDX-License-Identifier: MIT */
/* struct_build: structures, unions and classes with their members; enumerations. */
#include <dwarf.h>
#include <string.h>

#include "symbols/types/build.h"
#include "values/shapes.h"

enum { LISTED_MAX = 512 };	/* members or enumerators of one type */

/* ---- enumerations -------------------------------------------------------- */

/* data1 to data8 say no sign; compilers write a number below 0 in a form that does. */
static bool enumerator_value(Dwarf_Die *die, int64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Sword value;
	Dwarf_Word number;

	if (!dwarf_attr(die, DW_AT_const_value, &a))
		return false;
	if (dwarf_whatform(&a) == DW_FORM_sdata || dwarf_whatform(&a) == DW_FORM_implicit_const) {
		if (dwarf_formsdata(&a, &value))
			return false;
		*ret = value;
		return true;
	}
	*ret = 0;
	if (dwarf_formudata(&a, &number))
		return false;
	*ret = (int64_t)number;
	return true;
}

/* As wide as the type, and with its sign. */
static int64_t as_declared(const struct type *t, int64_t value)
{
	unsigned int shift = 64 - 8 * (unsigned int)t->size;

	return t->flags & TYPE_SIGNED ? (int64_t)((uint64_t)value << shift) >> shift :
		(int64_t)((uint64_t)value << shift >> shift);
}

static void build_enumerators(struct building *b, Dwarf_Die *die, struct type *t)
{
	Dwarf_Die child;
	int64_t value;

	t->first = (uint32_t)b->s->nenumerators;
	for (int end = dwarf_child(die, &child); !end && t->n < LISTED_MAX && b->left;
	     end = dwarf_siblingof(&child, &child), b->left--) {
		if (dwarf_tag(&child) != DW_TAG_enumerator || !enumerator_value(&child, &value))
			continue;
		if (!signature_enumerator(b->s, as_declared(t, value), dwarf_diename(&child)))
			return;
		t->n++;
	}
}

/* Without a type below it, it has a sign if an enumerator has one that was written as such. */
static bool has_negative(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Die child;
	int64_t value;
	size_t n = 0;

	for (int end = dwarf_child(die, &child); !end && n < LISTED_MAX;
	     end = dwarf_siblingof(&child, &child), n++)
		if (dwarf_attr(&child, DW_AT_const_value, &a) &&
		    dwarf_whatform(&a) == DW_FORM_sdata && enumerator_value(&child, &value) &&
		    value < 0)
			return true;
	return false;
}

void build_enum(struct building *b, Dwarf_Die *die, struct type *t)
{
	Dwarf_Die below;

	t->kind = TYPE_ENUM;
	if (!die_number(die, DW_AT_byte_size, &t->size) || t->size > 8)
		t->size = 0;
	if (die_type(die, &below)) {
		t->of = b->build(b, &below, 0, NESTED_MAX);
		const struct type *of = signature_type_at(b->s, t->of);

		t->flags |= of->flags & TYPE_SIGNED;
		if (!t->size && of->size <= 8)
			t->size = of->size;
	} else if (has_negative(die)) {
		t->flags |= TYPE_SIGNED;
	}
	if (!t->size)
		t->kind = TYPE_UNKNOWN;
	else
		build_enumerators(b, die, t);
}

/* ---- members ------------------------------------------------------------- */

/* Bytes from the structure's begin: a constant, or as DWARF 2 has it. */
static bool member_offset(Dwarf_Die *die, uint64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word value;
	Dwarf_Op *ops;
	size_t n;

	*ret = 0;
	if (!dwarf_attr(die, DW_AT_data_member_location, &a))
		return true;
	if (dwarf_formudata(&a, &value) == 0) {
		*ret = value;
		return true;
	}
	if (dwarf_getlocation(&a, &ops, &n) || n != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*ret = ops[0].number;
	return true;
}

/* A field's bits: DWARF 4, or from the other end of what holds it, as before. */
static bool bit_field(Dwarf_Die *die, const struct type *of, struct member *m)
{
	uint64_t bits, from, storage = of->size;

	if (!die_number(die, DW_AT_bit_size, &bits))
		return true;
	if (!bits || bits > 128)
		return false;
	m->bits = (uint8_t)bits;
	if (die_number(die, DW_AT_data_bit_offset, &from)) {
		if (from / 8 > UINT32_MAX)
			return false;
		m->at = (uint32_t)(from / 8);
		m->bit = from % 8;
		return true;
	}
	if (!die_number(die, DW_AT_bit_offset, &from))
		return true;
	die_number(die, DW_AT_byte_size, &storage);
	/* Below 0: in a packed structure it goes on behind what holds it. */
	int64_t low = 8 * (int64_t)storage - (int64_t)from - (int64_t)bits;

	if (storage > 16 || (int64_t)from < -64 || (int64_t)from > 128 || low < 0)
		return false;
	m->at += (uint32_t)(low / 8);
	m->bit = low % 8;
	return true;
}

/* False: something is not known of where it is. */
static bool add_member(struct building *b, Dwarf_Die *die, struct type *t, struct member *m)
{
	uint64_t at;

	if (!member_offset(die, &at) || at > t->size)
		return false;
	m->at = (uint32_t)at;
	const struct type *of = signature_type_at(b->s, m->type);

	if (!bit_field(die, of, m) || at > UINT32_MAX)
		return false;
	uint64_t size = m->bits ? (m->bit + m->bits + 7u) / 8 : of->size;

	if (size > t->size || m->at > t->size - size)
		return false;
	m->name = signature_text(b->s, dwarf_diename(die));
	return true;
}

/* One that all objects share is no part of them. */
static bool is_static(Dwarf_Die *die)
{
	return die_flag(die, DW_AT_external) || die_flag(die, DW_AT_declaration);
}

struct members {
	struct member v[LISTED_MAX];
	size_t n;
};

/* The members' own types are built meanwhile, so that theirs come between: they are collected,
 * and listed when all are known. */
static void collect(struct building *b, Dwarf_Die *die, struct type *t, struct members *ret,
		    unsigned int pointers, unsigned int nested)
{
	Dwarf_Die child;

	for (int end = dwarf_child(die, &child); !end && b->left;
	     end = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		struct member m = { .flags = tag == DW_TAG_inheritance ? MEMBER_BASE : 0 };

		b->left--;
		if (tag == DW_TAG_variant_part ||
		    (tag == DW_TAG_inheritance && dwarf_hasattr(&child, DW_AT_virtuality)))
			t->flags |= TYPE_OPAQUE;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || is_static(&child) ||
		    (tag == DW_TAG_inheritance && dwarf_hasattr(&child, DW_AT_virtuality)))
			continue;
		m.type = build_die_type(b, &child, pointers, nested + 1);
		if (ret->n < LISTED_MAX && add_member(b, &child, t, &m))
			ret->v[ret->n++] = m;
		else
			t->flags |= TYPE_OPAQUE;
	}
	if (!b->left)
		t->flags |= TYPE_OPAQUE;
}

static void list_members(struct building *b, struct type *t, const struct members *m)
{
	t->first = (uint32_t)b->s->nmembers;
	for (size_t i = 0; i < m->n; i++) {
		if (!signature_member(b->s, &m->v[i])) {
			t->flags |= TYPE_OPAQUE;
			return;
		}
		t->n++;
	}
}

/* ---- classes ------------------------------------------------------------- */

/* What it has within it is copied with it. */
static bool has_indirect(const struct building *b, const struct members *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct type *t = signature_type_at(b->s, m->v[i].type);

		for (int k = 0; k < NESTED_MAX && t->kind == TYPE_ARRAY; k++)
			t = signature_type_at(b->s, t->of);
		if (t->flags & TYPE_INDIRECT &&
		    (t->kind == TYPE_STRUCT || t->kind == TYPE_UNION))
			return true;
	}
	return false;
}

static void passing(const struct building *b, Dwarf_Die *die, const struct members *m,
		    struct type *t)
{
	bool told;

	if (class_is_indirect(b->unit, die, &told) || (!told && has_indirect(b, m)))
		t->flags |= TYPE_INDIRECT;
}

void build_struct(struct building *b, Dwarf_Die *die, uint32_t type, unsigned int pointers,
		  unsigned int nested)
{
	struct type t = b->s->types[type];
	auto_free struct members *m = malloc(sizeof(*m));
	uint64_t align;

	if (!die_number(die, DW_AT_byte_size, &t.size))
		t.size = 0;
	if (die_number(die, DW_AT_alignment, &align) && align <= 1 << 16)
		t.align = (uint32_t)align;
	t.flags |= die_flag(die, DW_AT_declaration) || !m || nested >= NESTED_MAX ?
		TYPE_OPAQUE : 0;
	/* Those that refer to it meanwhile may know its kind and size. */
	t.kind = dwarf_tag(die) == DW_TAG_union_type ? TYPE_UNION : TYPE_STRUCT;
	b->s->types[type] = t;
	if (m && !(t.flags & TYPE_OPAQUE)) {
		m->n = 0;
		collect(b, die, &t, m, pointers, nested);
		passing(b, die, m, &t);
		list_members(b, &t, m);
	}
	b->s->types[type] = t;
	shape_find(b->s, type);
}
