/* SPDX-License-Identifier: MIT */
/*
 * symtab: the symbol tables of a file, as they stand in it.
 */
#ifndef SYMBOLS_SYMTAB_H
#define SYMBOLS_SYMTAB_H

#include "symbols/dynamic.h"
#include "symbols/symbols.h"

struct symtab {
	Elf64_Sym *v;
	size_t n;
	char *strings;		/* ends with a zero byte; versions cut off,
				 * control characters replaced */
	size_t strings_size;
	uint8_t source;		/* enum func_source */
};

/* The table in the section of type SHT_SYMTAB or SHT_DYNSYM. An absent or
 * broken one is empty. 0 or -ENOMEM. */
int symtab_read(const struct image *, uint32_t type, struct symtab *ret);
/* .dynsym, without section headers if need be. */
int symtab_read_dynamic(const struct image *, const struct dynamic *,
			struct symtab *ret);
void symtab_clear(struct symtab *);

/* Never NULL. */
const char *symtab_name(const struct symtab *, const Elf64_Sym *);

#endif
