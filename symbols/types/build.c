/* SPDX-License-Identifier: MIT */
#include "symbols/elf/debuginfo.h"
#include "symbols/types/build.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "values/places.h"

enum {
	LOOKED_AT_MAX = 1 << 16,	/* entries for one signature */
	CHAIN_MAX = 32,			/* typedefs and qualifiers of one type */
	ARRAY_MAX = 1 << 24,		/* elements */
	DIMENSIONS_MAX = 8,
	POINTER_SIZE = 8,
};

void build_end(struct building *b)
{
	free(b->built);
}

/* ---- base types ---------------------------------------------------------- */

/* A plain char is text; signed char and unsigned char are small numbers. */
static bool is_char(const char *name)
{
	return name && !strcmp(name, "char");
}

static void base_kind(Dwarf_Die *die, const char *name, struct type *t)
{
	uint64_t encoding;

	if (!die_number(die, DW_AT_encoding, &encoding) || dwarf_hasattr(die, DW_AT_bit_size))
		return;
	switch (encoding) {
	case DW_ATE_boolean:
		t->kind = TYPE_BOOL;
		break;
	case DW_ATE_UTF:
		t->kind = TYPE_CHAR;
		break;
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		t->kind = is_char(name) ? TYPE_CHAR : TYPE_INT;
		t->flags |= TYPE_SIGNED;
		break;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_address:
		t->kind = is_char(name) ? TYPE_CHAR : TYPE_INT;
		break;
	case DW_ATE_float:
		t->kind = TYPE_FLOAT;
		break;
	case DW_ATE_complex_float:
		t->kind = TYPE_COMPLEX;
		break;
	default:
		break;
	}
}

/* A float of 16 bytes may be the x87's, unless its name says that it is not. */
static void base_format(const struct signature *s, const char *name, struct type *t)
{
	bool is_float = t->kind == TYPE_FLOAT || t->kind == TYPE_COMPLEX;
	const struct convention *c = convention_of(s->machine);
	bool x87 = c && c->extended && !(name && strstr(name, "128"));

	if (is_float && !x87 && t->size >= 16)
		t->flags |= TYPE_QUAD;
	if (t->kind == TYPE_INT && t->size > 16)
		t->kind = TYPE_UNKNOWN;
}

static void build_base(struct building *b, Dwarf_Die *die, struct type *t)
{
	const char *name = debuginfo_name(die);

	if (!die_number(die, DW_AT_byte_size, &t->size) || t->size > 64)
		t->size = 0;
	if (t->size)
		base_kind(die, name, t);
	else if (b->unit->language == LANGUAGE_RUST)
		t->kind = TYPE_STRUCT;		/* (), and what there is none of */
	base_format(b->s, name, t);
}

/* ---- arrays -------------------------------------------------------------- */

/* Elements of one dimension; 0: not told. */
static uint64_t dimension(Dwarf_Die *range)
{
	uint64_t count, lower = 0;

	if (die_number(range, DW_AT_count, &count))
		return count;
	if (!die_number(range, DW_AT_upper_bound, &count) || count >= UINT32_MAX)
		return 0;
	die_number(range, DW_AT_lower_bound, &lower);
	return count + 1 > lower ? count + 1 - lower : 0;
}

static unsigned int dimensions(Dwarf_Die *die, uint64_t ret[DIMENSIONS_MAX])
{
	unsigned int n = 0;
	Dwarf_Die child;

	for (int end = dwarf_child(die, &child); !end && n < DIMENSIONS_MAX;
	     end = dwarf_siblingof(&child, &child))
		if (dwarf_tag(&child) == DW_TAG_subrange_type)
			ret[n++] = dimension(&child);
	return n;
}

/* The last dimension is the innermost array. */
static void build_array(struct building *b, Dwarf_Die *die, struct type *t, unsigned int pointers,
			unsigned int nested)
{
	uint64_t n[DIMENSIONS_MAX] = { 0 };
	unsigned int count = dimensions(die, n);
	uint32_t of = build_die_type(b, die, pointers, nested + 1);

	for (unsigned int i = count; i--; ) {
		const struct type *element = signature_type_at(b->s, of);
		struct type made = { .kind = TYPE_ARRAY, .of = of };

		if (n[i] > ARRAY_MAX || (element->size && n[i] > UINT32_MAX / element->size))
			n[i] = 0;
		made.n = (uint32_t)n[i];
		made.size = n[i] * element->size;
		if (i) {
			of = signature_type(b->s, &made);
			continue;
		}
		made.name = t->name;
		made.align = t->align;
		*t = made;
	}
	if (!count)
		*t = (struct type){ .kind = TYPE_ARRAY, .of = of, .name = t->name };
	if (dwarf_hasattr(die, DW_AT_GNU_vector))
		t->kind = TYPE_VECTOR;
}

