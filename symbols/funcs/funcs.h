/* SPDX-License-Identifier: MIT */
/*
 * funcs: from symbol tables and unwind entries, what are the functions?
 */
#ifndef SYMBOLS_FUNCS_H
#define SYMBOLS_FUNCS_H

#include "symbols/names/demangle.h"
#include "symbols/funcs/pointers.h"
#include "symbols/elf/symtab.h"
#include "symbols/unwind/unwind.h"

/* A symbol that names a function. */
struct candidate {
	raddr_t addr;
	uint64_t size;
	raddr_t limit;		/* end of its section */
	const char *raw;
	uint32_t file;		/* which STT_FILE it follows; 0: not local */
	uint8_t source;		/* enum func_source */
	uint8_t rank;		/* the lowest names the function */
	bool ifunc;
};

struct candidates {
	struct candidate *v;
	size_t n, cap;
	uint32_t files;		/* file numbers given so far */
};

/* Add the functions of one table. `sections` is the image that the table is
 * of (a debug file has its own numbers), `im` the one with the text. */
int candidates_add(const struct image *im, const struct image *sections,
		   const struct unwind *, const struct symtab *,
		   struct candidates *);
/* By address, best name first, without doubles. */
void candidates_sort(struct candidates *);

/* Fill funcs and aliases of `ret`; names go to `strings`, or stay where the
 * candidates have them. `pointers` is sorted. 0 or -ENOMEM. */
int funcs_build(const struct image *, const struct unwind *,
		const struct candidates *, const struct addresses *pointers,
		struct strings *, struct symbols *ret);

/* Find the parents of fragments that have a name, and the fragments without bytes. 0
 * or -ENOMEM. */
int fragments_adopt(const struct candidates *, struct symbols *);
/* The name says that it is the cold part of another function: the length of
 * that one's name. 0: it does not. */
size_t fragment_parent(const char *raw);

/* ---- func_index.c: functions in their order ------------------------------ */

/* By address. */
void funcs_sort(struct symbols *);
/* They are complete and sorted: flag those that are FUNC_REACHED, and make the index. */
void funcs_settle(struct symbols *);
/* The function that starts at `addr`, or NULL. */
struct func *funcs_find(const struct symbols *, raddr_t addr);

#endif
