/* SPDX-License-Identifier: MIT */
/* ticks: what do ticks of the records mean in nanoseconds, and on the wall? */
#include "trace/ticks.h"

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

uint64_t clock_realtime(const struct clock *c, uint64_t ticks)
{
	if (ticks < c->ticks)
		return c->realtime - clock_ns(c, c->ticks - ticks);
	return c->realtime + clock_ns(c, ticks - c->ticks);
}
