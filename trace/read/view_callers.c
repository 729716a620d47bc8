/* SPDX-License-Identifier: MIT */
/*
 * view_callers: callers as functions beside those that were probed, for trees of calls.
 *
 * One that was probed, too, is that one. Where no function is known, all code of a file is taken
 * together.
 */
#include "trace/read/view_impl.h"

#include <errno.h>
#include <string.h>

/* By name and module: the index of a function, and 1. */
struct index {
	uint32_t *v;
	size_t cap;		/* a power of 2 */
};

static uint64_t add_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return (hash ^ 0xff) * 0x100000001b3ull;
}

/* What a function is printed as may end in its module. */
static size_t bare(const struct reader_func *f)
{
	const char *at = strrchr(f->name, '@');

	return at && at > f->name && !strcmp(at + 1, f->module) ? (size_t)(at - f->name) :
		strlen(f->name);
}

static uint32_t *place_of(const struct index *x, const struct reader_func *funcs,
			  const char *name, const char *module)
{
	size_t i = add_text(add_text(0xcbf29ce484222325ull, name), module) & (x->cap - 1);

	for (; x->v[i]; i = (i + 1) & (x->cap - 1)) {
		const struct reader_func *f = &funcs[x->v[i] - 1];

		if (!strcmp(f->module, module) && strlen(name) == bare(f) &&
		    !memcmp(f->name, name, bare(f)))
			break;
	}
	return &x->v[i];
}

static int index_funcs(const struct reader_func *funcs, size_t n, size_t more, struct index *ret)
{
	for (ret->cap = 64; ret->cap < 2 * (n + more); ret->cap *= 2)
		;
	ret->v = calloc(ret->cap, sizeof(*ret->v));
	for (size_t i = 0; ret->v && i < n; i++) {
		auto_free char *name = strndup(funcs[i].name, bare(&funcs[i]));

		if (!name)
			return -ENOMEM;
		*place_of(ret, funcs, name, funcs[i].module) = (uint32_t)i + 1;
	}
	return ret->v ? 0 : -ENOMEM;
}

static const char *keep(struct view *v, char *made)
{
	const char *ret = made ? strings_add(&v->names, made, strlen(made)) : NULL;

	free(made);
	return ret;
}

/* Its name as one of a function. */
static int name_caller(struct view *v, const struct caller *c, struct reader_func *ret)
{
	*ret = (struct reader_func){ .name = c->func, .module = c->module ?: "?" };
	if (!c->func)
		ret->name = keep(v, base_printf("[%s]", c->module ?: "unknown"));
	return ret->name ? 0 : -ENOMEM;
}

static int name_inlined(struct view *v, const struct caller *c, const char *name,
			struct reader_func *ret)
{
	*ret = (struct reader_func){ .name = keep(v, base_printf("%s [inlined]", name)),
				     .module = c->module ?: "?" };
	return ret->name ? 0 : -ENOMEM;
}

/* A name that is known already has the function of it. */
static uint32_t take_func(struct view *v, const struct reader_func *f, struct index *x)
{
	uint32_t *place = place_of(x, v->funcs, f->name, f->module);

	if (!*place) {
		v->funcs[v->renamed.nfuncs] = *f;
		*place = (uint32_t)++v->renamed.nfuncs;
	}
	return *place - 1;
}

/* How many functions these are at most. */
static size_t count_callers(const struct about *a)
{
	size_t n = a->ncallers;

	for (size_t i = 0; i < a->ncallers; i++)
		for (const char *p = a->callers[i].inlined; p && *p; p += strlen(p) + 1)
			n++;
	return n;
}

static int take_callers(struct view *v, const struct about *from, struct index *x)
{
	struct reader_func f;
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < from->ncallers && !err; i++) {
		const struct caller *c = &from->callers[i];

		v->caller_at[i] = n;
		for (const char *p = c->inlined; p && *p && !err; p += strlen(p) + 1) {
			err = name_inlined(v, c, p, &f);
			if (!err)
				v->caller_funcs[n++] = take_func(v, &f, x);
		}
		err = err ? err : name_caller(v, c, &f);
		if (!err)
			v->caller_funcs[n++] = take_func(v, &f, x);
	}
	v->caller_at[from->ncallers] = n;
	return err;
}

int view_make_callers(struct view *v)
{
	struct about from = *v->about;
	struct index x = { 0 };
	struct reader_func *before = v->funcs;

	if (!from.ncallers || v->caller_funcs)
		return 0;
	size_t most = count_callers(&from);

	v->caller_funcs = calloc(most, sizeof(*v->caller_funcs));
	v->caller_at = calloc(from.ncallers + 1, sizeof(*v->caller_at));
	v->funcs = calloc(from.nfuncs + most + 2, sizeof(*v->funcs));
	int err = v->caller_funcs && v->caller_at && v->funcs ? 0 : -ENOMEM;

	if (!err) {
		memcpy(v->funcs, from.funcs, from.nfuncs * sizeof(*v->funcs));
		v->renamed = from;
		err = index_funcs(v->funcs, from.nfuncs, most, &x);
	}
	err = err ? err : take_callers(v, &from, &x);
	free(x.v);
	if (err) {
		free(v->funcs);
		v->funcs = before;
		return fail(ENOMEM, "name callers");
	}
	/* What is not known keeps its place behind all others. */
	v->unknown = (uint32_t)from.nfuncs;
	v->unknown_at = (uint32_t)v->renamed.nfuncs;
	v->funcs[v->renamed.nfuncs] = from.funcs[from.nfuncs];
	v->renamed.funcs = v->funcs;
	v->about = &v->renamed;
	free(before);
	return 0;
}

const struct reader_func *view_caller(const struct view *v, uint64_t address, size_t level)
{
	const struct about *a = v->about;
	size_t n = vec_prefix(a->ncallers, i, a->callers[i].address <= address);

	if (!n || !v->caller_funcs || a->callers[n - 1].address != address)
		return level ? NULL : &a->funcs[v->caller_funcs ? v->unknown_at : a->nfuncs];
	size_t at = v->caller_at[n - 1] + level;

	return at < v->caller_at[n] ? &a->funcs[v->caller_funcs[at]] : NULL;
}
