/* SPDX-License-Identifier: MIT */
/*
 * places: where are values of these types at a function's entry and exit, by the calling
 * convention?
 *
 * x86-64: System V ABI, AMD64 Architecture Processor Supplement, 3.2.3. arm64: Procedure Call
 * Standard for the Arm 64-bit Architecture (AAPCS64), 6.4 to 6.9.
 */
#ifndef VALUES_PLACES_H
#define VALUES_PLACES_H

#include "values/signature.h"

/*
 * Give each value that has PLACE_BY_TYPE its place. A function for which the debug information
 * names other registers than the convention has a convention of its own: then what is not in
 * registers that it names has no known place. So has what comes after a type that is not known.
 */
void places_settle(struct signature *);

/* Registers by their numbers in DWARF. */
struct numbering {
	unsigned int stack, frame;
	unsigned int vector, vectors;	/* the first, and how many follow */
	unsigned int general;		/* how many, from 0 on */
};

/* The registers that conventions of other languages are made of, in their order. */
struct registers {
	const uint8_t *general;
	unsigned int ngeneral, nvector;
	uint8_t results[2];		/* general ones; of vectors it is the first two */
	int32_t stack;			/* where the first argument is that has no register, from
					 * the stack pointer at the entry */
};

/* What an instruction set has of its own. */
struct convention {
	/* The places of all parameters, and of the result. */
	void (*place)(const struct signature *, struct place params[PARAMS_MAX],
		      struct place *result);
	struct numbering numbering;
	bool extended;			/* a long double is none of IEEE 754, but the x87's */
	const struct registers *rust, *go;	/* NULL: not known */
};

extern const struct convention convention_x86_64, convention_arm64;
/* By a file's e_machine; NULL: none is known. */
const struct convention *convention_of(uint16_t machine);

/* ---- places_rust.c ------------------------------------------------------- */

void places_rust(const struct signature *, const struct registers *,
		 struct place params[PARAMS_MAX], struct place *result);
/* May it be a function of C's convention, by its types? */
bool places_rust_foreign(const struct signature *);

/* ---- places_go.c --------------------------------------------------------- */

/* False: it is of an older convention, for what DWARF says of it contradicts this one. */
bool places_go(const struct signature *, const struct registers *,
	       struct place params[PARAMS_MAX], struct place *result);

/* ---- what both need ------------------------------------------------------ */

/* Add a piece; false if there is no room. */
static inline bool place_add(struct place *p, const struct piece *piece)
{
	if (p->n == PIECES_MAX)
		return false;
	p->pieces[p->n++] = *piece;
	return true;
}

#endif
