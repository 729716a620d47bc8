/* SPDX-License-Identifier: MIT */
#include "symbols/funcs/funcs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbols/funcs/linkage.h"

enum {
	PLT_MAX = 8,		/* linkage tables: .plt, .plt.got, .plt.sec */
	FUNC_ALIGN = 16,	/* where compilers start functions, unless they
				 * optimize for size */
	SAMPLE = 1000,
	PACKED_GAP = 4,		/* less than this is no padding of functions */
	WORD = 4,
	NEAR = 16,		/* entries on each side that tell what lies there */
};

struct builder {
	const struct image *im;
	const struct unwind *u;
	const struct addresses *pointers;
	struct strings *strings;
	struct symbols *ret;
	size_t funcs_cap, aliases_cap;
	struct range plts[PLT_MAX];
	size_t nplts;
	bool aligned;		/* functions of this file start aligned */
	uint32_t *odd;		/* by entries: see count_odd */
};

/* ---- named functions ----------------------------------------------------- */

static raddr_t text_end(const struct image *im, raddr_t addr)
{
	size_t n;

	return image_text(im, addr, &n) ? addr + n : addr;
}

/* Where a function without a size ends: at the latest at `next`, the start of
 * the next named one. */
static raddr_t guess_end(const struct builder *b, const struct candidate *c,
			 raddr_t next)
{
	const struct fde *inside = unwind_find(b->u, c->addr);
	const struct fde *after = unwind_next(b->u, c->addr + 1);
	raddr_t end = next;

	if (inside)
		end = MIN(end, inside->range.end);
	if (after)
		end = MIN(end, after->range.start);
	if (c->limit > c->addr)
		end = MIN(end, c->limit);
	return end;
}

static uint16_t pad_flags(const struct fde *fde)
{
	return (fde->flags & FDE_LSDA ? FUNC_LSDA : 0) |
		(fde->flags & FDE_STRANGE ? FUNC_STRANGE : 0);
}

/* The unwind entry says what the symbol does not. */
static uint16_t unwind_flags(const struct unwind *u, raddr_t addr)
{
	const struct fde *fde = unwind_find(u, addr);

	if (!fde)
		return FUNC_NO_UNWIND;
	return pad_flags(fde);
}

static int add_alias(struct builder *b, struct func *f, const char *raw)
{
	struct symbols *s = b->ret;
	struct func_alias *alias;
	struct names names;
	int err = demangle(b->strings, raw, &names);

	if (err)
		return err;
	alias = vec_push(s->aliases, s->naliases, b->aliases_cap);
	if (!alias)
		return -ENOMEM;
	*alias = (struct func_alias){ names.name, names.full, names.raw };
	f->naliases++;
	return 0;
}

/* All candidates of one address, best name first, make one function. */
static int add_named(struct builder *b, const struct candidate *c, size_t n,
		     raddr_t next)
{
	struct func *f = vec_push(b->ret->funcs, b->ret->nfuncs, b->funcs_cap);
	raddr_t limit = text_end(b->im, c->addr);
	struct names names;
	uint64_t size = 0;
	int err;

	if (!f)
		return -ENOMEM;
	err = demangle(b->strings, c->raw, &names);
	*f = (struct func){
		.name = names.name, .full = names.full, .raw = names.raw,
		.range.start = c->addr,
		.source = c->source,
		/* The first of them is global if any is. */
		.flags = (uint16_t)(unwind_flags(b->u, c->addr) | (c->file ? FUNC_LOCAL : 0)),
		.parent = -1,
		.alias = b->ret->naliases,
	};
	if (fragment_parent(c->raw))
		f->flags |= FUNC_FRAGMENT;
	for (size_t i = 0; i < n && !err; i++) {
		size = MAX(size, c[i].size);
		if (c[i].ifunc)
			f->flags |= FUNC_IFUNC;
		if (i)
			err = add_alias(b, f, c[i].raw);
	}
	if (size) {
		f->range.end = c->addr + MIN(size, limit - c->addr);
	} else {
		f->range.end = MIN(limit, guess_end(b, c, next));
		f->flags |= FUNC_NO_SIZE;
	}
	return err;
}

static int add_all_named(struct builder *b, const struct candidates *c)
{
	int err = 0;

	for (size_t i = 0, n; i < c->n && !err; i += n) {
		raddr_t addr = c->v[i].addr;

		for (n = 1; i + n < c->n && c->v[i + n].addr == addr; n++)
			;
		err = add_named(b, &c->v[i], n,
				i + n < c->n ? c->v[i + n].addr : UINT64_MAX);
	}
	return err;
}

/* ---- functions known by their unwind entry alone ------------------------- */

static void find_plts(struct builder *b)
{
	for (size_t i = 1; i < b->im->nsections; i++) {
		const GElf_Shdr *sh = &b->im->sections[i];

		if (b->nplts < PLT_MAX && sh->sh_flags & SHF_EXECINSTR &&
		    linkage_is_table(image_section_name(b->im, sh)))
			b->plts[b->nplts++] = (struct range){
				sh->sh_addr, sh->sh_addr + sh->sh_size };
	}
}

static bool in_plt(const struct builder *b, raddr_t addr)
{
	for (size_t i = 0; i < b->nplts; i++)
		if (range_has(b->plts[i], addr))
			return true;
	return false;
}

