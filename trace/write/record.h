/* SPDX-License-Identifier: MIT */
/*
 * record: from events to a trace directory (layout.h).
 *
 *	record_new(path, &options, &about, &r);
 *	record_event(r, e); ...		what the reader of the rings delivers
 *	record_flush(r, &about);	now and then: what is there survives us
 *	record_end(r, &about);		all is written, and metadata say so
 *
 * What is in the directory can be read at any moment, also if we are killed. The
 * strings and tables of an `about` are used during the call only, but for its
 * functions, which the caller keeps.
 */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include "trace/format/about.h"
#include "trace/format/layout.h"

/* Fields of an event, in place of what was read of it. */
struct record_fields {
	uint32_t id;		/* LAYOUT_TYPED and so on */
	uint32_t n;
	uint32_t spare;		/* bytes of the last word that are none of them */
	uint64_t words[LAYOUT_TYPED_MASK];
};

struct record_options {
	uint64_t max_size;	/* bytes of all streams; 0: no limit */
	bool rotate;		/* beyond it, drop the oldest instead of ending */
	uint64_t min_free;	/* end when the disk has no more than so many bytes free;
				 * 0: when it is full. Or RECORD_FREE_SHARE */
	bool compress;
	/* What the packets tell of the clock, as it is when they are written; NULL:
	 * nothing. Valid until record_free. */
	const struct clock *clock;
	/* What callers are called; NULL: none are given. Names stay until record_free. */
	const struct caller_names *names;
	uint64_t apart;		/* ticks from one event of a thread to the next, at least */
	int32_t tid;		/* of this thread only; 0: all */
	uint64_t calls;		/* of so many there is anything; 0: of all */
	bool part;		/* calls may end whose begins are not given */
	/* The fields of an event; false if it has none. NULL: none has. */
	bool (*fields)(void *ctx, const struct event *, struct record_fields *ret);
	/* The name of a thread into name[16]; false if it has none (any more). */
	bool (*thread_name)(void *ctx, int32_t tid, char name[16]);
	void *ctx;
};

#define RECORD_MAX_SIZE_LEAST (1u << 20)
/* A tenth of what is free as the recording begins; 64 MiB at least, but half at most. */
#define RECORD_FREE_SHARE UINT64_MAX

/* What a call takes, without --compress. */
#define RECORD_CALL_BYTES 16

struct record_room {
	uint64_t is_free;	/* bytes; ROOM_NOT_KNOWN */
	uint64_t kept;		/* of them are left free; 0: none */
};

#define ROOM_NOT_KNOWN UINT64_MAX

/* Of a directory, also one that is not there yet. */
void record_room(const char *path, uint64_t min_free, struct record_room *ret);

struct record;

int record_new(const char *path, const struct record_options *, const struct about *,
	       struct record **ret);
void record_free(struct record *);	/* NULL is legal */
/* For reader_drain; `ctx` is the struct record. */
int record_event(void *ctx, const struct event *);
/* Write what is kept in memory, and the metadata if there are more functions or the
 * clock is known much better. */
int record_flush(struct record *, const struct about *);
int record_end(struct record *, const struct about *);
/* max_size is reached, or min_free: nothing more is taken. */
bool record_full(const struct record *);
/* The bytes that were free when min_free was reached; 0: it was not. */
uint64_t record_left_free(const struct record *);
/* Calls and bytes, so far. */
uint64_t record_calls(const struct record *);
uint64_t record_size(const struct record *);

#endif
