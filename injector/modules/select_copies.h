/* SPDX-License-Identifier: MIT */
/*
 * select_copies: where does a copy of an inlined function end?
 *
 * The debug information says which instructions are the copy's. They may be mixed with others':
 * then nothing says when a call of it ends. It does end somewhere if
 *
 *  1. all jumps of the function are known: it has none that is computed, but to linkage stubs;
 *  2. what stands among the copy's instructions, or between its begin and the first of them, is
 *     counted to it, if it is no call and no jump, and control comes there from the copy alone: a
 *     compiler has mixed them;
 *  3. of these, those are the copy that control comes to from its begin without leaving them;
 *  4. control comes to them from elsewhere at the begin alone, and to that not from within: a round
 *     of a loop would be taken for a call;
 *  5. it leaves them for places of the same function alone: the ends. It may come there from
 *     elsewhere, too: then no copy is open, and nothing is told;
 *  6. the stack pointer is at the begin and at each end as far from the function's frame: by it a
 *     copy is told from another of the same code, of a call further out;
 *  7. what else is the copy's, before its begin or behind its ends, has no call and no loop: it is
 *     some instructions that the compiler has moved, and takes no time to speak of.
 *
 * Where an exception comes out of the copy, its landing pads are ends, too, and optional ones.
 */
#ifndef INJECTOR_SELECT_COPIES_H
#define INJECTOR_SELECT_COPIES_H

#include "injector/modules/select.h"
#include "symbols/lines/inlined.h"

/* Of a file, for all its copies: the pieces of functions that lie apart from them, by function; and
 * how many instructions may still be looked at, for a file may have been made to keep us busy. */
struct fragments {
	const struct func **v;	/* owned */
	size_t n, cap;
	size_t budget;
};

/* Those of a file; 0 or -ENOMEM. */
int fragments_list(const struct symbols *, struct fragments *ret);
/* Add the ends of a copy, of a function `f` with code, if it has any, and mark where it begins, a
 * place of `places`, as the begin of a call. 0 or -ENOMEM. */
int places_add_ends(struct marked_places *places, struct module *, const struct func *f,
		    struct fragments *, const struct inlined_copy *);

/* An end of a selection, by the numbers of its probe and of the begin's. */
struct copy_link {
	size_t begin, end;	/* SIZE_MAX: not marked */
	bool needed;
};

/* Of each of s->ends; and by number of a probe at how many places its copy has ended, 0: it is
 * none, or not all of these are marked. Both are the caller's. 0 or -ENOMEM. */
int copies_link(const struct selected *s, struct copy_link **links, size_t **counts);

#endif
