/* SPDX-License-Identifier: MIT */
/* func_index: the functions of a file in their order: which one starts at an address? */
#include "symbols/funcs/funcs.h"

#include <stdlib.h>

static int compare_funcs(const void *a, const void *b)
{
	const struct func *x = a, *y = b;

	if (x->range.start != y->range.start)
		return x->range.start < y->range.start ? -1 : 1;
	return 0;
}

void funcs_sort(struct symbols *s)
{
	vec_sort(s->funcs, s->nfuncs, compare_funcs);
}

/* Blocks in which one function begins, as a rule. Without memory all are searched. */
static void make_index(struct symbols *s)
{
	raddr_t first = s->nfuncs ? s->funcs[0].range.start : 0;
	uint64_t span = s->nfuncs ? s->funcs[s->nfuncs - 1].range.start - first : 0;

	for (s->index_shift = 0; span >> s->index_shift > s->nfuncs; s->index_shift++)
		;
	size_t blocks = (span >> s->index_shift) + 1, n = 0;

	free(s->index);
	s->index = calloc(blocks + 1, sizeof(*s->index));
	for (size_t i = 0; i <= blocks && s->index; i++) {
		while (n < s->nfuncs && (s->funcs[n].range.start - first) >> s->index_shift < i)
			n++;
		s->index[i] = (uint32_t)n;
	}
}

void funcs_settle(struct symbols *s)
{
	raddr_t end = 0;

	make_index(s);
	for (size_t i = 0; i < s->nfuncs; i++) {
		struct func *f = &s->funcs[i];

		if (end > f->range.start)
			f->flags |= FUNC_REACHED;
		end = MAX(end, f->range.end);
	}
}

struct func *funcs_find(const struct symbols *s, raddr_t addr)
{
	struct func key = { .range.start = addr };

	return s->nfuncs ? bsearch(&key, s->funcs, s->nfuncs, sizeof(key),
				   compare_funcs) : NULL;
}
