/* SPDX-License-Identifier: MIT */
/* blocked_fd: the rows of blocked.c that wait for a descriptor: poll and its
 * kin, reads and writes, sockets. */
#ifndef TESTS_BLOCKED_FD_H
#define TESTS_BLOCKED_FD_H

/* --- waiting for descriptors --- */

static int epoll_on_pipe(struct row *r)
{
	struct epoll_event e = { .events = EPOLLIN };
	int ep = epoll_create1(0);

	if (ep < 0 || pipe(r->fd) || epoll_ctl(ep, EPOLL_CTL_ADD, r->fd[0], &e))
		return -1;
	return ep;
}

static long run_epoll_wait(struct row *r)
{
	struct epoll_event e;

	return result(epoll_wait(epoll_on_pipe(r), &e, 1, -1));
}

static long run_epoll_wait_timeout(struct row *r)
{
	struct epoll_event e;

	return result(epoll_wait(epoll_on_pipe(r), &e, 1, seconds * 1000));
}

static long run_epoll_pwait(struct row *r)
{
	struct epoll_event e;
	sigset_t none;

	sigemptyset(&none);
	return result(epoll_pwait(epoll_on_pipe(r), &e, 1, seconds * 1000,
				  &none));
}

static long run_poll(struct row *r)
{
	struct pollfd p = { .events = POLLIN };

	if (pipe(r->fd))
		return skip(r);
	p.fd = r->fd[0];
	return result(poll(&p, 1, -1));
}

static long run_poll_timeout(struct row *r)
{
	struct pollfd p = { .events = POLLIN };

	if (pipe(r->fd))
		return skip(r);
	p.fd = r->fd[0];
	return result(poll(&p, 1, seconds * 1000));
}

static long run_ppoll(struct row *r)
{
	struct timespec t = timeout();
	struct pollfd p = { .events = POLLIN };

	if (pipe(r->fd))
		return skip(r);
	p.fd = r->fd[0];
	return result(ppoll(&p, 1, &t, NULL));
}

static long run_select(struct row *r)
{
	struct timeval tv = { .tv_sec = seconds };
	fd_set set;

	if (pipe(r->fd))
		return skip(r);
	FD_ZERO(&set);
	FD_SET(r->fd[0], &set);
	return result(select(r->fd[0] + 1, &set, NULL, NULL, &tv));
}

static long run_pselect(struct row *r)
{
	struct timespec t = timeout();
	fd_set set;

	if (pipe(r->fd))
		return skip(r);
	FD_ZERO(&set);
	FD_SET(r->fd[0], &set);
	return result(pselect(r->fd[0] + 1, &set, NULL, NULL, &t, NULL));
}

/* Where the kernel cannot write the time that remains. */
static const struct timespec *fixed_timeout(void)
{
	struct timespec *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	*t = timeout();
	return mprotect(t, sizeof(*t), PROT_READ) ? NULL : t;
}

static long run_ppoll_fixed(struct row *r)
{
	const struct timespec *t = fixed_timeout();

	return t ? result(syscall(SYS_ppoll, NULL, 0, t, NULL, 8)) : skip(r);
}

static long run_pselect_fixed(struct row *r)
{
	const struct timespec *t = fixed_timeout();

	return t ? result(syscall(SYS_pselect6, 0, NULL, NULL, NULL, t, NULL)) : skip(r);
}

/* --- reading and writing --- */

static long run_read_pipe(struct row *r)
{
	char c[8];

	return pipe(r->fd) ? skip(r) : result(read(r->fd[0], c, 8));
}

static long run_readv_pipe(struct row *r)
{
	char c[8];
	struct iovec v = { c, 8 };

	return pipe(r->fd) ? skip(r) : result(readv(r->fd[0], &v, 1));
}

static long run_splice(struct row *r)
{
	int to[2];

	if (pipe(r->fd) || pipe(to))
		return skip(r);
	return result(splice(r->fd[0], NULL, to[1], NULL, 8, 0));
}

static long run_read_eventfd(struct row *r)
{
	uint64_t n;

	r->fd[0] = r->fd[1] = eventfd(0, 0);
	return result(read(r->fd[0], &n, 8));
}

static long release_eventfd(struct row *r)
{
	return eventfd_write(r->fd[0], 1);
}

