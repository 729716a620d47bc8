/* SPDX-License-Identifier: MIT */
/*
 * blocked: one thread in each blocking system call. Which of them sees that
 * the process was stopped? A stop, an attach and a detach must not be visible:
 * no EINTR, no short timeout, no result that would not have come otherwise.
 *
 *	release	-> one line per row: `row NAME ok`, `row NAME WRONG ...`, or
 *		   `row NAME skipped ...`; then `released`
 *
 * blocked SECONDS: how long the calls with a timeout wait.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tests/victims/victim.h"

struct row;
typedef long (*row_fn)(struct row *);

/*
 * `run` blocks; its result, or -errno, is to be `want`. A row with a timeout
 * (`timed`) ends by itself and not before its time; another is ended by
 * `release`, called in the main thread.
 */
struct row {
	const char *name;
	row_fn run;
	row_fn release;
	long want;
	bool timed;
	/* Of the run: */
	pthread_t thread;
	int fd[2];
	int word;
	sem_t sem;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	long got;
	double took;
	bool skip, done;
};

static int seconds = 6;
static char dir[] = "./blocked-XXXXXX";

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static long result(long r)
{
	return r < 0 ? -errno : r;
}

static long skip(struct row *r)
{
	r->skip = true;
	return -errno;
}

static struct timespec timeout(void)
{
	return (struct timespec){ .tv_sec = seconds };
}

static struct timespec deadline(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += seconds;
	return t;
}

/* Release by one byte through the other end. */
static long poke(struct row *r)
{
	return write(r->fd[1], "12345678", 8);
}

static int sockets(struct row *r)
{
	return socketpair(AF_UNIX, SOCK_STREAM, 0, r->fd);
}

