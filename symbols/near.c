/* SPDX-License-Identifier: MIT */
/*
 * near: what could the user have meant, when nothing is called that?
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "symbols/symbols.h"

enum {
	TYPED_MAX = 64,		/* characters compared */
	LONGEST = 128,		/* names that are looked at */
	FAR = 1000,		/* not near at all */
};

struct typed {
	char text[TYPED_MAX];	/* lower case, without what makes it a glob */
	size_t n;
};

static void clean_typed(const char *name, struct typed *ret)
{
	ret->n = 0;
	for (; *name && ret->n < sizeof(ret->text) - 1; name++)
		if (!strchr("*?[]\\^$", *name))
			ret->text[ret->n++] = tolower((unsigned char)*name);
	ret->text[ret->n] = '\0';
}

/* Levenshtein, a row at a time; gives up above `most`. */
static int edit_distance(const struct typed *t, const char *name, size_t n,
			 int most)
{
	int row[TYPED_MAX];

	for (size_t i = 0; i <= t->n; i++)
		row[i] = i;
	for (size_t j = 0; j < n; j++) {
		int diagonal = row[0], least = ++row[0];
		char c = tolower((unsigned char)name[j]);

		for (size_t i = 1; i <= t->n; i++) {
			int change = diagonal + (t->text[i - 1] != c);

			diagonal = row[i];
			row[i] = MIN(change, MIN(row[i], row[i - 1]) + 1);
			least = MIN(least, row[i]);
		}
		if (least > most)
			return FAR;
	}
	return row[t->n];
}

/* What stands behind the last `::`, not looking into template arguments. */
static const char *last_part(const char *name)
{
	const char *part = name;

	for (const char *p = name; *p && *p != '<' && *p != '('; p++)
		if (p[0] == ':' && p[1] == ':')
			part = p + 2;
	return part;
}

/* The lower the nearer; FAR for not near. */
static int score_part(const struct typed *t, const char *part)
{
	size_t n = strnlen(part, LONGEST), m = MIN(n, t->n);
	int most = 1 + t->n / 4, distance = FAR;

	if (n == LONGEST)
		return FAR;
	if (n - m <= (size_t)most && t->n - m <= (size_t)most)
		distance = edit_distance(t, part, n, most);
	if (distance <= most)
		return distance * 4;
	if (t->n >= 3 && strcasestr(part, t->text))
		return 3 + (int)MIN(n - t->n, (size_t)LONGEST);
	return FAR;
}

static int score(const struct typed *t, const char *name)
{
	const char *part = last_part(name);
	int whole = score_part(t, name);
	int last = part != name ? score_part(t, part) + 1 : FAR;

	return MIN(whole, last);
}

struct nearest {
	const char **names;	/* the caller's, nearest first */
	int *scores;
	size_t n, cap;
};

static void near_offer(struct nearest *best, const char *name, int points)
{
	size_t i;

	if (points >= FAR)
		return;
	for (i = 0; i < best->n; i++)
		if (!strcmp(best->names[i], name))
			return;
	if (best->n == best->cap) {
		if (points >= best->scores[best->n - 1])
			return;
		best->n--;
	}
	for (i = best->n; i && best->scores[i - 1] > points; i--) {
		best->scores[i] = best->scores[i - 1];
		best->names[i] = best->names[i - 1];
	}
	best->scores[i] = points;
	best->names[i] = name;
	best->n++;
}

/* The scores, for the caller to free; NULL if nothing can be near. */
static int *near_begin(const char *name, const char **names, size_t n, struct typed *typed,
		       struct nearest *best)
{
	clean_typed(name, typed);
	*best = (struct nearest){ .names = names, .cap = n };
	if (n && typed->n)
		best->scores = calloc(n, sizeof(*best->scores));
	return best->scores;
}

size_t pattern_near(const struct symbols *s, const char *name, bool plt,
		    const char **ret, size_t n)
{
	struct nearest best;
	struct typed typed;
	auto_free int *scores = near_begin(name, ret, n, &typed, &best);

	if (!scores)
		return 0;
	for (size_t i = 0; i < s->nfuncs; i++) {
		const struct func *f = &s->funcs[i];

		if (f->flags & FUNC_FRAGMENT || f->source == FUNC_EH_FRAME ||
		    plt != !!(f->flags & FUNC_PLT))
			continue;
		near_offer(&best, f->name, score(&typed, f->name));
		for (uint32_t k = 0; k < f->naliases; k++) {
			const char *alias = s->aliases[f->alias + k].name;

			near_offer(&best, alias, score(&typed, alias));
		}
	}
	return best.n;
}

size_t words_near(const char *const *words, size_t count, const char *name,
		  const char **ret, size_t n)
{
	struct nearest best;
	struct typed typed;
	auto_free int *scores = near_begin(name, ret, n, &typed, &best);

	if (!scores)
		return 0;
	for (size_t i = 0; i < count; i++)
		near_offer(&best, words[i], score(&typed, words[i]));
	return best.n;
}
