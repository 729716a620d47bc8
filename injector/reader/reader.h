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
#include "trace/format/event.h"
#include "trace/format/ticks.h"

struct reader_stats {
	uint64_t calls;		/* entries and marks read */
	uint64_t events;	/* entries, exits and marks read */
	uint64_t lost;		/* entries and exits that the rings dropped */
	uint64_t lost_entries;	/* of them */
	uint64_t damaged;	/* words that made no sense */
	uint64_t threads;
};

struct reader;
struct switches;

/*
 * To be called before the first probe is in, and after what an earlier visit
 * left in the rings was cleared: the counters are taken to start here; but a snapshot
 * of a session that was started (ring_snapshot.h) is read from its begin. The
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
/* Entries and exits that the rings have dropped up to this moment, read or not. */
uint64_t reader_lost(const struct reader *);
/* Where calls are counted: of functions 0 to n - 1, by all threads up to now. Only
 * draining lets the ring of a thread that has ended go to another. */
void reader_counts(const struct reader *, uint64_t *calls, size_t n);
/* Where they are timed, of those that `calls` says were called: how long that took. */
void reader_timings(const struct reader *, const uint64_t *calls, struct timing *ret, size_t n);
/* One drain delivers about so many events and no more; the next one goes on from
 * there; it ends as well when that has taken `ns`. 0: no limit, which is how it begins. */
void reader_limit(struct reader *, uint64_t events, uint64_t ns);
/* Did the last drain end so, and more is there? */
bool reader_is_cut(const struct reader *);
/* From now on `each` is given, too, when threads leave their processors and come back
 * (trace/read/offcpu.h). Before the first probe is in; `switches` stay until reader_free. 0 or
 * -ENOMEM. */
int reader_watch(struct reader *, struct switches *);
/* At the end, when all is drained: what of that is still to be told up to now. 0, or what `each`
 * has returned. */
int reader_settle(struct reader *, uint64_t now, int (*each)(void *ctx, const struct event *),
		  void *ctx);
/* All events before this moment have been delivered. Behind the present, where a drain
 * was limited, or none was asked for. */
uint64_t reader_reached(const struct reader *);
/* How full the fullest ring was when the last drain began, in percent. */
unsigned reader_fill(const struct reader *);
/* The target has ended, or runs another program, as of now or of the first time that this
 * is said: its calls have ended, too. */
void reader_target_gone(struct reader *);
/* The probes go from now on: what is open afterwards may have ended, and is not known to have. */
void reader_leave(struct reader *);
/* From now on drains also write into the rings what their threads are called, for conditions that
 * ask for that (reader_names.c). */
void reader_name_threads(struct reader *);
/* Of a snapshot: its next drain also tells, last of all, which calls its process has open by then
 * that are not recorded yet, where calls are sifted. It may take a tenth of a second for that. */
void reader_tell_pending(struct reader *);
/* The clock that the events' tsc is in, now. */
uint64_t reader_now(void);
/* What ticks mean, from calibration pairs taken at reader_new and at each drain.
 * Valid until reader_free, and changes with each drain. */
const struct clock *reader_clock(const struct reader *);
/* Have its rate to some millionths: takes ten milliseconds. */
void reader_calibrate(struct reader *);

#endif
