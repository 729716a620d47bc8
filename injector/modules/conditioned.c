/* SPDX-License-Identifier: MIT */
#include "injector/modules/conditioned.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "symbols/names/glob.h"
#include "values/condition_compile.h"

static bool is_called(const struct func *f, const char *glob)
{
	return (f->name && glob_match(glob, f->name, strlen(f->name))) ||
		(f->raw && glob_match(glob, f->raw, strlen(f->raw)));
}

/* Where code of functions of this name is, in all modules. */
static int find_callers(void *ctx, const char *glob, struct condition_range *v, size_t room,
			size_t *n)
{
	const struct modules *mods = ctx;

	*n = 0;
	for (size_t i = 0; i < mods->n; i++) {
		struct module *m = &mods->v[i];

		if (module_symbols(m)) {
			fail_clear();
			continue;
		}
		for (size_t j = 0; j < m->symbols->nfuncs; j++) {
			const struct func *f = &m->symbols->funcs[j];

			if (!is_called(f, glob))
				continue;
			if (*n == room)
				return -E2BIG;
			v[(*n)++] = (struct condition_range){ m->bias + f->range.start,
							      m->bias + f->range.end };
		}
	}
	return *n ? 0 : -ENOENT;
}

/* What no code in the process can tell, or what of this machine cannot. */
static const char *untold(const struct condition *c)
{
	if (c->needs & CONDITION_COMM)
		return "comm, which the kernel alone knows; give --tid";
	if (c->needs & CONDITION_CPU && !arch_host()->tells_cpu)
		return "cpu, which no instruction of this processor tells";
	return NULL;
}

int conditioned_compile(const char *text, const struct modules *mods, const char *name,
			const struct signature *signature, struct read_plan *plan,
			struct condition *ret, struct condition_why *why)
{
	const struct condition_names names = { find_callers, (void *)mods };
	struct condition_error error;
	char lines[512];
	int err = condition_compile(text, signature, plan, &names, ret, &error);

	if (!err && untold(ret))
		return fail(EINVAL, "-w asks for %s", untold(ret));
	if (!err)
		return 0;
	condition_error_text(text, &error, lines, sizeof(lines));
	if (err == -EINVAL)
		return fail(0, "-w: %s\n%s", error.what, lines), -EINVAL;
	if (err != -ENOENT && err != -ENOSPC)
		return err;
	if (!why->text[0] || (signature && !why->known))
		snprintf(why->text, sizeof(why->text), "-w: %.160s: %s\n%s", name, error.what,
			 lines);
	why->known |= signature != NULL;
	return -ENOENT;
}
