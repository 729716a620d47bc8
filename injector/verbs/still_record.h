/* SPDX-License-Identifier: MIT */
/* still_record: what the rings of a session held at one moment, as a trace directory. */
#ifndef INJECTOR_STILL_RECORD_H
#define INJECTOR_STILL_RECORD_H

#include "injector/reader/reader.h"
#include "injector/reader/still.h"
#include "trace/format/about.h"

struct still_record {
	struct about about;	/* its tables are those of the notes */
	struct reader_stats stats;
	uint64_t size;		/* bytes, of the directory's files */
};

/*
 * `notes` is what the session says of itself; `pid` the process that records into it, 0 if
 * none is known. All of it is hostile. Only the user that makes the directory may read it:
 * the calls of a process are no business of other users.
 */
int still_record(const struct still *, const struct about *notes, pid_t pid, const char *dir,
		 struct still_record *ret);

#endif
