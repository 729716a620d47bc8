/* SPDX-License-Identifier: MIT */
#include "injector/launch/rdebug.h"

static bool rdebug_symbol(struct module *m, const char *name, raddr_t *ret)
{
	bool found = module_symbols(m) == 0 && symbols_dynamic(m->symbols, name, ret) == 0;

	fail_clear();
	*ret += found ? m->bias : 0;
	return found;
}

bool rdebug_find(struct module *m, struct rdebug *ret)
{
	*ret = (struct rdebug){ 0 };
	/* A static program may export a copy, which is never filled in. */
	if (m->is_payload || !m->is_system)
		return false;
	if (rdebug_symbol(m, "_r_debug", &ret->at))
		return true;
	ret->pointer = rdebug_symbol(m, "_dl_debug_addr", &ret->at);
	return ret->pointer;
}

int rdebug_read(const struct target *t, const struct rdebug *list, struct r_debug *ret)
{
	raddr_t at = list->at;
	int err = list->pointer ? target_read(t, at, &at, sizeof(at)) : 0;

	return err ? err : target_read(t, at, ret, sizeof(*ret));
}
