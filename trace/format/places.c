/* SPDX-License-Identifier: MIT */
#include "trace/format/places.h"

#include <errno.h>

static int by_name(const void *x, const void *y, void *ctx)
{
	const struct reader_func *funcs = ctx;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;

	return strcmp(funcs[i].name, funcs[j].name) ?:
	       strcmp(funcs[i].module, funcs[j].module) ?: (i > j) - (i < j);
}

int places_first(const struct reader_func *funcs, size_t nfuncs, uint32_t **ret)
{
	auto_free uint32_t *v = calloc(nfuncs + 1, sizeof(*v));
	uint32_t *first = calloc(nfuncs + 1, sizeof(*first));
	size_t n = 0;

	*ret = first;
	if (!v || !first)
		return -ENOMEM;
	for (uint32_t i = 0; i < nfuncs; i++) {
		first[i] = i;
		if ((funcs[i].entry_only || funcs[i].begins) && funcs[i].values)
			v[n++] = i;
	}
	qsort_r(v, n, sizeof(*v), by_name, (void *)funcs);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(funcs[v[i]].name, funcs[v[i - 1]].name) &&
		    !strcmp(funcs[v[i]].module, funcs[v[i - 1]].module))
			first[v[i]] = first[v[i - 1]];
	return 0;
}
