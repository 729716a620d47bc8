/* SPDX-License-Identifier: MIT */
/* segment: the memory of a session, read and written where it lies. */
#include "injector/session/segment.h"

#include <errno.h>

static int segment_check(const struct segment *s, uint64_t off, size_t n)
{
	if (off <= s->size && n <= s->size - off)
		return 0;
	return fail(EBADMSG, "the session is damaged: it refers to what is not there");
}

/*
 * The kernel copies as a processor of weak order does, and promises nothing of two calls: what
 * one has read or written comes before what the next one does.
 */
static void in_order(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

int segment_read(const struct segment *s, uint64_t off, void *buf, size_t n)
{
	int err = segment_check(s, off, n);

	in_order();
	for (size_t done = 0; done < n && !err;) {
		ssize_t r = pread(s->fd, (char *)buf + done, n - done,
				  (off_t)(s->at + off + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (!r && s->file)
			err = fail(EBADMSG, "the session is damaged: its file ends too early");
		else if (r <= 0)
			err = fail(r ? errno : ESRCH, "read the session");
		else
			done += (size_t)r;
	}
	return err;
}

int segment_write(const struct segment *s, uint64_t off, const void *buf, size_t n)
{
	int err = segment_check(s, off, n);

	in_order();
	for (size_t done = 0; done < n && !err;) {
		ssize_t r = pwrite(s->fd, (const char *)buf + done, n - done,
				   (off_t)(s->at + off + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			err = fail(r ? errno : ESRCH, "write to the session");
		else
			done += (size_t)r;
	}
	return err;
}
