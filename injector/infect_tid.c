/* SPDX-License-Identifier: MIT */
/*
 * infect, continued: where does a thread of the target keep its own id?
 *
 * The payload wants the id at a thread's first call, when to ask the kernel for
 * it may be deadly: the process may have installed a seccomp filter by then.
 * The C library has the id in the thread's control block, at a place that is
 * written down nowhere, but has always been shortly before the head of the
 * robust list; and where that is, the kernel tells for every thread, without a
 * stop. So: where all threads have their ids, or unknown.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "injector/infect_impl.h"
#include "injector/procfs.h"

enum {
	BEFORE = 64,		/* bytes before the head that are looked at */
	WORDS = BEFORE / sizeof(int32_t),
	PATIENCE = 100,		/* looks at threads that are being born or die */
	REST = 1000 * 1000,	/* ns between them */
};

static raddr_t robust_head(pid_t tid)
{
	struct robust_list_head *head = NULL;
	size_t size;

	return syscall(SYS_get_robust_list, tid, &head, &size) < 0 ? 0 : (raddr_t)head;
}

void infect_note_thread(struct infecting *in)
{
	raddr_t head = robust_head(in->remote.thread->tid);

	in->robust_head = head ? head - regs_tp(&in->remote.saved) : 0;
}

/* Which of the words before the head hold the id of this thread? A bit each. */
static uint32_t places_of(const struct infecting *in, pid_t tid)
{
	raddr_t head = robust_head(tid);
	pid_t outer, inner;
	int32_t words[WORDS];
	uint32_t places = 0;

	if (head < BEFORE || procfs_ids(in->target->pid, tid, &outer, &inner) == 0)
		return 0;
	if (target_read(in->target, head - BEFORE, words, sizeof(words)) < 0) {
		fail_clear();
		return 0;
	}
	for (unsigned int i = 0; i < WORDS; i++)
		places |= (uint32_t)(words[i] == inner) << i;
	return places;
}

/* A thread that is being born has no head yet, one that dies has none any more:
 * look again until it has one, or is gone. */
static uint32_t common_places(const struct infecting *in, const pid_t *tids, int n)
{
	uint32_t places = (1u << WORDS) - 1;
	int patience = PATIENCE;

	for (int i = 0; i < n && places;) {
		uint32_t here = places_of(in, tids[i]);

		if (here || procfs_has_ended(in->target->pid, tids[i])) {
			places &= here ? here : places;
			i++;
		} else if (patience-- == 0) {
			places = 0;
		} else {
			nanosleep(&(struct timespec){ 0, REST }, NULL);
		}
	}
	return places;
}

static bool any_filtered(pid_t pid, const pid_t *tids, int n)
{
	for (int i = 0; i < n; i++)
		if (procfs_filtered(pid, tids[i]))
			return true;
	return false;
}

int infect_find_tid(struct infecting *in)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(in->target->pid, &tids);
	uint32_t places = n > 0 && in->robust_head ? common_places(in, tids, n) : 0;

	/* Exactly one. */
	if (places && !(places & (places - 1)))
		in->result->map.s->tid_offset = in->robust_head - BEFORE +
			(uint64_t)__builtin_ctz(places) * sizeof(int32_t);
	else if (in->target->filtered || any_filtered(in->target->pid, tids, n))
		return fail(0, "cannot attach to %d (%s): it has a thread with a seccomp filter, "
			    "which might kill it for the system call that the thread then has "
			    "to make", in->target->pid, in->target->comm), -EPERM;
	return 0;
}
