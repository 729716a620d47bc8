/* SPDX-License-Identifier: MIT */
#include "symbols/funcs/linkage.h"

#include <errno.h>
#include <string.h>

struct linkage {
	const struct symtab *dynsym;
	struct symbols *ret;
	size_t slots_cap, ifunc_cap, tables_cap;
};

/* A relocation without addend that names a symbol stores its address; one
 * without a symbol that adds a resolver stores what that returns. Which types
 * do so differs between machines; what they are given does not. */
static int linkage_note(struct linkage *l, const GElf_Rela *r)
{
	uint64_t index = GELF_R_SYM(r->r_info);
	struct symbols *s = l->ret;
	GElf_Sym sym;

	if (index && !r->r_addend && symtab_get(l->dynsym, index, &sym) &&
	    *symtab_name(l->dynsym, &sym)) {
		struct got_slot *slot = vec_push(s->slots, s->nslots, l->slots_cap);

		if (!slot)
			return -ENOMEM;
		*slot = (struct got_slot){ r->r_offset, symtab_name(l->dynsym, &sym) };
	}
	const struct func *f = index ? NULL : funcs_find(s, r->r_addend);

	if (f && f->flags & FUNC_IFUNC) {
		struct ifunc_slot *c = vec_push(s->ifunc_slots, s->nifunc_slots, l->ifunc_cap);

		if (!c)
			return -ENOMEM;
		*c = (struct ifunc_slot){ r->r_offset, r->r_addend };
	}
	return 0;
}

static int note_table(struct linkage *l, const struct image *im, raddr_t addr,
		      uint64_t size)
{
	struct relas table = image_relas(im, addr, size);
	int err = 0;

	for (size_t i = 0; i < table.n && !err; i++) {
		GElf_Rela r = relas_get(&table, i);

		err = linkage_note(l, &r);
	}
	return err;
}

/* A program that is linked to one address and that no loader binds has no tags: it binds its
 * indirect functions itself, by a table that is a section. */
static int note_own_tables(struct linkage *l, const struct image *im)
{
	uint64_t left = image_held(im);
	int err = 0;

	for (size_t i = 1; i < im->nsections && !err; i++) {
		const GElf_Shdr *sh = &im->sections[i];

		if (sh->sh_type != SHT_RELA || !(sh->sh_flags & SHF_ALLOC) || sh->sh_size > left)
			continue;
		left -= sh->sh_size;
		err = note_table(l, im, sh->sh_addr, sh->sh_size);
	}
	return err;
}

bool linkage_is_table(const char *section)
{
	return !strncmp(section, ".plt", 4) || !strcmp(section, ".iplt");
}

/* Sections that overlap, which no linker makes, are not gone through again. */
static int note_stubs(struct linkage *l, const struct image *im)
{
	uint64_t left = image_held(im);
	struct symbols *s = l->ret;

	for (size_t i = 1; i < im->nsections; i++) {
		const GElf_Shdr *sh = &im->sections[i];

		if (!(sh->sh_flags & SHF_EXECINSTR) || sh->sh_size > left ||
		    !linkage_is_table(image_section_name(im, sh)) ||
		    !image_bytes(im, sh->sh_addr, sh->sh_size))
			continue;
		left -= sh->sh_size;
		struct range *r = vec_push(s->tables, s->ntables, l->tables_cap);

		if (!r)
			return -ENOMEM;
		*r = (struct range){ sh->sh_addr, sh->sh_addr + sh->sh_size };
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct got_slot *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

int linkage_read(const struct image *im, const struct dynamic *d,
		 const struct symtab *dynsym, struct symbols *ret)
{
	struct linkage l = { .dynsym = dynsym, .ret = ret };
	const uint64_t *t = d->tags;
	int err = note_table(&l, im, t[DT_RELA], t[DT_RELASZ]);

	if (!err && t[DT_PLTREL] == DT_RELA)
		err = note_table(&l, im, t[DT_JMPREL], t[DT_PLTRELSZ]);
	if (!err && !t[DT_RELA] && !t[DT_JMPREL])
		err = note_own_tables(&l, im);
	if (!err)
		err = note_stubs(&l, im);
	if (ret->nslots)
		qsort(ret->slots, ret->nslots, sizeof(*ret->slots), by_place);
	return err;
}

const char *symbols_slot(const struct symbols *s, raddr_t at)
{
	struct got_slot key = { .at = at };
	const struct got_slot *found = s->nslots ?
		bsearch(&key, s->slots, s->nslots, sizeof(key), by_place) : NULL;

	return found ? found->raw : NULL;
}

/* ---- stubs as functions -------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct plt_stub *x = a, *y = b;

	return x->range.start < y->range.start ? -1 : x->range.start > y->range.start;
}

static int make_func(struct strings *strings, const struct plt_stub *stub,
		     struct func *ret)
{
	struct names names;
	int err = demangle(strings, stub->raw, &names);

	if (!err)
		*ret = (struct func){
			.name = names.name, .full = names.full, .raw = names.raw,
			.range = stub->range, .source = FUNC_LINKAGE,
			.flags = FUNC_PLT, .parent = -1,
		};
	return err;
}

/* Both are sorted; of one address only the first stays. `moved` has the new
 * index of each old function, which parents go by. */
static int linkage_merge(struct strings *strings, const struct symbols *s,
			 const struct plt_stub *stubs, size_t n, struct func *out,
			 int32_t *moved, size_t *nout)
{
	size_t i = 0, j = 0;

	for (*nout = 0; i < s->nfuncs || j < n; ) {
		raddr_t f = i < s->nfuncs ? s->funcs[i].range.start : UINT64_MAX;
		raddr_t t = j < n ? stubs[j].range.start : UINT64_MAX;
		int err = 0;

		if (i < s->nfuncs && f <= t) {
			moved[i] = *nout;
			out[(*nout)++] = s->funcs[i++];
		} else if (*nout && out[*nout - 1].range.start == t) {
			j++;
		} else {
			err = make_func(strings, &stubs[j++], &out[(*nout)++]);
		}
		if (err)
			return err;
	}
	return 0;
}

int linkage_add_stubs(struct strings *strings, struct symbols *s,
		      struct plt_stub *stubs, size_t n)
{
	auto_free int32_t *moved = calloc(s->nfuncs + 1, sizeof(*moved));
	struct func *all = calloc(s->nfuncs + n + 1, sizeof(*all));
	size_t nall = 0;

	if (n)
		qsort(stubs, n, sizeof(*stubs), by_start);
	if (!all || !moved || s->nfuncs + n > INT32_MAX ||
	    linkage_merge(strings, s, stubs, n, all, moved, &nall)) {
		free(all);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nall; i++)
		if (all[i].parent >= 0)
			all[i].parent = moved[all[i].parent];
	free(s->funcs);
	s->funcs = all;
	s->nfuncs = nall;
	funcs_settle(s);
	return 0;
}
