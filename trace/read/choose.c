/* SPDX-License-Identifier: MIT */
/* choose: which functions does a pattern mean, of those that have been recorded? */
#include "trace/read/choose.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

static bool is_in(const struct about *a, const struct pattern *p, const char *module)
{
	const char *exe = a->exe ? strrchr(a->exe, '/') : NULL;

	if (!p->module)
		return true;
	if (strcmp(p->module, "exe") == 0)
		return exe && strcmp(exe + 1, module) == 0;
	return fnmatch(p->module, module, 0) == 0;
}

/* A name is recorded as it is printed: with @plt, or the module that tells it from
 * others; or said to be that of inlined copies. */
static int choose_matches(const struct about *a, const struct pattern *p,
			  const struct reader_func *f, bool exact)
{
	const char *at = strrchr(f->name, '@');
	size_t n = at ? (size_t)(at - f->name) : strlen(f->name);
	auto_free char *name = strndup(f->name, inlined_bare(f->name, n));
	struct func func = { .name = name, .full = name, .raw = name };
	bool is_exact = false;

	if (!name)
		return fail(ENOMEM, "choose functions");
	if (at && strncmp(at, "@plt", 4) == 0)
		func.flags = FUNC_PLT;
	if (!is_in(a, p, f->module))
		return 0;
	return pattern_match(p, NULL, &func, &is_exact) && (is_exact || !exact);
}

int choose_names(const struct about *a, const struct pattern *p, bool value, bool *wanted,
		 size_t *found)
{
	size_t n = 0;

	for (int exact = 1; exact >= 0 && !n; exact--)
		for (size_t i = 0; i < a->nfuncs; i++) {
			int match = choose_matches(a, p, &a->funcs[i], exact);

			if (match < 0)
				return match;
			if (match)
				wanted[i] = value;
			n += (size_t)match;
		}
	*found += n;
	return 0;
}
