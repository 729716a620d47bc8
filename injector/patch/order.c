/* SPDX-License-Identifier: MIT */
#include "injector/patch/order.h"

uint8_t order_rank(const struct slot *s)
{
	return s->kind == SLOT_HOLE ? 0 : (uint8_t)MIN(1 + s->level, UINT8_MAX);
}

int order_written(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->finds != y->finds)
		return x->finds ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int order_restored(const void *a, const void *b)
{
	return order_written(b, a);
}

size_t order_plain(const struct change *c, size_t n)
{
	return vec_prefix(n, i, !c[i].finds);
}
