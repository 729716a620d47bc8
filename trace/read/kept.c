/* SPDX-License-Identifier: MIT */
#include "trace/read/kept.h"

#include <string.h>

static const void *copy_of(const void *p, size_t size)
{
	void *ret = p ? malloc(size + 1) : NULL;

	return ret ? memcpy(ret, p, size) : NULL;
}

struct call call_keep(const struct call *c)
{
	struct call ret = *c;

	ret.entry = copy_of(c->entry, c->nentry);
	ret.exit = copy_of(c->exit, c->nexit);
	ret.callers = copy_of(c->callers, c->ncallers * sizeof(*c->callers));
	ret.ncallers = ret.callers ? c->ncallers : 0;
	ret.outer = NULL;
	ret.outer_callers = NULL;
	ret.nouter = 0;
	return ret;
}

void call_drop(struct call *c)
{
	free((void *)c->entry);
	free((void *)c->exit);
	free((void *)c->callers);
	*c = (struct call){ 0 };
}

size_t call_bytes(const struct call *c)
{
	return sizeof(*c) + c->nentry + c->nexit + c->ncallers * sizeof(*c->callers);
}
