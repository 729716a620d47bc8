/* SPDX-License-Identifier: MIT */
#include "symbols/funcs/golang.h"

#include <errno.h>
#include <string.h>

enum {
	HEAD = 8,	/* of the table: the version, two zeros, an instruction's least
			 * size, a word's */
	LOOKS = 16,	/* at what may describe a module: real files have one */
};

/* Go 1.2, 1.16, 1.18, 1.20 and what followed each. Since 1.26 the text's word is 0. */
static const struct golang_layout layouts[] = {
	{ 0xfffffffb, 16, true, 0, 0, 0 },
	{ 0xfffffffa, 56, false, 24, 0, 44 },
	{ 0xfffffff0, 64, false, 32, 24, 40 },
	{ 0xfffffff1, 64, false, 32, 24, 44 },
};

/* The runtime's struct moduledata, in words: it begins with the table's address, then
 * that of its names, and has the text's behind six slices and three words. */
enum { MODULE_TABLE, MODULE_NAMES, MODULE_TEXT = 22 };

static const struct golang_layout *layout_of(const uint8_t *head)
{
	uint32_t magic;

	memcpy(&magic, head, sizeof(magic));
	if (head[4] || head[5] || head[7] != sizeof(uint64_t))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].magic == magic)
			return &layouts[i];
	return NULL;
}

bool golang_read(const struct image *im, raddr_t at, size_t size, uint64_t *ret)
{
	const uint8_t *p = image_bytes(im, at, size);

	*ret = 0;
	if (p)
		memcpy(ret, p, size);
	return p;
}

/* ---- where the text begins ----------------------------------------------- */

/* What the loader stores at `at`; 0: nothing. */
static raddr_t relocated(const struct image *im, const struct dynamic *d, raddr_t at)
{
	Elf_Data *table = image_table(im, d->tags[DT_RELA], d->tags[DT_RELASZ], ELF_T_RELA);
	GElf_Rela r;

	for (int i = 0; table && gelf_getrela(table, i, &r); i++)
		if (r.r_offset == at && !GELF_R_SYM(r.r_info))
			return (raddr_t)r.r_addend;
	return 0;
}

/* The word at `at` when the program runs: linkers leave it to the loader. */
static raddr_t loaded_word(const struct image *im, const struct dynamic *d, raddr_t at)
{
	uint64_t word;

	if (!golang_read(im, at, sizeof(word), &word))
		return 0;
	return word ? word : relocated(im, d, at);
}

/* Of what module is the table? `looks` are left. */
struct module_search {
	const struct image *im;
	const struct dynamic *d;
	raddr_t table, names;
	int looks;
	raddr_t text;		/* what was looked for; 0: not found yet */
};

static bool look_at_module(struct module_search *s, raddr_t at)
{
	const size_t word = sizeof(uint64_t);

	if (s->looks-- > 0 && loaded_word(s->im, s->d, at + MODULE_NAMES * word) == s->names)
		s->text = loaded_word(s->im, s->d, at + MODULE_TEXT * word);
	return s->text || s->looks <= 0;
}

static bool search_load(struct module_search *s, struct range r)
{
	const uint8_t *p = image_bytes(s->im, r.start, range_size(r));
	const size_t word = sizeof(uint64_t);
	uint64_t value;

	for (uint64_t i = -r.start % word; p && i + word <= range_size(r); i += word) {
		memcpy(&value, p + i, word);
		if (value == s->table && look_at_module(s, r.start + i))
			return true;
	}
	return false;
}

/* In a module's description, wherever that lies: it begins with the table's address. */
static raddr_t text_by_module(struct module_search *s)
{
	const uint64_t *tags = s->d->tags;
	Elf_Data *relas = image_table(s->im, tags[DT_RELA], tags[DT_RELASZ], ELF_T_RELA);
	bool done = false;
	GElf_Rela r;

	for (size_t i = 0; i < s->im->nloads && !done; i++)
		if (!(s->im->loads[i].flags & PF_X))
			done = search_load(s, s->im->loads[i].range);
	for (int i = 0; !done && relas && gelf_getrela(relas, i, &r); i++)
		if ((raddr_t)r.r_addend == s->table && !GELF_R_SYM(r.r_info))
			done = look_at_module(s, r.r_offset);
	return s->text;
}

static raddr_t find_text(const struct image *im, const struct dynamic *d,
			 raddr_t table, const struct golang_layout *l)
{
	struct module_search s = { .im = im, .d = d, .table = table, .looks = LOOKS };
	raddr_t text = loaded_word(im, d, table + l->text);
	uint64_t names;

	if (text || !golang_read(im, table + l->names, sizeof(names), &names))
		return text;
	s.names = table + names;
	return text_by_module(&s);
}

/* ---- the table ----------------------------------------------------------- */

static size_t pair_size(const struct golang_layout *l)
{
	return 2 * golang_begin_size(l);
}

/* Where the i-th function begins. Behind the last one stands where it ends. */
static bool read_begin(const struct image *im, const struct golang *g, uint64_t i,
		       raddr_t *ret)
{
	size_t pair = pair_size(g->layout);

	if (!golang_read(im, g->funcs + i * pair, pair / 2, ret))
		return false;
	*ret += g->text;
	return true;
}

