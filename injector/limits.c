/* SPDX-License-Identifier: MIT */
/* look, continued: limits that loading into the target would run into. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "injector/look.h"
#include "injector/procfs.h"

enum {
	KIB = 1024,
	DESCRIPTORS = 2,	/* open at one time during the load */
	THREAD_STACK = 8 << 20,
	CAP_SYS_RESOURCE_BIT = 24,
	CAP_SYS_ADMIN_BIT = 21,
};

#define REFUSE_LIMIT(pid, err, ...) \
	(fail(0, "cannot load into " __VA_ARGS__), -(err))

static bool get_limit(pid_t pid, int which, uint64_t *ret)
{
	struct rlimit64 lim;

	if (prlimit64(pid, which, NULL, &lim) < 0 || lim.rlim_cur == RLIM64_INFINITY)
		return false;
	*ret = lim.rlim_cur;
	return true;
}

static bool has_cap(pid_t pid, int bit)
{
	return (uint64_t)procfs_status(pid, 0, "CapEff", 16, 0) >> bit & 1;
}

static int check_address_space(pid_t pid, const struct needs *n)
{
	uint64_t limit, need = n->address_space + (n->thread ? THREAD_STACK : 0);
	uint64_t used = (uint64_t)procfs_status(pid, 0, "VmSize", 10, 0) * KIB;

	if (get_limit(pid, RLIMIT_AS, &limit) && used + need > limit)
		return REFUSE_LIMIT(pid, ENOMEM, "%d: %lu MiB of address space are needed, "
			"RLIMIT_AS leaves %lu MiB; raise it with prlimit(1), or use a smaller -m",
			pid, (unsigned long)(need >> 20),
			(unsigned long)((limit > used ? limit - used : 0) >> 20));
	return 0;
}

/*
 * With mlockall(MCL_FUTURE) every new mapping is locked, and refused beyond the
 * limit. That cannot be seen from outside before something is mapped.
 */
int look_refuse_locked(pid_t pid)
{
	return REFUSE_LIMIT(pid, ENOMEM, "%d: it locks its memory, and RLIMIT_MEMLOCK leaves "
			    "no room; raise it with prlimit(1)", pid);
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
	if (get_limit(pid, RLIMIT_NOFILE, &limit) && n + DESCRIPTORS > limit)
		return REFUSE_LIMIT(pid, EMFILE, "%d: it has no file descriptor left "
			"(RLIMIT_NOFILE is %lu)", pid, (unsigned long)limit);
	return 0;
}

/* Where the process stands in a hierarchy: the path after "controller:" of v1,
 * or after "0::" of v2. */
static bool cgroup_path(pid_t pid, const char *controller, char *ret, size_t size)
{
	char path[64], line[4300];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		char *name = strchr(line, ':');
		char *where = name ? strchr(name + 1, ':') : NULL;

		if (!where)
			continue;
		*where++ = '\0';
		where[strcspn(where, "\n")] = '\0';
		found = strcmp(name + 1, controller) == 0;
		if (found && snprintf(ret, size, "%s", where) >= (int)size)
			found = false;
	}
	if (f)
		fclose(f);
	return found;
}

/* Bytes of page cache that a memory group gives up when it needs room; a busy
 * group is always full of it. With the groups below it: in v1 those are in the
 * total, in v2 in the number itself. */
static uint64_t cgroup_cache(const char *dir)
{
	char path[4400], line[256];
	uint64_t all = 0, own = 0, n;

	snprintf(path, sizeof(path), "%s/memory.stat", dir);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "total_inactive_file %" SCNu64, &n) == 1 ||
		    sscanf(line, "total_active_file %" SCNu64, &n) == 1)
			all += n;
		else if (sscanf(line, "inactive_file %" SCNu64, &n) == 1 ||
			 sscanf(line, "active_file %" SCNu64, &n) == 1)
			own += n;
	if (f)
		fclose(f);
	return MAX(all, own);
}

/* Room left in the group and in each group above it; UINT64_MAX: no limit. */
static uint64_t cgroup_room(const char *mount, const char *group, const char *max,
			    const char *current)
{
	char at[4096], path[4400];
	uint64_t room = UINT64_MAX;

	snprintf(at, sizeof(at), "%s", group);
	for (;;) {
		uint64_t m, c;

		snprintf(path, sizeof(path), "%s%s/%s", mount, at, max);
		bool ok = procfs_number(path, &m);
		snprintf(path, sizeof(path), "%s%s/%s", mount, at, current);
		if (ok && m != UINT64_MAX && procfs_number(path, &c)) {
			path[strlen(path) - strlen(current) - 1] = '\0';
			c -= MIN(c, cgroup_cache(path));
			room = MIN(room, m > c ? m - c : 0);
		}
		char *slash = strrchr(at, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	return room;
}

static uint64_t group_room(pid_t pid, const char *controller, const char *max2,
			   const char *current2, const char *max1, const char *current1)
{
	char group[4096], mount[64];
	uint64_t room = UINT64_MAX;

	if (cgroup_path(pid, "", group, sizeof(group)))
		room = cgroup_room("/sys/fs/cgroup", group, max2, current2);
	if (cgroup_path(pid, controller, group, sizeof(group))) {
		snprintf(mount, sizeof(mount), "/sys/fs/cgroup/%s", controller);
		room = MIN(room, cgroup_room(mount, group, max1, current1));
	}
	return room;
}

static int check_groups(pid_t pid, const struct needs *n)
{
	uint64_t room = group_room(pid, "memory", "memory.max", "memory.current",
				   "memory.limit_in_bytes", "memory.usage_in_bytes");

	if (room < n->memory)
		return REFUSE_LIMIT(pid, ENOMEM, "%d: its memory group has %lu KiB left, "
			"%lu KiB are needed; use a smaller -m", pid,
			(unsigned long)(room >> 10), (unsigned long)(n->memory >> 10));
	room = group_room(pid, "pids", "pids.max", "pids.current", "pids.max",
			  "pids.current");
	if (n->thread && room < 1)
		return REFUSE_LIMIT(pid, EAGAIN, "%d: its control group allows no further "
			"thread (pids.max)", pid);
	return 0;
}

/* Threads of one user, as RLIMIT_NPROC counts them. */
static uint64_t user_threads(int64_t uid)
{
	uint64_t n = 0;
	struct dirent *e;
	DIR *d = opendir("/proc");

	while (d && (e = readdir(d))) {
		pid_t pid = atoi(e->d_name);

		if (pid > 0 && procfs_status(pid, 0, "Uid", 10, -1) == uid)
			n += (uint64_t)procfs_status(pid, 0, "Threads", 10, 1);
	}
	if (d)
		closedir(d);
	return n;
}

static int check_threads(pid_t pid, const struct needs *n)
{
	int64_t uid = procfs_status(pid, 0, "Uid", 10, 0);
	uint64_t limit;

	if (n->thread && uid && !has_cap(pid, CAP_SYS_RESOURCE_BIT) &&
	    !has_cap(pid, CAP_SYS_ADMIN_BIT) && get_limit(pid, RLIMIT_NPROC, &limit) &&
	    user_threads(uid) >= limit)
		return REFUSE_LIMIT(pid, EAGAIN, "%d: its user may have no further thread "
			"(RLIMIT_NPROC is %lu)", pid, (unsigned long)limit);
	return 0;
}

int look_limits(pid_t pid, const struct needs *n)
{
	int err = check_address_space(pid, n);

	err = err ? err : check_descriptors(pid);
	err = err ? err : check_groups(pid, n);
	return err ? err : check_threads(pid, n);
}