static long run_read_timerfd(struct row *r)
{
	struct itimerspec t = { .it_value = timeout() };
	uint64_t n;

	r->fd[0] = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(r->fd[0], 0, &t, NULL);
	return result(read(r->fd[0], &n, 8));
}

static long run_read_inotify(struct row *r)
{
	char buf[4096], path[64];

	r->fd[0] = inotify_init1(0);
	snprintf(path, sizeof(path), "%s/watched", dir);
	if (mkdir(path, 0700) ||
	    inotify_add_watch(r->fd[0], path, IN_CREATE) < 0)
		return skip(r);
	return result(read(r->fd[0], buf, sizeof(buf))) > 0;
}

static long release_inotify(struct row *r)
{
	char path[64];

	(void)r;
	snprintf(path, sizeof(path), "%s/watched/new", dir);
	return close(open(path, O_CREAT | O_RDWR, 0600));
}

static long run_read_signalfd(struct row *r)
{
	struct signalfd_siginfo si;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 3);
	r->fd[0] = signalfd(-1, &set, 0);
	return result(read(r->fd[0], &si, sizeof(si))) == sizeof(si);
}

static long send_rt(struct row *r)
{
	return pthread_kill(r->thread, SIGRTMIN + 3);
}

static long run_open_fifo(struct row *r)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/fifo", dir);
	if (mkfifo(path, 0600))
		return skip(r);
	return result(open(path, O_RDONLY)) > 0;
}

static long release_fifo(struct row *r)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/fifo", dir);
	return close(open(path, O_WRONLY | O_NONBLOCK));
}

/* --- sockets --- */

static int listener(struct row *r, const struct timeval *tv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", dir, r->name);
	r->fd[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	if (tv && setsockopt(r->fd[0], SOL_SOCKET, SO_RCVTIMEO, tv,
			     sizeof(*tv)))
		return -1;
	return bind(r->fd[0], (struct sockaddr *)&a, sizeof(a)) ||
	       listen(r->fd[0], 1);
}

static long dial(struct row *r)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", dir, r->name);
	return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a,
		       sizeof(a));
}

static long run_accept(struct row *r)
{
	return listener(r, NULL) ? skip(r) :
		result(accept(r->fd[0], NULL, NULL)) > 0;
}

static long run_accept_timeout(struct row *r)
{
	struct timeval tv = { .tv_sec = seconds };

	return listener(r, &tv) ? skip(r) : result(accept(r->fd[0], NULL, NULL));
}

/* A full backlog makes connect wait. */
static long run_connect_timeout(struct row *r)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct timeval tv = { .tv_sec = seconds };
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	if (listener(r, NULL) || dial(r) || dial(r))
		return skip(r);
	setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", dir, r->name);
	return result(connect(s, (struct sockaddr *)&a, sizeof(a)));
}

static long run_recv(struct row *r)
{
	char c[8];

	return sockets(r) ? skip(r) : result(recv(r->fd[0], c, 8, 0));
}

static long run_recv_timeout(struct row *r)
{
	char c[8];

	return timed_sockets(r) ? skip(r) : result(recv(r->fd[0], c, 8, 0));
}

static long run_read_timeout(struct row *r)
{
	char c[8];

	return timed_sockets(r) ? skip(r) : result(read(r->fd[0], c, 8));
}

static long run_recvmsg(struct row *r)
{
	char c[8];
	struct iovec v = { c, 8 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	return sockets(r) ? skip(r) : result(recvmsg(r->fd[0], &m, 0));
}

static long run_recvmmsg(struct row *r)
{
	char c[8];
	struct iovec v = { c, 8 };
	struct mmsghdr m = { .msg_hdr = { .msg_iov = &v, .msg_iovlen = 1 } };

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, r->fd))
		return skip(r);
	return result(recvmmsg(r->fd[0], &m, 1, 0, NULL));
}

/* Waits for room: the buffer was filled before, without waiting. */
static long run_send_timeout(struct row *r)
{
	static char junk[1 << 16];

	if (timed_sockets(r))
		return skip(r);
	while (send(r->fd[0], junk, sizeof(junk), MSG_DONTWAIT) > 0)
		;
	return result(send(r->fd[0], junk, 1, 0));
}

#endif
