/* SPDX-License-Identifier: MIT */
#include "symbols/elf/debuginfo.h"
#include "symbols/types/units.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	UNITS_MAX = 1 << 20,
	RANGES_MAX = 1 << 16,	/* of a unit */
	ENTRIES_MAX = 1 << 22,	/* of a unit, that are looked at */
	SCOPES = 16,		/* namespaces within namespaces */
	NESTED = 64,		/* entries within entries */
	LISTED_MAX = 4096,	/* locations of one parameter */
	/* Codes that DWARF 6 has, and compilers use before. */
	CXX_17 = 0x2a, CXX_20 = 0x2b, C_17 = 0x2c, CXX_23 = 0x3a, C_23 = 0x3e,
};

struct unit_range {
	raddr_t start, end;
	raddr_t reach;		/* the largest end of this and those before it */
	size_t unit;
};

struct units {
	struct debuginfo *info;
	struct unit *v;
	size_t n, cap;
	struct unit_range *ranges;
	size_t nranges, ranges_cap;
};

/* ---- all units: their ranges --------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int add_ranges(struct units *u, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (size_t i = 0; i < RANGES_MAX && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;
	     i++) {
		if (start >= end)
			continue;
		struct unit_range *r = vec_push(u->ranges, u->nranges, u->ranges_cap);

		if (!r)
			return -ENOMEM;
		*r = (struct unit_range){ start, end, end, u->n - 1 };
	}
	return 0;
}

static void sort_ranges(struct units *u)
{
	raddr_t reach = 0;

	vec_sort(u->ranges, u->nranges, by_start);
	for (size_t i = 0; i < u->nranges; i++)
		u->ranges[i].reach = reach = MAX(reach, u->ranges[i].end);
}

static int add_units(Dwarf *dwarf, struct units *u)
{
	Dwarf_Off at = 0, next;
	size_t head;
	int err = 0;

	for (; !err && u->n < UNITS_MAX &&
	     dwarf_nextcu(dwarf, at, &next, &head, NULL, NULL, NULL) == 0 && next > at; at = next) {
		Dwarf_Die die;

		if (!dwarf_offdie(dwarf, at + head, &die) ||
		    (dwarf_tag(&die) != DW_TAG_compile_unit &&
		     dwarf_tag(&die) != DW_TAG_skeleton_unit))
			continue;
		struct unit *made = vec_push(u->v, u->n, u->cap);

		if (!made)
			return -ENOMEM;
		made->die = die;
		err = add_ranges(u, &die);
	}
	return err;
}

int units_open(struct debuginfo *info, struct units **ret)
{
	struct units *u = calloc(1, sizeof(*u));
	int err = u ? add_units(info->main.dwarf, u) : -ENOMEM;

	if (err) {
		units_close(u);
		return err;
	}
	sort_ranges(u);
	u->info = info;
	*ret = u;
	return 0;
}

void units_close(struct units *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->n; i++) {
		free(u->v[i].funcs);
		free(u->v[i].types);
	}
	free(u->v);
	free(u->ranges);
	free(u);
}

/* ---- one unit: its functions, and types ---------------------------------- */

struct listing {
	struct unit *unit;
	size_t left;		/* entries that may still be looked at */
};

static int by_address(const void *a, const void *b)
{
	const struct unit_func *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_name(const void *a, const void *b)
{
	const struct unit_type *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->tag > y->tag) - (x->tag < y->tag);
}

/* Of a function in several pieces the first one has the entry (DWARF 5, 2.18). */
static bool entry_of(Dwarf_Die *die, raddr_t *ret)
{
	Dwarf_Addr base, start, end;

	if (dwarf_entrypc(die, ret) == 0)
		return true;
	if (!dwarf_hasattr(die, DW_AT_ranges) || dwarf_ranges(die, 0, &base, &start, &end) <= 0)
		return false;
	*ret = start;
	return true;
}

static void list_func(struct unit *u, Dwarf_Die *die)
{
	raddr_t at;
	struct unit_func *f = entry_of(die, &at) ? vec_push(u->funcs, u->nfuncs, u->funcs_cap) :
		NULL;

	if (f)
		*f = (struct unit_func){ at, *die };
}

