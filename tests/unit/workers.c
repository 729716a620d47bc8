/* SPDX-License-Identifier: MIT */
/*
 * Is a thread known as the kernel's own that io_uring has made, also by another name than
 * it gives itself, once it runs? And none of ours for one that blocks all signals?
 */
#include "injector/proc/procfs.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/check.h"

enum { TRIES = 5000 };		/* of 2 ms */

static char *map_ring(int fd, size_t size, off_t what)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, what);

	MUST(p != MAP_FAILED);
	return p;
}

/* Ask for what a worker will wait for: false: there is no io_uring. */
static bool ask(int from)
{
	static char word[8];
	struct io_uring_params p = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &p);

	if (fd < 0)
		return false;
	char *ring = map_ring(fd, p.sq_off.array + sizeof(unsigned int), IORING_OFF_SQ_RING);
	struct io_uring_sqe *e = (void *)map_ring(fd, sizeof(*e), IORING_OFF_SQES);

	*e = (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = from, .off = -1ull,
				    .addr = (uintptr_t)word, .len = sizeof(word),
				    .flags = IOSQE_ASYNC };
	__atomic_store_n((unsigned int *)(ring + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, fd, 1, 0, 0, NULL, 0) == 1;
}

/* The one thread that is neither of `ours`; 0: not there yet. */
static pid_t other_than(const pid_t *ours, int n)
{
	auto_free pid_t *tids = NULL;
	int all = procfs_tasks(getpid(), &tids);

	for (int i = 0; i < all; i++)
		if (!procfs_is_listed(ours, n, tids[i]))
			return tids[i];
	return 0;
}

static void rename_to(pid_t tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	FILE *f = fopen(path, "w");
	MUST(f && fputs(name, f) >= 0 && fclose(f) == 0);
}

static void *end(void *tid)
{
	*(pid_t *)tid = gettid();
	return NULL;
}

/* A thread that was listed and is gone runs no code. */
static void test_gone(void)
{
	char path[64];
	pthread_t t;
	pid_t tid;

	MUST(pthread_create(&t, NULL, end, &tid) == 0 && pthread_join(t, NULL) == 0);
	snprintf(path, sizeof(path), "/proc/self/task/%d", tid);
	while (access(path, F_OK) == 0)
		usleep(2000);
	MUST(!procfs_runs_code(getpid(), tid));
}

static pid_t tid_of_other;

static void *block_all(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	__atomic_store_n(&tid_of_other, gettid(), __ATOMIC_RELEASE);
	for (;;)
		pause();
	return unused;
}

int main(void)
{
	pid_t ours[2] = { getpid() }, worker = 0;
	int words[2];
	pthread_t t;

	test_gone();
	MUST(pthread_create(&t, NULL, block_all, NULL) == 0 && pipe(words) == 0);
	while (!(ours[1] = __atomic_load_n(&tid_of_other, __ATOMIC_ACQUIRE)))
		usleep(2000);
	rename_to(ours[1], "iou-wrk-1");
	MUST(procfs_runs_code(getpid(), ours[0]) && procfs_runs_code(getpid(), ours[1]));
	if (!ask(words[0])) {
		printf("skipped: no io_uring here\n");
		return 77;
	}
	for (int i = 0; i < TRIES && !worker; i++) {
		worker = other_than(ours, 2);
		usleep(2000);
	}
	MUST(worker && !procfs_runs_code(getpid(), worker));
	rename_to(worker, "mine");
	MUST(!procfs_runs_code(getpid(), worker));
	return 0;
}
