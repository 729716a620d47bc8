/* SPDX-License-Identifier: MIT */
/*
 * remove: step 10: take every probe out again, in every process that has them.
 *
 * Works from the journal in the target's memory, so it finishes for an
 * injector that died as well as for this one. A forked child has inherited the
 * probes (and records nothing): it shares the journal's memory, but its text is
 * its own, so each process is cleaned by looking at its own bytes.
 */
#ifndef INJECTOR_REMOVE_H
#define INJECTOR_REMOVE_H

#include <sys/types.h>

#include "base/base.h"

struct removal {
	size_t sites;		/* places that were restored, over all processes */
	size_t processes;	/* that had probes in their text */
	bool found;		/* there was a session at all */
	uint64_t longest_pause;	/* ns */
	unsigned int repaired, shortened;
	/* What could not be cleaned, one line each, "" if everything was. */
	char left[1024];
};

/*
 * Remove in process `pid` and in every other process that maps its session.
 * 0: all are verified byte for byte against the journal and against the mapped
 * files. -EIO: something is left, see `left`. -ESRCH: the process has ended
 * (forked children were cleaned all the same). Each process runs on in any
 * case. The caller has claimed the process (session_claim).
 */
int remove_probes(pid_t pid, struct removal *ret);
/* The same for the children alone, when `pid` is gone: the session is known by
 * its memfd's inode. */
int remove_from_others(pid_t pid, ino_t session, struct removal *ret);

#endif
