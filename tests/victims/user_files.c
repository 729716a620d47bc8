/* SPDX-License-Identifier: MIT */
/*
 * user_files: threads read, write, sync, open and look at files of a file system in user space,
 * whose server ends with EINTR each request that the kernel says is interrupted, as such servers
 * may. It answers to others after some milliseconds, and lets the kernel keep nothing of what it
 * says. Where none can be mounted it says "absent WHY", then that it is ready.
 */
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/xattr.h>

#include "tests/victims/victim.h"

enum { SIZE = 4096, PENDING = 64, DELAY_MS = 10, FILE_ID = 2, LINK_ID = 3 };

struct request {
	struct fuse_in_header in;	/* `unique` 0: none */
	double due;
};

static int fuse;
static char path[64], linked[64], dir[] = "mountedXXXXXX";

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void answer(uint64_t unique, int error, const void *data, size_t n)
{
	struct fuse_out_header head = { .len = sizeof(head) + n, .error = error, .unique = unique };
	struct iovec v[] = { { &head, sizeof(head) }, { (void *)data, n } };

	/* (One that is gone meanwhile: ENOENT.) */
	if (writev(fuse, v, 2) < 0 && errno != ENOENT)
		_exit(3);
}

static struct fuse_attr attributes(uint64_t id)
{
	static const uint32_t modes[] = { [FILE_ID] = S_IFREG | 0600, [LINK_ID] = S_IFLNK | 0700 };

	return (struct fuse_attr){ .ino = id, .nlink = 1, .size = SIZE,
				   .mode = id >= FILE_ID ? modes[id] : S_IFDIR | 0700 };
}

static void answer_late(const struct fuse_in_header *in)
{
	static const char data[SIZE], name[] = "file";
	const struct fuse_write_out written = { .size = SIZE };
	const struct fuse_attr_out attr = { .attr = attributes(in->nodeid) };
	const struct fuse_open_out open = { .open_flags = FOPEN_DIRECT_IO };
	const struct fuse_statfs_out filled = { .st.bsize = SIZE };

	switch (in->opcode) {
	case FUSE_READ:
		return answer(in->unique, 0, data, SIZE);
	case FUSE_WRITE:
		return answer(in->unique, 0, &written, sizeof(written));
	case FUSE_GETATTR:
		return answer(in->unique, 0, &attr, sizeof(attr));
	case FUSE_OPEN: case FUSE_OPENDIR:
		return answer(in->unique, 0, &open, sizeof(open));
	case FUSE_READLINK: case FUSE_GETXATTR: case FUSE_LISTXATTR:
		return answer(in->unique, 0, name, strlen(name) + (in->opcode == FUSE_LISTXATTR));
	case FUSE_STATFS:
		return answer(in->unique, 0, &filled, sizeof(filled));
	case FUSE_FSYNC: case FUSE_ACCESS: case FUSE_READDIR:
		return answer(in->unique, 0, NULL, 0);
	}
	answer(in->unique, -ENOSYS, NULL, 0);
}

/* A name that the kernel knows already is asked for with FUSE_LOOKUP. */
static void answer_name(const struct fuse_in_header *in)
{
	const char *name = (const char *)(in + 1);
	uint64_t id = strcmp(name, "file") ? LINK_ID : FILE_ID;
	const struct fuse_entry_out entry = { .nodeid = id, .attr = attributes(id) };

	answer(in->unique, 0, &entry, sizeof(entry));
}

static void begin_serving(const struct fuse_in_header *in)
{
	const struct fuse_init_in *asked = (const void *)(in + 1);
	const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .max_write = SIZE,
					    .minor = asked->minor };

	answer(in->unique, 0, &init, sizeof(init));
}

static struct request *pending_of(struct request pending[PENDING], uint64_t unique)
{
	for (int i = 0; i < PENDING; i++)
		if (pending[i].in.unique == unique)
			return &pending[i];
	return NULL;
}

static void interrupt(struct request *r)
{
	if (r) {
		answer(r->in.unique, -EINTR, NULL, 0);
		r->in.unique = 0;
	}
}

