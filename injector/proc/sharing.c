/* SPDX-License-Identifier: MIT */
#include "injector/proc/sharing.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <time.h>

#include "injector/proc/procfs.h"

enum {
	LOOKS = 20,
	REST = 2 * 1000 * 1000,		/* ns between them */
};

/* Asked again if it cannot be told: to write in spite of it would do harm. */
static bool same_memory(pid_t a, pid_t b)
{
	long r = syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);

	return (r < 0 && errno != ESRCH ? syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) : r) == 0;
}

/* One that has begun to end may have no memory any more, which it would share with every kernel
 * thread. 0: there is none that has not. */
static pid_t sharing_thread(pid_t pid)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_tasks(pid, &tids);

	for (int i = 0; tids && i < n; i++)
		if (procfs_runs_code(pid, tids[i]))
			return tids[i];
	return 0;
}

static pid_t sharing_find(pid_t pid, pid_t tid)
{
	auto_free pid_t *pids = NULL;
	int n = procfs_processes(&pids);

	for (int i = 0; i < n; i++)
		if (pids[i] != pid && same_memory(tid, pids[i]))
			return pids[i];
	return 0;
}

pid_t sharing_process(pid_t pid)
{
	pid_t other = 0;

	for (int i = 0; i < LOOKS; i++) {
		pid_t tid = sharing_thread(pid), found = tid ? sharing_find(pid, tid) : 0;

		/* What an end has come over meanwhile does not count. */
		if (tid && !procfs_runs_code(pid, tid))
			continue;
		other = found;
		if (!other)
			break;
		nanosleep(&(struct timespec){ 0, REST }, NULL);
	}
	return other;
}
