/* SPDX-License-Identifier: MIT */
/*
 * select: which functions of which modules does the user mean, and how would
 * each be probed?
 */
#include "injector/modules/select.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "injector/log/say.h"
#include "injector/modules/ifunc.h"
#include "injector/modules/select_around.h"
#include "injector/modules/select_inlined.h"
#include "injector/modules/select_line.h"
#include "injector/modules/select_names.h"
#include "injector/modules/select_plan.h"
#include "injector/modules/select_silent.h"
#include "injector/modules/valued.h"

/* A function that a pattern matches, and under which name. */
struct hit {
	struct module *module;
	const struct func *func;
	const char *name;	/* of the symbols */
	bool exact;
	const struct pattern *pattern;
};

struct hits {
	struct hit *v;
	size_t n, cap;
};

static int add_hit(struct hits *hits, struct hit hit)
{
	struct hit *h = vec_push(hits->v, hits->n, hits->cap);

	if (!h)
		return -ENOMEM;
	*h = hit;
	return 0;
}

/* An exclusion without @MODULE is meant for whatever was included. */
static bool allows(const struct pattern *p, struct module *m, bool exclude)
{
	return module_is_meant(m, p, module_is_apart(m) && !exclude);
}

/* One pattern, and what it has matched so far. */
struct search {
	struct pattern *pattern;
	struct hits hits;
	bool here;		/* it allows the module that is looked at */
};

/* The name of an indirect function means the one that the process uses. */
static int match_function(struct search *s, struct modules *modules, struct module *m,
			  const struct func *f)
{
	bool exact = false;
	const char *name = pattern_match(s->pattern, m->symbols, f, &exact);

	if (!name)
		return 0;
	const struct func *used = f->flags & FUNC_IFUNC ? ifunc_chosen(modules, m, f) : NULL;

	f = used ? used : f;
	if (s->pattern->place && !place_begins(m->symbols, f, s->pattern->offset))
		return 0;
	return add_hit(&s->hits, (struct hit){ m, f, name, exact, s->pattern });
}

/* Function by function, for to get at a name takes longer than to compare it. */
static int match_module(struct search *v, size_t n, struct modules *modules,
			struct module *m, bool exclude)
{
	int err = 0;

	for (size_t k = 0; k < n; k++)
		v[k].here = allows(v[k].pattern, m, exclude);
	for (size_t i = 0; i < m->symbols->nfuncs; i++) {
		const struct func *f = &m->symbols->funcs[i];

		if (f->flags & FUNC_FRAGMENT)
			continue;
		for (size_t k = 0; k < n && !err; k++)
			if (v[k].here)
				err = match_function(&v[k], modules, m, f);
		if (err)
			return err;
	}
	return 0;
}

/* A pattern that equals a name means that name, and nothing else. */
static void prefer_exact(struct hits *hits)
{
	size_t n = 0;
	bool any = false;

	for (size_t i = 0; i < hits->n; i++)
		any |= hits->v[i].exact;
	for (size_t i = 0; any && i < hits->n; i++)
		if (hits->v[i].exact)
			hits->v[n++] = hits->v[i];
	if (any)
		hits->n = n;
}

static int match_all(struct search *v, size_t n, struct modules *modules, bool exclude)
{
	int err = 0;

	for (size_t i = 0; i < modules->n && !err; i++)
		if (modules->v[i].symbols)
			err = match_module(v, n, modules, &modules->v[i], exclude);
	for (size_t k = 0; k < n; k++) {
		prefer_exact(&v[k].hits);
		v[k].pattern->matched = v[k].hits.n > 0;
	}
	return err;
}

/* The first name of each function by module: what is selected so far. */
struct chosen {
	struct module *module;
	const char **names;	/* by index in symbols->funcs; NULL: not chosen */
	size_t n;
	size_t nfuncs;		/* names; none of a module that is read only to
				 * see which functions it uses */
	struct marked_places places;
};

static struct chosen *chosen_of(struct chosen *v, size_t n, const struct module *m)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].module == m)
			return &v[i];
	return NULL;
}

static int choose_place(struct chosen *c, const struct hit *h, bool exclude)
{
	raddr_t pc = h->func->range.start + h->pattern->offset;

	if (!exclude)
		return places_add(&c->places, (struct marked_place){ .func = h->func, .pc = pc,
							       .name = h->name });
	places_drop(&c->places, (struct range){ pc, pc + 1 });
	return 0;
}

