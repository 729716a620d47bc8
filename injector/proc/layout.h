/* SPDX-License-Identifier: MIT */
/*
 * layout: the mappings of a process, as they were before anything of it was held.
 *
 * There may be tens of thousands, and to list them takes a microsecond each: what has to
 * be known of them while a thread stands still is read before.
 */
#ifndef INJECTOR_LAYOUT_H
#define INJECTOR_LAYOUT_H

#include <sys/types.h>

#include "base/base.h"

struct mapping;

struct area {
	struct range range;
	raddr_t image;		/* where the file, or the vdso, begins in memory that it
				 * belongs to; 0: none */
	bool write, exec;
};

struct layout {
	struct area *v;		/* ascending; owned */
	size_t n, cap;
	struct range main_stack;
	raddr_t below;		/* the end of what is mapped below that; 0: nothing is */
	uint64_t taken;		/* when, as procfs_thread_start tells it */
	bool again;		/* and while something was held once more */
};

/* Read it anew, and call `each` (NULL: nothing) for every mapping. -errno with a message;
 * or what `each` has returned. */
int layout_read(struct layout *, pid_t, int (*each)(void *ctx, const struct mapping *),
		void *ctx);
/* The mapping that has this address, or NULL. */
const struct area *layout_at(const struct layout *, raddr_t);
/*
 * The same by what is there now, if nothing was: at most once between two layout_read, for
 * it takes its time.
 */
const struct area *layout_find(struct layout *, pid_t, raddr_t);
/* Was this thread there before? Then its stack is as large as it was, or larger. */
bool layout_knows(const struct layout *, pid_t pid, pid_t tid);
void layout_clear(struct layout *);

#endif
