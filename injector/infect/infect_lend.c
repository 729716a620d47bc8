/* SPDX-License-Identifier: MIT */
/*
 * infect, continued: 4d, a file that we have open becomes one of the target's
 * descriptors.
 *
 * By a message on a socket, so it needs no path that both see, nor a right of the
 * target's to open it. Both ends are made there, and one is ours for a moment.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "injector/infect/infect_impl.h"
#include "injector/proc/procfs.h"

/* What the target's recvmsg is given, at one place of its memory. */
struct letter {
	struct msghdr head;
	struct iovec part;
	char byte;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
};

/* Ours, of the socket that is number `fd` there. */
static int take_socket(const struct infecting *in, int fd, int *ret)
{
	auto_close int pidfd = procfs_pidfd(in->target->pid);

	*ret = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	return *ret < 0 ? fail(errno, "take a socket of %d", in->target->pid) : 0;
}

static int send_file(int socket, int file)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(file))] = { 0 };
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(file));
	memcpy(CMSG_DATA(c), &file, sizeof(file));
	return sendmsg(socket, &m, MSG_DONTWAIT) == 1 ? 0 : fail(errno, "hand over a file");
}

static int receive_file(struct infecting *in, int socket, raddr_t at, int *there)
{
	struct letter l = {
		.head = { .msg_iov = (void *)(at + offsetof(struct letter, part)),
			  .msg_iovlen = 1, .msg_controllen = sizeof(l.control),
			  .msg_control = (void *)(at + offsetof(struct letter, control)) },
		.part = { (void *)(at + offsetof(struct letter, byte)), 1 },
	};
	struct cmsghdr *c = (void *)l.control;
	int64_t n;
	int err = target_write(in->target, at, &l, sizeof(l));

	err = err ? err : remote_try(&in->remote, "receive a file", &n, SYS_recvmsg,
				     (uint64_t)socket, at, MSG_CMSG_CLOEXEC | MSG_DONTWAIT,
				     0, 0, 0);
	err = err ? err : target_read(in->target, at, &l, sizeof(l));
	if (err)
		return err;
	if (c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(*there)))
		return fail(EMFILE, "receive a file in %d", in->target->pid);
	memcpy(there, CMSG_DATA(c), sizeof(*there));
	infect_note_undo(in, SYS_close, (uint64_t)*there, 0);
	return 0;
}

int infect_lend(struct infecting *in, raddr_t at, int file, int *there)
{
	auto_close int ours = -1;
	int64_t unused;
	int ends[2];

	int err = remote_try(&in->remote, "make a socket", &unused, SYS_socketpair, AF_UNIX,
			     SOCK_DGRAM | SOCK_CLOEXEC, 0, at, 0, 0);
	err = err ? err : target_read(in->target, at, ends, sizeof(ends));
	if (err)
		return err;
	infect_note_undo(in, SYS_close, (uint64_t)ends[0], 0);
	infect_note_undo(in, SYS_close, (uint64_t)ends[1], 0);
	err = take_socket(in, ends[0], &ours);
	err = err ? err : send_file(ours, file);
	err = err ? err : receive_file(in, ends[1], at, there);
	err = err ? err : infect_close(in, ends[0]);
	return err ? err : infect_close(in, ends[1]);
}
