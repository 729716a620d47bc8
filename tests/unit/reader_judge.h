/* SPDX-License-Identifier: MIT */
/* reader_judge: whatever the rings held, is what comes out of them well formed? */
#ifndef TESTS_UNIT_READER_JUDGE_H
#define TESTS_UNIT_READER_JUDGE_H

#include "tests/unit/reader_world.h"
#include "trace/read/frames.h"

static uint64_t events, opens;

/* Now and then one is not to be told as open. */
static inline bool judge_open(void *ctx, const struct call *c)
{
	CHECK(!c->opened && c->depth < MAX_OPEN);
	return ++opens % 8 != 0;
}

static inline void judge_end(void *ctx, const struct call *c)
{
	CHECK(c->how <= CALL_ENTRY_ONLY && c->end >= c->begin);
	CHECK(c->func >= world_funcs && c->func < world_funcs + NFUNCS);
}

static inline void judge_lost(void *ctx, const struct event *e)
{
	CHECK(e->lost > 0);
}

static const struct sink judge_sink = {
	.open = judge_open, .end = judge_end, .lost = judge_lost,
};

/* To be given to reader_drain, with frames. */
static inline int judge_event(void *frames, const struct event *e)
{
	events++;
	CHECK(e->kind <= EVENT_STACK_END);
	if (e->kind != EVENT_LOST && e->kind != EVENT_STACK_END)
		CHECK(e->func < NFUNCS);
	return frames_event(frames, e);
}

#endif
