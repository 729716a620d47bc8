/* SPDX-License-Identifier: MIT */
/* place: where does a trace directory stand, and what becomes of an older one? */
#include "trace/output/place.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD = 4096 };		/* bytes of metadata in which we are named */

/* stream_L or stream_L_C, and the same with .zst */
bool place_is_stream(const char *name)
{
	static const char prefix[] = "stream_";
	const char *p = name + sizeof(prefix) - 1;

	if (strncmp(name, prefix, sizeof(prefix) - 1) || !isdigit((unsigned char)*p))
		return false;
	p += strspn(p, "0123456789");
	if (*p == '_' && isdigit((unsigned char)p[1]))
		p += 1 + strspn(p + 1, "0123456789");
	return !*p || !strcmp(p, ".zst");
}

static bool is_ours(const char *name)
{
	return place_is_stream(name) || !strcmp(name, "metadata") ||
		!strcmp(name, PLACE_METADATA_NEW);
}

enum content {
	EMPTY,			/* or what a recording that was killed at its very
				 * begin has left */
	TRACE,			/* a trace directory of ours, and nothing else in it */
	OTHER,
};

static bool says_inject(int dir)
{
	auto_close int fd = openat(dir, "metadata", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	char head[HEAD + 1];
	ssize_t n = fd < 0 ? -1 : read(fd, head, HEAD);

	if (n < 0)
		return false;
	head[n] = '\0';
	return strstr(head, "tracer_name = \"inject\"");
}

const char *place_next(DIR *d)
{
	struct dirent *e;

	do {
		errno = 0;
		e = readdir(d);
	} while (e && (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")));
	return e ? e->d_name : NULL;
}

/* `path` is there. `dir` is left open. */
static int place_look(const char *path, int *dir, enum content *ret)
{
	bool any = false, others = false;
	const char *name;

	*dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*dir < 0 && (errno == ENOTDIR || errno == ELOOP))
		return *ret = OTHER, 0;
	if (*dir < 0)
		return fail(errno, "look into %s", path);
	int copy = fcntl(*dir, F_DUPFD_CLOEXEC, 0);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	if (!d)
		return fail(errno, "look into %s", path);
	while ((name = place_next(d))) {
		any |= strcmp(name, PLACE_METADATA_NEW) != 0;
		others |= !is_ours(name);
	}
	int err = errno;
	closedir(d);
	if (err)
		return fail(err, "look into %s", path);
	*ret = !any ? EMPTY : others || !says_inject(*dir) ? OTHER : TRACE;
	return 0;
}

/* NOTHING is there, or what may be replaced. */
static int place_check_path(const char *path, bool *there, enum content *content)
{
	auto_close int dir = -1;
	struct stat st;
	int err;

	*there = lstat(path, &st) == 0;
	if (!*there && errno == ENOENT)
		return 0;
	if (!*there)
		return fail(errno, "cannot write to %s", path);
	err = place_look(path, &dir, content);
	if (!err && *content == OTHER)
		return fail(0, "%s is there and is not a trace directory of inject, or not that "
			       "alone: nothing else is replaced; name another with -o", path);
	return err;
}

static char *without_slashes(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return strndup(path, n);
}

char *place_nth(const char *path, unsigned int n)
{
	auto_free char *plain = without_slashes(path);

	if (!plain)
		return NULL;
	return n > 1 ? base_printf("%s.%u", plain, n) : strdup(path);
}

/* What stands in the way: `old` if the directory itself has to be kept. */
static int check_both(const char *path, const char *old, bool *keep, bool *old_there,
		      bool *there)
{
	enum content content = EMPTY, old_content = EMPTY;
	int err = place_check_path(path, there, &content);

	*keep = *there && content == TRACE;
	*old_there = false;
	if (err || !*keep)
		return err;
	return place_check_path(old, old_there, &old_content);
}

static int names(const char *path, char **plain, char **old)
{
	*plain = without_slashes(path);
	*old = *plain ? base_printf("%s.old", *plain) : NULL;
	return *old ? 0 : fail(ENOMEM, "make %s", path);
}

int place_check(const char *path)
{
	auto_free char *plain = NULL, *old = NULL;
	bool keep, there, old_there;
	int err = names(path, &plain, &old);

	return err ? err : check_both(plain, old, &keep, &old_there, &there);
}

int place_spares(const char *path, int dir)
{
	auto_free char *plain = NULL, *old = NULL;
	bool keep, there, old_there;
	struct stat st, read;
	int err = names(path, &plain, &old);

	err = err ? err : check_both(plain, old, &keep, &old_there, &there);
	if (err || !old_there)
		return err;
	if (lstat(old, &st) < 0 || fstat(dir, &read) < 0)
		return fail(errno, "look at %s", old);
	if (st.st_dev == read.st_dev && st.st_ino == read.st_ino)
		return fail(0, "%s would be replaced by %s before it is read: name another with "
			    "-o", old, plain);
	return 0;
}

/* A trace directory, as `place_look` has found: the names in it are ours. The metadata go
 * last: whatever fails before, it still is one. */
static int remove_trace(const char *path)
{
	auto_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int copy = dir < 0 ? -1 : fcntl(dir, F_DUPFD_CLOEXEC, 0);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const char *name;

	if (!d)
		return fail(errno, "remove %s", path);
	while ((name = place_next(d)))
		if (place_is_stream(name) && unlinkat(dir, name, 0) < 0)
			break;
	int err = errno;
	closedir(d);
	if (err)
		return fail(err, "remove %s", path);
	if ((unlinkat(dir, PLACE_METADATA_NEW, 0) < 0 && errno != ENOENT) ||
	    (unlinkat(dir, "metadata", 0) < 0 && errno != ENOENT))
		return fail(errno, "remove %s", path);
	return rmdir(path) == 0 ? 0 : fail(errno, "remove %s", path);
}

int place_make(const char *path, int *ret)
{
	auto_free char *plain = NULL, *old = NULL;
	bool keep, there, old_there;
	int err = names(path, &plain, &old);

	err = err ? err : check_both(plain, old, &keep, &old_there, &there);
	if (!err && old_there)
		err = remove_trace(old);
	if (!err && keep && rename(plain, old) < 0)
		err = fail(errno, "keep %s as %s", plain, old);
	if (!err && (keep || !there) && mkdir(plain, 0700) < 0)
		err = fail(errno, "make the directory %s", plain);
	if (err)
		return err;
	*ret = open(plain, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret < 0 ? fail(errno, "open the directory %s", plain) : 0;
}
