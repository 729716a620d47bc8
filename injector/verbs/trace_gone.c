/* SPDX-License-Identifier: MIT */
/* trace_gone: is the program that we look at no more, and why? */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "injector/proc/procfs.h"
#include "injector/verbs/trace_impl.h"

enum {
	LOOKS = 3,		/* at memory that seems to be gone */
	LATER_LOOKS = 100,
	ENDING = 500 * 1000 * 1000,	/* ns, in which these come */
};

bool trace_left(void *ctx)
{
	struct trace *t = ctx;
	uint64_t magic;
	int gone = 0;

	if (t->target.mem < 0)
		return procfs_status(t->pid, procfs_front(t->pid), "VmSize", 10, -1) < 0;
	/* No one failed read decides, be it to leave probes behind or to follow no more. */
	for (int i = 0; i < LOOKS && gone < 2; i++) {
		int err = target_read(&t->target, t->inf.base, &magic, sizeof(magic));

		/* A child of vfork may keep it alive. */
		err = err ? err : target_check_program(&t->target);
		fail_clear();
		if (!err)
			return false;
		gone += err == -ESRCH;
	}
	return gone == 2;
}

const char *trace_gone(struct trace *t, const struct follow *f)
{
	uint64_t then = t->target.start_time, now = procfs_start_time(t->pid);

	if ((f && follow_ended(f)) || (then && now && now != then))
		return "the target has ended";
	if (!trace_left(t))
		return NULL;
	return procfs_status(t->pid, procfs_front(t->pid), "VmSize", 10, -1) < 0 ?
		"the target has ended" : "the target executes another program";
}

const char *trace_gone_by(struct trace *t, const struct follow *f, int err)
{
	const struct timespec rest = { 0, ENDING / LATER_LOOKS };
	const char *why = trace_gone(t, f);

	for (int i = 0; i < LATER_LOOKS && err == -ESRCH && !why; i++) {
		nanosleep(&rest, NULL);
		why = trace_gone(t, f);
	}
	return why;
}

int trace_blame_end(struct trace *t, int err)
{
	struct cause cause = fail_keep();
	const char *why = trace_gone_by(t, NULL, err);

	fail_clear();
	if (!why) {
		fail_give_back(&cause);
		return err;
	}
	t->nothing = false;
	fail(0, "cannot attach to %d (%s): %s", t->pid, t->target.comm, why);
	return -ESRCH;
}
