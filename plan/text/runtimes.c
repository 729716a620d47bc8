/* SPDX-License-Identifier: MIT */
/* runtimes: those that there are, and C. */
#include "plan/impl.h"

static bool may_lower(const struct choice *c)
{
	return c->may_short;
}

const struct runtime runtime_c = { .name = "C", .may_lower = may_lower };

static const struct runtime *const runtimes[] = {
#define X(name) &runtime_##name,
	RUNTIMES(X)
#undef X
};

const struct runtime *runtime_of(const struct symbols *syms, const struct func *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (runtimes[i]->made(syms, f))
			return runtimes[i];
	return &runtime_c;
}

const char *plan_language(const struct symbols *syms, const struct func *f)
{
	const struct runtime *r = runtime_of(syms, f);

	return r == &runtime_c ? NULL : r->name;
}

void runtimes_open(struct plan_impl *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (runtimes[i]->open)
			runtimes[i]->open(p);
}

bool runtimes_is_number(const struct plan_impl *p, raddr_t a)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (runtimes[i]->is_number && runtimes[i]->is_number(p, a))
			return true;
	return false;
}
