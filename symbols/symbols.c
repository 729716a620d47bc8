/* SPDX-License-Identifier: MIT */
#include "symbols/symbols.h"

#include <errno.h>
#include <string.h>

#include "symbols/elf/debugfile.h"
#include "symbols/funcs/funcs.h"
#include "symbols/funcs/golang.h"
#include "symbols/funcs/linkage.h"
#include "symbols/funcs/ocaml.h"
#include "symbols/funcs/outward.h"
#include "symbols/funcs/rseq.h"
#include "symbols/funcs/xray.h"
#include "symbols/sections.h"

enum { LED_MAX = 1 << 22 };	/* places to which other files lead */

struct symbols_impl {
	struct image image;
	struct image debug;	/* the file that has the symbols instead */
	struct dynamic dynamic;
	struct unwind unwind;
	struct golang golang;
	struct symtab dynsym, symtab;
	struct strings strings;
	char *path, *interp;
};

static const char *debug_root;

void symbols_set_debug_root(const char *dir)
{
	debug_root = dir;
}

const char *symbols_debug_root(void)
{
	return debug_root ? debug_root : "/usr/lib/debug";
}

/* ---- open and close ------------------------------------------------------ */

static int copy_path(struct symbols *s, const char *path)
{
	const char *slash;

	s->impl->path = strdup(path);
	if (!s->impl->path)
		return fail(ENOMEM, "read %s", path);
	slash = strrchr(s->impl->path, '/');
	s->path = s->impl->path;
	s->base = slash ? slash + 1 : s->impl->path;
	return 0;
}

static void read_interp(struct symbols *s)
{
	const struct image *im = &s->impl->image;
	const GElf_Phdr *ph = image_segment(im, PT_INTERP);
	const uint8_t *p = ph ? image_bytes(im, ph->p_vaddr, ph->p_filesz) :
				NULL;

	if (p && memchr(p, '\0', ph->p_filesz))
		s->impl->interp = strdup((const char *)p);
	s->interp = s->impl->interp;
}

/* The first of them. */
static void read_note(struct symbols *s)
{
	const GElf_Phdr *ph = image_segment(&s->impl->image, PT_NOTE);

	if (ph && ph->p_filesz <= UINT64_MAX - ph->p_vaddr)
		s->note = (struct range){ ph->p_vaddr, ph->p_vaddr + ph->p_filesz };
}

static int list_texts(struct symbols *s)
{
	const struct image *im = &s->impl->image;

	s->texts = calloc(im->nloads + 1, sizeof(*s->texts));
	if (!s->texts)
		return fail(ENOMEM, "read %s", s->path);
	for (size_t i = 0; i < im->nloads; i++) {
		const struct load *l = &im->loads[i];
		size_t n;

		if (l->flags & PF_X)
			s->texts[s->ntexts++] = (struct text){
				.range = l->range, .offset = l->offset,
				.bytes = image_text(im, l->range.start, &n),
			};
		if (l == im->text)
			s->text = &s->texts[s->ntexts - 1];
	}
	return 0;
}

static int read_file(struct symbols *s, int fd)
{
	struct symbols_impl *in = s->impl;
	int err = image_open(fd, s->path, &in->image);

	if (err)
		return err;
	err = image_load(&in->image, fd, s->path);
	if (err)
		return err;
	s->machine = in->image.header.e_machine;
	s->is_pie = in->image.header.e_type == ET_DYN;
	s->build_id_len = image_build_id(&in->image, s->build_id);
	read_interp(s);
	read_note(s);
	dynamic_read(&in->image, &in->dynamic);
	s->is_dynamic = in->dynamic.present;
	golang_find(&in->image, &in->dynamic, &in->golang);
	s->go = in->golang.range;
	return list_texts(s);
}

