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
#include <string.h>
#include <sys/auxv.h>

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

/* Open addressing; `v` has a power of two of slots and is never full. */
struct wanted_set {
	struct wanted *v;
	size_t mask;
	uint64_t seed;		/* so that no file can aim at one slot */
};

static uint64_t hash_of(const struct wanted_set *set, const char *raw,
			size_t len, uint32_t file)
{
	uint64_t h = set->seed ^ file;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)raw[i]) * 0x100000001b3;
	return (h ^ h >> 29) * 0x9e3779b97f4a7c15;
}

/* The slot of this name, or the free one where it belongs. */
static struct wanted *slot_of(const struct wanted_set *set, const char *raw,
			      size_t len, uint32_t file)
{
	size_t i = hash_of(set, raw, len, file) >> 20;

	for (;; i++) {
		struct wanted *w = &set->v[i & set->mask];

		if (!w->raw || (w->len == len && w->file == file &&
				!memcmp(w->raw, raw, len)))
			return w;
	}
}

static void want(struct wanted_set *set, const char *raw, size_t len,
		 uint32_t file)
{
	struct wanted *w = slot_of(set, raw, len, file);

	w->raw = raw;
	w->len = len;
	w->file = file;
}

static void offer(struct wanted_set *set, const struct candidate *c,
		  uint32_t file)
{
	struct wanted *w = slot_of(set, c->raw, strlen(c->raw), file);

	if (!w->raw)
		return;
	w->ambiguous |= w->found && w->found != c->addr;
	w->found = c->addr;
}

static raddr_t answer(const struct wanted_set *set, const char *raw,
		      size_t len, uint32_t file)
{
	const struct wanted *w = slot_of(set, raw, len, file);

	return w->raw && !w->ambiguous ? w->found : 0;
}

static int open_set(size_t names, struct wanted_set *ret)
{
	const uint64_t *random = (const void *)getauxval(AT_RANDOM);
	size_t slots = 16;

	while (slots < 2 * names)
		slots *= 2;
	*ret = (struct wanted_set){ .mask = slots - 1 };
	if (random)
		memcpy(&ret->seed, random, sizeof(ret->seed));
	ret->v = calloc(slots, sizeof(*ret->v));
	return ret->v ? 0 : -ENOMEM;
}

static void adopt(const struct wanted_set *set, const struct candidate *c,
		  struct symbols *s)
{
	size_t len = fragment_parent(c->raw);
	struct func *f = funcs_find(s, c->addr), *parent;
	raddr_t addr;

	if (!f || f->parent >= 0)
		return;
	addr = answer(set, c->raw, len, c->file);
	if (!addr)
		addr = answer(set, c->raw, len, 0);
	if (!addr)
		addr = answer(set, c->raw, len, ANY_FILE);
	parent = addr && addr != c->addr ? funcs_find(s, addr) : NULL;
	if (parent)
		f->parent = parent - s->funcs;
}

int fragments_adopt(const struct candidates *c, struct symbols *s)
{
	struct wanted_set set;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += fragment_parent(c->v[i].raw) != 0;
	if (!n)
		return 0;
	if (open_set(3 * n, &set))
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		size_t len = fragment_parent(c->v[i].raw);

		if (!len)
			continue;
		want(&set, c->v[i].raw, len, c->v[i].file);
		want(&set, c->v[i].raw, len, 0);
		want(&set, c->v[i].raw, len, ANY_FILE);
	}
	for (size_t i = 0; i < c->n; i++) {
		offer(&set, &c->v[i], c->v[i].file);
		offer(&set, &c->v[i], ANY_FILE);
	}
	for (size_t i = 0; i < c->n; i++)
		if (fragment_parent(c->v[i].raw))
			adopt(&set, &c->v[i], s);
	free(set.v);
	return 0;
}
