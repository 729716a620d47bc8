/* SPDX-License-Identifier: MIT */
/* select_hint: a pattern matched nothing: what was meant, perhaps? */
#include <stdio.h>
#include <string.h>

#include "injector/log/clock.h"
#include "injector/modules/select.h"
#include "injector/modules/select_line.h"
#include "symbols/lines/inlined.h"

/* For all patterns without a match: a user waits for the answer. */
#define INLINED_NS 2000000000ull

enum {
	NEAREST = 3,		/* names that are shown */
	MODULES = 4,		/* modules that are named */
	SITES = 12,		/* names of places for tracers */
};

/* ".*", "^" and "$" mean something to regular expressions only. */
static bool is_regex(const char *name)
{
	size_t n = strlen(name);

	return name[0] == '^' || strstr(name, ".*") || strstr(name, ".+") ||
	       (n && name[n - 1] == '$') || strchr(name, '|');
}

/* The same, said as a shell pattern: the text between ^ and $, .* as *. */
static void print_as_glob(FILE *f, const char *name)
{
	bool open_start = name[0] != '^', open_end = true;

	if (open_start && strncmp(name, ".*", 2) != 0)
		fputc('*', f);
	for (const char *p = name + !open_start; *p; p++) {
		if (p[0] == '$' && !p[1]) {
			open_end = false;
		} else if (p[0] == '.' && (p[1] == '*' || p[1] == '+')) {
			fputc('*', f);
			p++;
			open_end = p[1] != '\0';
		} else {
			fputc(*p, f);
		}
	}
	if (open_end)
		fputc('*', f);
}

static void hint_regex(FILE *f, const struct pattern *p)
{
	fprintf(f, "%s looks like a regular expression; patterns are the shell's", p->glob);
	if (!strchr(p->name, '|')) {
		fputs(": -f '", f);
		print_as_glob(f, p->name);
		if (p->module)
			fprintf(f, "@%s", p->module);
		fputc('\'', f);
	}
	fputc('\n', f);
}

static bool is_searched(const struct pattern *p, struct module *m)
{
	return module_is_meant(m, p, module_is_apart(m));
}

/* Padding and what is written by hand make no tenth of a file that is known. */
static bool is_unnamed(const struct symbols *s)
{
	uint64_t known = 0, all = 0;

	for (size_t i = 0; i < s->nfuncs; i++)
		known += range_size(s->funcs[i].range);
	for (size_t i = 0; i < s->ntexts; i++)
		all += range_size(s->texts[i].range);
	return known < all / 10;
}

/* Why little of it can match. */
static const char *blank_note(const struct module *m)
{
	if (!m->symbols)
		return " (no symbols could be read)";
	return is_unnamed(m->symbols) ? " (stripped, and without unwind entries)" : "";
}

/* "srv, libfoo.so.1 and 3 more". */
static size_t print_modules(FILE *f, const struct modules *modules,
			    const struct pattern *p, bool all)
{
	size_t n = 0;

	for (size_t i = 0; i < modules->n; i++) {
		struct module *m = &modules->v[i];

		if (m->is_payload || (!all && !is_searched(p, m)))
			continue;
		if (n++ < MODULES)
			fprintf(f, "%s%s%s", n > 1 ? ", " : "", m->base,
				all ? "" : blank_note(m));
	}
	if (n > MODULES)
		fprintf(f, " and %zu more", n - MODULES);
	return n;
}

static void hint_nearest(FILE *f, const struct modules *modules,
			 const struct pattern *p)
{
	size_t shown = 0;

	for (size_t i = 0; i < modules->n && shown < NEAREST; i++) {
		struct module *m = &modules->v[i];
		const char *near[NEAREST];
		size_t n;

		if (!m->symbols || !is_searched(p, m))
			continue;
		n = pattern_near(m->symbols, p->name, p->plt, near, NEAREST - shown);
		for (size_t j = 0; j < n; j++)
			fprintf(f, "%s%s%s", shown++ ? ", " : "names that are near: ",
				near[j], p->plt ? "@plt" : "");
	}
	if (shown)
		fputc('\n', f);
}

