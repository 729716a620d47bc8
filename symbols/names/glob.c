/* SPDX-License-Identifier: MIT */
#include "symbols/names/glob.h"

#include <string.h>
#include <wctype.h>

/* A class such as [:alpha:] at `p`: its end, or NULL if it is none. */
static const char *match_class(const char *p, unsigned char c, bool *ret)
{
	const char *end = strncmp(p, "[:", 2) ? NULL : strstr(p + 2, ":]");
	char word[16];

	if (!end || (size_t)(end - p - 2) >= sizeof(word))
		return NULL;
	memcpy(word, p + 2, end - p - 2);
	word[end - p - 2] = '\0';
	*ret |= c < 0x80 && iswctype(c, wctype(word));
	return end + 2;
}

/* A set at `p`, behind its `[`: the end behind its `]`, or NULL when nothing
 * closes it. */
static const char *match_set(const char *p, unsigned char c, bool *ret)
{
	bool negated = *p == '!' || *p == '^', hit = false, first = true;

	p += negated;
	for (; *p && (*p != ']' || first); first = false) {
		const char *end = match_class(p, c, &hit);

		if (end) {
			p = end;
			continue;
		}
		p += *p == '\\' && p[1];
		unsigned char low = *p++, high = low;

		if (*p == '-' && p[1] && p[1] != ']') {
			p += 1 + (p[1] == '\\' && p[2]);
			high = *p++;
		}
		hit |= c >= low && c <= high;
	}
	if (*p != ']')
		return NULL;
	*ret = hit != negated;
	return p + 1;
}

/* One element of the glob, no star, against one character: the rest of the
 * glob, or NULL. */
static const char *match_one(const char *glob, unsigned char c)
{
	bool hit = false;
	const char *end;

	switch (*glob) {
	case '\0':
		return NULL;
	case '?':
		return glob + 1;
	case '[':
		end = match_set(glob + 1, c, &hit);
		if (end)
			return hit ? end : NULL;
		break;
	case '\\':
		glob += glob[1] != '\0';
		break;
	}
	return (unsigned char)*glob == c ? glob + 1 : NULL;
}

/* When a match fails behind a star, only the last star needs to take one
 * character more: linear space, and at most n * length steps. */
bool glob_match(const char *glob, const char *name, size_t n)
{
	const char *end = name + n, *star = NULL, *star_name = NULL;

	for (;;) {
		if (*glob == '*') {
			star = ++glob;
			star_name = name;
			continue;
		}
		if (name == end && !*glob)
			return true;

		const char *next = name < end ? match_one(glob, *name) : NULL;

		if (next) {
			glob = next;
			name++;
		} else if (star && star_name < end) {
			glob = star;
			name = ++star_name;
		} else {
			return false;
		}
	}
}

bool glob_is_literal(const char *glob)
{
	return !strpbrk(glob, "*?[\\");
}
