/* SPDX-License-Identifier: MIT */
#include "symbols/elf/dynamic.h"

#include <string.h>

void dynamic_read(const struct image *im, struct dynamic *ret)
{
	const GElf_Phdr *ph = image_segment(im, PT_DYNAMIC);
	Elf_Data *table;
	GElf_Dyn dyn;

	*ret = (struct dynamic){ .present = ph != NULL };
	table = ph ? image_table(im, ph->p_vaddr, ph->p_filesz, ELF_T_DYN) :
		     NULL;
	for (int i = 0; table && gelf_getdyn(table, i, &dyn); i++) {
		if (dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag > 0 && dyn.d_tag < DYNAMIC_TAGS)
			ret->tags[dyn.d_tag] = dyn.d_un.d_val;
		else if (dyn.d_tag == DT_GNU_HASH)
			ret->gnu_hash = dyn.d_un.d_ptr;
		else if (dyn.d_tag == DT_VERSYM)
			ret->versym = dyn.d_un.d_ptr;
	}
}

static bool word_at(const struct image *im, raddr_t addr, uint32_t *ret)
{
	const uint8_t *p = image_bytes(im, addr, sizeof(*ret));

	if (p)
		memcpy(ret, p, sizeof(*ret));
	return p != NULL;
}

/* The table holds only what is exported, ordered by bucket: the last chain of
 * the highest bucket ends with the last symbol, marked by its lowest bit. */
static uint64_t gnu_hash_symbols(const struct image *im, raddr_t table)
{
	uint32_t nbuckets, first, bloom, word, last = 0;

	if (!word_at(im, table, &nbuckets) || !word_at(im, table + 4, &first) ||
	    !word_at(im, table + 8, &bloom))
		return 0;
	raddr_t buckets = table + 16 + 8 * (uint64_t)bloom;
	raddr_t chains = buckets + 4 * (uint64_t)nbuckets;

	for (uint32_t i = 0; i < nbuckets; i++) {
		if (!word_at(im, buckets + 4 * (uint64_t)i, &word))
			return 0;
		last = MAX(last, word);
	}
	if (last < first)
		return first;
	for (uint64_t i = last - first;; i++, last++) {
		if (!word_at(im, chains + 4 * i, &word))
			return 0;
		if (word & 1)
			return (uint64_t)last + 1;
	}
}

/* Up to the highest symbol that a relocation of this table names. */
static uint64_t named_symbols(const struct image *im, raddr_t addr, uint64_t size)
{
	struct relas table = image_relas(im, addr, size);
	uint64_t n = 0;

	for (size_t i = 0; i < table.n; i++)
		n = MAX(n, GELF_R_SYM(relas_get(&table, i).r_info) + 1);
	return n;
}

/* In a file that exports nothing, this hash table counts nothing. Relocations
 * know what is imported; a linker puts the strings behind the symbols. */
static uint64_t gnu_symbols(const struct image *im, const struct dynamic *d)
{
	const uint64_t *t = d->tags;
	uint64_t n = named_symbols(im, t[DT_RELA], t[DT_RELASZ]);

	if (t[DT_PLTREL] == DT_RELA)
		n = MAX(n, named_symbols(im, t[DT_JMPREL], t[DT_PLTRELSZ]));
	if (t[DT_STRTAB] > t[DT_SYMTAB])
		n = MIN(n, (t[DT_STRTAB] - t[DT_SYMTAB]) / sizeof(Elf64_Sym));
	return MAX(n, gnu_hash_symbols(im, d->gnu_hash));
}

uint64_t dynamic_symbols(const struct image *im, const struct dynamic *d)
{
	uint32_t n = 0;

	if (d->tags[DT_HASH] && word_at(im, d->tags[DT_HASH] + 4, &n))
		return n;
	return d->gnu_hash ? gnu_symbols(im, d) : 0;
}
