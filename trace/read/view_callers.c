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

/* Its name as one of a function. */
static int name_caller(struct view *v, const struct caller *c, struct reader_func *ret)
{
	auto_free char *made = NULL;

	*ret = (struct reader_func){ .name = c->func, .module = c->module ?: "?" };
	if (c->func)
		return 0;
	made = base_printf("[%s]", c->module ?: "unknown");
	ret->name = made ? strings_add(&v->names, made, strlen(made)) : NULL;
	return ret->name ? 0 : -ENOMEM;
}

static int take_callers(struct view *v, const struct about *from, struct index *x)
{
	struct about *a = &v->renamed;

	for (size_t i = 0; i < from->ncallers; i++) {
		struct reader_func f;
		int err = name_caller(v, &from->callers[i], &f);
		uint32_t *place = err ? NULL : place_of(x, v->funcs, f.name, f.module);

		if (err)
			return err;
		if (!*place) {
			v->funcs[a->nfuncs] = f;
			*place = (uint32_t)++a->nfuncs;
		}
		v->caller_funcs[i] = *place - 1;
	}
	return 0;
}

int view_make_callers(struct view *v)
{
	struct about from = *v->about;
	struct index x = { 0 };
	struct reader_func *before = v->funcs;

	if (!from.ncallers || v->caller_funcs)
		return 0;
	v->caller_funcs = calloc(from.ncallers, sizeof(*v->caller_funcs));
	v->funcs = calloc(from.nfuncs + from.ncallers + 2, sizeof(*v->funcs));
	int err = v->caller_funcs && v->funcs ? 0 : -ENOMEM;

	if (!err) {
		memcpy(v->funcs, from.funcs, from.nfuncs * sizeof(*v->funcs));
		v->renamed = from;
		err = index_funcs(v->funcs, from.nfuncs, from.ncallers, &x);
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

const struct reader_func *view_caller(const struct view *v, uint64_t address)
{
	const struct about *a = v->about;
	size_t n = vec_prefix(a->ncallers, i, a->callers[i].address <= address);

	return n && v->caller_funcs && a->callers[n - 1].address == address ?
		&a->funcs[v->caller_funcs[n - 1]] : &a->funcs[v->caller_funcs ? v->unknown_at :
							      a->nfuncs];
}
