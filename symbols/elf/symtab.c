/* SPDX-License-Identifier: MIT */
#include "symbols/elf/symtab.h"

#include <errno.h>

/*
 * Names become what users may see: `memcpy@@GLIBC_2.14` is memcpy, and control
 * characters, with which a file could play tricks on a terminal, are replaced.
 * Strings may share their tails; a cut or a replacement in a shared tail is
 * right for all that share it. The last string ends with the table.
 */
static void clean_strings(char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = s[i];

		if (c == '@' && i && s[i - 1])
			s[i] = '\0';
		else if (c && (c < ' ' || c == 0x7f))
			s[i] = '?';
	}
	s[n - 1] = '\0';
}

/* libelf read both from the file into memory of its own, so the strings can be
 * cleaned where they are. */
static void set_tables(struct symtab *t, Elf_Data *symbols, Elf_Data *strings)
{
	if (!symbols || !strings || symbols->d_type != ELF_T_SYM)
		return;
	clean_strings(strings->d_buf, strings->d_size);
	t->symbols = symbols;
	t->n = symbols->d_size / sizeof(Elf64_Sym);
	t->strings = strings->d_buf;
	t->strings_size = strings->d_size;
}

void symtab_read(const struct image *im, struct symtab *ret)
{
	const GElf_Shdr *sh = image_section_by_type(im, SHT_SYMTAB), *str;

	if (!sh || sh->sh_link >= im->nsections)
		return;
	str = &im->sections[sh->sh_link];
	errno = 0;		/* a table that makes no sense leaves it so */
	if (str->sh_type == SHT_STRTAB)
		set_tables(ret, image_section_data(im, sh),
			   image_section_data(im, str));
	ret->err = ret->n ? 0 : errno;
}

void symtab_read_dynamic(const struct image *im, const struct dynamic *d,
			 struct symtab *ret)
{
	uint64_t n = dynamic_symbols(im, d);

	set_tables(ret, image_table(im, d->tags[DT_SYMTAB],
				    n * sizeof(Elf64_Sym), ELF_T_SYM),
		   image_table(im, d->tags[DT_STRTAB], d->tags[DT_STRSZ],
			       ELF_T_BYTE));
}

bool symtab_get(const struct symtab *t, size_t index, GElf_Sym *ret)
{
	return index < t->n && gelf_getsym(t->symbols, index, ret);
}

const char *symtab_name(const struct symtab *t, const GElf_Sym *sym)
{
	return sym->st_name < t->strings_size ? t->strings + sym->st_name : "";
}
