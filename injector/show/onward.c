/* SPDX-License-Identifier: MIT */
#include "injector/show/onward.h"

#include <stdio.h>

#include "injector/log/say.h"

enum { FEW = 32, NAMED = 3, NAME_MOST = 200 };

/* Of the i-th; false: it is not known where its calls end, or not asked. */
static bool onward_of(const struct selected *s, size_t i, struct onward *ret)
{
	const struct placed_probe *p = &s->probes[i];

	if (p->refusal || p->entry_only || selected_place(s, i))
		return false;
	plan_onward(s->plan, p->planned, ret);
	return ret->n;
}

static const char *name_of(const struct selected *s, raddr_t at, char ret[NAME_MOST])
{
	const struct func *f = symbols_func_at(s->module->symbols, at);
	char clean[NAME_MOST];

	if (f && f->range.start == at)
		snprintf(ret, NAME_MOST, "%s", say_clean(f->name, clean, sizeof(clean)));
	else
		snprintf(ret, NAME_MOST, "0x%llx", (unsigned long long)at);
	return ret;
}

void onward_print(const struct selected *s, size_t i, struct output *out)
{
	char name[NAME_MOST];
	struct onward to;

	if (!onward_of(s, i, &to))
		return;
	for (size_t k = 0; k < to.n; k++)
		output_printf(out, "%s%s", k ? ", " : "  goes on by a jump in ",
			      name_of(s, to.to[k], name));
	output_printf(out, "\n");
}

static bool is_probed(const struct selected *s, raddr_t at)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->funcs[i]->range.start == at && !s->probes[i].refusal &&
		    !selected_place(s, i))
			return true;
	return false;
}

/* Of the i-th, the first function that is not probed, too; 0: none. */
static raddr_t goes_on_in(const struct selected *s, size_t i)
{
	struct onward to;

	if (!onward_of(s, i, &to))
		return 0;
	for (size_t k = 0; k < to.n; k++)
		if (!is_probed(s, to.to[k]))
			return to.to[k];
	return 0;
}

void onward_say(const struct selection *sel)
{
	char names[NAMED * NAME_MOST], clean[NAME_MOST], to[NAME_MOST];
	size_t n = 0, used = 0;

	for (size_t i = 0; i < sel->n && sel->nfuncs <= FEW; i++)
		for (size_t j = 0; j < sel->v[i].n; j++) {
			const struct selected *s = &sel->v[i];
			raddr_t at = goes_on_in(s, j);

			if (!at || n++ >= NAMED)
				continue;
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "",
						 say_clean(s->names[j], clean, sizeof(clean) - 4));
			used = MIN(used, sizeof(names) - 1);
			if (n == 1)
				name_of(s, at, to);
		}
	if (n == 1)
		say_hint("%s goes on in %s by a jump: its calls end there, for that is not probed",
			 names, to);
	else if (n > NAMED)
		say_hint("%s and %zu more go on in other functions by a jump, and their calls end "
			 "there; inject list -v tells in which", names, n - NAMED);
	else if (n)
		say_hint("%s go on in other functions by a jump, and their calls end there; inject "
			 "list -v tells in which", names);
}
