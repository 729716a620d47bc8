/* SPDX-License-Identifier: MIT */
/*
 * golang: which code of this file did Go's compiler make, and what are its functions?
 *
 * Every program of Go's carries a table by which its runtime names the callers in a
 * traceback, stripped or not.
 */
#ifndef SYMBOLS_GOLANG_H
#define SYMBOLS_GOLANG_H

#include "symbols/dynamic.h"
#include "symbols/funcs.h"

struct golang_layout;

struct golang {
	/*
	 * From the first of its functions to the end of the last, runtime and assembly
	 * included. Empty: none. All addresses, if it is a program of Go's whose table
	 * says nothing clear; then the rest is not set.
	 */
	struct range range;
	const struct golang_layout *layout;	/* of the table; NULL: not clear */
	raddr_t table;
	raddr_t funcs;		/* pairs of a function's begin and description */
	uint64_t n;
	raddr_t text;		/* what begins are relative to; 0: nothing */
};

void golang_find(const struct image *, const struct dynamic *, struct golang *ret);
/* Add its functions; names go to `strings`. Those of a table that lies are fewer. 0 or
 * -ENOMEM. */
int golang_add(const struct image *, const struct golang *, struct strings *,
	       struct candidates *ret);

#endif
