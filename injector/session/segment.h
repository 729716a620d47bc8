/* SPDX-License-Identifier: MIT */
/*
 * segment: the memory of a session, read and written where it lies: in a process, by
 * its /proc/PID/mem, or in a file.
 *
 * A visit of a session that goes on by itself has no mapping of it, for to get
 * one takes a privilege that the owner of a process does not have.
 */
#ifndef INJECTOR_SEGMENT_H
#define INJECTOR_SEGMENT_H

#include "base/base.h"

struct segment {
	int fd;			/* not owned */
	uint64_t at;		/* of the session's first byte there */
	uint64_t size;		/* bytes; nothing beyond is read or written */
	bool file;		/* and no process's memory, which ends with it */
};

/* All of `n` bytes at `off`, or -errno with a message. */
int segment_read(const struct segment *, uint64_t off, void *buf, size_t n);
int segment_write(const struct segment *, uint64_t off, const void *buf, size_t n);

#endif
