/* SPDX-License-Identifier: MIT */
/*
 * archive_packet: where in a file does the next packet stand?
 *
 * As a rule where the one before ends. What is no packet of this trace is passed
 * over, up to the next that is.
 */
#include "trace/read/archive_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Files are open while they are read from only: see record.c. Short at the end. */
static ssize_t read_at(const struct archive *a, const struct source *s, void *buf, size_t n,
		       uint64_t at)
{
	auto_close int fd = openat(a->dir, s->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t done = 0;

	if (fd < 0)
		return -errno;
	while (done < n) {
		ssize_t got = pread(fd, (char *)buf + done, n - done, (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static bool is_head(const struct archive *a, const struct packet *p)
{
	return p->magic == PACKET_MAGIC &&
	       !memcmp(p->uuid, a->metadata.about.uuid, sizeof(p->uuid)) &&
	       p->size <= PACKET_BYTES * 8ull && p->size % 64 == 0 &&
	       p->content <= p->size && p->size - p->content < 64 && p->size > a->head * 8;
}

static bool is_squeezed(const struct archive *a, const struct squeezed *q)
{
	return q->magic == SQUEEZED_MAGIC && q->passed == sizeof(q->frame) + a->head &&
	       q->frame && q->frame <= SQUEEZED_MOST;
}

/* What stands before the head of a packet in this file. */
static size_t before_head(const struct source *s)
{
	return s->squeezed ? offsetof(struct squeezed, head) : 0;
}

/* Do bytes[before_head() + a->head] begin a packet? */
static bool is_stored(const struct archive *a, const struct source *s, const char *bytes,
		      struct stored *ret)
{
	struct squeezed q = { 0 };
	size_t before = before_head(s);

	memcpy(&q, bytes, before);
	*ret = (struct stored){ .before = before };
	memcpy(&ret->head, bytes + before, a->head);
	ret->after = s->squeezed ? a->head + q.frame : ret->head.size / 8;
	return (!s->squeezed || is_squeezed(a, &q)) && is_head(a, &ret->head);
}

/* To the next head from `at` on, or the end of the file; -errno without a message where
 * it cannot be read. */
static int seek_head(const struct archive *a, struct source *s, uint64_t at)
{
	uint32_t magic = s->squeezed ? SQUEEZED_MAGIC : PACKET_MAGIC;
	size_t size = before_head(s) + a->head;
	char block[PACKET_BYTES];
	struct stored p;

	s->at = at;
	while (s->at < s->size) {
		ssize_t n = read_at(a, s, block, sizeof(block), s->at);
		char *end = block + n, *hit = block;

		if (n < 0)
			return (int)n;
		while ((hit = memmem(hit, (size_t)(end - hit), &magic, sizeof(magic))) &&
		       end - hit >= (ssize_t)size) {
			if (is_stored(a, s, hit, &p)) {
				s->at += (uint64_t)(hit - block);
				return 0;
			}
			hit++;
		}
		if (n < (ssize_t)sizeof(block))
			break;
		s->at += sizeof(block) - size + 1;
	}
	s->at = s->size;
	return 0;
}

static void say_torn(struct archive *a, const struct source *s, const struct stored *p)
{
	archive_say(a, "%s/%s: the packet at byte %llu is torn: %llu of its %llu bytes are there",
		    a->path, s->name, (unsigned long long)s->at,
		    (unsigned long long)(s->size - s->at),
		    (unsigned long long)(p->before + p->after));
}

/* Where the next packet stands cannot be known: that is the end of this file. */
static void lose_rest(struct archive *a, struct source *s, int err)
{
	if (!s->lost)
		archive_say(a, "%s/%s: %llu bytes from byte %llu on cannot be read: %s", a->path,
			    s->name, (unsigned long long)(s->size - s->at),
			    (unsigned long long)s->at, strerror(err));
	s->lost = true;
	s->at = s->size;
}

int packet_find(struct archive *a, struct source *s, bool say, struct stored *ret)
{
	uint64_t from = s->at, begin = s->at;
	size_t size = before_head(s) + a->head;
	char bytes[sizeof(struct squeezed)];
	int err = 0;

	while (s->at < s->size && !err) {
		ssize_t n = read_at(a, s, bytes, size, s->at);
		bool head = n == (ssize_t)size && is_stored(a, s, bytes, ret);

		if (head && s->size - s->at >= ret->before + ret->after)
			break;
		if (head && say)
			say_torn(a, s, ret);
		from = head ? s->size : from;
		err = n < 0 ? (int)n : seek_head(a, s, s->at + 1);
	}
	if (from < s->at && say)
		archive_say(a, "%s/%s: %llu bytes at byte %llu are no packet of this trace",
			    a->path, s->name, (unsigned long long)(s->at - from),
			    (unsigned long long)from);
	if (err)
		lose_rest(a, s, -err);
	s->torn |= s->at > begin && s->at >= s->size;
	return s->at < s->size;
}

void packet_pass(struct source *s, const struct stored *p)
{
	s->at += p->before + p->after;
}

static int make_squeezer(struct archive *a)
{
	if (a->squeezer)
		return 0;
	a->frame = malloc(SQUEEZED_MOST);
	return a->frame ? squeezer_new(&a->squeezer) : fail(ENOMEM, "read %s", a->path);
}

/* All of n bytes: 0, or -errno without a message; -ENODATA if they are not there any more. */
static int read_whole(const struct archive *a, const struct source *s, void *buf, size_t n,
		      uint64_t at)
{
	ssize_t got = read_at(a, s, buf, n, at);

	return got < 0 ? (int)got : (size_t)got < n ? -ENODATA : 0;
}

/* Likewise the packet's bytes; -EBADMSG if it is not what its head says. */
static int load_squeezed(struct archive *a, struct source *s, const struct stored *p)
{
	size_t size = p->after - a->head;
	int err = read_whole(a, s, a->frame, size, s->at + p->before + a->head);
	ssize_t n = err ? err : unsqueeze_packet(a->squeezer, a->frame, size, s->words);

	if (n >= 0 && ((uint64_t)n != p->head.size / 8 ||
		       memcmp(s->words, &p->head, a->head) != 0))
		return -EBADMSG;
	return n < 0 ? (int)n : 0;
}

static void say_unread(struct archive *a, const struct source *s, int err)
{
	const char *what = err == EBADMSG ? "decompressed" : "read: ";
	const char *why = err == EBADMSG ? "" : err == ENODATA ? "it is not there any more" :
			  strerror(err);

	archive_say(a, "%s/%s: the packet at byte %llu cannot be %s%s", a->path, s->name,
		    (unsigned long long)s->at, what, why);
}

int packet_load(struct archive *a, struct source *s, const struct stored *p)
{
	int err = s->squeezed ? make_squeezer(a) : 0;

	if (!s->words)
		s->words = malloc(PACKET_BYTES);
	if (!s->words || err)
		return fail(ENOMEM, "read %s/%s", a->path, s->name);
	err = s->squeezed ? load_squeezed(a, s, p) : read_whole(a, s, s->words, p->after, s->at);
	if (err)
		say_unread(a, s, -err);
	packet_pass(s, p);
	s->packets -= s->packets != 0;
	s->pos = a->head / 8;
	s->n = err ? 0 : p->head.size / 64;
	s->base = p->head.begin & ~LAYOUT_TIME_MASK;
	s->event = (struct event){ .pid = p->head.pid, .tid = p->head.tid,
				  .thread = p->head.thread, .stack = p->head.stack };
	return 0;
}
