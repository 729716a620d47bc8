/* SPDX-License-Identifier: MIT */
/*
 * unmapper: a thread gives the stack of another one back, and stands in its
 * munmap, with the C library's lock of all stacks held, nearly all the time.
 *
 * Such a call has ended whenever it is stopped, and the lock is still held. In life
 * that lasts for microseconds; here a page of the stack is a mapped socket, whose
 * last user the munmap is: before it returns, the socket lingers over data that is not taken,
 * for a second or until a signal comes, or a tracer.
 *
 * The main thread may make system calls for others, as it sleeps, but no threads:
 * so says the name of its function. A third one may be borrowed for that, too,
 * though any other is preferred to it, as it sleeps in poll().
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>

#include "tests/victims/victim.h"

enum {
	STACK = 64 << 20,	/* more than the C library keeps for later */
	LINGER = 1,		/* seconds */
};

struct pair {
	int ours, theirs;
};

PROBED uint64_t unmapper_works(uint64_t x)
{
	return x * 31 + 7;
}

static void work(uint64_t x)
{
	if (unmapper_works(x) != x * 31 + 7)
		victim_wrong("unmapper_works");
	victim_count();
}

static int listener;

static void must(bool right, const char *what)
{
	if (right)
		return;
	victim_say("WRONG %s: errno %d", what, errno);
	_exit(5);
}

static struct sockaddr_in listen_anywhere(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t size = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(bind(listener, (void *)&at, sizeof(at)) == 0, "bind");
	must(listen(listener, 1) == 0, "listen");
	must(getsockname(listener, (void *)&at, &size) == 0, "getsockname");
	return at;
}

/* A connection that has room for nothing more, and would linger over it. */
static struct pair connect_full(const struct sockaddr_in *at)
{
	struct linger linger = { 1, LINGER };
	struct pair p = { .ours = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	static const char bytes[1 << 16];

	must(connect(p.ours, (const void *)at, sizeof(*at)) == 0, "connect");
	p.theirs = accept(listener, NULL, NULL);
	must(p.theirs >= 0, "accept");
	must(setsockopt(p.ours, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) == 0, "linger");
	while (send(p.ours, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return p;
}

/* Its mapping in this thread's stack is all that is left of the socket. */
static void *leave_socket(void *arg)
{
	struct pair *p = arg;
	size_t page = (size_t)getpagesize();
	char *here = (char *)((uintptr_t)&p & -page) - STACK / 2;

	must(mmap(here, page, PROT_READ, MAP_SHARED | MAP_FIXED, p->ours, 0) == here,
	     "map a socket");
	close(p->ours);
	return NULL;
}

static void *unmap(void *arg)
{
	pthread_attr_t attr;
	pthread_t t;

	must(pthread_attr_init(&attr) == 0, "attr");
	must(pthread_attr_setstacksize(&attr, STACK) == 0, "stacksize");
	for (uint64_t i = 0;; i++) {
		struct pair p = connect_full(arg);

		must(pthread_create(&t, &attr, leave_socket, &p) == 0, "create");
		must(pthread_join(t, NULL) == 0, "join");
		close(p.theirs);
		work(i);
	}
	return NULL;
}

static void *rest(void *arg)
{
	for (;;)
		poll(NULL, 0, -1);
	return arg;
}

PROBED void main_in_malloc(void)
{
	struct timeval ms;
	fd_set in;

	do {
		work(victim_progress);
		FD_ZERO(&in);
		FD_SET(STDIN_FILENO, &in);
		ms = (struct timeval){ 0, 1000 };
	} while (select(STDIN_FILENO + 1, &in, NULL, NULL, &ms) <= 0 || victim_poll(0, NULL));
}

int main(void)
{
	struct sockaddr_in at = listen_anywhere();
	pthread_t t;

	must(pthread_create(&t, NULL, rest, NULL) == 0, "create");
	must(pthread_create(&t, NULL, unmap, &at) == 0, "create");
	victim_say("ready");
	main_in_malloc();
	return victim_errors != 0;
}
