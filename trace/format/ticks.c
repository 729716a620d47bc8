/* SPDX-License-Identifier: MIT */
/* ticks: what do ticks of the records mean in nanoseconds, and on the wall? */
#include "trace/format/ticks.h"

uint64_t clock_ns(const struct clock *c, uint64_t ticks)
{
	uint64_t product;

	if (!c->run_ticks)
		return ticks;
	/* Spans of calls fit in 64 bits, where to divide costs a tenth. */
	if (!__builtin_mul_overflow(ticks, c->run_ns, &product))
		return product / c->run_ticks;
	return (uint64_t)((unsigned __int128)ticks * c->run_ns / c->run_ticks);
}

/* The last pair that is not later, or the first one. */
static const struct clock_pair *pair_before(const struct clock *c, uint64_t ticks)
{
	size_t low = 0, high = c->npairs;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (c->pairs[middle].ticks <= ticks)
			low = middle;
		else
			high = middle;
	}
	return &c->pairs[low];
}

/* By the rate that is the same all the time. */
static uint64_t from_pair(const struct clock *c, const struct clock_pair *p, uint64_t ticks)
{
	if (ticks < p->ticks)
		return p->ns - MIN(clock_ns(c, p->ticks - ticks), p->ns);
	return p->ns + clock_ns(c, ticks - p->ticks);
}

uint64_t clock_realtime(const struct clock *c, uint64_t ticks)
{
	const struct clock_pair first = { c->ticks, c->realtime };
	const struct clock_pair *p = c->npairs ? pair_before(c, ticks) : &first;

	if (!c->npairs || ticks < p->ticks || p == &c->pairs[c->npairs - 1])
		return from_pair(c, p, ticks);
	return p->ns + (uint64_t)((unsigned __int128)(ticks - p->ticks) * (p[1].ns - p->ns) /
				  (p[1].ticks - p->ticks));
}

struct clock_pair clock_last(const struct clock *c)
{
	return (struct clock_pair){ c->ticks + c->run_ticks, c->realtime + c->run_ns };
}
