/* SPDX-License-Identifier: MIT */
#include "injector/launch/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "injector/launch/rdebug.h"
#include "injector/proc/procfs.h"

enum {
	LOOKS = 100,
	BETWEEN = 10 * 1000 * 1000,	/* ns */
};

/* In the middle of an execve there may be a program that has no loader yet. Its auxiliary
 * vector, which never begins with 0, is filled in behind the last mapping
 * (fs/binfmt_elf.c, create_elf_tables). */
static bool is_mapped(pid_t pid)
{
	unsigned long first;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 || read(fd, &first, sizeof(first)) != sizeof(first) || first;
}

static bool is_complete(const struct target *t, struct modules *mods)
{
	struct rdebug list = { 0 };
	struct r_debug now;

	for (size_t i = 0; i < mods->n && !list.at; i++)
		rdebug_find(&mods->v[i], &list);
	if (!list.at)
		return true;
	return rdebug_read(t, &list, &now) == 0 && now.r_map && now.r_state == RT_CONSISTENT;
}

/* What was looked at is one program, and all of it, if it was one before and is after. */
static bool image_look(pid_t pid)
{
	uint64_t image = procfs_image(pid);
	struct modules mods = { 0 };
	struct target t;

	if (!is_mapped(pid))
		return false;
	bool complete = target_open(pid, &t) < 0 || modules_open_process(pid, &mods) < 0 ||
		is_complete(&t, &mods);

	modules_close(&mods);
	target_close(&t);
	fail_clear();
	return complete && procfs_image(pid) == image;
}

void image_wait(pid_t pid, bool (*cancelled)(void))
{
	struct timespec between = { .tv_nsec = BETWEEN };

	for (int i = 0; i < LOOKS && !cancelled() && !image_look(pid); i++)
		nanosleep(&between, NULL);
}