/* Code optimized for size starts anywhere: then alignment proves nothing. Some
 * entries stand for all. */
static bool starts_are_aligned(const struct unwind *u)
{
	size_t aligned = 0, entered = 0, stride = u->nfdes / SAMPLE + 1;

	for (size_t i = 0; i < u->nfdes; i += stride) {
		if (!unwind_is_entered(u, &u->fdes[i]))
			continue;
		entered++;
		if (u->fdes[i].range.start % FUNC_ALIGN == 0)
			aligned++;
	}
	return aligned >= entered - entered / 4;
}

/*
 * Compilers leave a function where the one before it ends if only the first of the words of an
 * aligned place is taken (.p2align 4,,11). Unlikely code begins at other words, too, and in the
 * middle of frames. How many entries up to each do so? Where instructions are words.
 */
static int count_odd(const struct unwind *u, uint32_t **ret)
{
	uint32_t *odd = calloc(u->nfdes + 1, sizeof(*odd));

	*ret = NULL;
	for (size_t i = 0; i < u->nfdes && odd; i++) {
		raddr_t start = u->fdes[i].range.start, at = start % FUNC_ALIGN;
		bool behind = i && u->fdes[i - 1].range.end == start;

		if (start % WORD) {
			free(odd);
			return 0;
		}
		odd[i + 1] = odd[i] + ((at && !(at == WORD && behind)) ||
				       !unwind_is_entered(u, &u->fdes[i]));
	}
	*ret = odd;
	return odd ? 0 : -ENOMEM;
}

/* Does nothing like that lie near? */
static bool is_left_there(const struct builder *b, const struct fde *fde)
{
	size_t at = fde - b->u->fdes, end = MIN(b->u->nfdes, at + NEAR + 1);

	return b->odd && at >= NEAR && b->odd[end] == b->odd[at - NEAR];
}

/* Unlikely code is packed: an unaligned piece follows at once. */
static bool is_packed(const struct builder *b, const struct fde *fde)
{
	const struct fde *next = fde + 1;
	bool close = fde->range.start % FUNC_ALIGN ||
		(next < b->u->fdes + b->u->nfdes &&
		 next->range.start - fde->range.end < PACKED_GAP &&
		 next->range.start % FUNC_ALIGN);

	return close && !is_left_there(b, fde);
}

/*
 * Compilers move the unlikely half of a function elsewhere, and it has an
 * unwind entry too. Most such halves start in the middle of a frame. The
 * others look like functions, but are packed among their like, and no pointer
 * leads to them. So are unlikely functions, which are called.
 */
static uint8_t piece_flags(const struct builder *b, const struct fde *fde)
{
	if (!unwind_is_entered(b->u, fde))
		return FUNC_FRAGMENT;
	return b->aligned && is_packed(b, fde) &&
	       !addresses_has(b->pointers, fde->range.start) ? FUNC_PACKED : 0;
}

static int add_nameless(struct builder *b, const struct fde *fde)
{
	struct func *f = vec_push(b->ret->funcs, b->ret->nfuncs, b->funcs_cap);
	char text[32];
	int n = snprintf(text, sizeof(text), "fn_%" PRIx64, fde->range.start);

	if (!f)
		return -ENOMEM;
	*f = (struct func){
		.name = strings_add(b->strings, text, n),
		.range = fde->range,
		.source = FUNC_EH_FRAME,
		.flags = pad_flags(fde) | piece_flags(b, fde),
		.parent = -1,
	};
	f->full = f->raw = f->name;
	return f->name ? 0 : -ENOMEM;
}

/*
 * An entry is of a named function if it starts inside it, or up to one byte
 * before it: a signal trampoline's entry starts early, so that an unwinder that
 * looks up the return address minus one finds it.
 */
static int add_all_nameless(struct builder *b)
{
	const size_t n = b->ret->nfuncs;
	raddr_t covered = 0;
	size_t next = 0;
	int err = 0;

	b->aligned = starts_are_aligned(b->u);
	if (b->aligned)
		err = count_odd(b->u, &b->odd);
	for (size_t i = 0; i < b->u->nfdes && !err; i++) {
		const struct fde *fde = &b->u->fdes[i];

		/* vec_push may have moved the functions */
		const struct func *named = b->ret->funcs;

		for (; next < n && named[next].range.start <=
				   fde->range.start + 1; next++)
			covered = MAX(covered, named[next].range.end);
		if (fde->range.start < covered || in_plt(b, fde->range.start))
			continue;
		err = add_nameless(b, fde);
	}
	free(b->odd);
	return err;
}

/* ---- all ----------------------------------------------------------------- */

int funcs_build(const struct image *im, const struct unwind *u,
		const struct candidates *candidates,
		const struct addresses *pointers, struct strings *strings,
		struct symbols *ret)
{
	struct builder b = {
		.im = im, .u = u, .pointers = pointers, .strings = strings,
		.ret = ret,
	};
	int err;

	find_plts(&b);
	err = add_all_named(&b, candidates);
	if (!err)
		err = add_all_nameless(&b);
	if (err)
		return err;
	funcs_sort(ret);
	funcs_settle(ret);
	return fragments_adopt(candidates, ret);
}
