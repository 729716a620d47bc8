/* SPDX-License-Identifier: MIT */
/* record_impl: what the pieces of the recorder share, and nothing else does. */
#ifndef TRACE_RECORD_IMPL_H
#define TRACE_RECORD_IMPL_H

#include "trace/format/layout.h"
#include "trace/format/metadata.h"
#include "trace/write/record.h"
#include "trace/format/squeeze.h"

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
	uint64_t beyond;	/* calls that are open, and more than are wanted */
	uint64_t last;		/* ticks of its last event: they never go back */
	uint64_t size;		/* of its file */
	struct packet head;	/* of the packet in memory */
	uint64_t *words;
	size_t n, cap;
	uint32_t spare;		/* bytes of the last word that are none of its event */
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
	struct lane *fibers;	/* and the one that has the last event of a fiber, of this stack */
	uint32_t stack;
	uint64_t calls, events;
	uint64_t nbefore;	/* see struct about */
	uint64_t first_funcs;
	uint64_t failed;	/* what could not be written failed for this; 0 */
	struct metadata_place end;	/* of the metadata that are there */
	/* What is kept in memory counts as if it were written without being
	 * compressed: it will not be more. */
	uint64_t size;		/* bytes of the chunks that are there */
	uint64_t held;		/* of them in the chunk that is written */
	uint64_t sizes[RECORD_CHUNKS];	/* of chunks, by number % RECORD_CHUNKS */
	uint64_t chunk, oldest;
	bool full, rotated;
	/* Of the disk: see record_room.c */
	uint64_t kept;		/* bytes that are to be left free; 0: none */
	uint64_t left_free;	/* when that ended the recording; 0 */
	uint64_t taken, next_look;	/* bytes taken, and when the disk is looked at again */
	uint64_t waiting;	/* bytes in memory, which will be written still */
	struct record_fields fields;	/* of the event that is added */
	struct caller *callers;	/* the addresses seen in stacks, as they came */
	size_t ncallers, callers_cap;
	uint32_t *slots;	/* by hash of these: which, from 1 */
	size_t slots_cap, told_callers;
	size_t told_funcs;	/* what the metadata say: functions, and how long */
	uint64_t told_run;	/* the clock has been watched, in ticks */
};

/* record_callers.c */

/* Name the callers of a call; how many of them there are, for of what is no code all that follows
 * is none. 0 or -ENOMEM. */
int record_note_callers(struct record *, const struct event *, size_t *n, uint8_t *cut);
/* All that were seen, sorted by address; owned by the caller. 0 or -ENOMEM. */
int record_sort_callers(const struct record *, struct caller **ret);

/* record_write.c */

int record_write_metadata(struct record *, const struct about *);
/* Where they cannot be replaced, let those that are there say that it has ended. */
void record_mark_end(struct record *, const struct about *);
/* Write the packet that is in memory, if there is one. */
int record_write_packet(struct record *, struct lane *);
/* The same of all lanes. */
int record_write_all(struct record *);
/* What a packet takes beside its words, at most. */
uint64_t record_overhead(const struct record *);
/* The next packets go to files of their own; the oldest of these may be dropped. */
int record_next_chunk(struct record *);

/* record_room.c */

void record_room_begin(struct record *);
/* Look at the disk: the recording may be full now. */
void record_room_look(struct record *);
/* The same, if much was taken since. */
void record_room_tick(struct record *);

#endif
