/* SPDX-License-Identifier: MIT */
/*
 * fragments: whose cold half is this?
 *
 * gcc names it after the function, `parse.cold` or `parse.isra.0.cold.12`. A
 * static function's name may occur in many source files; then the one of the
 * same file is meant.
 */
#include "symbols/funcs.h"

#include <errno.h>
#include <search.h>
#include <string.h>

size_t fragment_parent(const char *raw)
{
	const char *cold = NULL;

	/* The last ".cold", followed by nothing or by ".<number>". */
	for (const char *p = raw; (p = strstr(p, ".cold")); p++)
		cold = p;
	if (!cold || cold == raw)
		return 0;
	cold += strlen(".cold");
	if (*cold == '.')
		cold += 1 + strspn(cold + 1, "0123456789");
	if (*cold)
		return 0;
	while (strncmp(--cold, ".cold", 5))
		;
	return cold - raw;
}

/* A name that a parent is looked for under. */
struct wanted {
	const char *raw;	/* `len` bytes of it */
	size_t len;
	uint32_t file;		/* of the parent; ANY_FILE: the only one */
	raddr_t found;		/* address of the parent, 0: none yet */
	bool ambiguous;
};

enum {
	ANY_FILE = UINT32_MAX,
};

static int compare(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return memcmp(x->raw, y->raw, x->len);
}

/* `names` is a tree of tsearch(3). */
static struct wanted *find(void *const *names, const char *raw, size_t len,
			   uint32_t file)
{
	struct wanted key = { .raw = raw, .len = len, .file = file };
	struct wanted **node = tfind(&key, names, compare);

	return node ? *node : NULL;
}

/* The parent is of the same file, or global, or the only one of its name.
 * Fills three elements of `v`. */
static int want(void **names, const struct candidate *c, struct wanted *v)
{
	uint32_t files[] = { c->file, 0, ANY_FILE };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		v[i].raw = c->raw;
		v[i].len = fragment_parent(c->raw);
		v[i].file = files[i];
		if (!tsearch(&v[i], names, compare))
			return -ENOMEM;
	}
	return 0;
}

static void offer(void *const *names, const struct candidate *c, uint32_t file)
{
	struct wanted *w = find(names, c->raw, strlen(c->raw), file);

	if (!w)
		return;
	w->ambiguous |= w->found && w->found != c->addr;
	w->found = c->addr;
}

static void adopt(const struct candidate *c, const struct wanted *v,
		  void *const *names, struct symbols *s)
{
	struct func *f = funcs_find(s, c->addr), *parent;
	raddr_t addr = 0;

	for (size_t i = 0; i < 3 && !addr; i++) {
		/* Another fragment may have asked for the same. */
		const struct wanted *w = find(names, v[i].raw, v[i].len,
					      v[i].file);

		addr = w->ambiguous ? 0 : w->found;
	}
	parent = addr && addr != c->addr ? funcs_find(s, addr) : NULL;
	if (f && f->parent < 0 && parent)
		f->parent = parent - s->funcs;
}

static void keep(void *node)
{
}

int fragments_adopt(const struct candidates *c, struct symbols *s)
{
	auto_free struct wanted *v = calloc(3 * c->n + 1, sizeof(*v));
	void *names = NULL;
	int err = v ? 0 : -ENOMEM;

	for (size_t i = 0; i < c->n && !err; i++)
		if (fragment_parent(c->v[i].raw))
			err = want(&names, &c->v[i], &v[3 * i]);
	for (size_t i = 0; i < c->n && names; i++) {
		offer(&names, &c->v[i], c->v[i].file);
		offer(&names, &c->v[i], ANY_FILE);
	}
	for (size_t i = 0; i < c->n && !err; i++)
		if (v[3 * i].raw)
			adopt(&c->v[i], &v[3 * i], &names, s);
	tdestroy(names, keep);	/* the elements are of `v` */
	return err;
}