/* The symbol table that knows the most. */
static int read_symtab(struct symbols *s)
{
	struct symbols_impl *in = s->impl;
	struct stripped stripped = {
		.image = &in->image, .path = s->path,
		.debug_root = symbols_debug_root(),
	};
	int err;

	in->symtab.source = FUNC_SYMTAB;
	symtab_read(&in->image, &in->symtab);
	if (in->symtab.n)
		return 0;
	if (in->symtab.err)
		return fail(in->symtab.err, "read %s: its symbols", s->path);
	err = debugfile_read(&stripped, &in->debug, &in->symtab);
	if (err == -ENOENT)
		err = minidebug_read(&stripped, &in->debug, &in->symtab);
	return err == -ENOENT ? 0 : err;
}

static int symbols_collect(struct symbols *s, struct candidates *ret)
{
	struct symbols_impl *in = s->impl;
	const struct image *im = &in->image;
	int err = read_symtab(s);

	if (!err)
		err = candidates_add(im, in->debug.elf ? &in->debug : im,
				     &in->unwind, &in->symtab, ret);
	if (!err)
		err = candidates_add(im, im, &in->unwind, &in->dynsym, ret);
	if (!err && !in->symtab.n)
		err = golang_add(im, &in->golang, &in->strings, ret);
	if (!err)
		err = ocaml_find((const struct symtab *const[]){ &in->symtab, &in->dynsym, NULL },
				 &s->ocaml, &s->nocaml);
	candidates_sort(ret);
	return err;
}

/* What data and its relocations tell of the text. */
static int read_data(struct symbols *s, struct addresses *pointers)
{
	struct symbols_impl *in = s->impl;
	struct addresses sleds = { 0 }, data = { 0 }, words = { 0 };
	int err = unwind_read(&in->image, &in->unwind);

	if (!err)
		err = unwind_landing_pads(&in->image, &in->unwind, pointers);
	symtab_read_dynamic(&in->image, &in->dynamic, &in->dynsym);
	in->dynsym.source = FUNC_DYNSYM;
	if (!err)
		err = pointers_find(&in->image, &in->dynamic, &in->dynsym, pointers, &data,
				    &words);
	addresses_sort(pointers);
	addresses_sort(&data);
	addresses_sort(&words);
	s->code_words = words.v;
	s->ncode_words = words.n;
	s->data_pointers = data.v;
	s->ndata_pointers = data.n;
	if (!err)
		err = rseq_find(&in->image, &in->dynamic, &in->dynsym,
				&s->rseqs, &s->nrseqs);
	if (!err)
		err = sections_find(&in->image, s);
	if (!err)
		err = golang_unsafe(&in->image, &in->golang, &s->unsafe, &s->nunsafe);
	if (!err)
		err = xray_find(&in->image, &sleds);
	addresses_sort(&sleds);
	s->sleds = sleds.v;
	s->nsleds = sleds.n;
	/* It may be half of the file, and names take room, too. */
	image_forget_data(&in->image);
	return err;
}

static int read_functions(struct symbols *s)
{
	struct symbols_impl *in = s->impl;
	struct candidates candidates = { 0 };
	struct addresses pointers = { 0 };
	int err = read_data(s, &pointers);

	if (!err)
		err = symbols_collect(s, &candidates);
	if (!err)
		err = funcs_build(&in->image, &in->unwind, &candidates,
				  &pointers, &in->strings, s);
	/* Some relocations name a function's resolver. */
	if (!err)
		err = linkage_read(&in->image, &in->dynamic, &in->dynsym, s);
	free(candidates.v);
	s->pointers = pointers.v;
	s->npointers = pointers.n;
	return err ? fail(-err, "read the functions of %s", s->path) : 0;
}

static int open_with(int fd, const char *path, int (*more)(struct symbols *), struct symbols **ret)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fail(ENOMEM, "read %s", path);
	s->impl = calloc(1, sizeof(*s->impl));
	err = s->impl ? copy_path(s, path) : fail(ENOMEM, "read %s", path);
	if (!err)
		err = read_file(s, fd);
	if (!err && more)
		err = more(s);
	err = err ? err : symbols_error(s);
	if (err) {
		symbols_close(s);
		return err;
	}
	image_forget_data(&s->impl->image);
	image_detach(&s->impl->image);
	*ret = s;
	return 0;
}

