/* SPDX-License-Identifier: MIT */
/* snapshot_record: what the rings of a session held at one moment, as a trace directory. */
#ifndef INJECTOR_SNAPSHOT_RECORD_H
#define INJECTOR_SNAPSHOT_RECORD_H

#include "injector/reader/reader.h"
#include "injector/reader/ring_snapshot.h"
#include "trace/format/about.h"

struct snapshot_record {
	struct about about;	/* its tables are those of the notes */
	struct reader_stats stats;
	uint64_t size;		/* bytes, of the directory's files */
};

/*
 * `notes` is what the session says of itself; `pid` the process that records into it, 0 if
 * none is known; `names` what callers are called, NULL: none has a name. All of it is hostile.
 * Only the user that makes the directory may read it: the calls of a process are no business of
 * other users.
 */
int snapshot_record(const struct ring_snapshot *, const struct about *notes, pid_t pid,
		    const struct caller_names *names, const char *dir,
		    struct snapshot_record *ret);

#endif
