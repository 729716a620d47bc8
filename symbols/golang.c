/* SPDX-License-Identifier: MIT */
#include "symbols/golang.h"

#include <string.h>

/* Of the table: the version, two zeros, an instruction's least size, a word's. */
enum { HEAD = 8 };

/* Where a version of the table keeps what is asked for: offsets from its start. */
struct layout {
	uint32_t magic;
	uint8_t funcs;		/* the word that is the offset of the functions, or
				 * with `inlined` those themselves */
	bool inlined;
	uint8_t text;		/* the word that they are relative to, as 32 bits
				 * each; 0: they are addresses */
};

/* Go 1.2, 1.16, 1.18, 1.20 and what followed each. */
static const struct layout layouts[] = {
	{ 0xfffffffb, 16, true, 0 },
	{ 0xfffffffa, 56, false, 0 },
	{ 0xfffffff0, 64, false, 24 },
	{ 0xfffffff1, 64, false, 24 },
};

static const struct layout *layout_of(const uint8_t *head)
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

static bool read_word(const struct image *im, raddr_t at, size_t size, uint64_t *ret)
{
	const uint8_t *p = image_bytes(im, at, size);

	*ret = 0;
	if (p)
		memcpy(ret, p, size);
	return p;
}

/* The functions are pairs of begin and description; behind the last one stands
 * where it ends. */
static bool read_range(const struct image *im, raddr_t table,
		       const struct layout *l, struct range *ret)
{
	size_t size = l->text ? 4 : 8;
	uint64_t n, funcs = l->funcs, text = 0;

	if (!read_word(im, table + HEAD, 8, &n) || n > image_held(im) ||
	    (!l->inlined && !read_word(im, table + l->funcs, 8, &funcs)) ||
	    (l->text && !read_word(im, table + l->text, 8, &text)))
		return false;
	funcs += table;
	if (!read_word(im, funcs, size, &ret->start) ||
	    !read_word(im, funcs + 2 * size * n, size, &ret->end))
		return false;
	ret->start += text;
	ret->end += text;
	/* The loader may be who fills in the text's address. */
	return !l->text == !text && ret->start < ret->end &&
	       image_is_text(im, ret->start) && image_is_text(im, ret->end - 1);
}

/* Wherever it stands, by its looks. */
static bool search(const struct image *im, raddr_t *ret)
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
	return sh || search(im, ret);
}

static bool is_marked(const struct image *im)
{
	return image_section(im, ".gopclntab") || image_section(im, ".go.buildinfo") ||
	       image_section(im, ".note.go.buildid");
}

struct range golang_find(const struct image *im)
{
	struct range r = { 0, 0 };
	const uint8_t *head;
	const struct layout *l;
	raddr_t table;

	if (im->nsections && !is_marked(im))
		return r;
	if (!find_table(im, &table))
		return im->nsections ? (struct range){ 0, UINT64_MAX } : r;
	head = image_bytes(im, table, HEAD);
	l = head ? layout_of(head) : NULL;
	if (l && read_range(im, table, l, &r))
		return r;
	return (struct range){ 0, UINT64_MAX };
}
