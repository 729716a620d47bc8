/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/shortened.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <termios.h>

#include "injector/proc/procfs.h"

#define MOST_AT_ONCE 0x7ffff000ull	/* bytes; the kernel's MAX_RW_COUNT */

enum {
	IOVS = 1024,		/* the kernel's UIO_MAXIOV */
	NOWAIT = 8,		/* RWF_NOWAIT of preadv2 and pwritev2 */
	MEM_MAJOR = 1,		/* /dev/zero, /dev/urandom and their kin */
};

/* One call that is being looked at. */
struct cut {
	const struct target *target;
	const struct regs_call_state *call;
	int pidfd;
};

/*
 * A descriptor of the target as our own, of the same open file: so nothing is
 * opened anew, which others could notice. -1 where the kernel cannot (before
 * Linux 5.6).
 */
static int borrow_fd(const struct cut *c, uint64_t fd)
{
	return c->pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, c->pidfd, (int)fd, 0);
}

/* Of a descriptor that cannot be borrowed it is not known: most of them block. */
static bool blocks(const struct cut *c, uint64_t fd)
{
	auto_close int mine = borrow_fd(c, fd);

	return mine < 0 || !(fcntl(mine, F_GETFL) & O_NONBLOCK);
}

static mode_t type_of(int fd, struct stat *st)
{
	return fd >= 0 && fstat(fd, st) == 0 ? st->st_mode & S_IFMT : 0;
}

/* The bytes that an iovec array in the target names. */
static uint64_t iov_bytes(const struct cut *c, raddr_t at, uint64_t n)
{
	struct iovec v[IOVS];
	uint64_t all = 0;

	n = MIN(n, (uint64_t)IOVS);
	if (!n || target_read(c->target, at, v, n * sizeof(*v)) < 0) {
		fail_clear();
		return 0;
	}
	for (uint64_t i = 0; i < n; i++)
		all += MIN(v[i].iov_len, MOST_AT_ONCE);
	return all;
}

static uint64_t msg_bytes(const struct cut *c, raddr_t at)
{
	struct msghdr m;

	if (target_read(c->target, at, &m, sizeof(m)) < 0) {
		fail_clear();
		return 0;
	}
	return iov_bytes(c, (raddr_t)(uintptr_t)m.msg_iov, m.msg_iovlen);
}

static bool less_than(const struct cut *c, uint64_t want)
{
	return (uint64_t)c->call->result < MIN(want, MOST_AT_ONCE);
}

/* Messages are sent in turn, and the last one in parts. */
static bool cut_sendmmsg(const struct cut *c)
{
	const struct regs_call_state *s = c->call;
	struct mmsghdr m;

	if ((uint64_t)s->result < s->arg[2])
		return true;
	raddr_t last = s->arg[1] + ((uint64_t)s->result - 1) * sizeof(m);
	if (target_read(c->target, last, &m, sizeof(m)) < 0) {
		fail_clear();
		return false;
	}
	return m.msg_len < iov_bytes(c, (raddr_t)(uintptr_t)m.msg_hdr.msg_iov,
				     m.msg_hdr.msg_iovlen);
}

/* Is there more in the source? Its position is in the target's memory, if the
 * call has named one; it may have been moved by now, or not yet. */
static bool has_more(const struct cut *c, uint64_t fd, raddr_t position)
{
	auto_close int mine = borrow_fd(c, fd);
	struct stat st;
	int64_t at;
	int left = 0;

	switch (type_of(mine, &st)) {
	case S_IFREG:
		at = lseek(mine, 0, SEEK_CUR);
		if (position && target_read(c->target, position, &at, sizeof(at)) < 0)
			fail_clear();
		return at < st.st_size;
	case S_IFIFO:
		return ioctl(mine, FIONREAD, &left) == 0 && left > 0;
	default:
		return true;
	}
}

/* Into a pipe as much goes as there is room for, and no more is waited for. */
static bool is_pipe(const struct cut *c, uint64_t fd)
{
	auto_close int mine = borrow_fd(c, fd);
	struct stat st;

	return type_of(mine, &st) == S_IFIFO;
}

static bool cut_copy(const struct cut *c, uint64_t in, raddr_t position, uint64_t out,
		     uint64_t want)
{
	return less_than(c, want) && !is_pipe(c, out) && blocks(c, out) &&
		has_more(c, in, position);
}