/* ---- pointers ------------------------------------------------------------ */

/* The typedefs and qualifiers before a type; true if it is const. */
static bool is_const(Dwarf_Die *die)
{
	Dwarf_Die of = *die;

	for (unsigned int i = 0; i < CHAIN_MAX; i++) {
		int tag = dwarf_tag(&of);

		if (tag == DW_TAG_const_type)
			return true;
		if ((tag != DW_TAG_volatile_type && tag != DW_TAG_typedef) || !die_type(&of, &of))
			return false;
	}
	return false;
}

/* Of Rust only raw pointers are pointers: the rest is always there. */
static bool is_rust_reference(const struct building *b, Dwarf_Die *die)
{
	const char *name = debuginfo_name(die);

	return b->unit->language == LANGUAGE_RUST && name && *name != '*';
}

/* What is behind a map or channel of Go is the runtime's. */
static bool is_go_handle(const struct building *b, const struct type *t)
{
	const char *name = signature_name_at(b->s, t->name);

	return b->unit->language == LANGUAGE_GO &&
		(!strncmp(name, "map[", 4) || !strncmp(name, "chan ", 5) ||
		 !strncmp(name, "<-chan ", 7));
}

static void build_pointer(struct building *b, Dwarf_Die *die, struct type *t,
			  unsigned int pointers, unsigned int nested)
{
	Dwarf_Die of;

	t->kind = dwarf_tag(die) == DW_TAG_pointer_type && !is_rust_reference(b, die) ?
		TYPE_POINTER : TYPE_REFERENCE;
	t->size = POINTER_SIZE;
	if (is_go_handle(b, t))
		return;
	if (die_type(die, &of) && is_const(&of))
		t->flags |= TYPE_TO_CONST;
	t->of = build_die_type(b, die, pointers ? pointers - 1 : 0,
			       pointers ? nested + 1 : NESTED_MAX);
}

/* To data: a distance; to a function: a pointer and a distance (Itanium C++ ABI, 2.3). */
static void build_member_pointer(struct building *b, Dwarf_Die *die, struct type *t)
{
	struct type word = { .kind = TYPE_INT, .flags = TYPE_SIGNED, .size = 8 };
	Dwarf_Die of;

	if (!die_type(die, &of) || dwarf_tag(&of) != DW_TAG_subroutine_type) {
		word.name = t->name;
		*t = word;
		return;
	}
	uint32_t type = signature_type(b->s, &word);

	*t = (struct type){ .kind = TYPE_STRUCT, .size = 16, .name = t->name,
			    .first = (uint32_t)b->s->nmembers };
	for (unsigned int i = 0; i < 2; i++)
		t->n += signature_member(b->s, &(struct member){
			.name = signature_text(b->s, i ? "adj" : "ptr"), .type = type,
			.at = 8 * i });
}

/* ---- any type ------------------------------------------------------------ */

/* Typedefs and qualifiers are passed, and the first name kept. */
static const char *strip(Dwarf_Die *die)
{
	const char *name = NULL;

	for (unsigned int i = 0; i < CHAIN_MAX; i++)
		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
			if (!name)
				name = debuginfo_name(die);
			/* fall through */
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
		case DW_TAG_immutable_type:
			if (die_type(die, die))
				continue;
			die->addr = NULL;
			return name;
		default:
			return name;
		}
	return name;
}

/* One name for what compilers call differently. */
static const char *usual_name(const char *name)
{
	static const char *const names[][2] = {
		{ "long int", "long" }, { "long unsigned int", "unsigned long" },
		{ "short int", "short" }, { "short unsigned int", "unsigned short" },
		{ "long long int", "long long" }, { "_Bool", "bool" },
		{ "long long unsigned int", "unsigned long long" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i][0]))
			return names[i][1];
	return name;
}

/* Nearly all of Rust's containers have the same allocator. */
static uint32_t name_without_allocator(struct building *b, const char *name)
{
	static const char allocator[] = ", alloc::alloc::Global";
	char text[512], *to = text;

	while (*name && to < text + sizeof(text) - 1)
		if (!strncmp(name, allocator, sizeof(allocator) - 1))
			name += sizeof(allocator) - 1;
		else
			*to++ = *name++;
	*to = '\0';
	return signature_text(b->s, text);
}

