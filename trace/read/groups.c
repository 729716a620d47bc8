/* SPDX-License-Identifier: MIT */
#include "trace/read/groups.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/read/signatures.h"
#include "values/text.h"

enum { TEXT = 4096 };		/* of one value; what is longer is cut */

/* By which values calls of one function are told. */
struct chosen {
	const char *names[GROUPS_BY];	/* as the signature has them, or as they were given */
	struct pick picks[GROUPS_BY];
	bool has[GROUPS_BY];
};

static const struct chosen no_values;

struct groups {
	const struct reader_func *from;		/* the recording's */
	size_t nfrom;				/* with the one for those that are not known */
	struct signatures signatures;
	const struct chosen **chosen;		/* by function, each place; NULL at first */
	const char *const *by;
	size_t nby;
	bool found[GROUPS_BY];			/* some function has it */
	bool ended;
	struct reader_func *funcs;		/* all, then groups */
	struct group *v;			/* of funcs[nfrom + i] */
	uint32_t *others;			/* by function: i + 1 */
	size_t n, nkeyed, bytes;
	uint32_t *index;			/* by hash: i + 1, or 0 */
	char text[GROUPS_BY * TEXT];		/* the texts of one call */
	bool full;
};

enum { INDEX = 1 << 15 };	/* a power of 2, more than twice as large as GROUPS_MOST */

static void free_all(const struct groups *g)
{
	for (size_t i = 0; g->chosen && i < g->nfrom; i++)
		if (g->chosen[i] != &no_values)
			free((struct chosen *)g->chosen[i]);
	for (size_t i = 0; i < g->n; i++) {
		free((char *)g->funcs[g->nfrom + i].name);
		free((char *)g->v[i].texts);
	}
}

void groups_free(struct groups *g)
{
	if (!g)
		return;
	free_all(g);
	signatures_clear(&g->signatures);
	free(g->chosen);
	free(g->funcs);
	free(g->v);
	free(g->others);
	free(g->index);
	free(g);
}

/* ---- which values -------------------------------------------------------- */

/* "fd" where a number was given, if the parameter has a name. */
static const char *name_of(const struct signature *s, const struct pick *pick, const char *given)
{
	const char *its = pick->param == READS_RESULT ? "" :
		signature_name_at(s, s->params[pick->param].name);

	return !pick->nsteps && *its ? its : given;
}

/* As the first call of a function comes. */
static const struct chosen *choose(struct groups *g, uint32_t func, const struct signed_func *f)
{
	struct chosen *c = calloc(1, sizeof(*c));
	bool any = false;

	for (size_t j = 0; c && j < g->nby; j++) {
		c->has[j] = pick_find(&f->signature, g->by[j], &c->picks[j]) == 0 &&
			(g->ended || c->picks[j].param != READS_RESULT);
		if (c->has[j])
			c->names[j] = name_of(&f->signature, &c->picks[j], g->by[j]);
		g->found[j] |= c->has[j];
		any |= c->has[j];
	}
	if (c && !any) {
		free(c);
		c = (struct chosen *)&no_values;
	}
	return g->chosen[func] = c;
}

int groups_check(const struct groups *g)
{
	for (size_t j = 0; j < g->nby; j++)
		if (!g->found[j])
			return fail(0, "--by %s: no call of the recording has a value of that name; "
				       "record -a keeps values, and inject replay shows their names",
				    g->by[j]);
	return 0;
}

int groups_new(const struct about *a, const char *const *by, size_t n, bool ended,
	       struct groups **ret)
{
	struct groups *g = calloc(1, sizeof(*g));
	size_t room;
	int err;

	if (!g)
		return fail(ENOMEM, "group calls by values");
	g->from = a->funcs;
	g->nfrom = a->nfuncs + 1;
	g->by = by;
	g->nby = MIN(n, (size_t)GROUPS_BY);
	g->ended = ended;
	room = groups_room(g);
	g->chosen = calloc(g->nfrom, sizeof(*g->chosen));
	g->others = calloc(g->nfrom, sizeof(*g->others));
	g->funcs = calloc(room, sizeof(*g->funcs));
	g->v = calloc(room - g->nfrom, sizeof(*g->v));
	g->index = calloc(INDEX, sizeof(*g->index));
	err = g->chosen && g->others && g->funcs && g->v && g->index ? 0 :
		fail(ENOMEM, "group calls by values");
	if (err) {
		groups_free(g);
		return err;
	}
	memcpy(g->funcs, g->from, g->nfrom * sizeof(*g->funcs));
	*ret = g;
	return 0;
}

/* ---- which group --------------------------------------------------------- */

static uint32_t hash(uint32_t func, const char *bytes, size_t n)
{
	uint64_t h = 14695981039346656037u ^ func;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
	return (uint32_t)(h ^ h >> 32);
}

static size_t texts_length(const struct groups *g, const char *texts)
{
	const char *p = texts;

	for (size_t i = 0; i < g->nby; i++)
		p += strlen(p) + 1;
	return (size_t)(p - texts);
}

static uint32_t *find(struct groups *g, uint32_t func, size_t n)
{
	uint32_t i = hash(func, g->text, n) & (INDEX - 1);

	for (; g->index[i]; i = (i + 1) & (INDEX - 1)) {
		const struct group *k = &g->v[g->index[i] - 1];

		if (k->func == &g->from[func] && texts_length(g, k->texts) == n &&
		    !memcmp(k->texts, g->text, n))
			break;
	}
	return &g->index[i];
}

