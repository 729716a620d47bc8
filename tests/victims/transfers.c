/* SPDX-License-Identifier: MIT */
/*
 * transfers: one thread in each kind of system call that moves part of what it
 * was asked to, or waits for part of it, when it is stopped: which of them were cut short?
 *
 *	report	-> short N: how many calls returned less than they had to
 *
 * transfers waiting: calls that sleep; each has nothing at its other end.
 * transfers working: calls that take long because there is much to do, again
 *	and again until one is cut short.
 * transfers natural: calls that return less by themselves, again and again.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <termios.h>

#include "tests/victims/victim.h"

enum { BIG = 4 << 20, MUCH = 64 << 20, LITTLE = 4096 };

struct row {
	const char *name;
	long (*run)(void);	/* the result of its last call */
	long want;		/* what it returns if it is not disturbed */
	bool done;
	long got;
};

static char *big;		/* MUCH bytes, none of them a zero page's */
static struct iovec halves[2];

static int socks(int type, int *fd)
{
	return socketpair(AF_UNIX, type, 0, fd);
}

static int tcp(int *fd)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(l, (void *)&a, size) || listen(l, 1) || getsockname(l, (void *)&a, &size))
		return -1;
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd[0], (void *)&a, size))
		return -1;
	fd[1] = accept(l, NULL, NULL);
	return 0;
}

static int sparse(size_t size)
{
	int fd = memfd_create("sparse", 0);

	return ftruncate(fd, (off_t)size) ? -1 : fd;
}

/* A terminal whose reader waits for ten characters. */
static int raw_terminal(int *master)
{
	struct termios t;
	int fd;

	*master = posix_openpt(O_RDWR | O_NOCTTY);
	if (grantpt(*master) || unlockpt(*master))
		return -1;
	fd = open(ptsname(*master), O_RDWR | O_NOCTTY);
	tcgetattr(fd, &t);
	cfmakeraw(&t);
	t.c_cc[VMIN] = 10;
	t.c_cc[VTIME] = 0;
	tcsetattr(fd, TCSANOW, &t);
	return fd;
}

#include "tests/victims/transfers_waiting.h"
#include "tests/victims/transfers_working.h"

static struct row *rows;
static size_t nrows;

static void *row_thread(void *arg)
{
	struct row *r = arg;

	r->got = r->run();
	__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* A row that has ended was cut short, or something is wrong with it. */
static void report(void)
{
	int n = 0;

	for (size_t i = 0; i < nrows; i++) {
		if (!__atomic_load_n(&rows[i].done, __ATOMIC_ACQUIRE))
			continue;
		if (rows[i].got <= 0 || rows[i].got >= rows[i].want)
			victim_wrong("%s returned %ld of %ld", rows[i].name, rows[i].got,
				     rows[i].want);
		else
			n++;
	}
	victim_say("short %d", n);
}

static void command(const char *word)
{
	if (strcmp(word, "report") == 0)
		report();
	else
		victim_say("what is %s?", word);
}

static bool choose(const char *which)
{
	if (strcmp(which, "waiting") == 0) {
		rows = waiting;
		nrows = sizeof(waiting) / sizeof(*waiting);
	} else if (strcmp(which, "working") == 0) {
		rows = working;
		nrows = sizeof(working) / sizeof(*working);
	} else if (strcmp(which, "natural") == 0) {
		rows = natural;
		nrows = sizeof(natural) / sizeof(*natural);
	}
	return rows;
}

PROBED uint64_t transfers_work(uint64_t x)
{
	return x * 3 + 1;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc != 2 || !choose(argv[1]))
		return 2;
	big = malloc(MUCH);
	memset(big, 7, MUCH);
	halves[0] = (struct iovec){ big, BIG / 2 };
	halves[1] = (struct iovec){ big, BIG / 2 };
	for (size_t i = 0; i < nrows; i++)
		if (pthread_create(&t, NULL, row_thread, &rows[i]))
			return 1;
	victim_sleep_us(500000);
	victim_say("ready");
	for (uint64_t x = 0; victim_poll(5, command); x = transfers_work(x))
		victim_count();
	return victim_errors != 0;
}
