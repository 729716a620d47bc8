/* SPDX-License-Identifier: MIT */
/* module_values: which values do the functions of a module take and return? */
#include <errno.h>

#include "injector/modules/modules.h"
#include "symbols/types/signatures.h"
#include "values/known.h"

static const char *name_of(const struct module *m, const struct func *f, uint32_t i)
{
	return i ? m->symbols->aliases[f->alias + i - 1].raw : f->raw;
}

/* By any of its names, in the library that it is of. */
static int find_known(const struct module *m, const struct func *f, struct signature *ret)
{
	int err = -ENOENT;

	for (uint32_t i = 0; err == -ENOENT && i <= f->naliases; i++)
		err = known_find(m->base, name_of(m, f, i), m->symbols->machine, ret);
	return err;
}

int module_signature(struct module *m, const struct func *f, struct signature *ret)
{
	int err = 0;

	/* A stub of the linkage table has no debug information, and is of another library. */
	if (f->flags & (FUNC_PLT | FUNC_FRAGMENT))
		return -ENOENT;
	if (!m->signatures)
		err = signatures_open(m->symbols, m->fd, &m->signatures);
	if (!err)
		err = signatures_get(m->signatures, f, ret);
	if (err)
		return err == -ENOENT ? find_known(m, f, ret) : err;
	for (uint32_t i = 0; i <= f->naliases; i++)
		known_refine(m->base, name_of(m, f, i), ret);
	return 0;
}
