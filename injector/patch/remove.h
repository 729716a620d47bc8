/* SPDX-License-Identifier: MIT */
/*
 * remove: step 10: take every probe out again, in every process that has them,
 * and compare all their code with its files.
 *
 * Works from the journal in the target's memory, so it finishes for an
 * injector that died as well as for this one, which need not believe the
 * journal: it remembers what it has written. A forked child has inherited the
 * probes (and records nothing): it shares the journal's memory, but its text is
 * its own, so each process is cleaned by looking at its own bytes.
 */
#ifndef INJECTOR_REMOVE_H
#define INJECTOR_REMOVE_H

#include "injector/patch/verify.h"
#include "injector/ptrace/text.h"

struct removal {
	/* Set by the caller; 0 or NULL: not known, the journal tells. */
	const struct change *changes;	/* what was written */
	size_t nchanges;
	const struct text_diffs *before;	/* differed before we came */
	ino_t session;		/* the inode of its memfd: a process that maps
				 * it shares it; found if not known */
	uint64_t max_pause;	/* ns; 0: the usual one */
	bool by_force;		/* also where another inject works on a process that has them */
	uint64_t since;		/* when the process that was probed started, as
				 * procfs_start_time tells: what is older was
				 * not forked by it, and is not looked at */

	size_t sites;		/* places that were restored, over all processes */
	size_t processes;	/* that had probes in their text */
	size_t foreign;		/* places that differ where inject never was */
	uint64_t longest_pause;	/* ns */
	uint64_t forced;	/* ns; no stop within max_pause brought it on: one that took
				 * the time that it needed did */
	unsigned int repaired, shortened;
	uint64_t waited;	/* ns, for a debugger to let go */
	/* What could not be cleaned, one line each, "" if everything was. */
	char left[1024];
};

/*
 * Remove in process `pid` and in every other process that maps its session.
 * 0: nothing stands, and all their code is, byte for byte, what its files hold,
 * but for what differed before. -EIO: something is left, or differs, or another inject works on
 * one of them, see `left`.
 * -ESRCH: the process has ended (forked children were cleaned all the same).
 * Each process runs on in any case. The caller has claimed the process
 * (target_claim).
 */
int remove_probes(pid_t pid, struct removal *ret);
/* If max_pause was not kept, say by how much. */
void removal_say_pause(const struct removal *);
/* The same for the children alone, when `pid` is gone; by `session`. */
int remove_from_others(pid_t pid, struct removal *ret);
/* Call `each` for every such child. By `session` and `since`. */
void remove_each_other(pid_t pid, const struct removal *,
		       void (*each)(void *ctx, pid_t other), void *ctx);
/* Is there such a child? By `session` and `since`. */
bool remove_has_others(pid_t pid, const struct removal *);

#endif