static int select_choose(struct chosen *v, size_t n, const struct hits *hits, bool exclude)
{
	struct chosen *c = NULL;
	int err = 0;

	for (size_t i = 0; i < hits->n && !err; i++) {
		const struct hit *h = &hits->v[i];
		size_t at;

		if (!c || c->module != h->module)
			c = chosen_of(v, n, h->module);
		at = (size_t)(h->func - h->module->symbols->funcs);
		if (at >= c->nfuncs)
			continue;
		if (exclude && !h->pattern->place)
			places_drop(&c->places, h->func->range);
		if (h->pattern->place)
			err = choose_place(c, h, exclude);
		else if (exclude && c->names[at]) {
			c->names[at] = NULL;
			c->n--;
		} else if (!exclude && !c->names[at]) {
			c->names[at] = h->name;
			c->n++;
		}
	}
	return err;
}

static int choose_by(struct pattern *patterns, size_t n, struct modules *modules,
		     bool exclude, struct chosen *v)
{
	auto_free struct search *searches = calloc(n + 1, sizeof(*searches));

	if (!searches)
		return fail(ENOMEM, "select by %zu patterns", n);
	for (size_t i = 0; i < n; i++)
		searches[i].pattern = &patterns[i];
	int err = match_all(searches, n, modules, exclude);

	for (size_t i = 0; i < n; i++) {
		if (!err)
			err = select_choose(v, modules->n, &searches[i].hits, exclude);
		free(searches[i].hits.v);
	}
	return err;
}

/* What no pattern at all means. */
static struct pattern anything(void)
{
	static char star[] = "*";

	return (struct pattern){ .glob = star, .name = star };
}

/* Those of each pattern, in the modules that it means. */
static int choose_inlined(struct modules *modules, struct select_options *o, struct chosen *v,
			  struct strings *made)
{
	int err = 0;

	for (size_t i = 0; i < o->ninclude && o->inlined; i++)
		for (size_t k = 0; k < modules->n && !err; k++)
			if (modules->v[k].symbols && !modules->v[k].is_payload &&
			    allows(&o->include[i], &modules->v[k], false))
				err = places_add_inlined(&v[k].places, &o->include[i],
							 &modules->v[k], made, o->ends);
	return err;
}

static bool asks(const struct select_options *o)
{
	return o->ninclude || o->nusdt || o->nat || o->naround;
}

static int choose_all(struct modules *modules, struct select_options *o,
		      struct chosen *v, struct strings *made)
{
	struct pattern any = anything();
	int err;

	if (asks(o))
		err = choose_by(o->include, o->ninclude, modules, false, v);
	else
		err = choose_by(&any, 1, modules, false, v);
	for (size_t i = 0; i < modules->n && !err; i++)
		around_add(o->around, o->naround, v[i].module, v[i].names, &v[i].n);
	err = err ?: choose_inlined(modules, o, v, made);
	return err ?: choose_by(o->exclude, o->nexclude, modules, true, v);
}

static bool is_wanted(const struct select_options *o, struct module *m)
{
	const struct pattern any = anything();

	for (size_t i = 0; i < o->ninclude; i++)
		if (allows(&o->include[i], m, false))
			return true;
	for (size_t i = 0; i < o->nat; i++)
		if (line_is_in(&o->at[i], m))
			return true;
	return (!asks(o) && allows(&any, m, false)) || places_want(o->usdt, o->nusdt, m) ||
		places_want(o->around, o->naround, m);
}

static void progress(const struct select_options *o, const char *what,
		     size_t done, size_t total)
{
	if (o->progress)
		o->progress(o->ctx, what, done, total);
}

/* Those of a module that were not asked for: how many, and, if `ret` is not NULL, which. */
static size_t find_silent(const struct select_options *o, const struct chosen *c,
			  const struct func **ret)
{
	const struct symbols *syms = c->module->symbols;
	size_t n = 0;

	for (size_t i = 0; i < c->nfuncs && (o->finders || o->guards); i++) {
		if (c->names[i] || !silent_is_one(o, syms, &syms->funcs[i]))
			continue;
		if (ret)
			ret[n] = &syms->funcs[i];
		n++;
	}
	return n;
}

/* A module of which no symbols can be read has no functions for us; it is not
 * the only one, or the hint says so. */
static void read_symbols(struct modules *modules, const struct select_options *o,
			 struct selection *ret)
{
	for (size_t i = 0; i < modules->n; i++) {
		bool wanted = is_wanted(o, &modules->v[i]);

		progress(o, "reading symbols", i, modules->n);
		if (!wanted && !silent_may_have(o, &modules->v[i]))
			continue;
		if (module_symbols(&modules->v[i]) == 0)
			continue;
		if (wanted && !ret->unread[0])
			snprintf(ret->unread, sizeof(ret->unread), "%s", fail_text());
		fail_clear();
	}
}

/* Behind the functions. */
static int take_places(struct selection *ret, struct selected *s, struct chosen *c, size_t *hidden)
{
	if (places_order(&c->places))
		return fail(ENOMEM, "select %zu places", c->places.n);
	s->places = c->places.v;
	s->nplaces = c->places.n;
	s->ends = c->places.ends;
	s->nends = c->places.nends;
	c->places = (struct marked_places){ 0 };
	for (size_t i = 0; i < s->nplaces; i++) {
		s->funcs[s->n] = s->places[i].func;
		s->names[s->n] = place_name(&s->places[i], &ret->made);
		if (!s->names[s->n++])
			return fail(ENOMEM, "name %zu places", s->nplaces);
		*hidden += s->places[i].hidden;
	}
	return 0;
}

