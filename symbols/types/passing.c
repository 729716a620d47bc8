/* SPDX-License-Identifier: MIT */
/*
 * passing: is a class passed by a pointer to a copy of it? It is if it has a copy or move
 * constructor or a destructor that is not trivial (Itanium C++ ABI, 3.1.2.3). clang says so (DWARF
 * 5, 3.4.2); gcc declares the functions, and which are the compiler's own.
 */
#include <dwarf.h>
#include <string.h>

#include "symbols/elf/debuginfo.h"
#include "symbols/types/build.h"

enum { LISTED_MAX = 4096, CHAIN_MAX = 8 };

/* `= default` within the class leaves it to the members, and so does what gcc declares of its own
 * accord, as the destructors of classes within functions. */
static bool is_own(Dwarf_Die *function)
{
	uint64_t how;

	return die_flag(function, DW_AT_artificial) ||
		(die_number(function, DW_AT_defaulted, &how) && how == DW_DEFAULTED_in_class);
}

static bool is_same(Dwarf_Die *reference, Dwarf_Die *class)
{
	Dwarf_Die of = *reference;
	int tag = dwarf_tag(&of);

	if (tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type)
		return false;
	for (unsigned int i = 0; i < CHAIN_MAX && die_type(&of, &of); i++) {
		if (of.addr == class->addr)
			return true;
		tag = dwarf_tag(&of);
		if (tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
		    tag != DW_TAG_typedef)
			return false;
	}
	return false;
}

/* Its parameter is a reference to the class, and there is no other. */
static bool copies(Dwarf_Die *function, Dwarf_Die *class)
{
	Dwarf_Die child, type;
	unsigned int n = 0;
	bool same = false;

	for (int end = dwarf_child(function, &child); !end && n < 2;
	     end = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    die_flag(&child, DW_AT_artificial))
			continue;
		same = die_type(&child, &type) && is_same(&type, class);
		n++;
	}
	return n == 1 && same;
}

/* Its own name, without template arguments. */
static bool is_constructor(const char *name, const char *class)
{
	size_t n = class ? strcspn(class, "<") : 0;

	return n && !strncmp(name, class, n) && (!name[n] || name[n] == '<');
}

static bool is_not_trivial(Dwarf_Die *function, Dwarf_Die *class)
{
	const char *name = debuginfo_name(function);
	uint64_t is_virtual;

	if (die_number(function, DW_AT_virtuality, &is_virtual) && is_virtual)
		return true;
	if (!name || is_own(function))
		return false;
	return *name == '~' || (is_constructor(name, debuginfo_name(class)) &&
				copies(function, class));
}

static bool has_such(Dwarf_Die *class)
{
	Dwarf_Die child;
	size_t n = 0;

	for (int end = dwarf_child(class, &child); !end && n < LISTED_MAX;
	     end = dwarf_siblingof(&child, &child), n++)
		if (dwarf_tag(&child) == DW_TAG_subprogram ? is_not_trivial(&child, class) :
		    dwarf_tag(&child) == DW_TAG_inheritance &&
		    dwarf_hasattr(&child, DW_AT_virtuality))
			return true;
	return false;
}

bool class_is_indirect(struct unit *unit, Dwarf_Die *class, bool *told)
{
	uint64_t how;

	*told = die_number(class, DW_AT_calling_convention, &how);
	if (*told)
		return how == DW_CC_pass_by_reference;
	return unit->is_cxx && has_such(class);
}
