/* SPDX-License-Identifier: MIT */
/* archive_open: a trace directory as it is opened. */
#include "trace/read/archive_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_METADATA (1ull << 30)

static int read_text(const struct archive *a, char **ret, size_t *size)
{
	auto_close int fd = openat(a->dir, "metadata",
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	size_t n = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(errno, "%s is no trace directory: %s/metadata", a->path, a->path);
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > MOST_METADATA)
		return fail(0, "%s/metadata is not what inject writes", a->path);
	*ret = malloc((size_t)st.st_size + 1);
	if (!*ret)
		return fail(ENOMEM, "read %s/metadata", a->path);
	while (n < (size_t)st.st_size) {
		ssize_t got = read(fd, *ret + n, (size_t)st.st_size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(errno, "read %s/metadata", a->path);
		if (got == 0)
			break;
		n += (size_t)got;
	}
	*size = n;
	return 0;
}

static int read_metadata(struct archive *a)
{
	struct metadata *m = &a->metadata;
	auto_free char *text = NULL;
	size_t size = 0;
	int err = read_text(a, &text, &size);

	err = err ? err : metadata_read(text, size, m);
	if (err == -EBADMSG)
		return fail(0, "%s/metadata is not what inject writes, or cut off at its very "
			       "beginning: nothing tells what the streams mean", a->path);
	if (err)
		return fail(-err, "read %s/metadata", a->path);
	a->head = m->version == 1 ? PACKET_HEAD_1 : sizeof(struct packet);
	if (!m->about.clock.run_ticks || !m->about.clock.run_ns)
		return fail(0, "%s/metadata does not tell what the clock means", a->path);
	if (m->version > LAYOUT_VERSION)
		archive_say(a, "%s was written by a later version of inject, in layout %llu: read "
			       "as layout %d; what is not as it was there is left out", a->path,
			    (unsigned long long)m->version, LAYOUT_VERSION);
	if (m->ctf_major && (m->ctf_major != 1 || m->ctf_minor != 8))
		archive_say(a, "%s/metadata are of CTF %llu.%llu, and what inject writes and reads "
			       "is 1.8: read as if it were that", a->path,
			    (unsigned long long)m->ctf_major, (unsigned long long)m->ctf_minor);
	if (!m->whole)
		archive_say(a, "%s/metadata ends too early, at byte %zu: %zu of %zu functions "
			       "have no name", a->path, size, m->unnamed, m->about.nfuncs);
	else if (m->unnamed)
		archive_say(a, "%s/metadata: %zu of %zu functions have no name", a->path,
			    m->unnamed, m->about.nfuncs);
	return 0;
}

static int cannot_open(const char *path, int why)
{
	return why == ENOTDIR ?
		fail(0, "%s is no trace directory, such as inject record -o makes", path) :
		why == ENOENT ?
		fail(0, "there is no trace directory %s; name one, or make one: inject record -o %s",
		     path, path) :
		fail(why, "open the trace directory %s", path);
}

int archive_open(const char *path, archive_note *note, void *ctx, struct archive **ret)
{
	struct archive *a = calloc(1, sizeof(*a));
	int err = 0;

	if (!a)
		return fail(ENOMEM, "read %s", path);
	a->note = note;
	a->ctx = ctx;
	a->path = strdup(path);
	a->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!a->path)
		err = fail(ENOMEM, "read %s", path);
	else if (a->dir < 0)
		err = cannot_open(path, errno);
	err = err ? err : read_metadata(a);
	err = err ? err : archive_survey(a);
	if (err) {
		archive_close(a);
		return err;
	}
	*ret = a;
	return 0;
}
