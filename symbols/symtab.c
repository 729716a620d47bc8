/* SPDX-License-Identifier: MIT */
#include "symbols/symtab.h"

#include <errno.h>
#include <string.h>

/*
 * Names become what users may see: `memcpy@@GLIBC_2.14` is memcpy, and control
 * characters, with which a file could play tricks on a terminal, are replaced.
 * Strings may share their tails; a cut or a replacement in a shared tail is
 * right for all that share it.
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
}

int symtab_read(const struct image *im, uint32_t type, struct symtab *ret)
{
	const Elf64_Shdr *sh = image_section_by_type(im, type);
	const Elf64_Shdr *str;
	int err;

	*ret = (struct symtab){ 0 };
	if (!sh || sh->sh_entsize != sizeof(Elf64_Sym) ||
	    sh->sh_link >= im->nsections)
		return 0;
	str = &im->sections[sh->sh_link];
	if (str->sh_type != SHT_STRTAB)
		return 0;
	err = image_piece(im, sh->sh_offset, sh->sh_size, &ret->v);
	if (!err)
		err = image_piece(im, str->sh_offset, str->sh_size,
				  &ret->strings);
	if (err) {
		symtab_clear(ret);
		return err == -ENOMEM ? err : 0;
	}
	ret->n = sh->sh_size / sizeof(Elf64_Sym);
	ret->strings_size = str->sh_size;
	clean_strings(ret->strings, ret->strings_size);
	return 0;
}

static void *copy_of(const struct image *im, raddr_t addr, uint64_t size)
{
	const uint8_t *p = image_bytes(im, addr, size);
	char *copy = p ? malloc(size + 1) : NULL;

	if (copy) {
		memcpy(copy, p, size);
		copy[size] = '\0';
	}
	return copy;
}

int symtab_read_dynamic(const struct image *im, const struct dynamic *d,
			struct symtab *ret)
{
	uint64_t n;
	int err = symtab_read(im, SHT_DYNSYM, ret);

	if (err || ret->n)
		return err;
	symtab_clear(ret);
	n = dynamic_symbols(im, d);
	if (!n)
		return 0;
	ret->v = copy_of(im, d->tags[DT_SYMTAB], n * sizeof(Elf64_Sym));
	ret->strings = copy_of(im, d->tags[DT_STRTAB], d->tags[DT_STRSZ]);
	if (!ret->v || !ret->strings) {
		symtab_clear(ret);
		return 0;
	}
	ret->n = n;
	ret->strings_size = d->tags[DT_STRSZ];
	clean_strings(ret->strings, ret->strings_size);
	return 0;
}

void symtab_clear(struct symtab *t)
{
	free(t->v);
	free(t->strings);
	*t = (struct symtab){ .source = t->source };
}

const char *symtab_name(const struct symtab *t, const Elf64_Sym *sym)
{
	return sym->st_name < t->strings_size ? t->strings + sym->st_name : "";
}
