/* SPDX-License-Identifier: MIT */
/* target_memory: the memory of a process, and who may write to it. */
#include "injector/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

#include "injector/procfs.h"

int target_open(pid_t pid, struct target *ret)
{
	char path[80], dir[64];

	*ret = (struct target){ .pid = pid, .mem = -1 };
	procfs_comm(pid, ret->comm, sizeof(ret->comm));
	ret->start_time = procfs_start_time(pid);
	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/mem", dir);
	ret->mem = open(path, O_RDWR | O_CLOEXEC);
	if (ret->mem < 0)
		return fail(errno, "open the memory of %d (%s)", pid, ret->comm);
	return 0;
}

bool target_lock(const struct target *t)
{
	return flock(t->mem, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void target_close(struct target *t)
{
	if (t->mem >= 0)
		close(t->mem);
	free(t->threads);
	t->mem = -1;
	t->threads = NULL;
	t->nthreads = t->cap = 0;
}

int target_read(const struct target *t, raddr_t addr, void *buf, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = pread(t->mem, (char *)buf + done, n - done,
				  (off_t)(addr + done));
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return fail(r ? errno : ESRCH, "read %zu bytes at %#lx of %d (%s)",
				    n, (unsigned long)addr, t->pid, t->comm);
		done += (size_t)r;
	}
	return 0;
}

int target_write(const struct target *t, raddr_t addr, const void *buf, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = pwrite(t->mem, (const char *)buf + done, n - done,
				   (off_t)(addr + done));
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return fail(r ? errno : ESRCH, "write %zu bytes at %#lx of %d (%s)",
				    n, (unsigned long)addr, t->pid, t->comm);
		done += (size_t)r;
	}
	return 0;
}
