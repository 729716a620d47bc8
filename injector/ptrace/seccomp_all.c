/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/seccomp_all.h"

#include <errno.h>
#include <linux/filter.h>
#include <string.h>

#include "injector/proc/procfs.h"

/* Threads have their filters from the thread that has made them, as a rule. */
static bool same(const struct seccomp_filters *a, const struct seccomp_filters *b)
{
	for (size_t i = 0; i < MAX(a->n, b->n); i++)
		if (i >= a->n || i >= b->n || a->v[i].len != b->v[i].len ||
		    memcmp(a->v[i].filter, b->v[i].filter,
			   a->v[i].len * sizeof(*a->v[i].filter)) != 0)
			return false;
	return true;
}

/* `last` are the filters that were asked last, and let the call pass. */
static bool passes(const struct target *t, pid_t tid, long nr, struct seccomp_filters *last)
{
	static const uint64_t none[6];
	struct seccomp_filters f;
	int err = seccomp_read(tid, &f);

	/* The kernel says so of a thread that has none, and where it cannot tell. */
	if (err == -EINVAL)
		return !procfs_filtered(t->pid, tid);
	if (err)
		return false;
	bool ret = same(&f, last) || seccomp_ask(&f, nr, none, 0) == SECCOMP_PASSES;

	seccomp_forget(last);
	*last = f;
	return ret;
}

bool seccomp_is_dispatched(pid_t tid)
{
	enum { GET_DISPATCH = 0x4211 };	/* PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG */
	struct { uint64_t mode, selector, offset, length; } d = { 0 };

	return regs_request(GET_DISPATCH, tid, sizeof(d), &d) == 0 && d.mode;
}

bool seccomp_all_pass(const struct target *t, long nr)
{
	struct seccomp_filters last = { 0 };
	bool ret = true;

	for (size_t i = 0; i < t->nthreads && ret; i++)
		if (t->threads[i].hold == HOLD_STOPPED)
			ret = !seccomp_is_dispatched(t->threads[i].tid) &&
				(!t->filtered || passes(t, t->threads[i].tid, nr, &last));
	seccomp_forget(&last);
	return ret;
}