/* The texts of a call's values into g->text: their bytes. A value that is there, and is empty,
 * does not exist: it would have quotes. */
static size_t make_texts(struct groups *g, const struct chosen *chosen,
			 const struct signed_func *f, const struct call *c)
{
	const uint8_t *exit = g->ended ? c->exit : NULL;
	struct capture capture;
	bool good = !capture_parse(&f->signature, &f->plan, c->entry, c->nentry, exit,
				   g->ended ? c->nexit : 0, &capture);
	size_t n = 0;

	for (size_t j = 0; j < g->nby; j++) {
		char *to = g->text + n;
		bool result = chosen->picks[j].param == READS_RESULT;
		bool there = good && (result ? c->exit != NULL : c->entry || !f->plan.nentry);

		*to = '\0';
		if (chosen->has[j] && there)
			values_picked(&capture, &chosen->picks[j], to, TEXT);
		else if (chosen->has[j])
			strcpy(to, "?");
		signatures_clean(to);
		n += strlen(to) + 1;
	}
	return n;
}

/* "name(fd=3, len=4) = 8", and where in it the values begin. */
static char *make_name(const struct groups *g, const struct chosen *c, const char *name,
		       const char *texts, size_t *shown)
{
	size_t size = strlen(name) + 32, n;
	const char *between = "", *p = texts;
	char *ret;

	for (size_t j = 0; j < g->nby; j++)
		size += (c->has[j] ? strlen(c->names[j]) : 0) + 8;
	size += texts_length(g, texts);
	ret = malloc(size);
	if (!ret)
		return NULL;
	*shown = strlen(name);
	n = (size_t)snprintf(ret, size, "%s(", name);
	for (size_t j = 0; j < g->nby; j++, p += strlen(p) + 1)
		if (c->has[j] && (c->picks[j].param != READS_RESULT || c->picks[j].nsteps)) {
			n += (size_t)snprintf(ret + n, size - n, "%s%s=%s", between, c->names[j],
					      p);
			between = ", ";
		}
	n += (size_t)snprintf(ret + n, size - n, ")");
	p = texts;
	for (size_t j = 0; j < g->nby; j++, p += strlen(p) + 1)
		if (c->has[j] && c->picks[j].param == READS_RESULT && !c->picks[j].nsteps)
			n += (size_t)snprintf(ret + n, size - n, " = %s", p);
	return ret;
}

/* Takes what it is given, and frees that if there is no memory. */
static const struct reader_func *add(struct groups *g, uint32_t func, char *name, size_t shown,
				     char *texts)
{
	struct reader_func *f = &g->funcs[g->nfrom + g->n];

	if (!name) {
		free(texts);
		return NULL;
	}
	signatures_clean(name);
	*f = g->from[func];
	f->name = name;
	g->v[g->n++] = (struct group){ &g->from[func], func, name + shown, texts };
	return f;
}

static const struct reader_func *add_others(struct groups *g, uint32_t func)
{
	const char *name = g->from[func].name;
	const struct reader_func *f;

	g->full = true;
	if (g->others[func])
		return &g->funcs[g->nfrom + g->others[func] - 1];
	f = add(g, func, base_printf("%s(others)", name), strlen(name), NULL);
	if (f)
		g->others[func] = (uint32_t)g->n;
	return f;
}

static const struct reader_func *add_group(struct groups *g, uint32_t func,
					   const struct chosen *chosen, size_t n, uint32_t *at)
{
	const char *name = g->from[func].name;
	const struct reader_func *f;
	size_t shown = 0;
	char *texts, *its;

	if (g->nkeyed >= GROUPS_MOST || g->bytes + n > GROUPS_BYTES)
		return add_others(g, func);
	texts = malloc(n);
	if (!texts)
		return NULL;
	memcpy(texts, g->text, n);
	its = make_name(g, chosen, name, texts, &shown);
	f = add(g, func, its, shown, texts);
	if (f) {
		*at = (uint32_t)g->n;
		g->nkeyed++;
		g->bytes += n;
	}
	return f;
}

const struct reader_func *groups_of(struct groups *g, const struct call *c)
{
	/* Where its values are is known of the place, and all places of a name are one. */
	uint32_t place = (uint32_t)(c->func - g->from);
	uint32_t func = (uint32_t)(reader_func_counted(c->func) - g->from);
	const struct chosen *chosen = g->chosen[place];
	const struct signed_func *f = chosen == &no_values ? NULL :
		signatures_of(&g->signatures, c->func);
	uint32_t *at;
	size_t n;

	if (f && !chosen)
		chosen = choose(g, place, f);
	if (!f || !chosen || chosen == &no_values)
		return &g->funcs[func];
	n = make_texts(g, chosen, f, c);
	at = find(g, func, n);
	if (*at)
		return &g->funcs[g->nfrom + *at - 1];
	/* Without memory it is as if they had no values. */
	return add_group(g, func, chosen, n, at) ?: &g->funcs[func];
}

/* -------------------------------------------------------------------------- */

const struct reader_func *groups_funcs(const struct groups *g, size_t *n)
{
	*n = g->nfrom + g->n - 1;
	return g->funcs;
}

const struct group *groups_at(const struct groups *g, const struct reader_func *f)
{
	size_t i = (size_t)(f - g->funcs);

	return i >= g->nfrom && i < g->nfrom + g->n ? &g->v[i - g->nfrom] : NULL;
}

size_t groups_room(const struct groups *g)
{
	return 2 * g->nfrom + GROUPS_MOST;
}

bool groups_full(const struct groups *g)
{
	return g->full;
}