/* Structures of C have a name behind a word. */
static uint32_t name_type(struct building *b, Dwarf_Die *die, const char *name)
{
	const char *own = debuginfo_name(die);
	const char *word = "";
	char text[256];

	if (name || !own)
		return signature_text(b->s, name);
	if (b->unit->language == LANGUAGE_RUST)
		return name_without_allocator(b, own);
	own = usual_name(own);
	if (b->unit->language == LANGUAGE_C && !b->unit->is_cxx)
		switch (dwarf_tag(die)) {
		case DW_TAG_structure_type:
			word = "struct ";
			break;
		case DW_TAG_union_type:
			word = "union ";
			break;
		case DW_TAG_enumeration_type:
			word = "enum ";
			break;
		}
	snprintf(text, sizeof(text), "%s%s", word, own);
	return signature_text(b->s, text);
}

/* What is only declared, if the unit or a type unit has more of it. */
static void resolve(struct building *b, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Die of;

	if (dwarf_attr(die, DW_AT_signature, &a) && dwarf_formref_die(&a, &of)) {
		*die = of;
		return;
	}
	if (!die_flag(die, DW_AT_declaration))
		return;
	const char *name = debuginfo_name(die);
	Dwarf_Die *found = name ? units_type(b->unit, dwarf_tag(die), name) : NULL;

	if (found)
		*die = *found;
}

/* What is behind the last pointer has less than what is within it. */
static unsigned int depth_left(unsigned int pointers, unsigned int nested)
{
	return nested >= NESTED_MAX ? 0 : pointers + 1;
}

static struct built *find_built(struct building *b, const void *at, unsigned int left)
{
	for (size_t i = 0; i < b->nbuilt; i++)
		if (b->built[i].at == at && b->built[i].left >= left)
			return &b->built[i];
	return NULL;
}

/* It refers to itself before it is complete: so it has its place first. */
static uint32_t begin_type(struct building *b, Dwarf_Die *die, const struct type *t,
			   unsigned int left)
{
	uint32_t type = signature_type(b->s, t);
	struct built *made = type ? vec_push(b->built, b->nbuilt, b->built_cap) : NULL;

	if (made)
		*made = (struct built){ die->addr, type, left };
	return type;
}

static void fill_type(struct building *b, Dwarf_Die *die, uint32_t type, unsigned int pointers,
		      unsigned int nested)
{
	struct type t = b->s->types[type];

	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		build_base(b, die, &t);
		break;
	case DW_TAG_unspecified_type:
		t.kind = TYPE_POINTER;		/* std::nullptr_t */
		t.size = POINTER_SIZE;
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		build_pointer(b, die, &t, pointers, nested);
		break;
	case DW_TAG_ptr_to_member_type:
		build_member_pointer(b, die, &t);
		break;
	case DW_TAG_subroutine_type:
		t.kind = TYPE_CODE;
		t.size = POINTER_SIZE;
		break;
	case DW_TAG_enumeration_type:
		build_enum(b, die, &t);
		break;
	case DW_TAG_array_type:
		build_array(b, die, &t, pointers, nested);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		build_struct(b, die, type, pointers, nested);
		return;
	default:
		break;
	}
	b->s->types[type] = t;
}

static uint32_t build_die(struct building *b, Dwarf_Die *entry, unsigned int pointers,
			  unsigned int nested)
{
	Dwarf_Die die = *entry;
	const char *name = strip(&die);
	struct type t = { .kind = TYPE_UNKNOWN };

	if (!die.addr) {		/* const void, or a typedef of it */
		t.kind = TYPE_VOID;
		t.name = signature_text(b->s, name);
		return name ? signature_type(b->s, &t) : 0;
	}
	resolve(b, &die);
	struct built *had = find_built(b, die.addr, depth_left(pointers, nested));

	if (had && !name)
		return had->type;
	if (had) {
		/* The same under another name. (What is not complete yet keeps its own.) */
		t = b->s->types[had->type];
		if (t.kind == TYPE_UNKNOWN)
			return had->type;
		t.name = signature_text(b->s, name);
		return signature_type(b->s, &t);
	}
	t.name = name_type(b, &die, name);
	uint32_t type = begin_type(b, &die, &t, depth_left(pointers, nested));

	if (!type || !b->left)
		return type;
	b->left--;
	fill_type(b, &die, type, pointers, nested);
	return type;
}

void build_begin(struct building *b, struct signature *s, struct unit *unit)
{
	*b = (struct building){ .s = s, .unit = unit, .left = LOOKED_AT_MAX, .build = build_die };
}

uint32_t build_type_of(struct building *b, Dwarf_Die *die)
{
	return build_die_type(b, die, BUILD_POINTERS, 0);
}
