/* SPDX-License-Identifier: MIT */
#include "injector/show/limiter.h"

#include <errno.h>
#include <string.h>

/* Processor time that a window must have. The kernel counts that of a running
 * thread by its own ticks, a few milliseconds each. */
#define PROCESSOR_LEAST 20000000ull

struct tally {
	uint64_t events, calls;
};

struct probe_state {
	double more;		/* ns, of an event */
	bool spared;
};

struct limiter {
	double limit;		/* as a share of 1 */
	struct limiter_costs costs;
	struct probe_state *state;	/* by function, `cap` of each */
	struct tally *now;	/* of the window that is being counted */
	struct tally *judged;	/* of the newest one that is complete */
	size_t cap;
	uint64_t events;	/* of the window of now */
	struct limiter_sample base, mark;	/* where it began, where it ends */
	bool begun, marked;
	/* Of `judged`. */
	double cost_of_event, lost_share;	/* lost events for each recorded one */
	double spent, processor, wall;	/* ns */
};

int limiter_new(uint32_t limit, const struct limiter_costs *costs, struct limiter **ret)
{
	struct limiter *b = calloc(1, sizeof(*b));

	if (!b)
		return fail(ENOMEM, "watch the overhead");
	b->limit = limit / 1e4;
	b->costs = *costs;
	*ret = b;
	return 0;
}

void limiter_free(struct limiter *b)
{
	if (!b)
		return;
	free(b->state);
	free(b->now);
	free(b->judged);
	free(b);
}

static int widen(void *array, size_t size, size_t from, size_t to)
{
	void **p = array;
	char *wide = realloc(*p, to * size);

	if (!wide)
		return fail(ENOMEM, "watch the overhead");
	memset(wide + from * size, 0, (to - from) * size);
	*p = wide;
	return 0;
}

static int make_room(struct limiter *b, uint32_t func)
{
	size_t cap = b->cap ? b->cap : 256;
	int err;

	if (func < b->cap)
		return 0;
	while (cap <= func)
		cap *= 2;
	err = widen(&b->state, sizeof(*b->state), b->cap, cap) ?:
	      widen(&b->now, sizeof(*b->now), b->cap, cap) ?:
	      widen(&b->judged, sizeof(*b->judged), b->cap, cap);
	if (!err)
		b->cap = cap;
	return err;
}

int limiter_more(struct limiter *b, uint32_t func, double ns)
{
	int err = make_room(b, func);

	if (!err)
		b->state[func].more = MAX(b->state[func].more, ns);
	return err;
}

/* Of one function in the judged window, ns: its share of what was lost is taken
 * to be that of what was recorded. */
static double cost(const struct limiter *b, size_t func)
{
	if (b->state[func].spared)
		return 0;
	double events = (double)b->judged[func].events;

	return events * (b->cost_of_event + b->state[func].more * (1 + b->lost_share));
}

static void begin_window(struct limiter *b, const struct limiter_sample *at)
{
	if (b->cap)
		memset(b->now, 0, b->cap * sizeof(*b->now));
	b->events = 0;
	b->base = *at;
}

/* The window of now is complete. One with too little processor time goes on. */
static void close_window(struct limiter *b)
{
	struct tally *counted = b->now;

	b->marked = false;
	if (!b->events || b->mark.processor - b->base.processor < PROCESSOR_LEAST)
		return;
	b->lost_share = b->mark.lost > b->base.lost ?
		(double)(b->mark.lost - b->base.lost) / (double)b->events : 0;
	b->cost_of_event = b->costs.recorded + b->costs.lost * b->lost_share;
	b->processor = (double)(b->mark.processor - b->base.processor);
	b->wall = (double)(b->mark.wall - b->base.wall);
	b->now = b->judged;
	b->judged = counted;
	b->spent = 0;
	for (size_t i = 0; i < b->cap; i++)
		b->spent += cost(b, i);
	/* What is more than all is as much as all: the measure is not that exact. */
	b->processor = MAX(b->processor, b->spent);
	begin_window(b, &b->mark);
}

static bool is_call(const struct event *e)
{
	return e->kind == EVENT_ENTRY || e->kind == EVENT_MARK;
}

int limiter_event(struct limiter *b, const struct event *e)
{
	if (b->marked && e->tsc > b->mark.ticks)
		close_window(b);
	if (!b->begun || e->tsc <= b->base.ticks || (!is_call(e) && e->kind != EVENT_EXIT))
		return 0;
	int err = make_room(b, e->func);
	if (err)
		return err;
	b->events++;
	b->now[e->func].events++;
	b->now[e->func].calls += is_call(e);
	return 0;
}

int limiter_count(struct limiter *b, uint32_t func, uint64_t calls, unsigned int events)
{
	int err = make_room(b, func);

	if (b->marked)
		close_window(b);
	if (err || !b->begun)
		return err;
	b->events += calls * events;
	b->now[func].events += calls * events;
	b->now[func].calls += calls;
	return 0;
}

/* A mark stays until it was passed: a reader far behind would never pass one that
 * moves. */
void limiter_sample(struct limiter *b, const struct limiter_sample *s)
{
	if (!b->begun)
		begin_window(b, s);
	else if (!b->marked)
		b->mark = *s;
	b->marked = b->begun;
	b->begun = true;
}

static size_t most_expensive(const struct limiter *b)
{
	size_t most = 0;

	for (size_t i = 1; i < b->cap; i++)
		if (cost(b, i) > cost(b, most))
			most = i;
	return most;
}

bool limiter_next(struct limiter *b, struct limiter_verdict *ret)
{
	if (b->spent <= b->limit * b->processor)
		return false;
	size_t func = most_expensive(b);
	double ns = cost(b, func);

	if (ns <= 0) {
		b->spent = 0;
		return false;
	}
	ret->func = (uint32_t)func;
	ret->percent = MIN(100 * ns / b->processor, 100.0);
	ret->calls = (double)b->judged[func].calls * (1 + b->lost_share) / b->wall * 1e9;
	b->spent -= ns;
	b->judged[func] = (struct tally){ 0 };
	return true;
}

void limiter_spare(struct limiter *b, uint32_t func)
{
	if (func < b->cap)
		b->state[func].spared = true;
}

void limiter_restart(struct limiter *b)
{
	b->begun = b->marked = false;
	b->spent = 0;
}
