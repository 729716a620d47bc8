/* SPDX-License-Identifier: MIT */
#include "injector/proc/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "injector/proc/procfs.h"

/* Where version 2 is mounted: alone, or beside hierarchies of version 1. */
static const char *const unified[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

/* Where the process stands in a hierarchy: the path after "controller:" of v1,
 * or after "0::" of v2. */
static bool cgroup_path(pid_t pid, const char *controller, char *ret, size_t size)
{
	char path[96], dir[64], line[4300];
	bool found = false;

	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/cgroup", dir);
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

uint64_t groups_memory(pid_t pid)
{
	uint64_t room = UINT64_MAX;
	char group[4096];

	bool there = cgroup_path(pid, "", group, sizeof(group));
	for (size_t i = 0; there && i < ARRAY_SIZE(unified); i++)
		room = MIN(room, cgroup_room(unified[i], group, "memory.max", "memory.current"));
	if (cgroup_path(pid, "memory", group, sizeof(group)))
		room = MIN(room, cgroup_room("/sys/fs/cgroup/memory", group,
					     "memory.limit_in_bytes", "memory.usage_in_bytes"));
	return room;
}

/* Does a line of that file begin so? */
static bool says(const char *path, const char *begin)
{
	char line[256];
	bool found = false;
	FILE *f = fopen(path, "re");

	while (f && !found && fgets(line, sizeof(line), f))
		found = strncmp(line, begin, strlen(begin)) == 0;
	if (f)
		fclose(f);
	return found;
}

/* What both files tell is so because of a group above, too. */
bool groups_frozen(pid_t pid)
{
	char group[4096], path[4400];
	bool there = cgroup_path(pid, "", group, sizeof(group));

	for (size_t i = 0; there && i < ARRAY_SIZE(unified); i++) {
		snprintf(path, sizeof(path), "%s%s/cgroup.events", unified[i], group);
		if (says(path, "frozen 1"))
			return true;
	}
	if (!cgroup_path(pid, "freezer", group, sizeof(group)))
		return false;
	snprintf(path, sizeof(path), "/sys/fs/cgroup/freezer%s/freezer.state", group);
	return says(path, "FR");	/* FREEZING, FROZEN */
}
