/* SPDX-License-Identifier: MIT */
#include "injector/modules/select_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "injector/log/say.h"
#include "symbols/names/shorten.h"

const char *select_printed(struct strings *made, const struct module *m, const struct func *f,
			   const char *name)
{
	char clean[1024], base[256], text[sizeof(clean) + sizeof(base) + 8];
	bool is_address = f->source == FUNC_EH_FRAME && !strcmp(name, f->name);

	say_clean(name, clean, sizeof(clean));
	if (!(f->flags & FUNC_PLT) && !is_address && !strcmp(clean, name))
		return name;
	int n = snprintf(text, sizeof(text), "%s%s%s%s", clean, f->flags & FUNC_PLT ? "@plt" : "",
			 is_address ? "@" : "",
			 is_address ? say_clean(m->base, base, sizeof(base)) : "");

	return strings_add(made, text, (size_t)n);
}

/* Late-comers are shortened among themselves. */
static int shorten_names(struct selection *s)
{
	auto_free const char **names = calloc(s->nfuncs + 1, sizeof(*names));
	size_t n = 0;

	if (!names)
		return fail(ENOMEM, "shorten %zu names", s->nfuncs);
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = 0; j < s->v[i].n; j++)
			names[n++] = s->v[i].names[j];
	int err = shorten_all(names, n, &s->made);

	n = 0;
	for (size_t i = 0; i < s->n && !err; i++)
		for (size_t j = 0; j < s->v[i].n; j++)
			s->v[i].names[j] = names[n++];
	return err;
}

struct named {
	const char **name;
	const struct module *module;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*((const struct named *)a)->name,
		      *((const struct named *)b)->name);
}

static int add_module(struct strings *made, const struct named *n)
{
	char base[256];
	auto_free char *text = base_printf("%s@%s", *n->name,
					   say_clean(n->module->base, base, sizeof(base)));
	const char *name = text ? strings_add(made, text, strlen(text)) : NULL;

	if (!name)
		return fail(ENOMEM, "name a function");
	*n->name = name;
	return 0;
}

/* v[0, n) have one name: do they come from several modules? */
static int tell_apart(struct strings *made, const struct named *v, size_t n)
{
	bool several = false;
	int err = 0;

	for (size_t i = 1; i < n; i++)
		several |= v[i].module != v[0].module;
	for (size_t i = 0; several && i < n && !err; i++)
		err = add_module(made, &v[i]);
	return err;
}

static int tell_modules_apart(struct selection *s)
{
	if (s->n < 2)
		return 0;
	auto_free struct named *all = calloc(s->nfuncs + 1, sizeof(*all));
	size_t n = 0, end;
	int err = 0;

	if (!all)
		return fail(ENOMEM, "name %zu functions", s->nfuncs);
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = 0; j < s->v[i].n; j++)
			if (!selected_is_hidden(&s->v[i], j))
				all[n++] = (struct named){ &s->v[i].names[j], s->v[i].module };
	vec_sort(all, n, by_name);
	for (size_t i = 0; i < n && !err; i = end) {
		for (end = i + 1; end < n; end++)
			if (strcmp(*all[end].name, *all[i].name) != 0)
				break;
		err = tell_apart(&s->made, all + i, end - i);
	}
	return err;
}

int select_settle_names(struct selection *s, bool short_names)
{
	int err = short_names ? shorten_names(s) : 0;

	return err ? err : tell_modules_apart(s);
}
