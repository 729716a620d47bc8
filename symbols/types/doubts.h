/* SPDX-License-Identifier: MIT */
/*
 * doubts: where is a function called otherwise than its declaration says, though its debug
 * information does not tell? What is not certain then has no place.
 *
 * Knows compilers by what they write as the producer, and by what they leave out.
 */
#ifndef SYMBOLS_DOUBTS_H
#define SYMBOLS_DOUBTS_H

#include "symbols/symbols.h"
#include "symbols/types/units.h"
#include "values/signature.h"

struct doubted {
	struct signature *s;	/* parameters and result are read, their places not settled */
	struct unit *unit;
	const struct func *func;
	Dwarf_Die *die;		/* of the code */
	Dwarf_Die *origin;	/* what that was made of; NULL: itself */
	size_t declared;	/* parameters that the debug information has of the source's */
};

void doubts_raise(struct doubted *);
/* The same of what is told of a place within a function, where no convention helps. */
void doubts_raise_within(struct signature *);

#endif
