/* SPDX-License-Identifier: MIT */
/*
 * fragments: whose cold half is this?
 *
 * gcc names it after the function, `parse.cold` or `parse.isra.0.cold.12`, and BOLT, which
 * tells three parts apart, `parse.warm`. A static function's name may occur in many source
 * files; then the one of the same file is meant.
 */
#include "symbols/funcs/funcs.h"

#include <errno.h>
#include <string.h>

static const char *const parts[] = { ".cold", ".warm" };

/* The name ends with one of these, or with that and ".<number>". */
size_t fragment_parent(const char *raw)
{
	size_t n = strlen(raw), number = n;

	while (number && raw[number - 1] >= '0' && raw[number - 1] <= '9')
		number--;
	if (number && raw[number - 1] == '.')
		n = number - 1;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t len = strlen(parts[i]);

		if (n > len && !memcmp(raw + n - len, parts[i], len))
			return n - len;
	}
	return 0;
}

/* A name that a parent is looked for under. */
struct wanted {
	const char *raw;	/* `len` bytes of it */
	size_t len;
	uint64_t hash;		/* of these */
	uint32_t file;		/* of the parent; ANY_FILE: the only one */
	bool ambiguous;
	raddr_t found;		/* address of the parent, 0: none yet */
};

/* All of them, in a hash table. */
struct parents {
	struct wanted *v;
	size_t n;
	uint32_t *slots;	/* 1 + an index in v, 0: free */
	size_t mask;
};

enum {
	ANY_FILE = UINT32_MAX,
	WAYS = 3,		/* in which a fragment looks for its parent */
	PROBES = 64,		/* only names that were made to collide need more:
				 * their fragments stay without a parent */
};

static uint64_t hash_name(const char *raw, size_t len)
{
	uint64_t hash = len, word;

	for (; len; raw += MIN(len, sizeof(word)), len -= MIN(len, sizeof(word))) {
		word = 0;
		memcpy(&word, raw, MIN(len, sizeof(word)));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	return hash;
}

static bool is_same(const struct wanted *x, const struct wanted *y)
{
	return x->hash == y->hash && x->file == y->file && x->len == y->len &&
	       !memcmp(x->raw, y->raw, x->len);
}

/* Where this name is, or may be put; NULL: it cannot be. */
static uint32_t *slot_of(const struct parents *parents, const struct wanted *key)
{
	size_t at = key->hash + key->file * 0x85ebca6bu;

	for (size_t i = 0; i < PROBES; i++) {
		uint32_t *slot = &parents->slots[(at + i) & parents->mask];

		if (!*slot || is_same(&parents->v[*slot - 1], key))
			return slot;
	}
	return NULL;
}

static struct wanted *fragments_find(const struct parents *parents, const struct wanted *key)
{
	const uint32_t *slot = slot_of(parents, key);

	return slot && *slot ? &parents->v[*slot - 1] : NULL;
}

static struct wanted name_of(const char *raw, size_t len)
{
	return (struct wanted){ .raw = raw, .len = len, .hash = hash_name(raw, len) };
}

/* The parent is of the same file, or global, or the only one of its name. */
static void list_ways(const struct candidate *c, size_t len, struct wanted ret[WAYS])
{
	const uint32_t files[WAYS] = { c->file, 0, ANY_FILE };

	ret[0] = name_of(c->raw, len);
	for (size_t i = 0; i < WAYS; i++) {
		ret[i] = ret[0];
		ret[i].file = files[i];
	}
}

/* Another fragment may have asked for the same. */
static void want(struct parents *parents, const struct candidate *c, size_t len)
{
	struct wanted ways[WAYS];

	list_ways(c, len, ways);
	for (size_t i = 0; i < WAYS; i++) {
		uint32_t *slot = slot_of(parents, &ways[i]);

		if (!slot || *slot)
			continue;
		parents->v[parents->n++] = ways[i];
		*slot = parents->n;
	}
}

static void fragment_offer(const struct parents *parents, const struct candidate *c)
{
	const uint32_t files[] = { c->file, ANY_FILE };
	struct wanted key = name_of(c->raw, strlen(c->raw));

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		key.file = files[i];
		struct wanted *w = fragments_find(parents, &key);

		if (!w)
			continue;
		w->ambiguous |= w->found && w->found != c->addr;
		w->found = c->addr;
	}
}

static const struct func *find_parent(const struct candidate *c, size_t len,
				      const struct parents *parents, const struct symbols *s)
{
	struct wanted ways[WAYS];
	raddr_t addr = 0;

	list_ways(c, len, ways);
	for (size_t i = 0; i < WAYS && !addr; i++) {
		const struct wanted *w = fragments_find(parents, &ways[i]);

		addr = !w || w->ambiguous ? 0 : w->found;
	}
	return addr && addr != c->addr ? funcs_find(s, addr) : NULL;
}

/* The bytes at a fragment's address are its own, unless its size is 0 and that of
 * another name of the address is not. */
static int fragment_adopt(const struct candidate *c, size_t len, const struct parents *parents,
			  struct symbols *s, size_t *empties_cap)
{
	const struct func *parent = find_parent(c, len, parents, s);
	struct func *f = funcs_find(s, c->addr);
	struct empty_piece *empty;

	/* Not if another name of it is a function's. */
	if (!f || !parent || !(f->flags & FUNC_FRAGMENT))
		return 0;
	if (c->size || f->flags & FUNC_NO_SIZE) {
		if (f->parent < 0)
			f->parent = parent - s->funcs;
		return 0;
	}
	empty = vec_push(s->empties, s->nempties, *empties_cap);
	if (!empty)
		return -ENOMEM;
	*empty = (struct empty_piece){ .at = c->addr, .parent = parent->range.start };
	return 0;
}

/* Lengths of the parents' names, 0 for what is no fragment; and how many are. */
static size_t find_fragments(const struct candidates *c, uint32_t *lens)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		lens[i] = MIN(fragment_parent(c->v[i].raw), (size_t)UINT32_MAX);
		n += lens[i] != 0;
	}
	return n;
}

/* At most half of the slots are taken. */
static int parents_make(size_t n, struct parents *ret)
{
	size_t slots = 1;

	while (slots < 2 * WAYS * n)
		slots *= 2;
	*ret = (struct parents){ .mask = slots - 1 };
	ret->v = calloc(WAYS * n + 1, sizeof(*ret->v));
	ret->slots = calloc(slots, sizeof(*ret->slots));
	return ret->v && ret->slots && n < UINT32_MAX / WAYS ? 0 : -ENOMEM;
}

static int by_place(const void *a, const void *b)
{
	const struct empty_piece *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->parent < y->parent ? -1 : x->parent > y->parent;
}

int fragments_adopt(const struct candidates *c, struct symbols *s)
{
	auto_free uint32_t *lens = calloc(c->n + 1, sizeof(*lens));
	struct parents parents = { 0 };
	size_t empties_cap = 0;
	size_t n = lens ? find_fragments(c, lens) : 0;
	int err = lens ? parents_make(n, &parents) : -ENOMEM;

	for (size_t i = 0; i < c->n && n && !err; i++)
		if (lens[i])
			want(&parents, &c->v[i], lens[i]);
	for (size_t i = 0; i < c->n && n && !err; i++)
		fragment_offer(&parents, &c->v[i]);
	for (size_t i = 0; i < c->n && n && !err; i++)
		if (lens[i])
			err = fragment_adopt(&c->v[i], lens[i], &parents, s, &empties_cap);
	if (s->nempties)
		qsort(s->empties, s->nempties, sizeof(*s->empties), by_place);
	free(parents.v);
	free(parents.slots);
	return err;
}
