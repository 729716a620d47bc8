/* SPDX-License-Identifier: MIT */
/* switches_impl: what the pieces share: switches*.c only. */
#ifndef INJECTOR_SWITCHES_IMPL_H
#define INJECTOR_SWITCHES_IMPL_H

#include "injector/switches/switches.h"
#include "trace/format/ticks.h"

struct perf_event_mmap_page;

/* What the kernel writes on one processor. */
struct switch_ring {
	int cpu, fd;		/* that of the event that has it */
	struct perf_event_mmap_page *page;	/* and the data behind it */
	size_t size;		/* of those, a power of 2 */
	uint64_t tail;
	uint64_t last;		/* ns: the last record */
	bool told;		/* it was full, and what it says of that next is known */
};

struct switches {
	struct switch_ring *rings;	/* one for each processor */
	size_t nrings;
	int *fds;
	size_t nfds, fds_cap;
	pid_t *tids;		/* in ascending order */
	size_t ntids, tids_cap;
	char online[256];	/* the processors, as the kernel lists them */
	int online_fd;
	bool blind;		/* others came: what is written there is not seen */
	uint64_t gaps;
	bool inherit_thread;	/* the kernel knows it */
	/* The counter and the clock of the events, at the begin, before, and when they were
	 * looked at last. */
	struct clock_pair first, before, now;
};

/* switches_ring.c */

/* The first moment of which both clocks are known. */
void switches_begin(struct switches *);
int switch_ring_map(struct switch_ring *, int cpu, int fd);
void switch_ring_unmap(struct switch_ring *);

#endif
