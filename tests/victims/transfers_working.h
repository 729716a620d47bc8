/* SPDX-License-Identifier: MIT */
/* transfers_working: the rows of transfers.c that are busy all the time. */
#ifndef TESTS_TRANSFERS_WORKING_H
#define TESTS_TRANSFERS_WORKING_H

#define UNTIL_SHORT(want, call) \
	({ \
		long got_; \
		do { \
			got_ = (call); \
		} while (got_ == (want)); \
		got_; \
	})

static long work_zero(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	char *to = malloc(MUCH);

	return UNTIL_SHORT(MUCH, read(fd, to, MUCH));
}

static long work_urandom(void)
{
	int fd = open("/dev/urandom", O_RDONLY);
	char *to = malloc(MUCH);
	struct iovec v = { to, MUCH };

	return UNTIL_SHORT(MUCH, readv(fd, &v, 1));
}

static long work_at(void)
{
	int fd = open("/dev/urandom", O_RDONLY);
	char *to = malloc(MUCH);

	return UNTIL_SHORT(MUCH, pread(fd, to, MUCH, 0));
}

static long work_vector_at(void)
{
	int fd = open("/dev/urandom", O_RDONLY);
	char *to = malloc(MUCH);
	struct iovec v = { to, MUCH };

	return UNTIL_SHORT(MUCH, preadv2(fd, &v, 1, 0, 0));
}

static long work_getrandom(void)
{
	char *to = malloc(MUCH);

	return UNTIL_SHORT(MUCH, getrandom(to, MUCH, 0));
}

static long work_sendfile(void)
{
	int in = sparse(MUCH), out = open("/dev/null", O_WRONLY);
	off_t at;

	return UNTIL_SHORT(MUCH, (at = 0, sendfile(out, in, &at, MUCH)));
}

static long work_copy(void)
{
	int in = sparse(MUCH), out = sparse(MUCH);

	return UNTIL_SHORT(MUCH, (lseek(in, 0, SEEK_SET), lseek(out, 0, SEEK_SET),
				  copy_file_range(in, NULL, out, NULL, MUCH, 0)));
}

static struct row working[] = {
	{ .name = "read_zero", .run = work_zero, .want = MUCH },
	{ .name = "readv_urandom", .run = work_urandom, .want = MUCH },
	{ .name = "pread_urandom", .run = work_at, .want = MUCH },
	{ .name = "preadv2_urandom", .run = work_vector_at, .want = MUCH },
	{ .name = "getrandom", .run = work_getrandom, .want = MUCH },
	{ .name = "sendfile_null", .run = work_sendfile, .want = MUCH },
	{ .name = "copy_file_range", .run = work_copy, .want = MUCH },
};

/* --- less than was asked for, and no stop's fault --- */

/* The end of the file ends it. */
static long natural_file_end(void)
{
	int in = sparse(LITTLE), out = open("/dev/null", O_WRONLY);
	off_t at;

	return UNTIL_SHORT(LITTLE, (at = 0, sendfile(out, in, &at, MUCH)));
}

static long drain(int fd)
{
	static __thread char sink[1 << 16];
	long n;

	while ((n = recv(fd, sink, sizeof(sink), MSG_DONTWAIT)) > 0)
		;
	return n;
}

static long natural_dontwait(void)
{
	struct msghdr m = { .msg_iov = halves, .msg_iovlen = 2 };
	int fd[2];

	if (socks(SOCK_STREAM, fd))
		return -1;
	for (;;) {
		sendmsg(fd[0], &m, MSG_DONTWAIT);
		drain(fd[1]);
	}
}

static long natural_nonblock(void)
{
	int fd[2];

	if (socks(SOCK_STREAM, fd))
		return -1;
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	for (;;) {
		if (write(fd[0], big, BIG) < 0)
			victim_wrong("write: %s", strerror(errno));
		drain(fd[1]);
	}
}

/* A pipe gives what it has. */
static long natural_pipe(void)
{
	static char to[1 << 20];
	int fd[2];

	if (pipe(fd))
		return -1;
	for (;;)
		if (write(fd[1], big, 60000) != 60000 || read(fd[0], to, sizeof(to)) != 60000)
			return -1;
}

static struct row natural[] = {
	{ .name = "file_end", .run = natural_file_end, .want = LITTLE },
	{ .name = "dontwait", .run = natural_dontwait },
	{ .name = "nonblock", .run = natural_nonblock },
	{ .name = "pipe", .run = natural_pipe },
};

#endif
