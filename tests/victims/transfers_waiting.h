/* SPDX-License-Identifier: MIT */
/* transfers_waiting: the rows of transfers.c that sleep halfway. */
#ifndef TESTS_TRANSFERS_WAITING_H
#define TESTS_TRANSFERS_WAITING_H

static long wait_write(void)
{
	int fd[2];

	return pipe(fd) ? -1 : write(fd[1], big, BIG);
}

static long wait_writev(void)
{
	int fd[2];

	return pipe(fd) ? -1 : writev(fd[1], halves, 2);
}

static long wait_write_tty(void)
{
	int master;

	return write(raw_terminal(&master), big, BIG);
}

static long wait_send(void)
{
	int fd[2];

	return socks(SOCK_STREAM, fd) ? -1 : send(fd[0], big, BIG, 0);
}

static long wait_send_tcp(void)
{
	int fd[2];

	return tcp(fd) ? -1 : send(fd[0], big, MUCH, 0);
}

static long wait_sendmsg(void)
{
	struct msghdr m = { .msg_iov = halves, .msg_iovlen = 2 };
	int fd[2];

	return socks(SOCK_STREAM, fd) ? -1 : sendmsg(fd[0], &m, 0);
}

/* The first message goes in part: 1 is the result, as if it had gone whole. */
static long wait_sendmmsg_part(void)
{
	struct mmsghdr m = { .msg_hdr = { .msg_iov = halves, .msg_iovlen = 2 } };
	int fd[2];

	if (socks(SOCK_STREAM, fd) || sendmmsg(fd[0], &m, 1, 0) != 1)
		return -1;
	return m.msg_len;
}

static long wait_sendmmsg(void)
{
	enum { N = 1000 };
	static struct mmsghdr m[N];
	static struct iovec v = { NULL, 10000 };
	int fd[2];

	v.iov_base = big;
	for (int i = 0; i < N; i++)
		m[i].msg_hdr = (struct msghdr){ .msg_iov = &v, .msg_iovlen = 1 };
	return socks(SOCK_DGRAM, fd) ? -1 : sendmmsg(fd[0], m, N, 0);
}

static long wait_sendfile(void)
{
	int fd[2];

	return socks(SOCK_STREAM, fd) ? -1 : sendfile(fd[0], sparse(BIG), NULL, BIG);
}

static long wait_splice(void)
{
	int fd[2], from[2], least = 4096;

	if (socks(SOCK_STREAM, fd) || pipe(from))
		return -1;
	setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, &least, sizeof(least));
	fcntl(from[1], F_SETPIPE_SZ, 1 << 20);
	if (write(from[1], big, 1 << 20) != 1 << 20)
		return -1;
	return splice(from[0], NULL, fd[0], NULL, 1 << 20, 0);
}

static long wait_recv_all(void)
{
	char buf[100];
	int fd[2];

	if (socks(SOCK_STREAM, fd) || write(fd[1], "abc", 3) != 3)
		return -1;
	return recv(fd[0], buf, sizeof(buf), MSG_WAITALL);
}

static long wait_recv_all_tcp(void)
{
	char buf[100];
	int fd[2];

	if (tcp(fd) || write(fd[1], "abc", 3) != 3)
		return -1;
	return recv(fd[0], buf, sizeof(buf), MSG_WAITALL);
}

static long wait_recvmsg_all(void)
{
	char buf[100];
	struct iovec v[2] = { { buf, 50 }, { buf + 50, 50 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
	int fd[2];

	if (socks(SOCK_STREAM, fd) || write(fd[1], "abc", 3) != 3)
		return -1;
	return recvmsg(fd[0], &m, MSG_WAITALL);
}

static long wait_recvmmsg(void)
{
	char buf[100];
	struct iovec v = { buf, sizeof(buf) };
	struct mmsghdr m[3] = { { .msg_hdr = { .msg_iov = &v, .msg_iovlen = 1 } } };
	int fd[2];

	m[2] = m[1] = m[0];
	if (socks(SOCK_DGRAM, fd) || write(fd[1], "abc", 3) != 3)
		return -1;
	return recvmmsg(fd[0], m, 3, 0, NULL);
}

static long wait_read_least(void)
{
	char buf[100];
	int fd[2], least = 10;

	if (socks(SOCK_STREAM, fd) || write(fd[1], "abc", 3) != 3)
		return -1;
	setsockopt(fd[0], SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
	return read(fd[0], buf, sizeof(buf));
}

static long wait_read_tty(void)
{
	char buf[100];
	int master, fd = raw_terminal(&master);

	if (write(master, "abc", 3) != 3)
		return -1;
	return read(fd, buf, sizeof(buf));
}

/* One request that is done, of three that are waited for. */
static long wait_io_getevents(void)
{
	struct io_event e[4];
	struct iocb cb = { .aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = sparse(BIG),
			   .aio_buf = (uintptr_t)big, .aio_nbytes = 1 }, *list = &cb;
	aio_context_t ctx = 0;

	if (syscall(SYS_io_setup, 4, &ctx) || syscall(SYS_io_submit, ctx, 1, &list) != 1)
		return -1;
	return syscall(SYS_io_getevents, ctx, 3, 4, e, NULL);
}

/* One request that lasts an hour. What the call returns is what it submitted:
 * that it came back at all is what is short of it. */
static long wait_io_uring(void)
{
	static struct __kernel_timespec hour = { .tv_sec = 3600 };
	struct io_uring_params p = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 4, &p);

	if (fd < 0)
		return (pause(), -1);	/* not allowed here */
	unsigned char *sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned int),
				 PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	struct io_uring_sqe *sqe = mmap(NULL, p.sq_entries * sizeof(*sqe), PROT_READ | PROT_WRITE,
					MAP_SHARED, fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || (void *)sqe == MAP_FAILED)
		return -1;
	*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_TIMEOUT, .len = 1,
				      .addr = (uintptr_t)&hour };
	*(unsigned int *)(sq + p.sq_off.array) = 0;
	__atomic_store_n((unsigned int *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

static struct row waiting[] = {
	{ .name = "write", .run = wait_write, .want = BIG },
	{ .name = "writev", .run = wait_writev, .want = BIG },
	{ .name = "write_tty", .run = wait_write_tty, .want = BIG },
	{ .name = "send", .run = wait_send, .want = BIG },
	{ .name = "send_tcp", .run = wait_send_tcp, .want = MUCH },
	{ .name = "sendmsg", .run = wait_sendmsg, .want = BIG },
	{ .name = "sendmmsg_part", .run = wait_sendmmsg_part, .want = BIG },
	{ .name = "sendmmsg", .run = wait_sendmmsg, .want = 1000 },
	{ .name = "sendfile", .run = wait_sendfile, .want = BIG },
	{ .name = "splice", .run = wait_splice, .want = 1 << 20 },
	{ .name = "recv_all", .run = wait_recv_all, .want = 100 },
	{ .name = "recv_all_tcp", .run = wait_recv_all_tcp, .want = 100 },
	{ .name = "recvmsg_all", .run = wait_recvmsg_all, .want = 100 },
	{ .name = "recvmmsg", .run = wait_recvmmsg, .want = 3 },
	{ .name = "read_least", .run = wait_read_least, .want = 10 },
	{ .name = "read_tty", .run = wait_read_tty, .want = 10 },
	{ .name = "io_getevents", .run = wait_io_getevents, .want = 3 },
	{ .name = "io_uring", .run = wait_io_uring, .want = 2 },
};

#endif
