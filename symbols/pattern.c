/* SPDX-License-Identifier: MIT */
/*
 * pattern: which functions does the user mean?
 */
#include <errno.h>
#include <string.h>

#include "symbols/demangle.h"
#include "symbols/glob.h"
#include "symbols/symbols.h"

/* ---- what the user typed ------------------------------------------------- */

/* `operator[]` is a name, so an empty set counts as closed. */
static bool is_balanced(const char *glob)
{
	for (const char *p = glob; *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '[' && !(p = strchr(p + 1, ']')))
			return false;
	}
	return true;
}

static int check_pattern(const char *text, const char *at)
{
	if (!*text)
		return fail(0, "an empty pattern matches nothing");
	if (strstr(text, "@@"))
		return fail(0, "'%s' names a symbol version; leave out @@ and "
			    "what follows", text);
	if (at == text)
		return fail(0, "'%s' has no function name before the @", text);
	if (at && !at[1])
		return fail(0, "'%s' has no module behind the @", text);
	if (!is_balanced(text))
		return fail(0, "'%s' has a [ that no ] closes", text);
	return 0;
}

/* NAME@plt, or NAME@plt@MODULE: how long is NAME? The whole, if it is neither. */
static size_t before_plt(const char *text, size_t n)
{
	static const char plt[] = "@plt";
	size_t k = sizeof(plt) - 1;

	return n > k && !strncmp(text + n - k, plt, k) ? n - k : n;
}

int pattern_parse(const char *text, struct pattern *ret)
{
	const char *at = strrchr(text, '@');
	int err = check_pattern(text, at);

	*ret = (struct pattern){ 0 };
	if (err)
		return err;
	if (at && !strcmp(at, "@plt"))
		at = NULL;
	size_t n = at ? (size_t)(at - text) : strlen(text);
	size_t name = before_plt(text, n);

	ret->plt = name < n;
	ret->glob = strdup(text);
	ret->name = strndup(text, name);
	ret->module = at ? strdup(at + 1) : NULL;
	if (ret->glob && ret->name && (ret->module || !at))
		return 0;
	pattern_clear(ret);
	return fail(ENOMEM, "read the pattern '%s'", text);
}

void pattern_clear(struct pattern *p)
{
	free(p->glob);
	free(p->name);
	free(p->module);
	*p = (struct pattern){ 0 };
}

bool pattern_allows(const struct pattern *p, const char *base, bool is_exe,
		    bool is_system)
{
	if (!p->module)
		return !is_system;
	if (!strcmp(p->module, "exe"))
		return is_exe;
	return !strcmp(p->module, base) ||
	       glob_match(p->module, base, strlen(base));
}

/* ---- names --------------------------------------------------------------- */

/* Is the name what was typed, but for spaces? `f(int,char*)` will do. */
static bool equal_but_spaces(const char *typed, const char *name, size_t n)
{
	const char *end = name + n;

	for (;; typed++, name++) {
		typed += strspn(typed, " ");
		while (name < end && *name == ' ')
			name++;
		if (!*typed || name == end)
			return !*typed && name == end;
		if (*typed != *name)
			return false;
	}
}

static bool equal(const char *typed, const char *name, size_t n)
{
	return (!strncmp(typed, name, n) && !typed[n]) ||
	       (strchr(typed, '(') && equal_but_spaces(typed, name, n));
}

typedef bool test_fn(const char *typed, const char *name, size_t n);

/* Nearly all names begin otherwise than what was typed; only spaces may be left out, and
 * only a wildcard can stand for something else. */
static bool may_match(const char *typed, const char *name)
{
	return *typed == *name || *typed == ' ' || *name == ' ' || strchr("*?[\\", *typed);
}

/* The name whole, without a clone's suffix, and without Rust's hash. */
static bool try_lengths(test_fn *test, const char *typed, const char *name)
{
	size_t n, stem, unhashed;

	if (!may_match(typed, name))
		return false;
	n = strlen(name);
	if (test(typed, name, n))
		return true;
	stem = demangle_stem(name);
	if (stem != n && test(typed, name, stem))
		return true;
	unhashed = demangle_unhashed(name);
	return unhashed != n && test(typed, name, unhashed);
}

/* A match of the full name is shown by the short one: the parameter list was
 * needed to choose, not to read. */
static const char *try_names(test_fn *test, const char *typed,
			     const struct func_alias *a)
{
	if (try_lengths(test, typed, a->name))
		return a->name;
	if (a->full != a->name && try_lengths(test, typed, a->full))
		return a->name;
	if (a->raw != a->name && try_lengths(test, typed, a->raw))
		return a->raw;
	return NULL;
}

static const char *try_function(test_fn *test, const char *typed,
				const struct symbols *s, const struct func *f)
{
	struct func_alias main_name = { f->name, f->full, f->raw };
	const char *match = try_names(test, typed, &main_name);

	for (uint32_t i = 0; i < f->naliases && !match; i++)
		match = try_names(test, typed, &s->aliases[f->alias + i]);
	return match;
}

const char *pattern_match(const struct pattern *p, const struct symbols *s,
			  const struct func *f, bool *exact)
{
	if (p->plt != !!(f->flags & FUNC_PLT)) {
		*exact = false;
		return NULL;
	}
	const char *match = try_function(equal, p->name, s, f);

	*exact = match != NULL;
	if (match || glob_is_literal(p->name))
		return match;
	return try_function(glob_match, p->name, s, f);
}
