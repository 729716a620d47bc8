/* SPDX-License-Identifier: MIT */
/* clock: which moments of the counter are which of the clocks? */
#include "injector/log/clock.h"

#include "arch/clock.h"

enum {
	TRIES = 5,		/* the tightest of so many pairs is taken */
	FIRST_RUN_NS = 1000000,	/* enough for a rate good to 0.01 % */
};

static uint64_t now_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t clock_monotonic(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

/* Being preempted between the two readings spoils a pair: take the one whose
 * readings of the counter are nearest to each other. */
uint64_t clock_pair(clockid_t id, struct clock_pair *ret)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = arch_ticks();
		uint64_t at = now_ns(id);
		uint64_t width = arch_ticks() - before;

		if (width >= best)
			continue;
		best = width;
		*ret = (struct clock_pair){ before + width / 2, at };
	}
	return best / 2;
}

static void take_pair(clockid_t id, uint64_t *ticks, uint64_t *ns)
{
	struct clock_pair pair;

	clock_pair(id, &pair);
	*ticks = pair.ticks;
	*ns = pair.ns;
}

void clock_begin(struct clock *ret)
{
	struct timespec run = { .tv_nsec = FIRST_RUN_NS };
	uint64_t ticks = 0, realtime = 0;

	*ret = (struct clock){ 0 };
	take_pair(CLOCK_BOOTTIME, &ret->ticks, &ret->ns);
	nanosleep(&run, NULL);
	clock_update(ret);
	take_pair(CLOCK_REALTIME, &ticks, &realtime);
	ret->realtime = realtime - clock_ns(ret, ticks - ret->ticks);
}

void clock_update(struct clock *c)
{
	uint64_t ticks = c->ticks, ns = c->ns;

	take_pair(CLOCK_BOOTTIME, &ticks, &ns);
	/* A counter that did not move, or went back, keeps the old rate. */
	if (ticks <= c->ticks || ns <= c->ns)
		return;
	c->run_ticks = ticks - c->ticks;
	c->run_ns = ns - c->ns;
}
