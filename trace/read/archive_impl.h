/* SPDX-License-Identifier: MIT */
/* archive_impl: what the pieces of the archive's reader share. */
#ifndef TRACE_ARCHIVE_IMPL_H
#define TRACE_ARCHIVE_IMPL_H

#include "trace/read/archive.h"
#include "trace/format/layout.h"
#include "trace/format/metadata.h"
#include "trace/format/squeeze.h"

enum { ARCHIVE_NOTES = 10 };	/* that are said one by one */

/* One file. */
struct source {
	char *name;
	uint64_t lane, chunk;
	bool squeezed;		/* it is compressed */
	uint64_t size;		/* of the file */
	uint64_t at;		/* the next packet */
	uint64_t surveyed;	/* packets seen by the survey */
	uint64_t packets;	/* of them those that are not read yet */
	bool lost;		/* it was said that it cannot be read to its end */
	bool torn;		/* behind its last packet something is missing */
	bool ready;		/* `tsc` is that of the next word */
	uint64_t *words;	/* the packet that is read, with its head */
	size_t pos, n;		/* the next one of them, and how many there are */
	uint64_t base;		/* high bits of its time */
	uint64_t tsc;		/* never goes back */
	struct event event;	/* what all of the packet have in common */
	uint32_t captured;	/* the function that the event's values are of, */
	uint32_t callee;	/* and that its callers are of */
};

struct archive {
	char *path;		/* for messages */
	int dir;
	struct metadata metadata;
	size_t head;		/* bytes of a packet's head, as of that version */
	archive_note *note;
	void *ctx;
	unsigned int notes;	/* given so far */
	bool quiet;		/* none are given now */
	struct source **sources;
	size_t nsources, sources_cap;
	struct source **heap;	/* those with a word, earliest first */
	size_t nheap;
	struct archive_thread *threads;
	size_t nthreads, threads_cap;
	uint32_t *index;	/* by hash of the tid: place in threads, from 1 */
	size_t index_cap;
	struct archive_sizes sizes;
	struct clock_pair *pairs;	/* see archive_clock.c */
	size_t npairs;
	uint64_t spacing;	/* of the pairs in ticks, at least */
	struct doubt {
		uint64_t n;
		const struct source *in;	/* the first of them: in that file, in the */
		uint64_t before;		/* packet before that byte, */
		size_t word;			/* its so manieth word */
	} damaged, unknown;	/* words; ids of functions */
	struct squeezer *squeezer;	/* NULL until something compressed is read */
	uint8_t *frame;		/* SQUEEZED_MOST bytes, likewise */
};

/* A packet as it stands in a file. */
struct stored {
	struct packet head;
	uint64_t before, after;	/* bytes: of what stands before its head; and from its
				 * head on to its end */
};

/* archive.c */

/* Say what is missing; beyond some lines only their number is, at the end of a pass. */
void archive_say(struct archive *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void archive_say_rest(struct archive *);

void source_free(struct source *);

/* archive_survey.c: find the files, look at all heads. */
int archive_survey(struct archive *);

/* archive_clock.c: what the packets tell of the clock. */

/* Take what one packet tells. -ENOMEM without a message. */
int archive_take_pair(struct archive *, const struct packet *);
/* All packets were looked at: give it to the clock of the metadata. */
int archive_set_clock(struct archive *);

/* archive_packet.c */

/*
 * Find the next packet of a source from `at` on. 1: it is *ret, and it is whole;
 * 0: there is none. What was passed over was said, if `say`; what cannot be read, once.
 */
int packet_find(struct archive *, struct source *, bool say, struct stored *ret);
/* Go behind a packet that was found. */
void packet_pass(struct source *, const struct stored *);
/* Read it, and go behind it. One that cannot be read, or decompressed, is told of and has
 * no words. */
int packet_load(struct archive *, struct source *, const struct stored *);

#endif
