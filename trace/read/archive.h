/* SPDX-License-Identifier: MIT */
/*
 * archive: from a trace directory to events in time order.
 *
 * Every byte is hostile. What can be read is read; what cannot, or is not there, is
 * told with its place. Memory is bounded by the numbers of functions and of threads.
 */
#ifndef TRACE_ARCHIVE_H
#define TRACE_ARCHIVE_H

#include "trace/format/about.h"

struct archive;

/* A line about what is missing or makes no sense; without a newline. */
typedef void archive_note(void *ctx, const char *text);

/* Look at the metadata and at the heads of all packets. */
int archive_open(const char *path, archive_note *note, void *ctx, struct archive **ret);
void archive_close(struct archive *);	/* NULL is legal */

/* Valid until archive_close. There is one function more than `nfuncs`, for ids that
 * the metadata do not have. */
const struct about *archive_about(const struct archive *);

struct archive_thread {
	int32_t pid, tid;
	char name[17];		/* the last one that it had; "" if not known */
	uint64_t begin, end;	/* ticks of its first and last packet */
};

struct archive_sizes {
	uint64_t packets, bytes;
	uint64_t begin, end;	/* ticks of the first and the last event */
	uint64_t streams;	/* files */
	bool squeezed;		/* compressed, or some of them */
	uint64_t lost;		/* events, as the packets have it */
	const struct archive_thread *threads;	/* one for each tid */
	size_t nthreads;
};

void archive_sizes(const struct archive *, struct archive_sizes *ret);
/* "" if it is not known. */
const char *archive_thread_name(const struct archive *, int32_t tid);

/* What is read: open for as long as the archive is. */
int archive_dir(const struct archive *);

struct archive_filter {
	uint64_t since, until;	/* ticks; until 0: to the end */
	const bool *funcs;	/* by id, true: wanted; NULL: all */
};

/* All events, in time order over all threads; ends when `each` does not return 0,
 * with what it returned. Quietly: what cannot be read is not said. */
int archive_read(struct archive *, const struct archive_filter *, bool quietly,
		 int (*each)(void *ctx, const struct event *), void *ctx);

#endif
