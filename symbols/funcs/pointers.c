/* SPDX-License-Identifier: MIT */
#include "symbols/funcs/pointers.h"

#include <errno.h>
#include <string.h>

enum { LISTINGS_MAX = 8 };

struct search {
	const struct image *im;
	const struct symtab *dynsym;
	struct addresses *found, *data, *words;
	size_t most;		/* no real file has more; see pointers_find */
	struct range listings[LISTINGS_MAX];	/* see is_listing() */
	size_t nlistings;
};

static int pointers_note(const struct search *s, raddr_t addr)
{
	const struct load *l = image_load_at(s->im, addr);

	if (!l)
		return 0;
	struct addresses *to = l->flags & PF_X ? s->found : s->data;

	if (to->n >= s->most)
		return -EBADMSG;
	return addresses_add(to, addr);
}

/* The same of what a relocation puts into a word. */
static int note_relocated(const struct search *s, raddr_t at, raddr_t addr)
{
	size_t before = s->found->n;
	int err = pointers_note(s, addr);

	return err || s->found->n == before ? err : addresses_add(s->words, at);
}

/*
 * Compilers list the sites that they leave for tracers. Such an address is
 * written to, not jumped to: a list entry for the nops behind a landing pad is
 * no reason to keep a jump from them.
 */
static bool is_listing(const char *section)
{
	static const char *const names[] = {
		"__patchable_function_entries", "__mcount_loc",
		"xray_instr_map", "xray_fn_idx",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(section, names[i]))
			return true;
	return false;
}

static void find_listings(struct search *s)
{
	for (size_t i = 1; i < s->im->nsections; i++) {
		const GElf_Shdr *sh = &s->im->sections[i];

		if (s->nlistings < LISTINGS_MAX &&
		    is_listing(image_section_name(s->im, sh)))
			s->listings[s->nlistings++] = (struct range){
				sh->sh_addr, sh->sh_addr + sh->sh_size };
	}
}

static bool in_listing(const struct search *s, raddr_t at)
{
	for (size_t i = 0; i < s->nlistings; i++)
		if (range_has(s->listings[i], at))
			return true;
	return false;
}

/* The word that a relocation without addend holds. */
static int note_word(const struct search *s, raddr_t at)
{
	const uint8_t *p = image_bytes(s->im, at, 8);
	raddr_t value;

	if (!p || in_listing(s, at))
		return 0;
	memcpy(&value, p, 8);
	return note_relocated(s, at, value);
}

/* ---- relocations --------------------------------------------------------- */

/*
 * Relocation types differ between machines, but what matters does not: without
 * a symbol the addend is an address of this file (RELATIVE, IRELATIVE), with
 * one it is added to the symbol's. A type that means something else (thread
 * storage) can at worst name a barrier that is none.
 */
bool pointers_relocated(const struct symtab *dynsym, const GElf_Rela *r,
			raddr_t *ret)
{
	uint64_t index = GELF_R_SYM(r->r_info);
	GElf_Sym sym = { 0 };

	if (index && (!symtab_get(dynsym, index, &sym) ||
		      sym.st_shndx == SHN_UNDEF ||
		      GELF_ST_TYPE(sym.st_info) == STT_TLS))
		return false;
	*ret = sym.st_value + (uint64_t)r->r_addend;
	return true;
}

static int note_rela(const struct search *s, raddr_t addr, uint64_t size)
{
	struct relas table = image_relas(s->im, addr, size);
	raddr_t value;
	int err = 0;

	for (size_t i = 0; i < table.n && !err; i++) {
		GElf_Rela r = relas_get(&table, i);

		if (!in_listing(s, r.r_offset) &&
		    pointers_relocated(s->dynsym, &r, &value))
			err = note_relocated(s, r.r_offset, value);
	}
	return err;
}

static int note_rel(const struct search *s, raddr_t addr, uint64_t size)
{
	Elf_Data *table = image_table(s->im, addr, size, ELF_T_REL);
	GElf_Rel r;
	int err = 0;

	for (int i = 0; !err && table && gelf_getrel(table, i, &r); i++)
		if (!GELF_R_SYM(r.r_info))
			err = note_word(s, r.r_offset);
	return err;
}

/* An even entry is the address of a word; an odd one is a bitmap of the 63
 * words that follow the last one covered. libelf knows no more of them than
 * the name. */
static int note_relr(const struct search *s, raddr_t table, uint64_t size)
{
	size_t n;
	const uint8_t *p = image_at(s->im, table, size, &n);
	raddr_t where = 0;
	uint64_t entry;
	int err = 0;

	if (!p)
		return 0;
	for (; n >= 8 && !err; n -= 8, p += 8) {
		memcpy(&entry, p, 8);
		if (!(entry & 1)) {
			err = note_word(s, entry);
			where = entry + 8;
			continue;
		}
		for (int bit = 0; entry >>= 1; bit++)
			if (entry & 1 && !err)
				err = note_word(s, where + 8 * bit);
		where += 63 * 8;
	}
	return err;
}

