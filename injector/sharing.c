/* SPDX-License-Identifier: MIT */
#include "injector/sharing.h"

#include <dirent.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <time.h>

#include "injector/procfs.h"

enum {
	LOOKS = 20,
	REST = 2 * 1000 * 1000,		/* ns between them */
};

static bool same_memory(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

/* `tid` is a thread that lives: one that has ended has no memory, which it would
 * share with every kernel thread. */
static pid_t find(pid_t pid, pid_t tid)
{
	pid_t found = 0;
	struct dirent *e;
	DIR *d = opendir("/proc");

	while (d && !found && (e = readdir(d))) {
		pid_t other = atoi(e->d_name);

		if (other > 0 && other != pid && same_memory(tid, other))
			found = other;
	}
	if (d)
		closedir(d);
	return found;
}

pid_t sharing_process(pid_t pid)
{
	pid_t tid = procfs_live_thread(pid), other = tid ? find(pid, tid) : 0;

	for (int i = 1; i < LOOKS && other; i++) {
		nanosleep(&(struct timespec){ 0, REST }, NULL);
		if (procfs_has_ended(other, other) || !same_memory(tid, other))
			other = find(pid, tid);
	}
	return other;
}
