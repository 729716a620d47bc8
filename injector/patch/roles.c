/* SPDX-License-Identifier: MIT */
#include "injector/patch/roles.h"

#include <errno.h>
#include <string.h>

/* An end of a copy, by the function ids of both. */
struct role {
	uint32_t end, begin;
	bool thrown;
};

struct roles {
	struct role *v;
	size_t n, cap;
};

/* Those of one module. */
static int list_roles(const struct selected *s, struct live *live, struct roles *ret)
{
	auto_free struct copy_link *links = NULL;
	auto_free size_t *counts = NULL;
	int err = copies_link(s, &links, &counts);

	for (size_t i = 0; i < s->nends && !err; i++) {
		bool told = links[i].begin != SIZE_MAX && links[i].end != SIZE_MAX &&
			counts[links[i].begin];
		struct role r = { 0 }, *at;

		if (!told)
			continue;
		live_count(live, &s->probes[links[i].begin], -1);
		s->probes[links[i].begin].entry_only = REFUSED_NONE;
		live_count(live, &s->probes[links[i].begin], 1);
		r = (struct role){ s->probes[links[i].end].id, s->probes[links[i].begin].id,
				   !links[i].needed };
		at = r.end < live->nfuncs && r.begin < live->nfuncs ?
			vec_push(ret->v, ret->n, ret->cap) : NULL;
		if (at)
			*at = r;
		err = at ? 0 : -ENOMEM;
	}
	return err;
}

static int by_end(const void *a, const void *b)
{
	const struct role *x = a, *y = b;

	return x->end != y->end ? (x->end > y->end) - (x->end < y->end) :
		(x->begin > y->begin) - (x->begin < y->begin);
}

/* What is told of all marks of a name is told of the first, but for values, which each reads in its
 * own way. */
static void join_names(struct live *live, const struct selected *s)
{
	for (size_t i = s->n - s->nplaces; i < s->n; i++)
		if (selected_is_hidden(s, i) && s->probes[i].id < live->nfuncs)
			live->funcs[s->probes[i].id].hidden = s->probes[i].id != 0;
	for (size_t i = s->n - s->nplaces; i < s->n; i++) {
		const struct placed_probe *p = &s->probes[i];

		if (p->refusal || p->id >= live->nfuncs || live->funcs[p->id].values ||
		    selected_is_hidden(s, i))
			continue;
		struct reader_func *f = &live->funcs[p->id];

		f->as = 0;
		for (size_t k = s->n - s->nplaces; k < i && !f->as; k++) {
			const struct placed_probe *q = &s->probes[k];
			uint32_t id = q->id < live->nfuncs ? q->id : 0;
			const struct reader_func *g = &live->funcs[id];

			if (!q->refusal && id && id != p->id && !g->values && !g->as &&
			    !selected_is_hidden(s, k) && !strcmp(s->names[k], s->names[i]))
				f->as = id;
		}
		if (f->as)
			live->funcs[f->as].entry_only &= f->entry_only;
	}
}

/* One copy that begins at a mark. */
struct begun {
	uint64_t die;
	uint32_t id;
};

static int by_die(const void *a, const void *b)
{
	const struct begun *x = a, *y = b;

	return (x->die > y->die) - (x->die < y->die);
}

/* Of the probe at `i`, and those behind it that are with it: a copy in another has its entry of the
 * debug information behind that one's. */
static size_t list_with(const struct selected *s, size_t i, struct live *live, struct begun *v,
			uint32_t *ids)
{
	struct reader_func *mark = &live->funcs[s->probes[i].id];
	size_t n = 0;

	do {
		v[n++] = (struct begun){ selected_place(s, i)->die, s->probes[i].id };
	} while (++i < s->n && s->probes[i].with);
	vec_sort(v, n, by_die);
	for (size_t k = 0; k < n; k++)
		ids[k] = v[k].id;
	mark->with = ids;
	mark->nwith = MIN(n, (size_t)COPIES_WITH);
	return n;
}

static int set_with(struct live *live, const struct selection *sel)
{
	size_t n = 0, used = 0;

	for (size_t i = 0; i < sel->n; i++)
		n += sel->v[i].nplaces;
	auto_free struct begun *v = calloc(n + 1, sizeof(*v));

	live->with = calloc(n + 1, sizeof(*live->with));
	if (!v || !live->with)
		return -ENOMEM;
	for (size_t i = 0; i < sel->n; i++) {
		const struct selected *s = &sel->v[i];

		for (size_t k = s->n - s->nplaces; k + 1 < s->n; k++)
			if (!s->probes[k].with && s->probes[k + 1].with && !s->probes[k].refusal &&
			    s->probes[k].id < live->nfuncs)
				used += list_with(s, k, live, v, live->with + used);
	}
	return 0;
}

int roles_set(struct live *live, const struct selection *sel)
{
	struct roles r = { 0 };
	int err = 0;

	for (size_t i = 0; i < sel->n && !err; i++)
		err = list_roles(&sel->v[i], live, &r);
	live->ends = calloc(r.n + 1, sizeof(*live->ends));
	err = live->ends ? err : -ENOMEM;
	vec_sort(r.v, r.n, by_end);
	for (size_t i = 0; i < r.n && !err; i++) {
		struct reader_func *end = &live->funcs[r.v[i].end];

		end->ends = end->ends ? end->ends : &live->ends[i];
		end->nends++;
		live->ends[i] = (struct copy_ended){ r.v[i].begin, r.v[i].thrown };
		live->funcs[r.v[i].begin].begins = true;
		live->funcs[r.v[i].begin].entry_only = false;
	}
	err = err ? err : set_with(live, sel);
	for (size_t i = 0; i < sel->n && !err; i++)
		if (sel->v[i].nends)
			join_names(live, &sel->v[i]);
	free(r.v);
	return err ? fail(ENOMEM, "list the ends of copies") : 0;
}
