/* SPDX-License-Identifier: MIT */
/* reader_counts: what have all threads counted, where calls are counted, or timed? */
#include "injector/reader_impl.h"

#include <string.h>

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

/* Functions that there is room for. */
static size_t room(const struct reader *r)
{
	return r->timed ? timing_funcs(r->nsub) : (size_t)r->nsub * SUBBUF_SIZE / sizeof(uint64_t);
}

static const struct timing *timings_of(const struct lane *l)
{
	return (const struct timing *)((const char *)l->ring + TIMINGS_OFF);
}

static const uint64_t *counts_of(const struct reader *r, const struct lane *l)
{
	return r->timed ? (const uint64_t *)(timings_of(l) + room(r)) :
		(const uint64_t *)l->buffers;
}

/* A ring that nobody has ever had is memory that nobody has touched. */
static bool was_used(const struct lane *l)
{
	return load(&l->ring->generation);
}

static void add_ring(const struct reader *r, const struct lane *l, uint64_t *calls, size_t n)
{
	const uint64_t *counts = counts_of(r, l);

	for (size_t i = 0; i < n && was_used(l); i++)
		calls[i] += load(&counts[i]) & ~TIMING_TAKEN;
}

void reader_counts(const struct reader *r, uint64_t *calls, size_t n)
{
	memset(calls, 0, n * sizeof(*calls));
	for (uint32_t i = 0; i < r->nrings; i++)
		add_ring(r, &r->lanes[i], calls, MIN(n, room(r)));
}

static void add_timing(const struct timing *t, struct timing *ret)
{
	ret->total += load(&t->total);
	ret->self += load(&t->self);
	ret->most = MAX(ret->most, load(&t->most));
	ret->unwound += load(&t->unwound);
	for (int i = 0; i < BUCKETS; i++)
		ret->buckets[i] += load(&t->buckets[i]);
}

/* To look at what nobody has touched would make memory of it: so only at what this ring's
 * thread has called, or taken over from another. */
void reader_timings(const struct reader *r, const uint64_t *calls, struct timing *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (calls[i])
			ret[i] = (struct timing){ 0 };
	for (uint32_t j = 0; j < r->nrings; j++) {
		const struct lane *l = &r->lanes[j];
		const uint64_t *counts = counts_of(r, l);

		for (size_t i = 0; i < MIN(n, room(r)) && was_used(l); i++)
			if (calls[i] && load(&counts[i]))
				add_timing(&timings_of(l)[i], &ret[i]);
	}
}
