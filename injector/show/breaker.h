/* SPDX-License-Identifier: MIT */
/*
 * breaker: which probes cost the target more than it may lose by them?
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
#ifndef INJECTOR_BREAKER_H
#define INJECTOR_BREAKER_H

#include "base/base.h"
#include "trace/format/event.h"

/* What an event costs the thread that records it. */
struct breaker_costs {
	double recorded, lost;	/* ns */
	double trapped;		/* ns more, where a breakpoint leads to it */
};

/* How far the target was at a moment. */
struct breaker_sample {
	uint64_t ticks;
	uint64_t wall, processor;	/* ns */
	uint64_t lost;		/* events that its rings had dropped */
};

/* One that is to be disarmed. */
struct breaker_verdict {
	uint32_t func;
	double percent;		/* of the target's processor time */
	double calls;		/* in a second of the wall clock */
};

struct breaker;

/* `limit` is in hundredths of a percent. */
int breaker_new(uint32_t limit, const struct breaker_costs *, struct breaker **ret);
void breaker_free(struct breaker *);
/* That function traps at every event. 0 or -ENOMEM. */
int breaker_traps(struct breaker *, uint32_t func);
/* Events in the order in which they happened. 0 or -ENOMEM. */
int breaker_event(struct breaker *, const struct event *);
/* The same, where only calls are counted, of `events` events each: so many more of a
 * function since the sample before. */
int breaker_count(struct breaker *, uint32_t func, uint64_t calls, unsigned int events);
/* The target's state now: of this moment no event was read yet. */
void breaker_sample(struct breaker *, const struct breaker_sample *);
/* The next function that has to go, by the newest window that is complete. */
bool breaker_next(struct breaker *, struct breaker_verdict *ret);
/* That one cannot go: it is not named again, and counts no more. */
void breaker_spare(struct breaker *, uint32_t func);
/* Probes were taken out: what happened until the next sample says nothing of those
 * that are left. */
void breaker_restart(struct breaker *);

#endif
