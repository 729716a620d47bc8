/* SPDX-License-Identifier: MIT */
#include "symbols/funcs/rseq.h"

#include <errno.h>
#include <linux/rseq.h>
#include <string.h>

#include "symbols/funcs/pointers.h"

enum {
	DESCRIPTOR = sizeof(struct rseq_cs),
	SIGNATURE = 4,		/* bytes, right before the abort address */
};

struct sequence {
	raddr_t at;		/* of its descriptor */
	raddr_t start, abort;
	uint64_t size;
};

struct search {
	const struct image *im;
	struct sequence *v;
	size_t n, cap;
	struct range *kept;
	size_t nkept, kept_cap;
};

/* ---- descriptors --------------------------------------------------------- */

static int rseq_add(struct search *s, raddr_t at, const uint8_t *p)
{
	struct sequence *q = vec_push(s->v, s->n, s->cap);

	if (!q)
		return -ENOMEM;
	q->at = at;
	memcpy(&q->start, p + offsetof(struct rseq_cs, start_ip), 8);
	memcpy(&q->size, p + offsetof(struct rseq_cs, post_commit_offset), 8);
	memcpy(&q->abort, p + offsetof(struct rseq_cs, abort_ip), 8);
	return 0;
}

static int add_section(struct search *s, raddr_t at, uint64_t size)
{
	size_t n;
	const uint8_t *p = image_at(s->im, at, size, &n);
	int err = 0;

	if (!p)
		return 0;
	for (; n >= DESCRIPTOR && !err; n -= DESCRIPTOR) {
		err = rseq_add(s, at, p);
		p += DESCRIPTOR;
		at += DESCRIPTOR;
	}
	return err;
}

static int compare_descriptors(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Sections that overlap, which no linker makes, are not gone through again. */
static int add_sections(struct search *s)
{
	uint64_t left = image_held(s->im);
	int err = 0;

	for (size_t i = 1; i < s->im->nsections && !err; i++) {
		const GElf_Shdr *sh = &s->im->sections[i];

		if (!(sh->sh_flags & SHF_ALLOC) || sh->sh_size > left ||
		    sh->sh_type == SHT_NOBITS ||
		    strcmp(image_section_name(s->im, sh), "__rseq_cs"))
			continue;
		left -= sh->sh_size;
		err = add_section(s, sh->sh_addr, sh->sh_size);
	}
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), compare_descriptors);
	return err;
}

/* ---- relocations --------------------------------------------------------- */

static int compare_place(const void *place, const void *descriptor)
{
	raddr_t at = *(const raddr_t *)place;
	const struct sequence *q = descriptor;

	return at < q->at ? -1 : at - q->at >= DESCRIPTOR;
}

/* Relocations without addend find theirs in the word, which was read. */
static void relocate(struct search *s, const struct dynamic *d,
		     const struct symtab *dynsym)
{
	struct relas table = image_relas(s->im, d->tags[DT_RELA], d->tags[DT_RELASZ]);

	for (size_t i = 0; i < table.n; i++) {
		GElf_Rela r = relas_get(&table, i);
		raddr_t place = r.r_offset, value;
		struct sequence *q = bsearch(&place, s->v, s->n, sizeof(*s->v),
					     compare_place);

		if (!q || !pointers_relocated(dynsym, &r, &value))
			continue;
		if (place - q->at == offsetof(struct rseq_cs, start_ip))
			q->start = value;
		else if (place - q->at == offsetof(struct rseq_cs, abort_ip))
			q->abort = value;
	}
}

/* ---- ranges -------------------------------------------------------------- */

/* `before` of the bytes before `start`, if they are in the same load, and
 * `size` behind it, as far as that reaches. */
static int rseq_keep(struct search *s, raddr_t start, uint64_t before, uint64_t size)
{
	size_t have = 0;
	struct range *r;

	if (!size || !image_text(s->im, start, &have))
		return 0;
	r = vec_push(s->kept, s->nkept, s->kept_cap);
	if (!r)
		return -ENOMEM;
	if (!image_bytes(s->im, start - before, before + 1))
		before = 0;
	*r = (struct range){ start - before, start + MIN(size, have) };
	return 0;
}

/*
 * The last byte before a sequence counts too. It ends the instruction that
 * tells the kernel of the sequence: were that in a stub, the thread would be
 * outside the sequence for the length of a jump, and not be restarted if it is preempted there.
 */
static int keep_all(struct search *s)
{
	int err = 0;

	for (size_t i = 0; i < s->n && !err; i++) {
		const struct sequence *q = &s->v[i];

		err = rseq_keep(s, q->start, 1, q->size);
		if (!err)
			err = rseq_keep(s, q->abort - SIGNATURE, 0, SIGNATURE);
	}
	return err;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Many that overlap, as hostile ones could, cost their users no more than the
 * text. */
static void rseq_merge(struct search *s)
{
	size_t n = 0;

	if (s->nkept)
		qsort(s->kept, s->nkept, sizeof(*s->kept), compare_ranges);
	for (size_t i = 0; i < s->nkept; i++) {
		struct range r = s->kept[i];

		if (n && r.start < s->kept[n - 1].end)
			s->kept[n - 1].end = MAX(s->kept[n - 1].end, r.end);
		else
			s->kept[n++] = r;
	}
	s->nkept = n;
}

int rseq_find(const struct image *im, const struct dynamic *d,
	      const struct symtab *dynsym, struct range **ret, size_t *n)
{
	struct search s = { .im = im };
	int err = add_sections(&s);

	if (!err && s.n) {
		relocate(&s, d, dynsym);
		err = keep_all(&s);
	}
	free(s.v);
	rseq_merge(&s);
	*ret = s.kept;
	*n = s.nkept;
	return err;
}
