/* SPDX-License-Identifier: MIT */
/* session_file: a session in a file, which survives the process that records into it. */
#include "injector/session/session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "injector/session/session.h"

/* linux/magic.h leaves it to the file system. */
#define XFS_MAGIC 0x58465342

/* Where what fallocate has taken is there, whatever is written. */
static int check_system(int dir, const char *path)
{
	struct statfs fs;

	if (fstatfs(dir, &fs) < 0)
		return fail(errno, "look at %s", path);
	switch ((uint32_t)fs.f_type) {
	case TMPFS_MAGIC:
	case EXT4_SUPER_MAGIC:
	case XFS_MAGIC:
		return 0;
	}
	return fail(0, "%s is on a file system (type %#lx) that may run out of room for what is "
		    "there already, which would kill the process; one of /dev/shm, ext4 or xfs "
		    "will do", path, (unsigned long)fs.f_type);
}

static int check_owner(int dir, const char *path)
{
	struct stat st;

	if (fstat(dir, &st) < 0)
		return fail(errno, "look at %s", path);
	if (st.st_uid == geteuid() && !(st.st_mode & 022))
		return 0;
	return fail(0, "%s is writable by others: truncating the file there would kill the process; "
		    "name a directory of your own", path);
}

int session_file_make(const char *path, int *ret)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return fail(errno, "make the directory %s", path);
	auto_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return fail(errno, "open the directory %s", path);
	int err = check_owner(dir, path);
	err = err ? err : check_system(dir, path);
	if (err)
		return err;
	*ret = openat(dir, SESSION_NAME, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*ret < 0 && errno == EEXIST)
		return fail(0, "%s holds a session already; name another directory", path);
	return *ret < 0 ? fail(errno, "make %s/" SESSION_NAME, path) : 0;
}

void session_file_drop(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return;
	unlinkat(dir, SESSION_NAME, 0);
	close(dir);
	rmdir(path);
}

static int open_file(const char *path)
{
	auto_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? -1 : openat(dir, SESSION_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
				     O_CLOEXEC);
}

bool session_file_is_in(const char *path)
{
	auto_close int fd = open_file(path);

	return fd >= 0;
}

int session_file_open(const char *path, struct segment *ret, struct session *head)
{
	struct stat st;
	int fd = open_file(path);

	if (fd < 0)
		return fail(errno, "open the session in %s", path);
	*ret = (struct segment){ .fd = fd, .file = true };
	int err = fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ?
		fail(EBADMSG, "read the session in %s", path) : 0;
	if (!err) {
		ret->size = (uint64_t)st.st_size;
		err = segment_read(ret, 0, head, sizeof(*head));
	}
	if (!err && !session_is_sane(head, ret->size))
		err = fail(EBADMSG, "the session in %s is damaged, or of another version of inject",
			   path);
	if (err)
		close(fd);
	return err;
}