static bool read_table(const struct image *im, const struct dynamic *d, raddr_t table,
		       const struct golang_layout *l, struct golang *ret)
{
	uint64_t funcs = l->funcs;

	*ret = (struct golang){ .layout = l, .table = table };
	if (!golang_read(im, table + HEAD, 8, &ret->n) || ret->n > image_held(im) ||
	    (!l->inlined && !golang_read(im, table + l->funcs, 8, &funcs)))
		return false;
	ret->text = l->text ? find_text(im, d, table, l) : 0;
	ret->funcs = table + funcs;
	if (!read_begin(im, ret, 0, &ret->range.start) ||
	    !read_begin(im, ret, ret->n, &ret->range.end))
		return false;
	return !l->text == !ret->text && ret->range.start < ret->range.end &&
	       image_is_text(im, ret->range.start) &&
	       image_is_text(im, ret->range.end - 1);
}

/* Wherever it stands, by its looks. */
static bool golang_search(const struct image *im, raddr_t *ret)
{
	const size_t align = 16;

	for (size_t i = 0; i < im->nloads; i++) {
		struct range r = im->loads[i].range;
		const uint8_t *p = image_bytes(im, r.start, range_size(r));

		for (uint64_t at = -r.start % align; p && at + HEAD <= range_size(r);
		     at += align)
			if (layout_of(p + at)) {
				*ret = r.start + at;
				return true;
			}
	}
	return false;
}

/* The C compiler's linker puts it among other data, in a section of no name of its
 * own; and a file may have no names of sections at all. */
static bool find_table(const struct image *im, raddr_t *ret)
{
	const GElf_Shdr *sh = image_section(im, ".gopclntab");

	if (!sh)
		sh = image_section(im, ".data.rel.ro.gopclntab");
	if (sh)
		*ret = sh->sh_addr;
	return sh || golang_search(im, ret);
}

static bool is_marked(const struct image *im)
{
	return image_section(im, ".gopclntab") || image_section(im, ".go.buildinfo") ||
	       image_section(im, ".note.go.buildid");
}

void golang_find(const struct image *im, const struct dynamic *d, struct golang *ret)
{
	const struct golang unclear = { .range = { 0, UINT64_MAX } };
	const struct golang_layout *l;
	const uint8_t *head;
	raddr_t table;

	*ret = (struct golang){ 0 };
	if (im->nsections && !is_marked(im))
		return;
	if (!find_table(im, &table)) {
		if (im->nsections)
			*ret = unclear;
		return;
	}
	head = image_bytes(im, table, HEAD);
	l = head ? layout_of(head) : NULL;
	if (!l || !read_table(im, d, table, l, ret))
		*ret = unclear;
}

/* ---- functions ----------------------------------------------------------- */

/* The name of the function whose description is at `at`: it begins with where the
 * function does, and the name's offset is next. NULL: there is none. */
static const char *read_name(const struct image *im, const struct golang *g, raddr_t at,
			     size_t *n)
{
	uint64_t offset, names = 0;
	const char *p;
	size_t most;

	if (!golang_read(im, at + pair_size(g->layout) / 2, sizeof(uint32_t), &offset) ||
	    (g->layout->names && !golang_read(im, g->table + g->layout->names, 8, &names)))
		return NULL;
	p = (const char *)image_at(im, g->table + names + offset, UINT64_MAX, &most);
	*n = p ? strnlen(p, most) : 0;
	return *n && *n < most ? p : NULL;
}

bool golang_func(const struct image *im, const struct golang *g, uint64_t i,
		 struct range *code, raddr_t *description)
{
	size_t pair = pair_size(g->layout);
	uint64_t at;

	if (!read_begin(im, g, i, &code->start) || !read_begin(im, g, i + 1, &code->end) ||
	    !golang_read(im, g->funcs + i * pair + pair / 2, pair / 2, &at))
		return false;
	*description = (g->layout->inlined ? g->table : g->funcs) + at;
	if (!range_has(g->range, code->start) || code->end > g->range.end ||
	    !image_is_text(im, code->start))
		code->end = code->start;
	return true;
}

int golang_add(const struct image *im, const struct golang *g, struct strings *strings,
	       struct candidates *ret)
{
	uint64_t room = image_held(im);	/* no real table tells a name twice */
	raddr_t description;
	struct range code;
	size_t n;

	for (uint64_t i = 0; g->layout && i < g->n; i++) {
		if (!golang_func(im, g, i, &code, &description))
			break;
		const char *name = read_name(im, g, description, &n);

		if (!name || code.end <= code.start)
			continue;
		if (n > room)
			break;
		room -= n;
		struct candidate *c = vec_push(ret->v, ret->n, ret->cap);
		const char *raw = strings_add(strings, name, n);

		if (!c || !raw)
			return -ENOMEM;
		*c = (struct candidate){ .addr = code.start, .size = range_size(code),
					 .limit = g->range.end, .raw = raw,
					 .source = FUNC_GO };
	}
	return 0;
}