int symbols_open(int fd, const char *path, struct symbols **ret)
{
	return open_with(fd, path, read_functions, ret);
}

int symbols_open_text(int fd, const char *path, struct symbols **ret)
{
	return open_with(fd, path, NULL, ret);
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	if (s->impl) {
		image_close(&s->impl->image);
		image_close(&s->impl->debug);
		unwind_clear(&s->impl->unwind);
		strings_clear(&s->impl->strings);
		free(s->impl->path);
		free(s->impl->interp);
	}
	free(s->impl);
	free(s->texts);
	free(s->funcs);
	free(s->index);
	free(s->aliases);
	free(s->empties);
	free(s->pointers);
	free(s->data_pointers);
	free(s->code_words);
	free(s->unsafe);
	free(s->ocaml);
	free(s->tabled);
	free(s->rseqs);
	free(s->sleds);
	free(s->slots);
	free(s->ifunc_slots);
	free(s->tables);
	free(s);
}

/* ---- lookups ------------------------------------------------------------- */

const uint8_t *symbols_bytes(const struct symbols *s, raddr_t addr, size_t most, size_t *n)
{
	const uint8_t *p = image_at(&s->impl->image, addr, most, n);

	*n = p ? *n : 0;
	return p;
}

bool symbols_holds(const struct symbols *s, raddr_t addr)
{
	return image_load_at(&s->impl->image, addr) != NULL;
}

struct range symbols_span(const struct symbols *s)
{
	const struct image *im = &s->impl->image;

	return im->nloads ? (struct range){ im->loads[0].range.start,
					    im->loads[im->nloads - 1].range.end } :
		(struct range){ 0, 0 };
}

bool symbols_of_ocaml(const struct symbols *s, raddr_t addr)
{
	size_t n = vec_prefix(s->nocaml, i, s->ocaml[i].start <= addr);

	return n && range_has(s->ocaml[n - 1], addr);
}

int symbols_read(const struct symbols *s, raddr_t addr, void *buf, size_t n)
{
	uint8_t *out = buf;

	while (n) {
		size_t have;
		const uint8_t *p = symbols_bytes(s, addr, n, &have);

		if (!p)
			return -EFAULT;
		memcpy(out, p, have);
		out += have, addr += have, n -= have;
	}
	return 0;
}

int symbols_error(const struct symbols *s)
{
	int err = image_error(&s->impl->image);

	return err ? fail(err, "read %s", s->path) : 0;
}

const uint8_t *symbols_text_at(const struct symbols *s, raddr_t addr, size_t *n)
{
	return image_text(&s->impl->image, addr, n);
}

/* How many functions begin there or before? */
static size_t count_starts(const struct symbols *s, raddr_t addr)
{
	size_t from = 0, to = s->nfuncs;

	/* Many numbers that may be addresses are smaller than any. */
	if (!s->nfuncs || addr < s->funcs[0].range.start)
		return 0;
	if (addr >= s->funcs[s->nfuncs - 1].range.start)
		return s->nfuncs;
	if (s->index) {
		uint64_t block = (addr - s->funcs[0].range.start) >> s->index_shift;

		from = s->index[block];
		to = s->index[block + 1];
	}
	return from + vec_prefix(to - from, i, s->funcs[from + i].range.start <= addr);
}

/* Functions before the nearest start may reach further, if something says so; but a
 * file in which more than a few overlap is not worth the search. */
const struct func *symbols_func_at(const struct symbols *s, raddr_t addr)
{
	const size_t most = 64;
	size_t n = count_starts(s, addr);

	for (size_t k = 1; k <= most && k <= n; k++)
		if (range_has(s->funcs[n - k].range, addr))
			return &s->funcs[n - k];
		else if (!(s->funcs[n - k].flags & FUNC_REACHED))
			return NULL;
	return NULL;
}

