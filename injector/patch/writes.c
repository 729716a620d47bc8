/* SPDX-License-Identifier: MIT */
#include "injector/patch/writes.h"

#include <errno.h>

static int by_addr(const void *a, const void *b)
{
	const struct change *x = *(const struct change *const *)a;
	const struct change *y = *(const struct change *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int writes_make(const struct change *changes, size_t n, struct writes *ret)
{
	*ret = (struct writes){ calloc(n + 1, sizeof(*ret->v)), n };
	if (!ret->v)
		return fail(ENOMEM, "check the jumps");
	for (size_t i = 0; i < n; i++)
		ret->v[i] = &changes[i];
	vec_sort(ret->v, n, by_addr);
	return 0;
}

const struct change *writes_at(const struct writes *w, raddr_t a)
{
	size_t n = vec_prefix(w->n, i, w->v[i]->addr <= a);

	return n && a < w->v[n - 1]->addr + w->v[n - 1]->len ? w->v[n - 1] : NULL;
}

void writes_clear(struct writes *w)
{
	free(w->v);
	*w = (struct writes){ 0 };
}
