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

/* `tid` is a thread that lives: one that has ended has no memory, which it would
 * share with every kernel thread. */
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
	pid_t tid = procfs_live_thread(pid), other = tid ? sharing_find(pid, tid) : 0;

	for (int i = 1; i < LOOKS && other; i++) {
		nanosleep(&(struct timespec){ 0, REST }, NULL);
		if (procfs_has_ended(other, other) || !same_memory(tid, other))
			other = sharing_find(pid, tid);
	}
	return other;
}
