/* SPDX-License-Identifier: MIT */
/*
 * limiter: which probes cost the target more than it may lose by them?
 *
 * Pure: it gets every event that is read, and now and then how much processor
 * time the target has used. Events carry the time at which they happened, so a
 * window between two such samples has those that happened in it, however late
 * they are read. The measure is
 *
 *	events of the window x what one costs / processor time of the window
 *
 * and while it is above the limit for all probes together, the most expensive
 * one has to go: so one that is above it by itself, and no more than needed.
 */
#ifndef INJECTOR_LIMITER_H
#define INJECTOR_LIMITER_H

#include "base/base.h"
#include "trace/format/event.h"

/* What an event costs the thread that records it. */
struct limiter_costs {
	double recorded, lost;	/* ns */
};

/* How far the target was at a moment. */
struct limiter_sample {
	uint64_t ticks;
	uint64_t wall, processor;	/* ns */
	uint64_t lost;		/* events that its rings had dropped */
};

/* One that is to be disarmed. */
struct limiter_verdict {
	uint32_t func;
	double percent;		/* of the target's processor time */
	double calls;		/* in a second of the wall clock */
};

struct limiter;

/* `limit` is in hundredths of a percent. */
int limiter_new(uint32_t limit, const struct limiter_costs *, struct limiter **ret);
void limiter_free(struct limiter *);
/* Every event of that function costs so many ns more; the most that was said of it holds. 0 or
 * -ENOMEM. */
int limiter_more(struct limiter *, uint32_t func, double ns);
/* Events in the order in which they happened. 0 or -ENOMEM. */
int limiter_event(struct limiter *, const struct event *);
/* The same, where only calls are counted, of `events` events each: so many more of a
 * function since the sample before. */
int limiter_count(struct limiter *, uint32_t func, uint64_t calls, unsigned int events);
/* The target's state now: of this moment no event was read yet. */
void limiter_sample(struct limiter *, const struct limiter_sample *);
/* The next function that has to go, by the newest window that is complete. */
bool limiter_next(struct limiter *, struct limiter_verdict *ret);
/* That one cannot go: it is not named again, and counts no more. */
void limiter_spare(struct limiter *, uint32_t func);
/* Probes were taken out: what happened until the next sample says nothing of those
 * that are left. */
void limiter_restart(struct limiter *);

#endif