/* The C library and the loader are searched only when they are named. */
static bool is_in_system(const struct modules *modules, const struct pattern *p,
			 const char **base)
{
	if (p->module)
		return false;
	for (size_t i = 0; i < modules->n; i++) {
		struct module *m = &modules->v[i];

		if (!m->is_system || m->is_payload)
			continue;
		if (!m->symbols && module_symbols(m)) {
			fail_clear();
			continue;
		}
		for (size_t j = 0; j < m->symbols->nfuncs; j++) {
			bool exact;

			if (pattern_match(p, m->symbols, &m->symbols->funcs[j], &exact)) {
				*base = m->base;
				return true;
			}
		}
	}
	return false;
}

/* ---- functions that were inlined ----------------------------------------- */

static void print_places(FILE *f, const struct inlined *i)
{
	size_t shown = MIN(i->nplaces, (size_t)INLINED_PLACES);

	for (size_t k = 0; k < shown; k++) {
		const struct inlined_place *p = &i->places[k];
		bool last = k + 1 == i->nplaces;

		fprintf(f, "%s%s", !k ? "" : last ? " and " : ", ", p->into);
		if (p->file)
			fprintf(f, " (%s:%llu)", p->file, (unsigned long long)p->line);
	}
	if (i->nplaces > shown)
		fprintf(f, " and %zu more", i->nplaces - shown);
}

static void print_inlined(FILE *f, const struct inlined_list *l)
{
	for (size_t i = 0; i < MIN(l->n, (size_t)NEAREST); i++) {
		fprintf(f, "%s exists only inlined, into ", l->v[i].name);
		print_places(f, &l->v[i]);
		fprintf(f, ": probe %s, or mark where it begins there by --inlined\n",
			l->v[i].nplaces > 1 ? "these" : "that");
	}
	if (l->n > NEAREST)
		fprintf(f, "and %zu more that match\n", l->n - NEAREST);
	if (l->cut)
		fputs("that is not all: debug information was read for 2 s\n", f);
}

/* True if there are any. What everything matches is no name. */
static bool hint_inlined(FILE *f, const struct modules *modules, const struct pattern *p,
			 uint64_t *deadline)
{
	struct inlined_list found = { 0 };

	if (p->plt || !p->name[strspn(p->name, "*?")])
		return false;
	if (!*deadline)
		*deadline = clock_monotonic() + INLINED_NS;
	found.deadline = *deadline;
	for (size_t i = 0; i < modules->n; i++) {
		struct module *m = &modules->v[i];

		if (m->symbols && !m->is_payload && is_searched(p, m))
			inlined_find(m->symbols, m->fd, p, &found);
	}
	bool any = found.n;

	if (any)
		print_inlined(f, &found);
	else if (found.too_large)
		fprintf(f, "whether it is inlined is not known: debug information of %llu MiB is "
			"not read for that\n", (unsigned long long)(found.too_large >> 20));
	else if (found.missing)
		fprintf(f, "whether it is inlined is not known: %s, to which debug information was "
			"split, is not found\n", found.missing);
	inlined_clear(&found);
	return any;
}

/* ---- places within functions ---------------------------------------------- */

static void print_nearest(FILE *f, const struct symbols *s, const struct func *func,
			  uint64_t offset)
{
	uint64_t before, behind;

	fprintf(f, "no instruction begins at %s+0x%llx", func->name, (unsigned long long)offset);
	if (offset >= range_size(func->range)) {
		fprintf(f, ": the function has 0x%llx bytes\n",
			(unsigned long long)range_size(func->range));
		return;
	}
	place_nearest(s, func, offset, &before, &behind);
	fprintf(f, "; the nearest begin at %s+0x%llx", func->name, (unsigned long long)before);
	if (behind != UINT64_MAX)
		fprintf(f, " and %s+0x%llx", func->name, (unsigned long long)behind);
	fputc('\n', f);
}