/* A version whose hidden bit is clear is the default one. */
static bool is_hidden(const struct symbols_impl *in, size_t index)
{
	const uint8_t *p = in->dynamic.versym ?
		image_bytes(&in->image, in->dynamic.versym + 2 * index, 2) :
		NULL;

	return p && p[1] & 0x80;
}

/* A function, or an object that stands still. */
static bool is_defined(const GElf_Sym *sym)
{
	uint8_t type = GELF_ST_TYPE(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT);
}

int symbols_dynamic(const struct symbols *s, const char *name, raddr_t *ret)
{
	const struct symtab *table = &s->impl->dynsym;
	bool found = false;

	for (size_t i = 1; i < table->n; i++) {
		GElf_Sym sym;

		if (!symtab_get(table, i, &sym) || !is_defined(&sym) ||
		    strcmp(symtab_name(table, &sym), name))
			continue;
		bool hidden = is_hidden(s->impl, i);

		if (found && hidden)
			continue;
		*ret = sym.st_value;
		found = true;
		if (!hidden)
			break;
	}
	return found ? 0 : -ENOENT;
}

/* Or what assembly calls nothing. */
static bool is_label(const GElf_Sym *sym)
{
	return is_defined(sym) || (GELF_ST_TYPE(sym->st_info) == STT_NOTYPE &&
				   sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS);
}

/* -ENOTUNIQ: it has several. */
static int find_object(const struct symtab *table, const char *name, raddr_t *ret)
{
	int err = -ENOENT;

	for (size_t i = 1; i < table->n; i++) {
		GElf_Sym sym;

		if (!symtab_get(table, i, &sym) || !is_label(&sym) ||
		    strcmp(symtab_name(table, &sym), name))
			continue;
		if (!err && *ret != sym.st_value)
			return -ENOTUNIQ;
		*ret = sym.st_value;
		err = 0;
	}
	return err;
}

int symbols_object(const struct symbols *s, const char *name, raddr_t *ret)
{
	int err = find_object(&s->impl->symtab, name, ret);

	if (err == -ENOENT)
		err = find_object(&s->impl->dynsym, name, ret);
	return err ? -ENOENT : 0;
}

int symbols_led_to(const struct symbols *s, const struct outwards *o, raddr_t **v, size_t *n,
		   size_t *cap)
{
	const struct symtab *table = &s->impl->dynsym;

	for (size_t i = 1; i < table->n; i++) {
		size_t at = SIZE_MAX, left;
		int64_t distance;
		GElf_Sym sym;

		if (!symtab_get(table, i, &sym) || !is_defined(&sym))
			continue;
		while (outwards_next(o, symtab_name(table, &sym), &at, &distance)) {
			raddr_t to = sym.st_value + (raddr_t)distance;

			if (!symbols_text(s, to, &left))
				continue;
			/* Files that were made for that have each symbol many times. */
			if (*n >= LED_MAX)
				return fail(EBADMSG, "read %s: too many relocations lead there",
					    s->path);
			raddr_t *new = vec_push(*v, *n, *cap);

			if (!new)
				return fail(ENOMEM, "read %s", s->path);
			*new = to;
		}
	}
	return 0;
}

int symbols_add_stubs(struct symbols *s, struct plt_stub *stubs, size_t n)
{
	int err = linkage_add_stubs(&s->impl->strings, s, stubs, n);

	return err ? fail(-err, "read the linkage table of %s", s->path) : 0;
}

int symbols_cfa_offset(const struct symbols *s, raddr_t pc, int64_t *ret)
{
	return unwind_cfa(&s->impl->unwind, pc, ret);
}

int symbols_cfa_rule(const struct symbols *s, raddr_t pc, uint64_t *reg, int64_t *offset)
{
	return unwind_cfa_rule(&s->impl->unwind, pc, reg, offset);
}