static int timed_sockets(struct row *r)
{
	struct timeval tv = { .tv_sec = seconds };

	if (sockets(r))
		return -1;
	return setsockopt(r->fd[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) ||
	       setsockopt(r->fd[0], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

#include "tests/victims/blocked_fd.h"

/* --- sleeping --- */

static long run_nanosleep(struct row *r)
{
	struct timespec t = timeout();

	(void)r;
	return result(nanosleep(&t, NULL));
}

static long run_usleep(struct row *r)
{
	(void)r;
	return result(usleep(seconds * 1000000));
}

static long run_clock_nanosleep(struct row *r)
{
	struct timespec t = timeout();

	(void)r;
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static long run_clock_nanosleep_abs(struct row *r)
{
	struct timespec t = deadline(CLOCK_MONOTONIC);

	(void)r;
	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* --- signals --- */

static sigset_t rt_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 3);
	return set;
}

static long run_sigtimedwait(struct row *r)
{
	sigset_t set = rt_set();
	struct timespec t = timeout();

	(void)r;
	return result(sigtimedwait(&set, NULL, &t));
}

/* glibc's sigwaitinfo returns EINTR to its caller. */
static long run_sigwaitinfo(struct row *r)
{
	sigset_t set = rt_set();

	(void)r;
	return result(sigwaitinfo(&set, NULL)) == SIGRTMIN + 3;
}

static void ignore(int sig)
{
	(void)sig;
}

static long run_pause(struct row *r)
{
	(void)r;
	return result(pause());
}

static long run_sigsuspend(struct row *r)
{
	sigset_t set;

	(void)r;
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	return result(sigsuspend(&set));
}

static long send_usr1(struct row *r)
{
	return pthread_kill(r->thread, SIGUSR1);
}

/* --- futexes and what is made of them --- */

static long futex(int *word, int op, int value, const struct timespec *t)
{
	return result(syscall(SYS_futex, word, op, value, t, NULL, 0));
}

static long run_futex(struct row *r)
{
	return futex(&r->word, FUTEX_WAIT, 0, NULL);
}

static long release_futex(struct row *r)
{
	return futex(&r->word, FUTEX_WAKE, 1, NULL);
}

static long run_futex_timeout(struct row *r)
{
	struct timespec t = timeout();

	return futex(&r->word, FUTEX_WAIT, 0, &t);
}

/* Held by the main thread's id. */
static long run_futex_pi(struct row *r)
{
	r->word = getpid();
	return futex(&r->word, FUTEX_LOCK_PI, 0, NULL);
}

static long release_futex_pi(struct row *r)
{
	return futex(&r->word, FUTEX_UNLOCK_PI, 0, NULL);
}

static long run_sem_wait(struct row *r)
{
	return result(sem_wait(&r->sem));
}

static long release_sem(struct row *r)
{
	return sem_post(&r->sem);
}

static long run_sem_timedwait(struct row *r)
{
	struct timespec t = deadline(CLOCK_REALTIME);

	return result(sem_timedwait(&r->sem, &t));
}

static long run_cond_timedwait(struct row *r)
{
	struct timespec t = deadline(CLOCK_REALTIME);
	long got;

	pthread_mutex_lock(&r->mutex);
	got = pthread_cond_timedwait(&r->cond, &r->mutex, &t);
	pthread_mutex_unlock(&r->mutex);
	return -got;
}

static long run_mutex(struct row *r)
{
	return -pthread_mutex_lock(&r->mutex);
}

static long release_mutex(struct row *r)
{
	return pthread_mutex_unlock(&r->mutex);
}

static void *sleep_for_join(void *arg)
{
	victim_sleep_us(seconds * 1000000L);
	return arg;
}

static long run_join(struct row *r)
{
	pthread_t t;

	(void)r;
	return pthread_create(&t, NULL, sleep_for_join, NULL) ? skip(r) :
		-pthread_join(t, NULL);
}

#include "tests/victims/blocked_ipc.h"

#define TIMED(n, w) { .name = #n, .run = run_##n, .want = (w), .timed = true }
#define UNTIL(n, r, w) \
	{ .name = #n, .run = run_##n, .release = (r), .want = (w) }

static struct row rows[] = {
	UNTIL(epoll_wait, poke, 1), TIMED(epoll_wait_timeout, 0),
	TIMED(epoll_pwait, 0), UNTIL(poll, poke, 1), TIMED(poll_timeout, 0),
	TIMED(ppoll, 0), TIMED(select, 0), TIMED(pselect, 0),
	TIMED(ppoll_fixed, 0), TIMED(pselect_fixed, 0),
	UNTIL(read_pipe, poke, 8), UNTIL(readv_pipe, poke, 8),
	UNTIL(splice, poke, 8), UNTIL(read_eventfd, release_eventfd, 8),
	TIMED(read_timerfd, 8), UNTIL(read_inotify, release_inotify, 1),
	UNTIL(read_signalfd, send_rt, 1), UNTIL(open_fifo, release_fifo, 1),
	UNTIL(accept, dial, 1), TIMED(accept_timeout, -EAGAIN),
	TIMED(connect_timeout, -EAGAIN), UNTIL(recv, poke, 8),
	TIMED(recv_timeout, -EAGAIN), TIMED(read_timeout, -EAGAIN),
	UNTIL(recvmsg, poke, 8), UNTIL(recvmmsg, poke, 1),
	TIMED(send_timeout, -EAGAIN), TIMED(nanosleep, 0), TIMED(usleep, 0),
	TIMED(clock_nanosleep, 0), TIMED(clock_nanosleep_abs, 0),
	TIMED(sigtimedwait, -EAGAIN), UNTIL(sigwaitinfo, send_rt, 1),
	UNTIL(pause, send_usr1, -EINTR), UNTIL(sigsuspend, send_usr1, -EINTR),
	UNTIL(futex, release_futex, 0), TIMED(futex_timeout, -ETIMEDOUT),
	UNTIL(futex_pi, release_futex_pi, 0), UNTIL(sem_wait, release_sem, 0),
	TIMED(sem_timedwait, -ETIMEDOUT), TIMED(cond_timedwait, -ETIMEDOUT),
	UNTIL(mutex, release_mutex, 0), TIMED(join, 0),
	UNTIL(semop, release_semop, 0), TIMED(semtimedop, -EAGAIN),
	UNTIL(msgrcv, release_msgrcv, 1), TIMED(mq_timedreceive, -ETIMEDOUT),
	TIMED(wait4, 1), TIMED(waitid, 0), UNTIL(flock, release_flock, 0),
	UNTIL(setlkw, release_setlkw, 0), TIMED(io_getevents, 0),
	TIMED(io_uring_enter, 0),
};

static void *row_thread(void *arg)
{
	struct row *r = arg;
	double start = now();

	r->got = r->run(r);
	r->took = now() - start;
	__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool row_start(struct row *r)
{
	sem_init(&r->sem, 0, 0);
	pthread_mutex_init(&r->mutex, NULL);
	pthread_cond_init(&r->cond, NULL);
	if (r->run == run_mutex)
		pthread_mutex_lock(&r->mutex);
	return pthread_create(&r->thread, NULL, row_thread, r) == 0;
}

static void row_end(struct row *r)
{
	bool early = __atomic_load_n(&r->done, __ATOMIC_ACQUIRE) && !r->timed;

	if (r->release && !early)
		r->release(r);
	pthread_join(r->thread, NULL);
	if (r->skip)
		victim_say("row %s skipped: %s", r->name, strerror(-r->got));
	else if (early)
		victim_wrong("row %s ended early with %ld", r->name, r->got);
	else if (r->got != r->want)
		victim_wrong("row %s: got %ld (%s), not %ld", r->name, r->got,
			     r->got < 0 ? strerror(-r->got) : "", r->want);
	else if (r->timed && r->took < seconds - 0.05)
		victim_wrong("row %s: waited %.3f s", r->name, r->took);
	else
		victim_say("row %s ok", r->name);
}

static void command(const char *word)
{
	if (strcmp(word, "release") == 0) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
			row_end(&rows[i]);
		victim_say("released");
	} else {
		victim_say("what is %s?", word);
	}
}

static void tidy(void)
{
	char cmd[64];

	ipc_tidy();
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	if (system(cmd))
		victim_say("%s stays", dir);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = ignore };
	sigset_t set = rt_set();

	if (argc > 1)
		seconds = atoi(argv[1]);
	sigaction(SIGUSR1, &sa, NULL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (!mkdtemp(dir) || !ipc_prepare())
		return 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!row_start(&rows[i]))
			return 1;
	victim_sleep_us(500000);
	victim_say("ready");
	while (victim_poll(1000, command))
		victim_count();
	tidy();
	return victim_errors != 0;
}