static int take_chosen(struct selection *ret, const struct select_options *o, struct chosen *c,
		       size_t nsilent)
{
	struct selected *s = vec_push(ret->v, ret->n, ret->cap);

	if (!s)
		return -ENOMEM;
	s->module = c->module;
	size_t n = c->n + c->places.n;

	s->funcs = calloc(n + nsilent + 1, sizeof(*s->funcs));
	s->names = calloc(n + nsilent + 1, sizeof(*s->names));	/* none of the silent ones */
	if (!s->funcs || !s->names)
		return fail(ENOMEM, "select %zu functions", n);
	for (size_t i = 0; i < c->module->symbols->nfuncs; i++) {
		if (!c->names[i])
			continue;
		s->funcs[s->n] = &c->module->symbols->funcs[i];
		s->names[s->n] = select_printed(&ret->made, c->module, s->funcs[s->n],
						c->names[i]);
		if (!s->names[s->n++])
			return fail(ENOMEM, "name %zu functions", c->n);
	}
	size_t hidden = 0;
	int err = take_places(ret, s, c, &hidden);

	ret->nfuncs += s->n - hidden;
	ret->nhidden += hidden;
	s->nsilent = find_silent(o, c, s->funcs + s->n);
	return err;
}

/* The places of a line, in all modules. */
static int choose_line(struct modules *modules, struct pattern *at, struct chosen *v)
{
	struct lineplaces sought = { 0 };
	int err = 0;

	for (size_t i = 0; i < modules->n && !err; i++)
		err = places_add_line(&v[i].places, at, &sought, &modules->v[i]);
	err = err ? err : line_check(at, &sought);
	lineplaces_clear(&sought);
	return err;
}

static int select_collect(struct modules *modules, struct select_options *o,
			  struct chosen *v, struct selection *ret)
{
	int err;

	for (size_t i = 0; i < modules->n; i++) {
		struct symbols *syms = modules->v[i].symbols;

		v[i].module = &modules->v[i];
		v[i].nfuncs = syms ? syms->nfuncs : 0;
		v[i].names = calloc(v[i].nfuncs + 1, sizeof(char *));
		if (!v[i].names)
			return fail(ENOMEM, "select functions");
	}
	err = choose_all(modules, o, v, &ret->made);
	for (size_t i = 0; i < modules->n && !err; i++)
		err = places_add_usdt(&v[i].places, o->usdt, o->nusdt, &modules->v[i]);
	for (size_t i = 0; i < o->nat && !err; i++)
		err = choose_line(modules, &o->at[i], v);
	for (size_t i = 0; i < modules->n && !err; i++) {
		size_t nsilent = find_silent(o, &v[i], NULL);

		if (v[i].n || v[i].places.n || nsilent)
			err = take_chosen(ret, o, &v[i], nsilent);
	}
	if (!err)
		err = select_settle_names(ret, o->short_names);
	ret->unpaired = !err && select_unpaired(ret);
	if (!err && ret->n)
		err = modules_outwards(modules);
	for (size_t i = 0; i < ret->n && !err; i++) {
		struct led_to led = { 0 };

		err = select_led_to(modules, &ret->v[i], &led);
		err = err ? err : select_plan(&ret->v[i], o, &led);
		free(led.v);
	}
	modules_forget_outwards(modules);
	return err;
}

int select_functions(struct modules *modules, struct select_options *o,
		     struct selection *ret)
{
	struct chosen *v = calloc(modules->n + 1, sizeof(*v));
	int err;

	*ret = (struct selection){ 0 };
	if (!v)
		return fail(ENOMEM, "select functions");
	read_symbols(modules, o, ret);
	err = select_collect(modules, o, v, ret);
	for (size_t i = 0; i < modules->n; i++) {
		free(v[i].names);
		free(v[i].places.v);
		free(v[i].places.ends);
	}
	free(v);
	if (err)
		select_clear(ret);
	return err;
}

void select_clear(struct selection *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct selected *m = &s->v[i];

		free(m->names);
		free(m->funcs);
		free(m->places);
		free(m->ends);
		free(m->probes);
		plan_free(m->plan);
	}
	free(s->v);
	for (size_t i = 0; i < s->nvalued; i++) {
		free(s->valued[i]->asked);
		free(s->valued[i]->packed.v);
		free(s->valued[i]->plan);
		free(s->valued[i]);
	}
	free(s->valued);
	strings_clear(&s->made);
	*s = (struct selection){ 0 };
}
