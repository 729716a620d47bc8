/* SPDX-License-Identifier: MIT */
#include "symbols/types/scopes.h"

#include <dwarf.h>

enum { CHILDREN_MAX = 1 << 16 };	/* entries that are looked at */

static bool is_scope(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
		tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* The scope within `parent` that has the place; false: none has. */
static bool find_inner(Dwarf_Die *parent, raddr_t pc, size_t *left, Dwarf_Die *ret)
{
	Dwarf_Die die;

	for (int end = dwarf_child(parent, &die); !end && *left;
	     end = dwarf_siblingof(&die, &die), --*left)
		if (is_scope(dwarf_tag(&die)) && dwarf_haspc(&die, pc) == 1) {
			*ret = die;
			return true;
		}
	return false;
}

void scopes_find(Dwarf_Die *function, raddr_t pc, struct scopes *ret)
{
	size_t left = CHILDREN_MAX;

	ret->v[0] = *function;
	ret->frame = 0;
	ret->begins = false;
	for (ret->n = 1; ret->n < SCOPES_MAX; ret->n++) {
		if (!find_inner(&ret->v[ret->n - 1], pc, &left, &ret->v[ret->n]))
			break;
		if (dwarf_tag(&ret->v[ret->n]) == DW_TAG_inlined_subroutine)
			ret->frame = ret->n;
	}
}

bool scopes_begin(struct scopes *s, Dwarf *dwarf, uint64_t die)
{
	if (!dwarf_offdie(dwarf, die, &s->v[1]) ||
	    dwarf_tag(&s->v[1]) != DW_TAG_inlined_subroutine)
		return false;
	s->frame = 1;
	s->n = 2;
	s->begins = true;
	return true;
}

uint64_t scopes_line(Dwarf_Die *unit, raddr_t pc)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
	int number;

	return line && !dwarf_lineno(line, &number) && number > 0 ? (uint64_t)number : 0;
}

bool scopes_early(Dwarf_Die *function, raddr_t pc)
{
	Dwarf_Addr *behind = NULL;
	int n = dwarf_entry_breakpoints(function, &behind);
	bool early = false;

	for (int i = 0; i < n && !early; i++)
		early = pc < behind[i];
	free(behind);
	return early;
}
