/* SPDX-License-Identifier: MIT */
#include "symbols/names/shorten.h"

#include <errno.h>
#include <string.h>

#include "symbols/names/spelling.h"

enum {
	NAME_MAX_BYTES = 16384,	/* longer names stay as they are */
	DEEPEST = 64,
	LEVELS = 8,		/* of arguments: more, and names stay whole */
};

/* ---- one name ------------------------------------------------------------ */

/* At an opening bracket of another kind: behind the one that closes it, or NULL. In there
 * < may be less-than. */
static const char *behind_round(const char *p)
{
	size_t depth = 0;

	for (; *p; p++) {
		if (strchr("([{", *p))
			depth++;
		else if (strchr(")]}", *p) && !--depth)
			return p + 1;
	}
	return NULL;
}

/* Behind a word, and the symbol if it is `operator`. */
static const char *behind_word(const char *p)
{
	static const char operator[] = "operator";
	const char *begin = p;

	while (spelling_in_word(*p))
		p++;
	if ((size_t)(p - begin) == sizeof(operator) - 1 &&
	    !memcmp(begin, operator, sizeof(operator) - 1))
		p = spelling_operator(p);
	return p;
}

/* At a <: behind its >, or NULL if nothing closes it. */
static const char *behind_list(const char *p)
{
	size_t depth = 0;

	while (p && *p) {
		if (spelling_in_word(*p)) {
			p = behind_word(p);
		} else if (strchr("([{", *p)) {
			p = behind_round(p);
		} else if (strchr(")]}", *p)) {
			return NULL;
		} else if (*p == '-' && p[1] == '>') {
			p += 2;
		} else {
			depth += *p == '<';
			if (*p++ == '>' && !--depth)
				return p;
		}
	}
	return NULL;
}

/* Rust has types in brackets: <T as Trait>, <impl T>. */
static bool is_path(const char *p)
{
	const char *end = behind_list(p);

	if (!strncmp(p, "<impl ", 6))
		return true;
	for (p++; end && p < end; p++) {
		if (*p == '<') {
			p = behind_list(p);
			if (!p || p-- >= end)
				return false;
		}
		if (!strncmp(p, " as ", 4))
			return true;
	}
	return false;
}

/* Are those the arguments of what stands before them? */
static bool is_list(const char *name, const char *symbol, const char *p)
{
	if (p == name || p == symbol)
		return p == symbol;
	if (p[-1] == ':')
		return !is_path(p);
	return !strchr("<(,&*{[", p[-1]) && (p[-1] != ' ' || !is_path(p));
}

struct cut {
	char *text;
	size_t n, size;
	unsigned int kept;	/* levels of arguments */
	unsigned int level;	/* of those that are open */
	bool open[DEEPEST];	/* by bracket: is it a list of arguments? */
	size_t depth;
	const char *symbol;	/* behind the last operator's: what begins there is a list */
};

static bool shorten_put(struct cut *c, const char *text, size_t n)
{
	if (n >= c->size - c->n)
		return false;
	memcpy(c->text + c->n, text, n);
	c->n += n;
	return true;
}

/* The brackets of a list that is kept, or of a path. */
static bool copy_bracket(struct cut *c, const char *p, bool list)
{
	if (*p == '<') {
		if (c->depth == DEEPEST)
			return false;
		c->open[c->depth++] = list;
		c->level += list;
	} else if (c->depth) {
		c->level -= c->open[--c->depth];
	}
	return shorten_put(c, p, 1);
}

/* One step; NULL if there is no room. */
static const char *shorten_step(struct cut *c, const char *name, const char *p)
{
	const char *end = p + 1;

	if (spelling_in_word(*p)) {
		end = behind_word(p);
		c->symbol = spelling_in_word(end[-1]) ? NULL : end;
	} else if (*p == '-' && p[1] == '>') {
		end = p + 2;
	} else if (*p == '<') {
		bool list = is_list(name, c->symbol, p);
		const char *behind = list && c->level >= c->kept ? behind_list(p) : NULL;

		if (behind)
			return shorten_put(c, "<>", 2) ? behind : NULL;
		return copy_bracket(c, p, list) ? end : NULL;
	} else if (*p == '>') {
		return copy_bracket(c, p, false) ? end : NULL;
	}
	return shorten_put(c, p, (size_t)(end - p)) ? end : NULL;
}

typedef bool spelling_fn(const char *name, char *ret, size_t size);

static bool cut(const char *name, spelling_fn *spell, unsigned int kept, char *ret, size_t size)
{
	static _Thread_local char spelled[NAME_MAX_BYTES];
	struct cut c = { .text = ret, .size = size, .kept = kept };
	const char *p = name;

	if (strchr(name, '<')) {
		if (!spell(name, spelled, sizeof(spelled)))
			return false;
		name = p = spelled;
		while (p && *p)
			p = shorten_step(&c, name, p);
	} else if (!shorten_put(&c, name, strlen(name))) {
		return false;
	}
	if (!p)
		return false;
	ret[c.n] = '\0';
	return true;
}

bool shorten(const char *name, unsigned int kept, char *ret, size_t size)
{
	return cut(name, spelling_make, kept, ret, size);
}

bool shorten_scoped(const char *name, unsigned int kept, char *ret, size_t size)
{
	return cut(name, spelling_make_scoped, kept, ret, size);
}

/* ---- many names ---------------------------------------------------------- */

struct shortened {
	const char **name;	/* the caller's, whole */
	const char *text;	/* as it is to be */
};

static int by_text(const void *x, const void *y)
{
	const struct shortened *a = x, *b = y;

	return strcmp(a->text, b->text) ?: strcmp(*a->name, *b->name);
}

static int shorten_one(struct shortened *s, unsigned int kept, bool scoped, struct strings *made)
{
	static _Thread_local char text[NAME_MAX_BYTES];

	s->text = *s->name;
	if (!strchr(s->text, '<') ||
	    !(scoped ? shorten_scoped : shorten)(s->text, kept, text, sizeof(text)))
		return 0;
	s->text = strings_add(made, text, strlen(text));
	return s->text ? 0 : fail(ENOMEM, "shorten the names");
}

/* Those of v[0, n) that are equal though the whole names differ, to the front of `v`; the
 * others are given. How many there are. */
static size_t give_unique(struct shortened *v, size_t n)
{
	size_t left = 0;

	vec_sort(v, n, by_text);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !strcmp(v[end].text, v[i].text); end++)
			;
		bool differ = strcmp(*v[i].name, *v[end - 1].name) != 0;

		for (size_t k = i; k < end; k++) {
			if (differ)
				v[left++] = v[k];
			else
				*v[k].name = v[k].text;
		}
	}
	return left;
}

int shorten_all(const char **names, size_t n, struct strings *made)
{
	auto_free struct shortened *v = calloc(n + 1, sizeof(*v));
	size_t left = n;
	int err = 0;

	if (!v)
		return fail(ENOMEM, "shorten %zu names", n);
	for (size_t i = 0; i < n; i++)
		v[i].name = &names[i];
	for (unsigned int k = 0; k < 2 * LEVELS && left && !err; k++) {
		for (size_t i = 0; i < left && !err; i++)
			err = shorten_one(&v[i], k / 2, k % 2, made);
		if (!err)
			left = give_unique(v, left);
	}
	return err;
}