/* A terminal that waits for VMIN characters, however long. */
static uint64_t least_of_terminal(int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t) < 0 || t.c_lflag & ICANON || t.c_cc[VTIME])
		return 0;
	return t.c_cc[VMIN];
}

static uint64_t least_of_socket(int fd)
{
	int least = 0;
	socklen_t size = sizeof(least);

	return getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &least, &size) < 0 || least < 0 ? 0 :
		(uint64_t)least;
}

/* Reading ends as soon as there is something, but for few kinds of files. */
static bool cut_read(const struct cut *c, uint64_t want)
{
	auto_close int mine = borrow_fd(c, c->call->arg[0]);
	struct stat st;
	uint64_t least = 0;

	if (mine < 0 || fcntl(mine, F_GETFL) & O_NONBLOCK)
		return false;
	switch (type_of(mine, &st)) {
	case S_IFSOCK:
		least = least_of_socket(mine);
		break;
	case S_IFCHR:
		least = major(st.st_rdev) == MEM_MAJOR ? want : least_of_terminal(mine);
		break;
	default:
		break;
	}
	return less_than(c, MIN(least, want));
}

static bool cut_receive(const struct cut *c, uint64_t flags, uint64_t want)
{
	if (flags & MSG_DONTWAIT)
		return false;
	return flags & MSG_WAITALL ? less_than(c, want) && blocks(c, c->call->arg[0]) :
		cut_read(c, want);
}

static bool cut_send(const struct cut *c, uint64_t flags, uint64_t want)
{
	return !(flags & MSG_DONTWAIT) && less_than(c, want) && blocks(c, c->call->arg[0]);
}

static bool shortened_judge(const struct cut *c)
{
	const uint64_t *a = c->call->arg;

	switch (c->call->nr) {
	case SYS_write: case SYS_pwrite64:
		return cut_send(c, 0, a[2]);
	case SYS_writev: case SYS_pwritev:
		return cut_send(c, 0, iov_bytes(c, a[1], a[2]));
	case SYS_pwritev2:
		return !(a[5] & NOWAIT) && cut_send(c, 0, iov_bytes(c, a[1], a[2]));
	case SYS_sendto:
		return cut_send(c, a[3], a[2]);
	case SYS_sendmsg:
		return cut_send(c, a[2], msg_bytes(c, a[1]));
	case SYS_sendmmsg:
		return !(a[3] & MSG_DONTWAIT) && cut_sendmmsg(c) && blocks(c, a[0]);
	case SYS_sendfile:
		return cut_copy(c, a[1], a[2], a[0], a[3]);
	case SYS_copy_file_range:
		return cut_copy(c, a[0], a[1], a[2], a[4]);
	case SYS_splice:
		return !(a[5] & SPLICE_F_NONBLOCK) && cut_copy(c, a[0], a[1], a[2], a[4]);
	case SYS_read: case SYS_pread64:
		return cut_read(c, a[2]);
	case SYS_readv: case SYS_preadv:
		return cut_read(c, iov_bytes(c, a[1], a[2]));
	case SYS_preadv2:
		return !(a[5] & NOWAIT) && cut_read(c, iov_bytes(c, a[1], a[2]));
	case SYS_recvfrom:
		return cut_receive(c, a[3], a[2]);
	case SYS_recvmsg:
		return cut_receive(c, a[2], msg_bytes(c, a[1]));
	case SYS_recvmmsg:
		return !(a[3] & (MSG_DONTWAIT | MSG_WAITFORONE)) && less_than(c, a[2]) &&
			blocks(c, a[0]);
	case SYS_getrandom:
		return less_than(c, a[1]);
	case SYS_io_getevents: case SYS_io_pgetevents:
		return less_than(c, a[1]);
	case SYS_io_uring_enter:
		/* It tells what it has submitted, not that it did not wait. */
		return a[1] && a[2] && a[3] & IORING_ENTER_GETEVENTS;
	default:
		return false;
	}
}

bool shortened(const struct target *t, const struct regs_call_state *s)
{
	if (s->nr < 0 || s->result <= 0)
		return false;
	auto_close int pidfd = procfs_pidfd(t->pid);
	struct cut c = { t, s, pidfd };

	return shortened_judge(&c);
}
