/* SPDX-License-Identifier: MIT */
/*
 * frames: from events to calls: which of them are shown, and when?
 *
 * Keeps the open calls of every stack, pairs exits with them, and applies what
 * the user asked for: -t, -D, --tid, -n. Knows nothing of how a call is
 * written: that is the sink's, graph.h or json.h.
 *
 * A call is opened (shown with its brace) when one inside it is shown, or when
 * it has been open for 100 ms; one that ends before is shown as a leaf. So the
 * opened calls of a stack are always its outermost ones. With -t nothing is
 * opened before it is known to last long enough, and a call that contains a long one lasts
 * longer: ancestors appear by themselves.
 */
#ifndef TRACE_FRAMES_H
#define TRACE_FRAMES_H

#include "trace/format/cost.h"
#include "trace/read/earlier.h"
#include "trace/read/offcpu.h"
#include "trace/format/event.h"
#include "trace/format/ticks.h"

enum call_end {
	CALL_RETURN,
	CALL_UNWOUND,		/* left by a throw, longjmp or thread exit */
	CALL_OPEN,		/* not ended when the recording did */
	CALL_EXIT_LOST,		/* ended; when is not known */
	CALL_BEFORE,		/* ended; began before the probes were in, or before what
				 * was kept */
	CALL_ENTRY_ONLY,	/* its exit is not probed */
};

struct call {
	const struct reader_func *func;
	int32_t pid, tid;	/* of its begin: a fiber may end it in another */
	uint32_t thread, stack;	/* where it is open: see struct event */
	uint32_t depth;		/* 0: nothing probed was open around it */
	uint64_t begin, end;	/* ticks; if BEFORE, since when it was open for certain, 0:
				 * not known */
	uint64_t span;		/* ticks that it took: from begin to end, less what
				 * recording took of them if that is subtracted */
	uint64_t inner;		/* the spans of the calls that it has made; of those that -D
				 * and -t let pass, and whose ends are known */
	uint64_t mark;		/* what sink->begin has returned; else 0 */
	/* Of sink->end: its ticks without a processor, at most `span`, and those of them in
	 * which it could have run; if that is known. */
	uint64_t wait, preempted;
	bool wait_known;
	uint8_t how;		/* enum call_end; of sink->end only */
	bool opened;		/* sink->open has shown it */
	/* What was read at its entry and, of sink->end, at its exit: by the plan of its
	 * function, if that has one. NULL: nothing was. */
	const uint8_t *entry, *exit;
	uint16_t nentry, nexit;
	uint8_t ncallers, cut;	/* its callers: see struct event */
	const uint64_t *callers;
	/* The call around it, and its callers. NULL: there is none, or they are not known. */
	const struct reader_func *outer;
	const uint64_t *outer_callers;
	uint8_t nouter;
	/* Of a span (spans.h): the call at which it ends. NULL: it is a call. */
	const struct call *until;
};

/* A call of which one moment is all that is known. */
static inline bool call_is_moment(const struct call *c)
{
	return c->how == CALL_ENTRY_ONLY || (c->how == CALL_BEFORE && !c->begin);
}

/* Is its span known, or that of its part within the record? */
static inline bool call_has_span(const struct call *c)
{
	return !call_is_moment(c) && c->how != CALL_EXIT_LOST;
}

/* Is that but a part, as far as is known? */
static inline bool call_is_part(const struct call *c)
{
	return c->how == CALL_OPEN || (c->how == CALL_BEFORE && c->begin);
}

/* The rest of its span, if its wait is known. */
static inline uint64_t call_cpu(const struct call *c)
{
	return c->span - c->wait;
}

struct sink {
	/* A call begins, whether it is shown or not; `outer` is what was returned
	 * for the call around it, or 0. May be NULL. */
	uint64_t (*begin)(void *ctx, uint64_t outer, const struct call *);
	/* Show that a call has begun. False: not shown (it may come again). */
	bool (*open)(void *ctx, const struct call *);
	/* Show a call that has ended. */
	void (*end)(void *ctx, const struct call *);
	/* An EVENT_LOST. */
	void (*lost)(void *ctx, const struct event *);
	/* A call ends of which no begin was seen, nor that of any around it; it is shown,
	 * too. Its stack has its first event at `first`. May be NULL. */
	void (*before)(void *ctx, const struct event *, uint64_t first);
	/* Nothing that is shown from now on has begun or ended before `tsc`. May be NULL. */
	void (*settled)(void *ctx, uint64_t tsc);
	/* A thread has had no processor for a while. May be NULL. */
	void (*off)(void *ctx, const struct offcpu_span *);
	void *ctx;
};

struct frames_options {
	uint64_t min_ns;	/* -t */
	uint64_t depth;		/* -D */
	uint64_t calls;		/* -n: so many are shown */
	int32_t tid;		/* --tid */
	int32_t pid;		/* the process that was there at the start: what others have begun
				 * before their first event began later. 0: all were */
	struct probe_cost cost;	/* of probes, to be subtracted; zeros: nothing is */
};

struct frames;

/* `clock` and `funcs` stay valid until frames_free. `start`: in ticks, no call that
 * is shown with a duration began before. */
int frames_new(const struct clock *, uint64_t start, const struct reader_func *funcs,
	       const struct frames_options *, const struct sink *,
	       struct frames **ret);
/* A longer table of functions; the one before stays, for calls that are open. */
void frames_name(struct frames *, const struct reader_func *funcs);
/* Before the first event: those are open of which the record begins too late; from the
 * first event of their stack on, or, in the process that was there, from the start if all of the
 * record is there. 0 or -ENOMEM. */
int frames_earlier(struct frames *, const struct earlier *, bool whole);
void frames_free(struct frames *);	/* NULL is legal */
/* For reader_drain; `ctx` is the struct frames. */
int frames_event(void *ctx, const struct event *);
/* Open what has been open for long. Now and then; all events before `now` were
 * given, else a call would look long whose end is still to come. */
void frames_tick(struct frames *, uint64_t now);
/* The recording has ended at `now`: end what is open. */
void frames_finish(struct frames *, uint64_t now);
/* -n is reached: no more calls are shown, but those opened are closed. */
bool frames_full(const struct frames *);
/* And all of those have ended: what else comes changes nothing. */
bool frames_done(const struct frames *);

#endif
