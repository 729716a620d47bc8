/* SPDX-License-Identifier: MIT */
/* reader_counts: what have all threads counted, where calls are counted? */
#include "injector/reader_impl.h"

#include <string.h>

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

/* A ring that nobody has ever had is memory that nobody has touched. */
static void add_ring(const struct lane *l, uint64_t *calls, size_t n)
{
	const uint64_t *counts = (const uint64_t *)l->buffers;

	for (size_t i = 0; i < n && load(&l->ring->generation); i++)
		calls[i] += load(&counts[i]);
}

void reader_counts(const struct reader *r, uint64_t *calls, size_t n)
{
	size_t most = (size_t)r->nsub * SUBBUF_SIZE / sizeof(*calls);

	memset(calls, 0, n * sizeof(*calls));
	for (uint32_t i = 0; i < r->nrings; i++)
		add_ring(&r->lanes[i], calls, MIN(n, most));
}
