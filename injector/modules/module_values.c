/* SPDX-License-Identifier: MIT */
/* module_values: which values do the functions of a module take and return? */
#include <errno.h>

#include "injector/modules/modules.h"
#include "injector/modules/select_place.h"
#include "symbols/funcs/usdt.h"
#include "symbols/types/signatures.h"
#include "values/hand.h"
#include "values/known.h"
#include "values/usdt_signature.h"

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

/* ---- places for tracers -------------------------------------------------- */

static bool find_symbol(void *ctx, const char *symbol, uint64_t *ret)
{
	const struct module *m = ctx;

	if (symbols_object(m->symbols, symbol, ret))
		return false;
	*ret += m->bias;
	return true;
}

int module_usdt_signature(struct module *m, const struct usdt_site *site, const char *types,
			  struct signature *ret)
{
	const struct usdt_symbols symbols = { find_symbol, m };
	uint16_t machine = m->symbols->machine;
	struct hand_error error;
	size_t name;
	int err = types ? hand_parse(types, machine, ret, &name, &error) :
		usdt_known(site->name, machine, ret);

	if (err == -ENOENT || err == -EINVAL)
		err = signature_begin(ret, machine);
	if (!err)
		usdt_settle(ret, site->args, &symbols);
	return err;
}

/* ---- functions ----------------------------------------------------------- */

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
	ret->go_types.start += m->bias;
	ret->go_types.end += m->bias;
	for (uint32_t i = 0; i <= f->naliases; i++)
		known_refine(m->base, name_of(m, f, i), ret);
	return 0;
}

int module_signature_at(struct module *m, const struct marked_place *p, struct signature *ret)
{
	int err = m->signatures ? 0 : signatures_open(m->symbols, m->fd, &m->signatures);

	return err ? err : signatures_at(m->signatures, p->func, p->pc, p->die, m->bias, ret);
}

int module_inlined(struct module *m, const struct func *f, raddr_t pc, char **ret)
{
	const struct func *whole = f->flags & FUNC_FRAGMENT && f->parent >= 0 ?
		&m->symbols->funcs[f->parent] : f;
	int err = m->signatures ? 0 : signatures_open(m->symbols, m->fd, &m->signatures);

	*ret = NULL;
	return err ? err : signatures_inlined(m->signatures, whole, pc, ret);
}
