/* SPDX-License-Identifier: MIT */
/*
 * pointers: which places in the code may something else than a direct branch
 * lead to?
 */
#ifndef SYMBOLS_POINTERS_H
#define SYMBOLS_POINTERS_H

#include "symbols/elf/symtab.h"
#include "symbols/unwind/unwind.h"

/* Add every address in text that the file's data, relocations, headers and dynamic symbols
 * name, to `data` those that its data and relocations name elsewhere in it, and to `words` where
 * its relocations put addresses in text. 0, -ENOMEM, or -EBADMSG when they are more than a file
 * can hold. */
int pointers_find(const struct image *, const struct dynamic *,
		  const struct symtab *dynsym, struct addresses *ret,
		  struct addresses *data, struct addresses *words);
/* The address of this file that a relocation stores. False: it is none. */
bool pointers_relocated(const struct symtab *dynsym, const GElf_Rela *,
			raddr_t *ret);
/* Sort, and drop doubles. */
void addresses_sort(struct addresses *);
bool addresses_has(const struct addresses *, raddr_t addr);

#endif
