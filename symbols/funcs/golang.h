/* SPDX-License-Identifier: MIT */
/*
 * golang: which code of this file did Go's compiler make, and what are its functions?
 *
 * Every program of Go's carries a table by which its runtime names the callers in a
 * traceback, stripped or not.
 */
#ifndef SYMBOLS_GOLANG_H
#define SYMBOLS_GOLANG_H

#include "symbols/elf/dynamic.h"
#include "symbols/funcs/funcs.h"

/* Where a version of the table keeps what is asked for: offsets from its start. */
struct golang_layout {
	uint32_t magic;
	uint8_t funcs;		/* the word that is the offset of the functions, or
				 * with `inlined` those themselves */
	bool inlined;
	uint8_t names;		/* the word that is the offset of the names, and the
				 * third but it of the tables by address; 0: they are
				 * relative to the table */
	uint8_t text;		/* the word that functions are relative to, as 32
				 * bits each; 0: they are addresses */
	uint8_t end;		/* of a description, from its start, before the
				 * offsets of its own tables; 0: not asked */
};

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
/* Bytes of a word, from 1 to 8, at a link-time address; false: the file has none. */
bool golang_read(const struct image *, raddr_t at, size_t size, uint64_t *ret);
/* The i-th function: its code (empty: of no use), and where its description is. False:
 * there is none. */
bool golang_func(const struct image *, const struct golang *, uint64_t i,
		 struct range *code, raddr_t *description);
/* Bytes that say where a function begins, in the table and its description. */
static inline size_t golang_begin_size(const struct golang_layout *l)
{
	return l->text ? sizeof(uint32_t) : sizeof(uint64_t);
}

/*
 * golang_unsafe.c: code at which no goroutine goes on that was preempted, as the
 * runtime's tables say. Sorted and disjoint; owned by the caller. 0 or -ENOMEM.
 */
int golang_unsafe(const struct image *, const struct golang *, struct range **ret, size_t *n);

/* Add its functions; names go to `strings`. Those of a table that lies are fewer. 0 or
 * -ENOMEM. */
int golang_add(const struct image *, const struct golang *, struct strings *,
	       struct candidates *ret);

#endif