static void list_type(struct unit *u, Dwarf_Die *die)
{
	const char *name = debuginfo_name(die);
	struct unit_type *t = name && !dwarf_hasattr(die, DW_AT_declaration) ?
		vec_push(u->types, u->ntypes, u->types_cap) : NULL;

	if (t)
		*t = (struct unit_type){ name, dwarf_tag(die), *die };
}

static void list_within(struct listing *l, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;

	if (depth == SCOPES)
		return;
	for (int end = dwarf_child(parent, &die); !end && l->left;
	     end = dwarf_siblingof(&die, &die)) {
		l->left--;
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			list_func(l->unit, &die);
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
			list_type(l->unit, &die);
			list_within(l, &die, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
			list_within(l, &die, depth + 1);
			break;
		default:
			break;
		}
	}
}

static int clang_version(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *producer = dwarf_formstring(dwarf_attr(die, DW_AT_producer, &a));
	const char *at = producer ? strstr(producer, "clang version ") : NULL;
	int version = 0;

	return at && sscanf(at, "clang version %d", &version) == 1 ? version : at ? 1 : 0;
}

static int rustc_version(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *producer = dwarf_formstring(dwarf_attr(die, DW_AT_producer, &a));
	const char *at = producer ? strstr(producer, "rustc version 1.") : NULL;
	int version = 0;

	return at && sscanf(at, "rustc version 1.%d", &version) == 1 && version > 0 &&
		version < INT16_MAX ? version : 0;
}

/* Does the compiler say that it passes arguments in registers? */
static bool is_go_internal(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *producer = dwarf_formstring(dwarf_attr(die, DW_AT_producer, &a));

	return producer && !strncmp(producer, "Go cmd/compile ", 15) && strstr(producer, "regabi");
}

