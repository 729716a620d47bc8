/* SPDX-License-Identifier: MIT */
/* target_memory: the memory of a process, and which inject may write to it. */
#include "injector/ptrace/target.h"

#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>

#include "injector/proc/procfs.h"

enum {
	CLAIMS = 3,		/* the holder may let it go between two looks */
	RANDOM = 16,		/* bytes at AT_RANDOM */
	EXECUTES = 20,		/* milliseconds in which a process cannot be found, at most */
};

/* While a thread other than the first executes another program the process cannot be found, for a
 * moment (de_thread in fs/exec.c of Linux). */
static int open_memory(const char *path)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int fd = open(path, O_RDWR | O_CLOEXEC);

	for (int i = 0; i < EXECUTES && fd < 0 && (errno == ENOENT || errno == ESRCH); i++) {
		nanosleep(&moment, NULL);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	return fd;
}

int target_open(pid_t pid, struct target *ret)
{
	char path[80], dir[64];

	*ret = (struct target){ .pid = pid, .mem = -1 };
	procfs_comm(pid, ret->comm, sizeof(ret->comm));
	ret->start_time = procfs_start_time(pid);
	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/mem", dir);
	ret->mem = open_memory(path);
	if (ret->mem < 0)
		return fail(errno, "open the memory of %d (%s)", pid, ret->comm);
	return 0;
}

/* Which process has locked our target's memory, as the kernel lists it; 0: none that can be
 * seen from this PID namespace. */
static pid_t locked_by(const struct target *t)
{
	unsigned int major, minor;
	unsigned long ino;
	char line[256];
	pid_t pid, found = 0;
	struct stat st;
	FILE *f = fopen("/proc/locks", "re");

	while (f && !found && fstat(t->mem, &st) == 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major, &minor,
			   &ino) == 4 && ino == st.st_ino && makedev(major, minor) == st.st_dev)
			found = pid;
	if (f)
		fclose(f);
	return found;
}

static int held_by(const struct target *t, pid_t holder)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", holder);
	if (holder && stat(path, &st) == 0)
		fail(0, "%d (%s) is held by inject (pid %d, user %u); end that one first",
		     t->pid, t->comm, holder, st.st_uid);
	else
		fail(0, "%d (%s) is held by another inject; try again", t->pid, t->comm);
	return -EBUSY;
}

int target_claim(const struct target *t)
{
	pid_t holder = 0;

	for (int i = 0; flock(t->mem, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK; i++) {
		holder = locked_by(t);
		if (holder && !procfs_await_end(holder))
			return held_by(t, holder);
		if (i == CLAIMS)
			return held_by(t, 0);
	}
	return 0;
}

void target_close(struct target *t)
{
	if (t->mem >= 0)
		close(t->mem);
	free(t->threads);
	free(t->own);
	free(t->late);
	free(t->addressed);
	seccomp_forget(&t->filters);
	layout_clear(&t->layout);
	t->mem = -1;
	t->threads = NULL;
	t->own = t->late = t->addressed = NULL;
	t->nthreads = t->cap = 0;
	t->nlate = t->late_cap = t->nfirst = 0;
	t->naddressed = t->addressed_cap = 0;
	t->own_count = 0;
}

/*
 * The kernel copies as a processor of weak order does, and promises nothing of two calls: what
 * one has read or written comes before what the next one does, and so does what we have written
 * to memory that we share.
 */
static void in_order(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

int target_read(const struct target *t, raddr_t addr, void *buf, size_t n)
{
	in_order();
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
	in_order();
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

/* The kernel gives each program random bytes of its own, and says where they are. */
static bool is_another(const struct target *t)
{
	uint8_t now[RANDOM], then[RANDOM];
	raddr_t at = procfs_aux(t->pid, AT_RANDOM);
	struct iovec local = { now, sizeof(now) };
	struct iovec remote = { (void *)(uintptr_t)at, sizeof(now) };

	if (!at || process_vm_readv(procfs_front(t->pid), &local, 1, &remote, 1, 0) != RANDOM)
		return false;
	int err = target_read(t, at, then, sizeof(then));
	fail_clear();
	return err || memcmp(now, then, sizeof(now)) != 0;
}

int target_check_program(const struct target *t)
{
	char byte;

	/* No one failed read decides. */
	if (pread(t->mem, &byte, 1, 0) != 0 && (!is_another(t) || !is_another(t)))
		return 0;
	return fail(ESRCH, "the program of %d (%s) is gone", t->pid, t->comm);
}
