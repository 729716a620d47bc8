/* SPDX-License-Identifier: MIT */
#include "arch/leaks.h"

#include <fcntl.h>
#include <sys/syscall.h>

enum { IORING_REGISTER_SYNC_CANCEL_ = 24 };	/* of linux/io_uring.h, since 6.0 */

/* Found by stopping each of 53 blocking calls. */
static bool leaks_anywhere(long nr)
{
	switch (nr) {
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait: case SYS_epoll_pwait2:
	case SYS_accept: case SYS_accept4: case SYS_connect:
	case SYS_read: case SYS_readv: case SYS_recvfrom: case SYS_recvmsg:
	case SYS_recvmmsg: case SYS_write: case SYS_writev: case SYS_sendto:
	case SYS_sendmsg: case SYS_sendmmsg:
	case SYS_rt_sigtimedwait: case SYS_io_getevents:
	case SYS_io_pgetevents: case SYS_io_uring_enter:
	case SYS_semop: case SYS_semtimedop:
		return true;
	}
	return false;
}

/*
 * Where the kernel cannot write the time that remained, as the timeout is in memory that may not
 * be written, or is told not to (STICKY_TIMEOUTS): poll_select_finish() in fs/select.c. The timeout
 * is what it was.
 */
static bool leaks_of_timeout(long nr)
{
	switch (nr) {
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6: case SYS_ppoll:
		return true;
	}
	return false;
}

/* What one of them has opened is closed again where it fails; but it may have made a file that was
 * not to be there, or emptied one. */
static bool opens_again(uint64_t flags)
{
	return !(flags & (O_EXCL | O_TRUNC));
}

/* In a file system in user space (FUSE) alone: what reads and writes at a position, brings data to
 * the disk, or looks at files. */
static bool leaks_of_file(long nr, const uint64_t arg[6])
{
	switch (nr) {
#ifdef SYS_open
	case SYS_open:
		return opens_again(arg[1]);
	case SYS_stat: case SYS_lstat: case SYS_access: case SYS_readlink: case SYS_getdents:
#endif
	case SYS_newfstatat: case SYS_fstat: case SYS_statx: case SYS_faccessat:
	case SYS_faccessat2: case SYS_readlinkat: case SYS_getdents64:
	case SYS_getxattr: case SYS_lgetxattr: case SYS_fgetxattr:
	case SYS_listxattr: case SYS_llistxattr: case SYS_flistxattr:
	case SYS_statfs: case SYS_fstatfs: case SYS_chdir: case SYS_lseek:
	case SYS_pread64: case SYS_preadv: case SYS_preadv2: case SYS_pwrite64:
	case SYS_pwritev: case SYS_pwritev2:
	case SYS_fsync: case SYS_fdatasync: case SYS_msync: case SYS_syncfs:
		return true;
	case SYS_openat:
		return opens_again(arg[2]);
	}
	return false;
}

/* What was to be ended has been asked to end, or will be again. */
static bool leaks_of_ring(long nr, const uint64_t arg[6])
{
	return nr == SYS_io_uring_register && arg[1] == IORING_REGISTER_SYNC_CANCEL_;
}

bool leaks_eintr(long nr, const uint64_t arg[6])
{
	return leaks_anywhere(nr) || leaks_of_timeout(nr) || leaks_of_file(nr, arg) ||
		leaks_of_ring(nr, arg);
}
