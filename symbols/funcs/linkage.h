/* SPDX-License-Identifier: MIT */
/*
 * linkage: through which words does a file reach the functions of others, and
 * where is the code that jumps through them?
 */
#ifndef SYMBOLS_LINKAGE_H
#define SYMBOLS_LINKAGE_H

#include "symbols/funcs/funcs.h"

/* Fill slots, ifunc_slots and tables of `ret`, whose functions are known already.
 * 0 or -ENOMEM. */
int linkage_read(const struct image *, const struct dynamic *,
		 const struct symtab *dynsym, struct symbols *ret);
/* See symbols_add_stubs. */
int linkage_add_stubs(struct strings *, struct symbols *, struct plt_stub *, size_t n);
/* Is this the name of a section of linkage stubs? */
bool linkage_is_table(const char *section);

#endif
