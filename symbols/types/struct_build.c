/* SPDX-License-Identifier: MIT */
/* struct_build: structures, unions and classes with their members; enumerations. */
#include <dwarf.h>
#include <string.h>

#include "symbols/elf/debuginfo.h"
#include "symbols/types/build.h"
#include "values/shapes.h"

/* ---- enumerations -------------------------------------------------------- */

static void build_enumerators(struct building *b, Dwarf_Die *die, struct type *t)
{
	Dwarf_Die child;
	int64_t value;

	t->first = (uint32_t)b->s->nenumerators;
	for (int end = dwarf_child(die, &child); !end && t->n < BUILD_LISTED && b->left;
	     end = dwarf_siblingof(&child, &child), b->left--) {
		if (dwarf_tag(&child) != DW_TAG_enumerator ||
		    !die_signed(&child, DW_AT_const_value, &value))
			continue;
		if (!signature_enumerator(b->s, enumerator_as(t, value), debuginfo_name(&child)))
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

	for (int end = dwarf_child(die, &child); !end && n < BUILD_LISTED;
	     end = dwarf_siblingof(&child, &child), n++)
		if (dwarf_attr(&child, DW_AT_const_value, &a) &&
		    dwarf_whatform(&a) == DW_FORM_sdata &&
		    die_signed(&child, DW_AT_const_value, &value) && value < 0)
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

/* One that all objects share is no part of them. */
static bool is_static(Dwarf_Die *die)
{
	return die_flag(die, DW_AT_external) || die_flag(die, DW_AT_declaration);
}

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
		if (ret->n < BUILD_LISTED && build_member(b, &child, t, &m))
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

static bool find_part(struct building *b, Dwarf_Die *die, Dwarf_Die *part)
{
	size_t n = 0;

	for (int end = dwarf_child(die, part); !end && n < BUILD_LISTED;
	     end = dwarf_siblingof(part, part), n++)
		if (dwarf_tag(part) == DW_TAG_variant_part)
			return b->unit->language == LANGUAGE_RUST;
	return false;
}

static void build_members(struct building *b, Dwarf_Die *die, struct type *t,
			  struct members *m, unsigned int pointers, unsigned int nested)
{
	Dwarf_Die part;

	if (find_part(b, die, &part) && build_variants(b, &part, t, pointers, nested))
		return;
	collect(b, die, t, m, pointers, nested);
	passing(b, die, m, t);
	list_members(b, t, m);
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
		build_members(b, die, &t, m, pointers, nested);
	}
	b->s->types[type] = t;
	if (b->unit->language == LANGUAGE_GO)
		shape_find_go(b->s, type);
	else if (b->unit->language != LANGUAGE_RUST)
		shape_find(b->s, type);
	else if (shape_find_rust(b->s, type))
		shape_elements(b->s, type, build_argument(b, die, "T", pointers, nested));
}
