/* SPDX-License-Identifier: MIT */
/* infect, continued: what has to be known of the target's threads. */
#include <errno.h>

#include "injector/infect_impl.h"
#include "injector/procfs.h"

enum { PATIENCE = 100 };	/* ms */

void infect_note_thread(struct infecting *in)
{
	in->known = tids_note(in->target, in->remote.thread->tid, regs_tp(&in->remote.saved));
}

static bool any_filtered(pid_t pid)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(pid, &tids);

	for (int i = 0; i < n; i++)
		if (procfs_filtered(pid, tids[i]))
			return true;
	return false;
}

int infect_refuse_threads(const struct infecting *in)
{
	return fail(0, "cannot attach to %d (%s): %s, and its threads are not kept as glibc or "
		    "musl do", in->target->pid, in->target->comm,
		    in->no_loader ? in->no_loader : "its payload was mapped"), -ENOTSUP;
}

int infect_find_tid(struct infecting *in)
{
	/* What stands in the arenas that are there is so for good. */
	if (in->bare && in->reuse)
		in->tid_offset = in->result->old.s.tid_offset;
	else
		in->tid_offset = in->bare ? tids_any(&in->known, PATIENCE) :
			tids_glibc(&in->known, PATIENCE);
	if (in->tid_offset)
		return 0;
	if (in->bare)
		return infect_refuse_threads(in);
	if (in->target->filtered || any_filtered(in->target->pid))
		return fail(0, "cannot attach to %d (%s): it has a thread with a seccomp filter, "
			    "which might kill it for the system call that the thread then has "
			    "to make", in->target->pid, in->target->comm), -EPERM;
	return 0;
}
