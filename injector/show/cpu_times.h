/* SPDX-License-Identifier: MIT */
/*
 * cpu_times: how much processor time have the processes used that record, those
 * that have ended meanwhile included?
 *
 * A process is known by an event of its own. One that has ended counts by what it
 * was last seen with, once, whatever of its events is read later.
 */
#ifndef INJECTOR_CPU_TIMES_H
#define INJECTOR_CPU_TIMES_H

#include <sys/types.h>

#include "base/base.h"

struct cpu_time;

struct cpu_times {
	/* Processor time of a process, in ns; false: it has ended. */
	bool (*used)(pid_t, uint64_t *ret);

	/* Our own. */
	struct cpu_time *table;	/* by open addressing; a power of two */
	size_t places, taken;
	uint64_t ended;		/* ns, of those that are gone */
	pid_t last;		/* noted: mostly the next one, too */
};

/* That process records. 0 or -ENOMEM. */
int cpu_times_note(struct cpu_times *, pid_t);
/* ns so far, of all. */
uint64_t cpu_times_sum(struct cpu_times *);
void cpu_times_clear(struct cpu_times *);

#endif
