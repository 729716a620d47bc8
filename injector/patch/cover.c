/* SPDX-License-Identifier: MIT */
#include "injector/patch/cover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static raddr_t end_of(const struct change *c)
{
	return c->addr + c->len;
}

static int by_cover(const void *a, const void *b, void *changes)
{
	const struct change *x = (const struct change *)changes + *(const size_t *)a;
	const struct change *y = (const struct change *)changes + *(const size_t *)b;

	return x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) : y->len - x->len;
}

/* Those that stand, upwards; how many. */
static size_t list_standing(const struct change *v, size_t n, const uint8_t *is, size_t *order)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		if (is[i] == TEXT_FROM)
			order[found++] = i;
	if (found)
		qsort_r(order, found, sizeof(*order), by_cover, (void *)v);
	return found;
}

/* Do they have other bytes where both are? */
static bool contradicts(const struct change *x, const struct change *y)
{
	raddr_t from = MAX(x->addr, y->addr), to = MIN(end_of(x), end_of(y));

	return from < to && memcmp(x->from + (from - x->addr), y->from + (from - y->addr),
				   to - from) != 0;
}

static bool is_displaced(const struct change *v, const struct change *c, const size_t *order,
			 size_t n)
{
	raddr_t least = c->addr > CHANGE_MAX ? c->addr - CHANGE_MAX : 0;

	for (size_t k = vec_prefix(n, i, v[order[i]].addr < least);
	     k < n && v[order[k]].addr < end_of(c); k++)
		if (contradicts(&v[order[k]], c))
			return true;
	return false;
}

int cover_settle(const struct change *v, size_t n, uint8_t *is)
{
	auto_free size_t *order = calloc(n + 1, sizeof(*order));
	size_t standing = order ? list_standing(v, n, is, order) : 0;
	raddr_t end = 0;

	if (!order)
		return fail(ENOMEM, "look at the text");
	for (size_t k = 0; k < standing; k++) {
		const struct change *c = &v[order[k]];

		if (end_of(c) <= end)
			is[order[k]] = TEXT_TO;					/* 1 */
		end = MAX(end, end_of(c));
	}
	for (size_t i = 0; i < n; i++)
		if (is[i] == TEXT_OTHER && is_displaced(v, &v[i], order, standing))
			is[i] = TEXT_TO;					/* 2 */
	return 0;
}
