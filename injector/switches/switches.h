/* SPDX-License-Identifier: MIT */
/*
 * switches: when do the threads of a process leave their processors, and come back?
 *
 * The kernel tells us, by perf events (PERF_RECORD_SWITCH) that we open from outside: for each
 * thread one for each processor, which the threads that it makes inherit, and for each
 * processor one ring, into which all of them write. Nothing in the process is changed, and it
 * runs no code of ours for it; but the kernel has a little more to do when it switches.
 */
#ifndef INJECTOR_SWITCHES_H
#define INJECTOR_SWITCHES_H

#include "base/base.h"

enum switch_kind {
	SWITCH_OFF,		/* the thread leaves its processor, to wait */
	SWITCH_PREEMPTED,	/* it leaves it, and could go on */
	SWITCH_ON,		/* it has one */
	SWITCH_BORN,		/* it was made by thread `parent` */
	SWITCH_ENDED,
	SWITCH_GAP,		/* from here on some may be missing, of any thread, */
	SWITCH_GAP_END,		/* up to here: one for each gap, but for one that never ends */
};

struct thread_switch {
	uint64_t tsc;
	int32_t tid, parent;	/* our view */
	uint8_t kind;		/* enum switch_kind */
};

struct switches;

/* Can they be had of this process? 0, or a negative error with the reason. */
int switches_possible(pid_t pid);
/* From now on, of all threads that are there, and of those that they make, with `forks` in
 * other processes, too. 0, or as above. */
int switches_open(pid_t pid, bool forks, struct switches **ret);
void switches_close(struct switches *);	/* NULL is legal */
/* The threads that are watched from the begin on: all there were, but those that were made
 * meanwhile. Valid until switches_close. */
size_t switches_threads(const struct switches *, const pid_t **ret);
/* Append what there is by now, in order of time, to a vector (vec_push). What a thread has done
 * by now, of that its switches are there. 0 or -ENOMEM. */
int switches_take(struct switches *, struct thread_switch **v, size_t *n, size_t *cap);
/* How often have some been missing? And has a processor come or gone, from when on nothing is
 * known? */
uint64_t switches_gaps(const struct switches *);
bool switches_blind(const struct switches *);

#endif
