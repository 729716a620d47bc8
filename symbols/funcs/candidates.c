/* SPDX-License-Identifier: MIT */
/*
 * candidates: which symbols name functions, and which name of many is the best?
 */
#include "symbols/funcs/funcs.h"

#include <errno.h>
#include <string.h>

/* $x, $d, $x.foo: marks of the arm64 assembler between code and data. */
static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("xdta", name[1]) &&
	       (!name[2] || name[2] == '.');
}

/* Hand-written assembly often forgets to say that a symbol is a function; one
 * with a size or an unwind entry of its own is one. Names with a leading dot
 * are marks of tools (.annobin_...). */
static bool untyped_is_function(const struct unwind *u, const GElf_Sym *sym,
				const GElf_Shdr *sh, const char *raw)
{
	const struct fde *fde;

	if (raw[0] == '.' || (sh && !(sh->sh_flags & SHF_EXECINSTR)))
		return false;
	if (sym->st_size)
		return true;
	fde = unwind_find(u, sym->st_value);
	return fde && fde->range.start == sym->st_value;
}

/* A mark of where a section ends (Go's runtime.etext): what follows there is another's,
 * as the linkage table. */
static bool is_end(const GElf_Sym *sym, const GElf_Shdr *sh)
{
	return sh && sym->st_value >= sh->sh_addr + sh->sh_size;
}

static bool is_function(const struct image *im, const struct unwind *u,
			const GElf_Sym *sym, const GElf_Shdr *sh,
			const char *raw)
{
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS ||
	    sym->st_shndx == SHN_COMMON || is_end(sym, sh) || !image_is_text(im, sym->st_value))
		return false;
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return untyped_is_function(u, sym, sh, raw);
	}
	return false;
}

/*
 * What the user is most likely to know the function by: an exported name
 * before a local one, `write` before `__write` (the C library exports the
 * plain one as weak), and only then global before weak.
 */
static uint8_t rank_of(const GElf_Sym *sym, const char *raw)
{
	uint8_t bind = GELF_ST_BIND(sym->st_info);

	return (bind == STB_LOCAL) << 2 | (raw[0] == '_') << 1 |
	       (bind == STB_WEAK);
}

static int candidate_add(struct candidates *c, const struct candidate *candidate)
{
	struct candidate *slot = vec_push(c->v, c->n, c->cap);

	if (!slot)
		return -ENOMEM;
	*slot = *candidate;
	return 0;
}

int candidates_add(const struct image *im, const struct image *sections,
		   const struct unwind *u, const struct symtab *table,
		   struct candidates *ret)
{
	int err = 0;

	ret->files++;
	for (size_t i = 1; i < table->n && !err; i++) {
		const GElf_Shdr *sh;
		const char *raw;
		GElf_Sym sym;

		if (!symtab_get(table, i, &sym))
			continue;
		sh = sym.st_shndx < sections->nsections ?
			&sections->sections[sym.st_shndx] : NULL;
		raw = symtab_name(table, &sym);
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			ret->files++;
		if (!*raw || is_mapping_symbol(raw) ||
		    !is_function(im, u, &sym, sh, raw))
			continue;
		err = candidate_add(ret, &(struct candidate){
			.addr = sym.st_value,
			.size = sym.st_size,
			.limit = sh ? sh->sh_addr + sh->sh_size : UINT64_MAX,
			.raw = raw,
			.file = GELF_ST_BIND(sym.st_info) == STB_LOCAL ?
				ret->files : 0,
			.source = table->source,
			.rank = rank_of(&sym, raw),
			.ifunc = GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC,
		});
	}
	return err;
}

static int candidate_compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank - y->rank;

	size_t n = strlen(x->raw), m = strlen(y->raw);

	if (n != m)
		return n < m ? -1 : 1;
	int order = strcmp(x->raw, y->raw);

	return order ? order : x->source - y->source;
}

void candidates_sort(struct candidates *c)
{
	size_t kept = 0;

	if (c->n)
		qsort(c->v, c->n, sizeof(*c->v), candidate_compare);
	for (size_t i = 0; i < c->n; i++) {
		const struct candidate *last = kept ? &c->v[kept - 1] : NULL;

		if (!last || last->addr != c->v[i].addr ||
		    strcmp(last->raw, c->v[i].raw))
			c->v[kept++] = c->v[i];
	}
	c->n = kept;
}
