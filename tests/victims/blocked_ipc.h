/* SPDX-License-Identifier: MIT */
/* blocked_ipc: the rows of blocked.c that need objects of the kernel which
 * outlive a process (System V, message queues), children, locks or aio. */
#ifndef TESTS_BLOCKED_IPC_H
#define TESTS_BLOCKED_IPC_H

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/prctl.h>

static int sem_id = -1, msg_id = -1;
static char mq_name[32];
static int lock_fd = -1, lock_other = -1;
static pid_t lock_holder, sleepers[2];
/* A word to a child of `sleepers` that its row begins to wait. */
static int wakes[2][2];

/* A child that does not outlive us, however we end. No signal tells of its own end, which might
 * end a row's call while we are traced: see docs/limits.md. */
static pid_t fork_bound(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);

	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* A child that ends `seconds` after its row begins to wait, not after the fork:
 * on a slow machine the threads of the rows begin seconds later. */
static bool sleeper_start(int i)
{
	char c;

	if (pipe2(wakes[i], O_CLOEXEC))
		return false;
	sleepers[i] = fork_bound();
	if (sleepers[i] == 0) {
		if (read(wakes[i][0], &c, 1) == 1)
			victim_sleep_us(seconds * 1000000L);
		_exit(0);
	}
	return sleepers[i] > 0;
}

/* Before any thread runs, so that fork() is safe. */
static bool ipc_prepare(void)
{
	char path[64];

	sem_id = semget(IPC_PRIVATE, 2, 0600);
	msg_id = msgget(IPC_PRIVATE, 0600);
	snprintf(mq_name, sizeof(mq_name), "/blocked-%d", getpid());
	snprintf(path, sizeof(path), "%s/lock", dir);
	lock_fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	lock_other = open(path, O_RDWR | O_CLOEXEC);
	if (!sleeper_start(0) || !sleeper_start(1))
		return false;
	lock_holder = fork_bound();
	if (lock_holder == 0) {
		struct flock l = { .l_type = F_WRLCK };

		fcntl(lock_fd, F_SETLK, &l);
		for (;;)
			pause();
	}
	victim_sleep_us(100000);
	return flock(lock_other, LOCK_EX) == 0;
}

static void ipc_tidy(void)
{
	semctl(sem_id, 0, IPC_RMID);
	msgctl(msg_id, IPC_RMID, NULL);
	mq_unlink(mq_name);
	kill(lock_holder, SIGKILL);
	waitpid(lock_holder, NULL, __WALL);
}

static long run_semop(struct row *r)
{
	struct sembuf op = { .sem_num = 0, .sem_op = -1 };

	return sem_id < 0 ? skip(r) : result(semop(sem_id, &op, 1));
}

static long release_semop(struct row *r)
{
	struct sembuf op = { .sem_num = 0, .sem_op = 1 };

	(void)r;
	return semop(sem_id, &op, 1);
}

static long run_semtimedop(struct row *r)
{
	struct sembuf op = { .sem_num = 1, .sem_op = -1 };
	struct timespec t = timeout();

	return sem_id < 0 ? skip(r) : result(semtimedop(sem_id, &op, 1, &t));
}

struct message {
	long type;
	char text[1];
};

static long run_msgrcv(struct row *r)
{
	struct message m;

	return msg_id < 0 ? skip(r) : result(msgrcv(msg_id, &m, 1, 0, 0));
}

static long release_msgrcv(struct row *r)
{
	struct message m = { 1, "x" };

	(void)r;
	return msgsnd(msg_id, &m, 1, 0);
}

static long run_mq_timedreceive(struct row *r)
{
	struct mq_attr a = { .mq_maxmsg = 2, .mq_msgsize = 16 };
	struct timespec t = deadline(CLOCK_REALTIME);
	mqd_t q = mq_open(mq_name, O_CREAT | O_RDWR, 0600, &a);
	char buf[16];

	if (q == (mqd_t)-1)
		return skip(r);
	return result(mq_timedreceive(q, buf, sizeof(buf), NULL, &t));
}

static long run_wait4(struct row *r)
{
	(void)r;
	if (write(wakes[0][1], "x", 1) != 1)
		return -errno;
	return result(waitpid(sleepers[0], NULL, __WALL)) == sleepers[0];
}

static long run_waitid(struct row *r)
{
	siginfo_t si;

	(void)r;
	if (write(wakes[1][1], "x", 1) != 1)
		return -errno;
	return result(waitid(P_PID, sleepers[1], &si, WEXITED | __WALL));
}

static long run_flock(struct row *r)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/lock", dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? skip(r) : result(flock(fd, LOCK_EX));
}

static long release_flock(struct row *r)
{
	(void)r;
	return flock(lock_other, LOCK_UN);
}

static long run_setlkw(struct row *r)
{
	struct flock l = { .l_type = F_WRLCK };

	(void)r;
	return result(fcntl(lock_fd, F_SETLKW, &l));
}

static long release_setlkw(struct row *r)
{
	(void)r;
	return kill(lock_holder, SIGKILL);
}

static long run_io_getevents(struct row *r)
{
	struct timespec t = timeout();
	struct io_event e;
	aio_context_t ctx = 0;

	if (syscall(SYS_io_setup, 4, &ctx))
		return skip(r);
	return result(syscall(SYS_io_getevents, ctx, 1, 1, &e, &t));
}

/* One timeout request, and a wait for its completion. */
static long run_io_uring_enter(struct row *r)
{
	struct io_uring_params p = { 0 };
	struct __kernel_timespec t = { .tv_sec = seconds };
	int fd = syscall(SYS_io_uring_setup, 4, &p);
	struct io_uring_sqe *sqe;
	unsigned char *sq;

	if (fd < 0)
		return skip(r);
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned),
		  PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	sqe = mmap(NULL, p.sq_entries * sizeof(*sqe), PROT_READ | PROT_WRITE,
		   MAP_SHARED, fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || (void *)sqe == MAP_FAILED)
		return skip(r);
	*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_TIMEOUT, .len = 1,
				      .addr = (uintptr_t)&t };
	*(unsigned *)(sq + p.sq_off.array) = 0;
	__atomic_store_n((unsigned *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	/* Apart from the wait: a call that has submitted says so and no more. */
	if (syscall(SYS_io_uring_enter, fd, 1, 0, 0, NULL, 0) != 1)
		return skip(r);
	return result(syscall(SYS_io_uring_enter, fd, 0, 1,
			      IORING_ENTER_GETEVENTS, NULL, 0));
}

#endif