static void take(struct request pending[PENDING], const struct fuse_in_header *in)
{
	const struct fuse_interrupt_in *interrupted = (const void *)(in + 1);
	struct request *room = pending_of(pending, 0);

	switch (in->opcode) {
	case FUSE_INIT:
		return begin_serving(in);
	case FUSE_LOOKUP:
		return answer_name(in);
	case FUSE_FLUSH: case FUSE_RELEASE: case FUSE_RELEASEDIR:
		return answer(in->unique, 0, NULL, 0);
	case FUSE_FORGET: case FUSE_BATCH_FORGET:
		return;
	case FUSE_INTERRUPT:
		return interrupt(pending_of(pending, interrupted->unique));
	}
	if (room)
		*room = (struct request){ *in, now_ms() + DELAY_MS };
	else
		answer(in->unique, -ENOSYS, NULL, 0);
}

static void serve(void)
{
	static char in[1 << 17];
	struct request pending[PENDING] = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		struct pollfd p = { fuse, POLLIN, 0 };

		if (poll(&p, 1, 1) > 0 && read(fuse, in, sizeof(in)) > 0)
			take(pending, (const void *)in);
		for (int i = 0; i < PENDING; i++)
			if (pending[i].in.unique && pending[i].due <= now_ms()) {
				answer_late(&pending[i].in);
				pending[i].in.unique = 0;
			}
	}
}

enum { PWRITE, PREAD, PREADV, FSYNC, FDATASYNC, OPEN, OPEN_DIR, STAT, STATX, ACCESS, READLINK,
       GETXATTR, LISTXATTR, STATFS, CHDIR, KINDS };

/* What it gives is 0, or a length that is not asked for. */
static ssize_t look_at(int which)
{
	char own[SIZE];
	struct stat st;
	struct statx stx;
	struct statfs filled;
	int fd;

	switch (which) {
	case OPEN:
		fd = open(path, O_RDWR | O_CREAT, 0600);
		return fd < 0 ? -1 : close(fd);
	case OPEN_DIR:
		/* (It is empty.) */
		fd = open(dir, O_RDONLY | O_DIRECTORY);
		return fd < 0 || syscall(SYS_getdents64, fd, own, SIZE) ? -1 : close(fd);
	case STAT:
		return stat(path, &st);
	case STATX:
		return statx(AT_FDCWD, linked, AT_SYMLINK_NOFOLLOW, STATX_ALL, &stx);
	case ACCESS:
		return access(path, R_OK);
	case READLINK:
		return readlink(linked, own, SIZE);
	case GETXATTR:
		return getxattr(path, "user.a", own, SIZE);
	case LISTXATTR:
		return listxattr(path, own, SIZE);
	case STATFS:
		return statfs(path, &filled);
	}
	return chdir(".");
}

PROBED ssize_t file_call(int which, int fd)
{
	static char data[SIZE];
	char own[SIZE];
	struct iovec v = { which ? own : data, SIZE };

	switch (which) {
	case PWRITE:
		return pwrite(fd, data, SIZE, 0);
	case PREAD:
		return pread(fd, own, SIZE, 0);
	case PREADV:
		return preadv(fd, &v, 1, 0);
	case FSYNC:
		return fsync(fd) ? -1 : SIZE;
	case FDATASYNC:
		return fdatasync(fd) ? -1 : SIZE;
	}
	return look_at(which) < 0 ? -1 : SIZE;
}

static void *work(void *which)
{
	int fd = open(path, O_RDWR);

	if (fd < 0)
		victim_wrong("open: errno %d", errno);
	while (fd >= 0) {
		ssize_t got = file_call((int)(intptr_t)which, fd);

		if (got != SIZE)
			victim_wrong("%d: %zd, errno %d", (int)(intptr_t)which, got, errno);
		victim_count();
	}
	return NULL;
}

/* The device, also where /dev has few. */
static int open_fuse(void)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0 && !mknod("fuse", S_IFCHR | 0600, makedev(10, 229)))
		fd = open("fuse", O_RDWR | O_CLOEXEC);
	return fd;
}

static const char *begin(void)
{
	char options[64];

	if (!mkdtemp(dir) || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return "no mounts of its own";
	fuse = open_fuse();
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(linked, sizeof(linked), "%s/link", dir);
	if (fuse < 0 || mount("user_files", dir, "fuse", MS_NOSUID | MS_NODEV, options))
		return "no file systems in user space";
	if (!fork())
		serve();
	close(fuse);
	return NULL;
}

int main(void)
{
	const char *absent = begin();
	pthread_t t;

	if (absent)
		victim_say("absent %s", absent);
	for (intptr_t i = 0; i < KINDS && !absent; i++)
		if (pthread_create(&t, NULL, work, (void *)i))
			return 1;
	victim_say("ready");
	while (victim_poll(10, NULL))
		;
	_exit(0);
}
