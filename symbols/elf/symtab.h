/* SPDX-License-Identifier: MIT */
/*
 * symtab: the symbol tables of a file, as they stand in it.
 */
#ifndef SYMBOLS_SYMTAB_H
#define SYMBOLS_SYMTAB_H

#include "symbols/elf/dynamic.h"
#include "symbols/symbols.h"

/* Owned by the image that it was read from. */
struct symtab {
	Elf_Data *symbols;
	size_t n;
	const char *strings;	/* ends with a zero byte; versions cut off,
				 * control characters replaced */
	size_t strings_size;
	uint8_t source;		/* enum func_source */
	int err;		/* errno: it is there, but could not be read */
};

/* .symtab. An absent or broken one is empty, and so is one that could not be read. */
void symtab_read(const struct image *, struct symtab *ret);
/* .dynsym, where the loader looks for it: it needs no section headers. */
void symtab_read_dynamic(const struct image *, const struct dynamic *,
			 struct symtab *ret);

/* False if there is no such symbol. */
bool symtab_get(const struct symtab *, size_t index, GElf_Sym *ret);
/* Never NULL. */
const char *symtab_name(const struct symtab *, const GElf_Sym *);

#endif
