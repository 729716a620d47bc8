/* SPDX-License-Identifier: MIT */
/*
 * archive_packet: where in a file does the next packet stand?
 *
 * As a rule where the one before ends. What is no packet of this trace is passed
 * over, up to the next that is.
 */
#include "trace/archive_impl.h"

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
	       p->content == p->size && p->size > sizeof(*p) * 8ull;
}

/* The next head from `at` on, or the end of the file. */
static uint64_t next_head(const struct archive *a, const struct source *s, uint64_t at)
{
	static const uint32_t magic = PACKET_MAGIC;
	char block[PACKET_BYTES];
	struct packet p;

	while (at < s->size) {
		ssize_t n = read_at(a, s, block, sizeof(block), at);
		char *end = block + MAX(n, 0), *hit = block;

		while ((hit = memmem(hit, (size_t)(end - hit), &magic, sizeof(magic))) &&
		       end - hit >= (ssize_t)sizeof(p)) {
			memcpy(&p, hit, sizeof(p));
			if (is_head(a, &p))
				return at + (uint64_t)(hit - block);
			hit++;
		}
		if (n < (ssize_t)sizeof(block))
			break;
		at += sizeof(block) - sizeof(p) + 1;
	}
	return s->size;
}

int packet_find(struct archive *a, struct source *s, bool say, struct packet *ret)
{
	uint64_t from = s->at;

	while (s->at < s->size) {
		ssize_t n = read_at(a, s, ret, sizeof(*ret), s->at);
		bool head = n == sizeof(*ret) && is_head(a, ret);

		if (head && s->size - s->at >= ret->size / 8)
			break;
		if (head && say)
			archive_say(a, "%s/%s: the packet at byte %llu is torn: %llu of its %llu "
				       "bytes are there", a->path, s->name,
				    (unsigned long long)s->at,
				    (unsigned long long)(s->size - s->at),
				    (unsigned long long)ret->size / 8);
		from = head ? s->size : from;
		s->at = next_head(a, s, s->at + 1);
	}
	if (from < s->at && say)
		archive_say(a, "%s/%s: %llu bytes at byte %llu are no packet of this trace",
			    a->path, s->name, (unsigned long long)(s->at - from),
			    (unsigned long long)from);
	return s->at < s->size;
}

int packet_load(struct archive *a, struct source *s, const struct packet *p)
{
	size_t bytes = p->size / 8 - sizeof(*p);
	ssize_t n;

	if (!s->words)
		s->words = malloc(PACKET_WORDS * 8);
	if (!s->words)
		return fail(ENOMEM, "read %s/%s", a->path, s->name);
	n = read_at(a, s, s->words, bytes, s->at + sizeof(*p));
	if (n < 0)
		return fail((int)-n, "read %s/%s", a->path, s->name);
	s->at += p->size / 8;
	s->pos = 0;
	s->n = (size_t)n / 8;
	s->base = p->begin & ~LAYOUT_TIME_MASK;
	s->event = (struct event){ .pid = p->pid, .tid = p->tid,
				  .thread = p->thread, .stack = p->stack };
	return 0;
}
