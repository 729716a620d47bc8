/* SPDX-License-Identifier: MIT */
/* event: what do threads tell of their calls, in the order in which they do? */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <string.h>

#include "base/base.h"

struct condition;

/* Of the copies that begin with one instruction so many are told of. */
#define COPIES_WITH 64

/* With this ends the name of a function whose calls are those of its inlined copies. */
#define INLINED_MARK " [inlined]"

/* How long is a name of so many bytes without that? */
static inline size_t inlined_bare(const char *name, size_t n)
{
	const size_t mark = sizeof(INLINED_MARK) - 1;

	return n > mark && !memcmp(name + n - mark, INLINED_MARK, mark) ? n - mark : n;
}

/* Where a mark stands a copy of an inlined function has ended. */
struct copy_ended {
	uint32_t func;		/* the id of the mark where it has begun */
	bool thrown;		/* by an exception, which is caught here, or goes on from here */
};

struct reader_func {
	const char *name;	/* as printed */
	const char *module;
	bool entry_only;
	/* Of a mark. */
	bool begins;		/* a call of it begins: of a copy of an inlined function, */
	bool hidden;		/* it is none itself; it tells of copies: */
	const struct copy_ended *ends;	/* these */
	size_t nends;
	/* And of copies that begin there with the same instruction, by their ids, the outermost
	 * first; it may be one of them. NULL: it is the only one. */
	const uint32_t *with;
	size_t nwith;
	uint32_t as;		/* it is told as another of that name, by its id; 0: as itself */
	/* The condition for its calls, if it has one of its own; NULL: the session's. */
	const char *when;
	/* Its signature and read plan (values/pack.h); NULL: nothing is read of its calls. */
	const uint8_t *values;
	size_t nvalues;
	/* What its calls have to pass, if inject asks them as it reads; NULL: nothing. */
	const struct condition *asked;
	/* Of a recording: how far behind the first place of that name it stands; 0: this is it.
	 * Where different things are read at places of one name, each has a number. No pointer,
	 * for tables are copied. */
	uint32_t behind;
};

/* The one by which calls are counted. */
static inline const struct reader_func *reader_func_counted(const struct reader_func *f)
{
	return f - f->behind;
}

enum event_kind {
	EVENT_ENTRY,
	EVENT_EXIT,		/* of the innermost open call of that function */
	EVENT_UNWOUND,		/* the innermost open call was left by a throw,
				 * longjmp or thread exit */
	EVENT_MARK,		/* a call of an entry-only function */
	EVENT_LOST,		/* `lost` words are missing before here; what was
				 * open in this thread may have ended */
	EVENT_EXIT_LOST,	/* the innermost open call ended, when is not
				 * known: its exit was dropped */
	EVENT_BEFORE,		/* a call ended that began before its probe was in */
	EVENT_STACK_END,	/* nothing will come from this stack again, and
				 * nothing is open on it */
	/* Of a thread that is watched (trace/read/offcpu.h); the first one of it says that
	 * it is. */
	EVENT_OFF,		/* it leaves its processor, to wait; or has ended */
	EVENT_PREEMPTED,	/* it leaves it, and could go on */
	EVENT_ON,		/* it has one, again or still */
	EVENT_SWITCHES_LOST,	/* some of these are missing here */
};

/*
 * Per (thread, stack) the events are well formed: an EXIT, UNWOUND or EXIT_LOST
 * is always of the innermost open call, that is, of the last ENTRY that none of
 * them has ended yet.
 */

#define NO_THREAD UINT32_MAX

struct event {
	uint64_t tsc;
	uint64_t begin;		/* of an ENTRY: when the call began, if that was earlier; else 0 */
	uint64_t lost;
	uint32_t func;		/* index in the reader_func table */
	int32_t pid, tid;	/* host's view */
	uint32_t thread;	/* a number of the reader's own, unique in the
				 * session also when tids are reused; NO_THREAD
				 * of what happens on a fiber's stack, where one
				 * thread ends what another has begun */
	uint32_t stack;		/* the stack within the thread */
	uint8_t kind;		/* enum event_kind */
	uint16_t ncapture;	/* bytes that were read of the call, of an ENTRY, EXIT or MARK; */
	const uint8_t *capture;	/* valid as long as the event is given */
	uint8_t ncallers;	/* of the call, of an ENTRY or MARK, the innermost first; */
	uint8_t cut;		/* why there are no more: enum callers_cut */
	const uint64_t *callers;	/* likewise; NULL: they were not taken */
};

#endif
