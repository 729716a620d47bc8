/* SPDX-License-Identifier: MIT */
/* look, continued: limits that loading into the target would run into. */
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "injector/groups.h"
#include "injector/look.h"
#include "injector/procfs.h"

enum {
	KIB = 1024,
	DESCRIPTORS = 2,	/* open at one time during the load */
	THREAD_STACK = 8 << 20,
};

#define REFUSE_LIMIT(pid, err, ...) \
	(fail(0, "cannot load into " __VA_ARGS__), -(err))

/* Does RLIMIT_AS forbid so many bytes more? If so, *left is how many it allows. */
static bool lacks_addresses(pid_t pid, uint64_t need, uint64_t *left)
{
	pid_t tid = procfs_front(pid);
	uint64_t limit, used = (uint64_t)procfs_status(pid, tid, "VmSize", 10, 0) * KIB;

	if (!procfs_limit(pid, "Max address space", &limit) || used + need <= limit)
		return false;
	*left = limit > used ? limit - used : 0;
	return true;
}

static int check_address_space(pid_t pid, const struct needs *n)
{
	uint64_t left, need = n->address_space + (n->thread ? THREAD_STACK : 0);

	if (lacks_addresses(pid, need, &left))
		return REFUSE_LIMIT(pid, ENOMEM, "%d: %lu MiB of address space are needed, "
			"RLIMIT_AS leaves %lu MiB; raise it with prlimit(1), or use a smaller -m",
			pid, (unsigned long)(need >> 20), (unsigned long)(left >> 20));
	return 0;
}

/* Memory that is private and written to. A limit of 0 is none (mmap.c of Linux). */
static int check_data(pid_t pid, const struct needs *n)
{
	uint64_t limit, need = n->data + (n->thread ? THREAD_STACK : 0);
	uint64_t used = (uint64_t)procfs_status(pid, procfs_front(pid), "VmData", 10, 0) * KIB;

	if (procfs_limit(pid, "Max data size", &limit) && limit && used + need > limit)
		return REFUSE_LIMIT(pid, ENOMEM, "%d: %lu MiB of data are needed, RLIMIT_DATA "
			"leaves %lu MiB; raise it with prlimit(1)", pid,
			(unsigned long)(need >> 20),
			(unsigned long)((limit > used ? limit - used : 0) >> 20));
	return 0;
}

/*
 * With mlockall(MCL_FUTURE) every new mapping is locked, and refused (EAGAIN) beyond
 * the limit. That cannot be seen from outside before something is mapped. Nor is it
 * known before a later visit looks for room how much it has to add.
 */
int look_refused_map(pid_t pid, uint64_t size, int err)
{
	uint64_t left;

	if (err == -EAGAIN) {
		fail_clear();
		return REFUSE_LIMIT(pid, ENOMEM, "%d: it locks its memory, and RLIMIT_MEMLOCK "
			"leaves no room; raise it with prlimit(1)", pid);
	}
	if (err == -ENOMEM && lacks_addresses(pid, size, &left)) {
		fail_clear();
		return REFUSE_LIMIT(pid, ENOMEM, "%d: %lu KiB more are needed, RLIMIT_AS leaves "
			"%lu KiB; raise it with prlimit(1)", pid,
			(unsigned long)(size >> 10), (unsigned long)(left >> 10));
	}
	return err;
}

static int check_descriptors(pid_t pid)
{
	char path[64];
	uint64_t limit, n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *d = opendir(path);
	if (!d)
		return 0;
	while (readdir(d))
		n++;
	closedir(d);
	n -= 2;			/* . and .. */
	if (procfs_limit(pid, "Max open files", &limit) && n + DESCRIPTORS > limit)
		return REFUSE_LIMIT(pid, EMFILE, "%d: it has no file descriptor left "
			"(RLIMIT_NOFILE is %lu); raise it with prlimit(1)", pid,
			(unsigned long)limit);
	return 0;
}

static int check_groups(pid_t pid, const struct needs *n)
{
	uint64_t room = groups_memory(pid);

	if (room < n->memory)
		return REFUSE_LIMIT(pid, ENOMEM, "%d: its memory group has %lu KiB left, "
			"%lu KiB are needed; use a smaller -m", pid,
			(unsigned long)(room >> 10), (unsigned long)(n->memory >> 10));
	return 0;
}

/* Threads of one user, as RLIMIT_NPROC counts them. */
static uint64_t user_threads(int64_t uid)
{
	auto_free pid_t *pids = NULL;
	int n = procfs_processes(&pids);
	uint64_t threads = 0;

	for (int i = 0; i < n; i++)
		if (procfs_status(pids[i], 0, "Uid", 10, -1) == uid)
			threads += (uint64_t)procfs_status(pids[i], 0, "Threads", 10, 1);
	return threads;
}

/* By its user's limit, unless it is above that. */
static bool user_has_room(pid_t pid)
{
	int64_t uid = procfs_status(pid, 0, "Uid", 10, 0);
	uint64_t limit;

	return !uid || procfs_has_cap(pid, CAP_SYS_RESOURCE) ||
	       procfs_has_cap(pid, CAP_SYS_ADMIN) ||
	       !procfs_limit(pid, "Max processes", &limit) || user_threads(uid) < limit;
}

bool look_thread_room(pid_t pid)
{
	return groups_threads(pid) && user_has_room(pid);
}

int look_limits(pid_t pid, const struct needs *n)
{
	int err = check_address_space(pid, n);

	err = err ? err : check_data(pid, n);
	err = err ? err : check_descriptors(pid);
	return err ? err : check_groups(pid, n);
}
