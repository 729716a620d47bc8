/* SPDX-License-Identifier: MIT */
/*
 * user_files: threads read, write and sync a file of a file system in user space, whose server ends
 * with EINTR each request that the kernel says is interrupted, as such servers may. It answers to
 * others after some milliseconds. Where none can be mounted it says "absent WHY", then that it is
 * ready.
 */
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include "tests/victims/victim.h"

enum { SIZE = 4096, PENDING = 16, DELAY_MS = 10, FILE_ID = 2 };

struct request {
	uint64_t unique;	/* 0: none */
	uint32_t opcode;
	double due;
};

static int fuse;
static char path[64];

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
	return (struct fuse_attr){ .ino = id, .nlink = 1, .size = SIZE,
				   .mode = id == FILE_ID ? S_IFREG | 0600 : S_IFDIR | 0700 };
}

static void answer_late(const struct request *r)
{
	static const char data[SIZE];
	const struct fuse_write_out written = { .size = SIZE };

	if (r->opcode == FUSE_READ)
		answer(r->unique, 0, data, SIZE);
	else if (r->opcode == FUSE_WRITE)
		answer(r->unique, 0, &written, sizeof(written));
	else
		answer(r->unique, 0, NULL, 0);
}

static void answer_at_once(const struct fuse_in_header *in)
{
	const struct fuse_init_in *asked = (const void *)(in + 1);
	const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .max_write = SIZE,
					    .minor = in->opcode == FUSE_INIT ? asked->minor : 0 };
	const struct fuse_entry_out entry = { .nodeid = FILE_ID, .attr_valid = 1000,
					      .entry_valid = 1000, .attr = attributes(FILE_ID) };
	const struct fuse_attr_out attr = { .attr_valid = 1000, .attr = attributes(in->nodeid) };
	const struct fuse_open_out open = { .open_flags = FOPEN_DIRECT_IO };

	switch (in->opcode) {
	case FUSE_INIT:
		return answer(in->unique, 0, &init, sizeof(init));
	case FUSE_LOOKUP:
		return answer(in->unique, 0, &entry, sizeof(entry));
	case FUSE_GETATTR:
		return answer(in->unique, 0, &attr, sizeof(attr));
	case FUSE_OPEN:
		return answer(in->unique, 0, &open, sizeof(open));
	case FUSE_FLUSH: case FUSE_RELEASE: case FUSE_ACCESS:
		return answer(in->unique, 0, NULL, 0);
	case FUSE_FORGET: case FUSE_BATCH_FORGET:
		return;
	}
	answer(in->unique, -ENOSYS, NULL, 0);
}

static void take(struct request pending[PENDING], const struct fuse_in_header *in)
{
	const struct fuse_interrupt_in *interrupted = (const void *)(in + 1);
	bool late = in->opcode == FUSE_READ || in->opcode == FUSE_WRITE ||
		in->opcode == FUSE_FSYNC;

	for (int i = 0; i < PENDING; i++) {
		struct request *r = &pending[i];

		if (late && !r->unique) {
			*r = (struct request){ in->unique, in->opcode, now_ms() + DELAY_MS };
			return;
		}
		if (in->opcode == FUSE_INTERRUPT && r->unique == interrupted->unique) {
			answer(r->unique, -EINTR, NULL, 0);
			r->unique = 0;
			return;
		}
	}
	if (in->opcode != FUSE_INTERRUPT)
		answer_at_once(in);
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
			if (pending[i].unique && pending[i].due <= now_ms()) {
				answer_late(&pending[i]);
				pending[i].unique = 0;
			}
	}
}

PROBED ssize_t file_call(int which, int fd)
{
	static char data[SIZE];
	char own[SIZE];
	struct iovec v = { which ? own : data, SIZE };

	switch (which) {
	case 0:
		return pwrite(fd, data, SIZE, 0);
	case 1:
		return pread(fd, own, SIZE, 0);
	case 2:
		return preadv(fd, &v, 1, 0);
	case 3:
		return fsync(fd) ? -1 : SIZE;
	}
	return fdatasync(fd) ? -1 : SIZE;
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
	char dir[] = "mountedXXXXXX", options[64];

	if (!mkdtemp(dir) || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return "no mounts of its own";
	fuse = open_fuse();
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	snprintf(path, sizeof(path), "%s/file", dir);
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
	for (intptr_t i = 0; i < 5 && !absent; i++)
		if (pthread_create(&t, NULL, work, (void *)i))
			return 1;
	victim_say("ready");
	while (victim_poll(10, NULL))
		;
	_exit(0);
}
