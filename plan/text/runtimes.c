/* SPDX-License-Identifier: MIT */
/* runtimes: what is asked of all that there are. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "plan/impl.h"

enum {
	LITERAL = 2,		/* characters with which each reserved name begins */
	NAME_MOST = 64,		/* of a name that has a suffix */
};

static const struct runtime *const languages[] = {
#define X(name) &runtime_##name,
	RUNTIMES(X)
#undef X
};

const struct runtime *runtime_of(const struct symbols *syms, const struct func *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
		if (languages[i]->made(syms, f))
			return languages[i];
	return &runtime_c;
}

const char *plan_language(const struct symbols *syms, const struct func *f)
{
	const struct runtime *r = runtime_of(syms, f);

	return r == &runtime_c ? NULL : r->name;
}

const char *plan_languages(void)
{
	static _Thread_local char all[64];
	size_t n = ARRAY_SIZE(languages), len = 0;

	for (size_t i = 0; i < n && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
					!i ? "" : i + 1 < n ? ", " : " and ", languages[i]->name);
	return all;
}

void runtimes_open(struct plan_impl *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
		if (languages[i]->open)
			languages[i]->open(p);
}

bool runtimes_is_number(const struct plan_impl *p, raddr_t a)
{
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
		if (languages[i]->is_number && languages[i]->is_number(p, a))
			return true;
	return false;
}

bool runtimes_have_padding(const struct symbols *syms, struct range r)
{
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
		if (languages[i]->has_padding && languages[i]->has_padding(syms, r))
			return true;
	return false;
}

/* The name of a function, which its assembly may have with something behind it. */
static const char *without_suffix(const struct runtime *r, const char *raw, char room[NAME_MOST])
{
	size_t n = strlen(raw), end = r->suffix ? strlen(r->suffix) : 0;

	if (!end || n < end || n - end >= NAME_MOST || strcmp(raw + n - end, r->suffix))
		return raw;
	memcpy(room, raw, n - end);
	room[n - end] = '\0';
	return room;
}

static enum refusal reserved_by(const struct runtime *r, const char *raw, bool system, bool own)
{
	char room[NAME_MOST];
	const char *name = without_suffix(r, raw, room);

	for (const struct reserved *l = r->reserved; l && l->glob; l++)
		if ((l->where != SYSTEMS || system) && (l->where != OWN || own) &&
		    *name == *l->glob && !strncmp(name, l->glob, LITERAL) &&
		    !fnmatch(l->glob, name, 0))
			return l->why;
	return REFUSED_NONE;
}

enum refusal plan_reserved(const struct symbols *syms, const struct func *f, const char *raw,
			   bool system)
{
	enum refusal ret = reserved_by(&runtime_c, raw, system, false);

	for (size_t i = 0; i < ARRAY_SIZE(languages) && !ret; i++)
		ret = reserved_by(languages[i], raw, system, languages[i]->made(syms, f));
	return ret;
}

enum plan_ending plan_ending(const char *name)
{
	enum plan_ending ret = ENDING_NONE;
	char room[NAME_MOST];

	for (size_t i = 0; i < ARRAY_SIZE(languages) && !ret; i++)
		if (languages[i]->ending)
			ret = languages[i]->ending(without_suffix(languages[i], name, room));
	return ret;
}
