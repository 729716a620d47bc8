/* SPDX-License-Identifier: MIT */
/*
 * variant_build: what Rust calls an enum, if there are values in it: one of several structures,
 * told apart by a number that lies beside them or in what one of them never has (DWARF 5, 5.7.10).
 */
#include <dwarf.h>
#include <string.h>

#include "symbols/elf/debuginfo.h"
#include "symbols/types/build.h"

enum { WORD = 8 };

struct variants {
	struct members members;
	int64_t numbers[BUILD_LISTED];
};

/* The integer that tells them apart: its type, and where it is. Of 16 bytes the lower half does. */
static bool find_number(struct building *b, Dwarf_Die *part, struct type *t)
{
	static const struct type word = { .kind = TYPE_INT, .size = WORD };
	struct member m = { 0 };
	Dwarf_Attribute a;
	Dwarf_Die die;

	t->of = 0;
	if (!dwarf_hasattr(part, DW_AT_discr))
		return true;
	if (!dwarf_attr(part, DW_AT_discr, &a) || !dwarf_formref_die(&a, &die))
		return false;
	m.type = build_die_type(b, &die, 0, NESTED_MAX);
	if (!build_member(b, &die, t, &m))
		return false;
	const struct type *of = signature_type_at(b->s, m.type);

	t->of = of->size == 2 * WORD ? signature_type(b->s, &word) : m.type;
	t->pointer_at = m.at;
	return !m.bits && of->size && of->size <= 2 * WORD && type_is_scalar(of);
}

/* As a number, or as a block of 16 bytes, of which the upper half is 0. */
static bool number_of(Dwarf_Die *variant, int64_t *ret)
{
	static const uint8_t zero[WORD];
	Dwarf_Attribute a;
	Dwarf_Block block;

	if (die_signed(variant, DW_AT_discr_value, ret))
		return true;
	if (!dwarf_attr(variant, DW_AT_discr_value, &a) || dwarf_formblock(&a, &block) ||
	    !block.data || block.length != 2 * WORD || memcmp(block.data + WORD, zero, WORD) != 0)
		return false;
	memcpy(ret, block.data, WORD);
	return true;
}

/* Its only member has the variant's name, and the structure. */
static bool add_variant(struct building *b, Dwarf_Die *variant, const struct type *t,
			struct variants *v, unsigned int pointers, unsigned int nested)
{
	struct member *m = &v->members.v[v->members.n];
	int64_t *number = &v->numbers[v->members.n];
	Dwarf_Die child;
	int end = dwarf_child(variant, &child);

	while (!end && dwarf_tag(&child) != DW_TAG_member)
		end = dwarf_siblingof(&child, &child);
	*m = (struct member){ 0 };
	*number = 0;
	if (end || v->members.n + 1 == BUILD_LISTED || dwarf_hasattr(variant, DW_AT_discr_list))
		return false;
	if (!dwarf_hasattr(variant, DW_AT_discr_value))
		m->flags = MEMBER_OTHERWISE;
	else if (!number_of(variant, number))
		return false;
	m->type = build_die_type(b, &child, pointers, nested + 1);
	if (!build_member(b, &child, t, m) || m->bits)
		return false;
	v->members.n++;
	return true;
}

static bool list_variants(struct building *b, struct type *t, const struct variants *v)
{
	const struct type *of = signature_type_at(b->s, t->of);

	t->first = (uint32_t)b->s->nmembers;
	t->length_at = (uint32_t)b->s->nenumerators;
	for (size_t i = 0; i < v->members.n; i++) {
		int64_t number = of->size ? enumerator_as(of, v->numbers[i]) : 0;

		if (!signature_member(b->s, &v->members.v[i]) ||
		    !signature_enumerator(b->s, number, NULL))
			return false;
	}
	t->n = (uint32_t)v->members.n;
	t->kind = TYPE_VARIANTS;
	return true;
}

bool build_variants(struct building *b, Dwarf_Die *part, struct type *t, unsigned int pointers,
		    unsigned int nested)
{
	auto_free struct variants *v = malloc(sizeof(*v));
	struct type made = *t;
	Dwarf_Die child;

	if (!v || !find_number(b, part, &made))
		return false;
	v->members.n = 0;
	for (int end = dwarf_child(part, &child); !end; end = dwarf_siblingof(&child, &child)) {
		if (!b->left)
			return false;
		b->left--;
		if (dwarf_tag(&child) == DW_TAG_variant &&
		    !add_variant(b, &child, t, v, pointers, nested))
			return false;
	}
	if (!list_variants(b, &made, v))
		return false;
	*t = made;
	return true;
}

uint32_t build_argument(struct building *b, Dwarf_Die *die, const char *name,
			unsigned int pointers, unsigned int nested)
{
	Dwarf_Die child;
	size_t n = 0;

	for (int end = dwarf_child(die, &child); !end && n < BUILD_LISTED;
	     end = dwarf_siblingof(&child, &child), n++) {
		const char *its = dwarf_tag(&child) == DW_TAG_template_type_parameter ?
			debuginfo_name(&child) : NULL;

		if (its && !strcmp(its, name))
			return build_die_type(b, &child, pointers ? pointers - 1 : 0,
					      pointers ? nested + 1 : NESTED_MAX);
	}
	return 0;
}
