/* SPDX-License-Identifier: MIT */
/* scopes: which blocks and inlined functions of a function is a place in? */
#ifndef SYMBOLS_SCOPES_H
#define SYMBOLS_SCOPES_H

#include <elfutils/libdw.h>

#include "base/base.h"

enum { SCOPES_MAX = 64 };	/* one within the other */

struct scopes {
	Dwarf_Die v[SCOPES_MAX];	/* from the function itself inwards */
	size_t n;
	size_t frame;			/* the innermost that is a function */
	bool begins;			/* the place is where that begins */
};

void scopes_find(Dwarf_Die *function, raddr_t pc, struct scopes *ret);
/* The inlined function of that number, which begins there, instead of what was found: that may have
 * no code of its own at the place. False: there is none of that number. */
bool scopes_begin(struct scopes *, Dwarf *, uint64_t die);
/* The line of the source at `pc`; 0: it is not known. */
uint64_t scopes_line(Dwarf_Die *unit, raddr_t pc);
/* Is the function's frame not made yet there? Not of code that is optimised, which says itself what
 * is true where. */
bool scopes_early(Dwarf_Die *function, raddr_t pc);

#endif