static int note_relocations(const struct search *s, const struct dynamic *d)
{
	const uint64_t *t = d->tags;
	int err = note_rela(s, t[DT_RELA], t[DT_RELASZ]);

	if (!err)
		err = note_rel(s, t[DT_REL], t[DT_RELSZ]);
	if (!err)
		err = note_relr(s, t[DT_RELR], t[DT_RELRSZ]);
	if (err)
		return err;
	return t[DT_PLTREL] == DT_REL ?
		note_rel(s, t[DT_JMPREL], t[DT_PLTRELSZ]) :
		note_rela(s, t[DT_JMPREL], t[DT_PLTRELSZ]);
}

/* ---- words --------------------------------------------------------------- */

static int note_words(const struct search *s, struct range r)
{
	raddr_t at = ALIGN_UP(r.start, 8);
	uint64_t value;
	size_t n;
	const uint8_t *p = at >= r.start && at < r.end ?
		image_at(s->im, at, r.end - at, &n) : NULL;
	int err = 0;

	if (!p)
		return 0;
	for (; n >= 8 && !err; n -= 8, p += 8, at += 8) {
		memcpy(&value, p, 8);
		if (value && !in_listing(s, at))
			err = pointers_note(s, value);
	}
	return err;
}

/* Data sections; code would only add noise. Sections that overlap, which no
 * linker makes, are not gone through again. */
static int note_sections(const struct search *s)
{
	uint64_t left = image_held(s->im);
	int err = 0;

	for (size_t i = 1; i < s->im->nsections && !err; i++) {
		const GElf_Shdr *sh = &s->im->sections[i];

		if (!(sh->sh_flags & SHF_ALLOC) || sh->sh_size > left ||
		    sh->sh_flags & SHF_EXECINSTR || sh->sh_type == SHT_NOBITS)
			continue;
		left -= sh->sh_size;
		err = note_words(s, (struct range){
			sh->sh_addr, sh->sh_addr + sh->sh_size });
	}
	return err;
}

/* Without relocations, an address in data is just a word. */
static int note_absolute_words(const struct search *s)
{
	int err = 0;

	if (s->im->nsections)
		return note_sections(s);
	for (size_t i = 0; i < s->im->nloads && !err; i++)
		err = note_words(s, s->im->loads[i].range);
	return err;
}

/* ---- names --------------------------------------------------------------- */

/* What has a name that other modules may use they may lead to, whatever it is. */
static int note_names(const struct search *s)
{
	GElf_Sym sym;
	int err = 0;

	for (size_t i = 1; i < s->dynsym->n && !err; i++)
		if (symtab_get(s->dynsym, i, &sym) && sym.st_shndx != SHN_UNDEF &&
		    GELF_ST_TYPE(sym.st_info) != STT_TLS && image_is_text(s->im, sym.st_value))
			err = pointers_note(s, sym.st_value);
	return err;
}

/* ---- all ----------------------------------------------------------------- */

int pointers_find(const struct image *im, const struct dynamic *d,
		  const struct symtab *dynsym, struct addresses *ret,
		  struct addresses *data, struct addresses *words)
{
	/* Relocations and words take at least 8 bytes each; only RELR's bitmaps
	 * take less, but each of their bits stands for a word. */
	struct search s = {
		.im = im, .dynsym = dynsym, .found = ret, .data = data, .words = words,
		.most = ret->n + image_held(im) / 8 + 16,
	};
	find_listings(&s);
	int err = pointers_note(&s, im->header.e_entry);

	if (!err)
		err = pointers_note(&s, d->tags[DT_INIT]);
	if (!err)
		err = pointers_note(&s, d->tags[DT_FINI]);
	if (!err)
		err = note_names(&s);
	if (!err)
		err = note_relocations(&s, d);
	if (!err && im->header.e_type == ET_EXEC)
		err = note_absolute_words(&s);
	return err;
}

static int compare_addresses(const void *a, const void *b)
{
	raddr_t x = *(const raddr_t *)a, y = *(const raddr_t *)b;

	return x < y ? -1 : x > y;
}

void addresses_sort(struct addresses *a)
{
	size_t kept = 0;

	base_sort(a->v, a->n, sizeof(*a->v));
	for (size_t i = 0; i < a->n; i++)
		if (!kept || a->v[kept - 1] != a->v[i])
			a->v[kept++] = a->v[i];
	a->n = kept;
}

bool addresses_has(const struct addresses *a, raddr_t addr)
{
	return a->n && bsearch(&addr, a->v, a->n, sizeof(*a->v),
			       compare_addresses);
}
