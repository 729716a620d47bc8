/* SPDX-License-Identifier: MIT */
/*
 * offcpu: how long has a thread had no processor, up to a moment?
 *
 * From EVENT_OFF to EVENT_ON it waits, or was put aside for others (EVENT_PREEMPTED). Of a
 * thread of which there is no such event nothing is known, nor of a time in which some are
 * missing (EVENT_SWITCHES_LOST), nor of what is no thread's (NO_THREAD).
 */
#ifndef TRACE_OFFCPU_H
#define TRACE_OFFCPU_H

#include "trace/format/event.h"

#define OFFCPU_UNKNOWN UINT64_MAX

struct offcpu_times {
	uint64_t since;		/* from then on all is known; OFFCPU_UNKNOWN: it is not now */
	uint64_t wait;		/* ticks without a processor since then, */
	uint64_t preempted;	/* and those of them in which it could have run */
};

/* One span without a processor. */
struct offcpu_span {
	int32_t pid, tid;
	uint64_t from, to;	/* ticks */
	bool preempted;
};

struct offcpu_thread;

/* All zeros: of no thread anything is known. */
struct offcpu {
	struct offcpu_thread *buckets[256];
	struct offcpu_thread *last;	/* the one used last */
	size_t n;
	size_t kept;		/* switches, of all threads */
};

static inline bool event_is_switch(const struct event *e)
{
	return e->kind >= EVENT_OFF && e->kind <= EVENT_SWITCHES_LOST;
}

/* One of those; true: a span has ended with it. Without memory less is known. */
bool offcpu_event(struct offcpu *, const struct event *, struct offcpu_span *ret);
/* At a moment, which may lie behind: calls are told late where -t leaves others out in the
 * process. So some thousands of the last switches of each thread are kept. */
struct offcpu_times offcpu_at(struct offcpu *, uint32_t thread, uint64_t tsc);
/* The thread has ended: nothing is known of it any more. */
void offcpu_forget(struct offcpu *, uint32_t thread);
/* Those that are without a processor at the end, a span each. */
void offcpu_finish(struct offcpu *, uint64_t now,
		   void (*each)(void *ctx, const struct offcpu_span *), void *ctx);
void offcpu_clear(struct offcpu *);

#endif
