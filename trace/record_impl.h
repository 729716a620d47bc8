/* SPDX-License-Identifier: MIT */
/* record_impl: what the pieces of the recorder share, and nobody else. */
#ifndef TRACE_RECORD_IMPL_H
#define TRACE_RECORD_IMPL_H

#include "trace/layout.h"
#include "trace/record.h"
#include "trace/squeeze.h"

enum {
	RECORD_BUCKETS = 1024,	/* a power of 2 */
	RECORD_CHUNKS = 8,	/* of a directory that is rotated */
};

/* Where a thread's packets go, and the one that is not written yet. */
struct lane {
	struct lane *next;	/* in its bucket */
	uint32_t index;
	uint32_t thread;
	int32_t pid, tid;
	bool ended;		/* its thread has: the lane is to be had */
	uint32_t stack;		/* the current one */
	uint64_t last;		/* ticks of its last event: they never go back */
	uint64_t size;		/* of its file */
	struct packet head;	/* of the packet in memory */
	uint64_t *words;
	size_t n, cap;
};

struct record {
	struct record_options options;
	char *path;		/* for messages */
	int dir;
	uint8_t uuid[16];
	struct squeezer *squeezer;	/* NULL: nothing is compressed */
	struct lane **lanes;
	size_t nlanes, lanes_cap;
	uint64_t *packets;	/* written, by lane */
	size_t npackets, packets_cap;
	struct lane *buckets[RECORD_BUCKETS];
	struct lane *used;	/* the one used last */
	uint64_t calls, events;
	/* What is kept in memory counts as if it were written without being
	 * compressed: it will not be more. */
	uint64_t size;		/* bytes of the chunks that are there */
	uint64_t held;		/* of them in the chunk that is written */
	uint64_t sizes[RECORD_CHUNKS];	/* of chunks, by number % RECORD_CHUNKS */
	uint64_t chunk, oldest;
	bool full, rotated;
	size_t told_funcs;	/* what the metadata say: functions, and how long */
	uint64_t told_run;	/* the clock has been watched, in ticks */
};

/* record_write.c */

int record_write_metadata(struct record *, const struct about *);
/* Write the packet that is in memory, if there is one. */
int record_write_packet(struct record *, struct lane *);
/* The same of all lanes. */
int record_write_all(struct record *);
/* What a packet takes beside its words, at most. */
uint64_t record_overhead(const struct record *);
/* The next packets go to files of their own; the oldest of these may be dropped. */
int record_next_chunk(struct record *);

#endif
