/* SPDX-License-Identifier: MIT */
#include "injector/modules/ifunc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "injector/proc/procfs.h"

struct search {
	const struct module *module;	/* of the resolver */
	const struct func *resolver;
	int mem;			/* the process's */
};

/* The function whose address the process has in a word of `m`. A word that is
 * not bound yet leads into the linkage table of its own module. */
static const struct func *read_word(const struct search *s, const struct module *m,
				    raddr_t at)
{
	const struct symbols *syms = s->module->symbols;
	raddr_t value;

	if (pread(s->mem, &value, sizeof(value), (off_t)(at + m->bias)) != sizeof(value))
		return NULL;
	value -= s->module->bias;
	const struct func *f = symbols_func_at(syms, value);

	return f && f->range.start == value &&
		!(f->flags & (FUNC_IFUNC | FUNC_PLT | FUNC_FRAGMENT)) ? f : NULL;
}

static bool has_name(const struct search *s, const char *raw)
{
	const struct func_alias *alias = s->module->symbols->aliases + s->resolver->alias;

	for (uint32_t i = 0; i < s->resolver->naliases; i++)
		if (!strcmp(alias[i].raw, raw))
			return true;
	return !strcmp(s->resolver->raw, raw);
}

/* What the module uses itself. */
static const struct func *search_own(const struct search *s)
{
	const struct symbols *syms = s->module->symbols;
	const struct func *f = NULL;

	for (size_t i = 0; i < syms->nifunc_slots && !f; i++)
		if (syms->ifunc_slots[i].resolver == s->resolver->range.start)
			f = read_word(s, s->module, syms->ifunc_slots[i].at);
	return f;
}

static const struct func *search_user(const struct search *s, const struct module *m)
{
	const struct func *f = NULL;

	for (size_t i = 0; i < m->symbols->nslots && !f; i++)
		if (has_name(s, m->symbols->slots[i].raw))
			f = read_word(s, m, m->symbols->slots[i].at);
	return f;
}

const struct func *ifunc_chosen(struct modules *mods, const struct module *m,
				const struct func *resolver)
{
	char path[80], dir[64];

	if (!mods->pid)
		return NULL;
	procfs_dir(mods->pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/mem", dir);
	auto_close int mem = open(path, O_RDONLY | O_CLOEXEC);
	struct search s = { .module = m, .resolver = resolver, .mem = mem };
	const struct func *f = mem < 0 ? NULL : search_own(&s);

	for (size_t i = 0; i < mods->n && mem >= 0 && !f; i++) {
		if (module_symbols(&mods->v[i]) == 0)
			f = search_user(&s, &mods->v[i]);
		else
			fail_clear();
	}
	return f;
}
