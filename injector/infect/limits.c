/* SPDX-License-Identifier: MIT */
#include "injector/infect/limits.h"

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "injector/proc/children.h"
#include "injector/proc/groups.h"
#include "injector/proc/procfs.h"

enum {
	KIB = 1024,
};

#define REFUSE_LIMIT(pid, err, ...) \
	(fail(0, "cannot load into " __VA_ARGS__), -(err))

/* The executable of a process, and the least limit of addresses that it or a child of its has. */
struct limited {
	struct stat exe;
	uint64_t least;
	bool any;
};

static bool has_exe(pid_t pid, struct stat *ret)
{
	char dir[64], path[80];

	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/exe", dir);
	return !stat(path, ret);
}

static void take_limit(struct limited *l, pid_t pid)
{
	uint64_t limit;

	if (!procfs_limit(pid, "Max address space", &limit))
		return;
	l->least = l->any ? MIN(l->least, limit) : limit;
	l->any = true;
}

/* One that has executed nothing since it was forked has what its parent has mapped. */
static void take_child(void *ctx, pid_t child)
{
	struct limited *l = ctx;
	struct stat exe;

	if (has_exe(child, &exe) && exe.st_dev == l->exe.st_dev && exe.st_ino == l->exe.st_ino)
		take_limit(l, child);
}

bool limits_addresses(pid_t pid, uint64_t *left)
{
	pid_t tid = procfs_front(pid);
	uint64_t used = (uint64_t)procfs_status(pid, tid, "VmSize", 10, 0) * KIB;
	struct limited l = { 0 };

	take_limit(&l, pid);
	if (has_exe(pid, &l.exe))
		children_each(pid, take_child, &l);
	*left = l.least > used ? l.least - used : 0;
	return l.any;
}

/* Does RLIMIT_AS forbid so many bytes more, here or in a child? *left: how many it allows. */
static bool lacks_addresses(pid_t pid, uint64_t need, uint64_t *left)
{
	return limits_addresses(pid, left) && need > *left;
}

static int check_address_space(pid_t pid, const struct needs *n)
{
	uint64_t left;

	if (lacks_addresses(pid, n->address_space, &left))
		return REFUSE_LIMIT(pid, ENOMEM, "%d: %lu MiB of address space are needed, "
			"RLIMIT_AS leaves %lu MiB to it or to a child; raise it with prlimit(1)%s", pid,
			(unsigned long)(n->address_space >> 20), (unsigned long)(left >> 20),
			n->asked ? ", or use a smaller -m" : "");
	return 0;
}

/* Memory that is private and written to. A limit of 0 is none (mmap.c of Linux). */
static int check_data(pid_t pid, const struct needs *n)
{
	uint64_t limit;
	uint64_t used = (uint64_t)procfs_status(pid, procfs_front(pid), "VmData", 10, 0) * KIB;

	if (procfs_limit(pid, "Max data size", &limit) && limit && used + n->data > limit)
		return REFUSE_LIMIT(pid, ENOMEM, "%d: %lu MiB of data are needed, RLIMIT_DATA "
			"leaves %lu MiB; raise it with prlimit(1)", pid,
			(unsigned long)(n->data >> 20),
			(unsigned long)((limit > used ? limit - used : 0) >> 20));
	return 0;
}

/*
 * With mlockall(MCL_FUTURE) every new mapping is locked, and refused (EAGAIN) beyond
 * the limit. That cannot be seen from outside before something is mapped. Nor is it
 * known before a later visit looks for room how much it has to add.
 */
int limits_refused_map(pid_t pid, uint64_t size, int err)
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
			"%lu KiB to it or to a child; raise it with prlimit(1)", pid,
			(unsigned long)(size >> 10), (unsigned long)(left >> 10));
	}
	return err;
}

uint64_t limits_descriptors(pid_t pid)
{
	char path[80], dir[64];
	uint64_t limit, n = 0;

	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/fd", dir);
	DIR *d = opendir(path);
	if (!d || !procfs_limit(pid, "Max open files", &limit))
		limit = UINT64_MAX;
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	n -= MIN(n, 2);		/* . and .. */
	return limit - MIN(limit, n);
}

int limits_refuse_descriptors(pid_t pid, const char *what)
{
	uint64_t limit = 0;

	procfs_limit(pid, "Max open files", &limit);
	return REFUSE_LIMIT(pid, EMFILE, "%d: it has no file descriptor left for %s "
		"(RLIMIT_NOFILE is %lu); raise it with prlimit(1)", pid, what,
		(unsigned long)limit);
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

int limits_check(pid_t pid, const struct needs *n)
{
	int err = check_address_space(pid, n);

	err = err ? err : check_data(pid, n);
	return err ? err : check_groups(pid, n);
}