/* The oldest LLVM that a rustc can be built with: a distribution may have taken that. */
static int llvm_version(int rustc)
{
	static const struct { int rustc, llvm; } all[] = {
		{ 84, 18 }, { 79, 17 }, { 77, 16 }, { 73, 15 }, { 1, 14 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (rustc >= all[i].rustc)
			return all[i].llvm;
	return 0;
}

static bool is_cxx(int language)
{
	return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
		language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14 ||
		language == DW_LANG_ObjC_plus_plus || language == CXX_17 ||
		language == CXX_20 || language == CXX_23;
}

static bool is_c(int language)
{
	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
		language == DW_LANG_C11 || language == DW_LANG_ObjC ||
		language == C_17 || language == C_23;
}

/* Its options are in there, too: -fno-var-tracking, --param=max-vartrack-size. */
static bool is_told_otherwise(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *producer = dwarf_formstring(dwarf_attr(die, DW_AT_producer, &a));

	return producer && (strstr(producer, "var-track") || strstr(producer, "vartrack"));
}

/* What tells how its functions are called. */
static void read_producer(struct unit *u, Dwarf_Die *die)
{
	int language = dwarf_srclang(die);

	u->is_cxx = is_cxx(language);
	u->language = u->is_cxx || is_c(language) ? LANGUAGE_C :
		language == DW_LANG_Rust ? LANGUAGE_RUST :
		language == DW_LANG_Go && is_go_internal(die) ? LANGUAGE_GO : LANGUAGE_OTHER;
	u->is_told_otherwise = is_told_otherwise(die);
	u->clang = clang_version(die);
	u->rustc = u->language == LANGUAGE_RUST ? rustc_version(die) : 0;
	if (u->rustc)
		u->clang = llvm_version(u->rustc);
}

static void list_unit(struct debuginfo *info, struct unit *u)
{
	struct listing l = { u, ENTRIES_MAX };
	Dwarf_Die whole = u->die;

	u->listed = true;
	if (!debuginfo_whole(info, &whole))
		return;
	read_producer(u, &whole);
	list_within(&l, &whole, 0);
	vec_sort(u->funcs, u->nfuncs, by_address);
	vec_sort(u->types, u->ntypes, by_name);
}

static bool is_list(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	if (!dwarf_attr(die, DW_AT_location, &a))
		return false;
	switch (dwarf_whatform(&a)) {
	case DW_FORM_sec_offset: case DW_FORM_loclistx: case DW_FORM_data4: case DW_FORM_data8:
		return true;
	}
	return false;
}

static bool lists_within(Dwarf_Die *parent, size_t *left, unsigned int depth)
{
	Dwarf_Die die;

	for (int end = dwarf_child(parent, &die); !end && *left && depth < NESTED;
	     end = dwarf_siblingof(&die, &die)) {
		--*left;
		if (is_list(&die) || lists_within(&die, left, depth + 1))
			return true;
	}
	return false;
}

bool units_has_lists(Dwarf_Die *function)
{
	size_t left = ENTRIES_MAX;

	return lists_within(function, &left, 0);
}

/* A value in a register, as it is or as it was; not where a register points to. */
static bool is_register(const Dwarf_Op *op)
{
	return (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) || op->atom == DW_OP_regx ||
		op->atom == DW_OP_entry_value || op->atom == DW_OP_GNU_entry_value ||
		op->atom == DW_OP_stack_value;
}

/* Does a list have it in a register, anywhere? No more than `left` entries are looked at: many
 * parameters may have one list. */
static bool is_listed_in_register(Dwarf_Die *die, size_t *left)
{
	Dwarf_Addr base, start, end;
	Dwarf_Attribute a;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t n;

	if (!is_list(die) || !dwarf_attr(die, DW_AT_location, &a))
		return false;
	for (unsigned int i = 0; i < LISTED_MAX && *left; i++, --*left) {
		at = dwarf_getlocations(&a, at, &base, &start, &end, &ops, &n);
		if (at <= 0)
			break;
		for (size_t k = 0; k < n; k++)
			if (is_register(&ops[k]))
				return true;
	}
	return false;
}

/* Parameters of functions that have code, and how many of them lists have in registers. */
struct located {
	size_t left, params, lists;
};

static void count_located(struct located *l, Dwarf_Die *parent, unsigned int depth)
{
	bool code = dwarf_tag(parent) == DW_TAG_subprogram;
	Dwarf_Die die;

	if (depth == NESTED)
		return;
	for (int end = dwarf_child(parent, &die); !end && l->left;
	     end = dwarf_siblingof(&die, &die)) {
		bool param = code && dwarf_tag(&die) == DW_TAG_formal_parameter;

		l->left--;
		l->params += param && dwarf_hasattr(&die, DW_AT_location);
		l->lists += param && is_listed_in_register(&die, &l->left);
		count_located(l, &die, depth + 1);
	}
}

/* rustc puts nearly all of them into frames otherwise, or has pointers to them: of units of 24 to
 * 361 parameters one in 25 at most was in a register then, and half of them where it optimised. */
bool units_optimised(struct unit *u, Dwarf_Die *of)
{
	enum { AMONG = 5 };
	struct located l = { ENTRIES_MAX, 0, 0 };
	Dwarf_Die whole;

	if (!u->judged && dwarf_diecu(of, &whole, NULL, NULL))
		count_located(&l, &whole, 0);
	if (!u->judged)
		u->optimised = l.lists * AMONG > l.params;
	u->judged = true;
	return u->optimised;
}

Dwarf_Die *units_type(struct unit *u, int tag, const char *name)
{
	struct unit_type key = { .name = name, .tag = tag };
	size_t i = vec_prefix(u->ntypes, k, by_name(&u->types[k], &key) < 0);

	if (i == u->ntypes || by_name(&u->types[i], &key) ||
	    (i + 1 < u->ntypes && !by_name(&u->types[i + 1], &key)))
		return NULL;
	return &u->types[i].die;
}

static size_t func_in(struct debuginfo *info, struct unit *u, raddr_t at,
		      const struct unit_func **ret)
{
	size_t n = 0;

	if (!u->listed)
		list_unit(info, u);
	size_t i = vec_prefix(u->nfuncs, k, u->funcs[k].at < at);

	while (i + n < u->nfuncs && u->funcs[i + n].at == at)
		n++;
	*ret = n ? &u->funcs[i] : NULL;
	return n;
}

/* Ranges of units may overlap in a hostile file; of others the first one has it. */
size_t units_func(struct units *u, raddr_t at, struct unit **unit, const struct unit_func **ret)
{
	enum { TRIED_MAX = 8 };
	size_t tried = 0;
	size_t i = vec_prefix(u->nranges, k, u->ranges[k].start <= at);

	while (i-- && tried < TRIED_MAX && u->ranges[i].reach > at) {
		if (u->ranges[i].end <= at)
			continue;
		*unit = &u->v[u->ranges[i].unit];
		size_t n = func_in(u->info, *unit, at, ret);

		if (n)
			return n;
		tried++;
	}
	return 0;
}