/* True if there are such functions, so that their places are wrong. */
static bool hint_places(FILE *f, const struct modules *modules, const struct pattern *p)
{
	size_t n = 0;

	for (size_t i = 0; i < modules->n && p->place; i++) {
		struct module *m = &modules->v[i];

		if (!m->symbols || !is_searched(p, m))
			continue;
		for (size_t j = 0; j < m->symbols->nfuncs && n < NEAREST; j++) {
			const struct func *func = &m->symbols->funcs[j];
			bool exact;

			if (func->flags & FUNC_FRAGMENT ||
			    !pattern_match(p, m->symbols, func, &exact))
				continue;
			print_nearest(f, m->symbols, func, p->offset);
			n++;
		}
	}
	return n;
}

static void print_sites(FILE *f, const struct pattern *p, struct module *m, size_t *shown)
{
	const struct usdt_sites *sites = NULL;

	if (m->is_payload || !module_is_meant(m, p, false) || module_usdt(m, &sites) < 0)
		fail_clear();
	for (size_t i = 0; sites && i < sites->n; i++) {
		const char *name = sites->v[i].name;

		if (place_is_meant(p, m, &sites->v[i]))
			fprintf(f, "%s is at 0x%llx in %s, where no function is known\n", name,
				(unsigned long long)sites->v[i].pc, m->base);
		else if ((!i || strcmp(name, sites->v[i - 1].name)) && (*shown)++ < SITES)
			fprintf(f, "%s%s", *shown > 1 ? ", " : "there are: ", name);
	}
}

static void hint_usdt(FILE *f, const struct modules *modules, const struct pattern *p)
{
	size_t shown = 0;

	fprintf(f, "no place for tracers (USDT) matches %s\n", p->glob);
	for (size_t i = 0; i < modules->n; i++)
		print_sites(f, p, &modules->v[i], &shown);
	if (shown)
		fprintf(f, "%s\n", shown > SITES ? " ..." : "");
}

/* -------------------------------------------------------------------------- */

static void hint_pattern(FILE *f, struct modules *modules, const struct pattern *p,
			 uint64_t *deadline)
{
	const char *base;

	if (hint_places(f, modules, p))
		return;
	fprintf(f, "no function matches %s in ", p->glob);
	if (!print_modules(f, modules, p, false)) {
		fprintf(f, "any module: none is called %s; there are ",
			p->module ? p->module : "so");
		print_modules(f, modules, p, true);
	}
	fputc('\n', f);
	if (is_regex(p->name))
		hint_regex(f, p);
	else if (hint_inlined(f, modules, p, deadline))
		;
	else if (is_in_system(modules, p, &base))
		fprintf(f, "%s has it, which is searched only when it is named: -f '%s@%s'\n",
			base, p->name, base);
	else
		hint_nearest(f, modules, p);
}

char *select_hint(struct modules *modules, const struct select_options *o)
{
	char *text = NULL;
	size_t size = 0;
	uint64_t deadline = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; i < o->ninclude; i++)
		if (!o->include[i].matched)
			hint_pattern(f, modules, &o->include[i], &deadline);
	for (size_t i = 0; i < o->nusdt; i++)
		if (!o->usdt[i].matched)
			hint_usdt(f, modules, &o->usdt[i]);
	for (size_t i = 0; i < o->naround; i++)
		if (!o->around[i].matched)
			hint_usdt(f, modules, &o->around[i]);
	for (size_t i = 0; i < o->nat; i++)
		if (!o->at[i].matched)
			line_hint(f, modules, &o->at[i]);
	for (size_t i = 0; i < o->nexclude; i++)
		if (!o->exclude[i].matched)
			fprintf(f, "-N %s excludes nothing: no function matches it\n",
				o->exclude[i].glob);
	if (fclose(f) != 0 || !size) {
		free(text);
		return NULL;
	}
	return text;
}

const char *select_unnamed(const struct modules *modules)
{
	for (size_t i = 0; i < modules->n; i++)
		if (modules->v[i].is_exe && modules->v[i].symbols)
			return is_unnamed(modules->v[i].symbols) ? modules->v[i].base : NULL;
	return NULL;
}
