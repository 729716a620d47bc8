/* SPDX-License-Identifier: MIT */
/*
 * reader: from the rings of a session to calls in time order.
 *
 * Knows the shared memory's layout (payload/abi.h) and no ptrace: it works
 * while the target runs, after it was let go, and after it died. Every byte of
 * the segment is hostile: the target may write anything there at any moment.
 */
#ifndef INJECTOR_READER_H
#define INJECTOR_READER_H

#include "base/base.h"
#include "payload/abi.h"

struct reader_func {
	const char *name;	/* as printed */
	const char *module;
	bool entry_only;
};

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
	EVENT_STACK_END,	/* nothing will come from this stack again, and
				 * nothing is open on it */
};

/*
 * Per (thread, stack) the events are well formed: an EXIT, UNWOUND or EXIT_LOST
 * is always of the innermost open call, that is, of the last ENTRY that none of
 * them has ended yet; but an EXIT with `unpaired`, which comes when nothing is
 * open: that call began before the probes did.
 */

#define NO_THREAD UINT32_MAX

struct event {
	uint64_t tsc;
	uint64_t lost;
	uint32_t func;		/* index in the reader_func table */
	int32_t tid;		/* host's view */
	uint32_t thread;	/* a number of the reader's own, unique in the
				 * session also when tids are reused; NO_THREAD
				 * of what happens on a fiber's stack, where one
				 * thread ends what another has begun */
	uint32_t stack;		/* the stack within the thread */
	uint8_t kind;		/* enum event_kind */
	bool unpaired;		/* EXIT only */
};

struct reader_stats {
	uint64_t calls;		/* entries and marks read */
	uint64_t events;	/* entries, exits and marks read */
	uint64_t lost;		/* entries and exits that the rings dropped */
	uint64_t lost_entries;	/* of them */
	uint64_t damaged;	/* words that made no sense */
	uint64_t threads;
};

struct reader;

/*
 * To be called before the first probe is in, and after what an earlier visit
 * left in the rings was cleared: the counters are taken to start here. The
 * memory must not be able to shrink (F_SEAL_SHRINK): reading past the end of
 * the file would be our own SIGBUS.
 *
 * `map` is the injector's own mapping of the session, `size` its length, both
 * valid until reader_free. `pid` (host's view) tells which threads still live;
 * 0 if the target is gone. `funcs` is by function id. */
int reader_new(void *map, size_t size, pid_t pid, const struct reader_func *funcs,
	       size_t nfuncs, struct reader **ret);
void reader_free(struct reader *);
/* There are more functions now: a longer table, in which the old ones have their
 * places. */
void reader_name(struct reader *, const struct reader_func *funcs, size_t nfuncs);

/*
 * Take what is committed and call `each` for the events in time order over all
 * threads, up to a moment when every ring had been looked at; later events
 * wait for the next call. With `last` nothing waits (the probes are out or the
 * target is gone); what is written after the first such call is not looked at,
 * so calling it until it returns 0 comes to an end. Gives buffers back to the
 * target. Returns the number of events, or -errno from `each` (nonzero stops).
 */
int64_t reader_drain(struct reader *, bool last,
		     int (*each)(void *ctx, const struct event *), void *ctx);
void reader_stats(const struct reader *, struct reader_stats *ret);
/* One drain delivers about so many events and no more; the next one goes on from
 * there. 0: no limit, which is how it begins. */
void reader_limit(struct reader *, uint64_t events);
/* How full the fullest ring was when the last drain began, in percent. */
unsigned reader_fill(const struct reader *);
/* The target is gone: no thread of it is looked for any more. */
void reader_target_gone(struct reader *);
/* The clock that the events' tsc is in, now. */
uint64_t reader_now(void);
/* Ticks to nanoseconds, from calibration pairs taken at reader_new and at each
 * drain. */
uint64_t reader_ns(const struct reader *, uint64_t ticks);
/* Wall clock in ns since 1970 of a time stamp. */
uint64_t reader_realtime(const struct reader *, uint64_t tsc);

#endif
