/* SPDX-License-Identifier: MIT */
/*
 * pattern: which functions does the user mean?
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/names/demangle.h"
#include "symbols/names/glob.h"
#include "symbols/names/spelling.h"
#include "symbols/symbols.h"

enum { SPELLING_MAX = 16384 };	/* longer names are compared as they are only */

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

/* NAME+0x1c, or NAME+28: how long is NAME? No name of a function ends so. */
static size_t before_offset(const char *text, size_t n)
{
	size_t at = n;

	while (at && isalnum((unsigned char)text[at - 1]))
		at--;
	return at > 1 && at < n && text[at - 1] == '+' && isdigit((unsigned char)text[at]) ?
		at - 1 : n;
}

static int parse_offset(const char *text, size_t n, struct pattern *p)
{
	char *end;

	/* A zero before it does not make it octal: addresses are often written so. */
	errno = 0;
	p->offset = strtoull(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
	p->place = true;
	if (errno || end != text + n)
		return fail(0, "'%.*s' is no distance in bytes; give it as in f+28 or f+0x1c",
			    (int)n, text);
	return p->plt ? fail(0, "a call through the linkage table has no places in it") : 0;
}

/* NULL: as it was typed, or there is no memory. */
static char *make_spelling(const char *name)
{
	size_t room = 2 * strlen(name) + 1;	/* one constructor may become longer */
	char *text = spelling_matters(name) ? malloc(room) : NULL;

	if (text && spelling_make(name, text, room))
		return text;
	free(text);
	return NULL;
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
	size_t plt = before_plt(text, n), name = before_offset(text, plt);

	ret->plt = plt < n;
	if (name < plt)
		err = parse_offset(text + name + 1, plt - name - 1, ret);
	if (err)
		return err;
	ret->glob = strdup(text);
	ret->name = strndup(text, name);
	ret->module = at ? strdup(at + 1) : NULL;
	ret->spelling = ret->name ? make_spelling(ret->name) : NULL;
	if (ret->glob && ret->name && (ret->module || !at))
		return 0;
	pattern_clear(ret);
	return fail(ENOMEM, "read the pattern '%s'", text);
}

void pattern_clear(struct pattern *p)
{
	free(p->glob);
	free(p->name);
	free(p->spelling);
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

/* How a pattern is compared: as it was typed, or both by their spelling. */
struct comparison {
	test_fn *test;
	const char *typed;
	bool spelled;
};

/* Nearly all names begin otherwise than what was typed; only spaces may be left out, and
 * only a wildcard can stand for something else. */
static bool may_match(test_fn *test, const char *typed, const char *name)
{
	return *typed == *name || *typed == ' ' || *name == ' ' ||
		(test == glob_match && strchr("*?[\\", *typed));
}

/* The length of a name without the tags of an ABI: foo[abi:cxx11] is called foo. */
static size_t untagged(const char *name, size_t n)
{
	const char *tag = n && name[n - 1] == ']' ? strstr(name, "[abi:") : NULL;

	return tag && tag > name ? (size_t)(tag - name) : n;
}

/* The name whole, without a clone's suffix, without Rust's hash, and without tags. */
static bool try_lengths(test_fn *test, const char *typed, const char *name)
{
	size_t n, stem, unhashed, bare;

	if (!may_match(test, typed, name))
		return false;
	n = strlen(name);
	if (test(typed, name, n))
		return true;
	stem = demangle_stem(name);
	if (stem != n && test(typed, name, stem))
		return true;
	bare = untagged(name, stem);
	if (bare != stem && test(typed, name, bare))
		return true;
	unhashed = demangle_unhashed(name);
	return unhashed != n && test(typed, name, unhashed);
}

static bool try_name(const struct comparison *c, const char *name)
{
	static _Thread_local char spelled[SPELLING_MAX];

	if (!c->spelled)
		return try_lengths(c->test, c->typed, name);
	return may_match(c->test, c->typed, name) &&
		spelling_make(name, spelled, sizeof(spelled)) &&
		try_lengths(c->test, c->typed, spelled);
}

/* A match of the full name is shown by the short one: the parameter list was
 * needed to choose, not to read. */
static const char *try_names(const struct comparison *c, const struct func_alias *a)
{
	if (try_name(c, a->name))
		return a->name;
	if (a->full != a->name && try_name(c, a->full))
		return a->name;
	if (a->raw != a->name && !c->spelled && try_name(c, a->raw))
		return a->raw;
	return NULL;
}

static const char *try_function(const struct comparison *c, const struct symbols *s,
				const struct func *f)
{
	struct func_alias main_name = { f->name, f->full, f->raw };
	const char *match = try_names(c, &main_name);

	for (uint32_t i = 0; i < f->naliases && !match; i++)
		match = try_names(c, &s->aliases[f->alias + i]);
	return match;
}

static const char *try_spellings(test_fn *test, const struct pattern *p, const struct symbols *s,
				 const struct func *f)
{
	const char *match = try_function(&(struct comparison){ test, p->name, false }, s, f);

	if (match || !p->spelling)
		return match;
	return try_function(&(struct comparison){ test, p->spelling, true }, s, f);
}

const char *pattern_match(const struct pattern *p, const struct symbols *s,
			  const struct func *f, bool *exact)
{
	if (p->plt != !!(f->flags & FUNC_PLT)) {
		*exact = false;
		return NULL;
	}
	const char *match = try_spellings(equal, p, s, f);

	*exact = match != NULL;
	if (match || glob_is_literal(p->name))
		return match;
	return try_spellings(glob_match, p, s, f);
}
