/* SPDX-License-Identifier: MIT */
#include "injector/modules/select_silent.h"

#include <string.h>

#include "arch/arch.h"

/* What libgcc asks where the unwind information of a frame is. */
#define FINDER "_Unwind_Find_FDE"

/* The library, or a module that has it linked in. */
bool silent_may_have(const struct select_options *o, const struct module *m)
{
	return (o->finders && (m->is_exe || strncmp(m->base, "libgcc_s.", 9) == 0)) ||
		(o->guards && (m->is_exe || (m->is_system && !m->is_payload)));
}

bool silent_finds(const struct func *f)
{
	size_t n = sizeof(FINDER) - 1;

	return !(f->flags & (FUNC_PLT | FUNC_FRAGMENT)) && strncmp(f->raw, FINDER, n) == 0 &&
		(!f->raw[n] || f->raw[n] == '@');
}

static bool has_raw_name(const struct symbols *syms, const struct func *f, const char *name)
{
	bool ret = strcmp(f->raw, name) == 0;

	for (uint32_t i = 0; i < f->naliases && !ret; i++)
		ret = strcmp(syms->aliases[f->alias + i].raw, name) == 0;
	return ret;
}

bool silent_guards(const struct symbols *syms, const struct func *f)
{
	return !(f->flags & (FUNC_PLT | FUNC_FRAGMENT)) &&
		(has_raw_name(syms, f, "prctl") || has_raw_name(syms, f, "syscall"));
}

bool silent_is_one(const struct select_options *o, const struct symbols *syms,
		   const struct func *f)
{
	return (o->finders && arch_host()->call && silent_finds(f)) ||
		(o->guards && silent_guards(syms, f));
}
