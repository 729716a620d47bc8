/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/tids.h"

#include "injector/proc/procfs.h"

struct tids_of tids_note(const struct target *t, pid_t tid, raddr_t tp)
{
	struct tids_of ret = { .target = t, .tid = tid, .tp = tp };
	struct kept_thread k;
	const struct thread_runtime *keeper = threads_keeper(t, tp, &k);
	pid_t outer, inner;

	if (keeper && procfs_ids(t->pid, tid, &outer, &inner) > 0 && k.tid == (uint64_t)inner) {
		ret.keeper = keeper;
		ret.place = k.tid_offset;
	}
	return ret;
}

uint64_t tids_any(struct target *t, struct tids_of *of, int patience)
{
	uint64_t self, place = 0;

	if (!of->tp || target_read(of->target, of->tp, &self, sizeof(self)) < 0 ||
	    self != of->tp) {
		fail_clear();
		return 0;
	}
	for (uint32_t i = 1; !place && threads_by_number(i); i++)
		if (threads_by_number(i)->ids)
			place = threads_by_number(i)->ids(t, of, patience);
	return place;
}
