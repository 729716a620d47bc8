/* SPDX-License-Identifier: MIT */
/*
 * repeat FROM TO BYTES: a trace directory TO with the packets of FROM again and again,
 * each time later, until it has so many bytes. Do readers cope with directories as large as
 * users make them?
 *
 * A round comes a whole wrap of the words' 40 bits after the one before, so that only
 * heads of packets have to change. Compressed ones are not taken.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/format/layout.h"

struct stream {
	char *packets;		/* of FROM */
	size_t size;
	int to;
	uint64_t seq;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static char *read_all(const char *dir, const char *name, size_t *size)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		die(path);
	char *bytes = malloc((size_t)st.st_size);
	if (!bytes || read(fd, bytes, (size_t)st.st_size) != st.st_size)
		die(path);
	close(fd);
	*size = (size_t)st.st_size;
	return bytes;
}

static int create(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0)
		die(path);
	return fd;
}

static void put(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n <= 0)
			die("write");
		bytes += n;
		size -= (size_t)n;
	}
}

/* All packets of a stream, so many wraps later. */
static uint64_t put_round(struct stream *s, uint64_t later)
{
	for (size_t at = 0; at + sizeof(struct packet) <= s->size;) {
		struct packet *p = (struct packet *)(s->packets + at);

		p->seq = s->seq++;
		p->begin += later;
		p->end += later;
		at += p->size / 8;
	}
	put(s->to, s->packets, s->size);
	return s->size;
}

/* What all packets are to be put off by, so that a round begins behind this one. */
static uint64_t wraps_of(const struct stream *s)
{
	const struct packet *first = (const void *)s->packets, *p;
	uint64_t span = 0;

	for (size_t at = 0; at + sizeof(*p) <= s->size; at += p->size / 8) {
		p = (const void *)(s->packets + at);
		span = MAX(span, p->end - first->begin);
	}
	return s->size ? (span >> REC_TIME_BITS) + 2 : 0;
}

int main(int argc, char **argv)
{
	static struct stream streams[4096];
	size_t n = 0, size;
	struct dirent *e;

	if (argc != 4)
		return 2;
	uint64_t bytes = strtoull(argv[3], NULL, 10), done = 0, wraps = 0;
	DIR *d = opendir(argv[1]);
	if (!d || mkdir(argv[2], 0777) < 0)
		die(argv[2]);
	while ((e = readdir(d)) && n < ARRAY_SIZE(streams)) {
		struct stream *s = &streams[n];

		if (strncmp(e->d_name, "stream_", 7) != 0)
			continue;
		s->packets = read_all(argv[1], e->d_name, &s->size);
		s->to = create(argv[2], e->d_name);
		wraps = MAX(wraps, wraps_of(s));
		n++;
	}
	closedir(d);
	char *text = read_all(argv[1], "metadata", &size);
	put(create(argv[2], "metadata"), text, size);
	if (!wraps) {
		fprintf(stderr, "%s has no packets\n", argv[1]);
		return 1;
	}
	for (uint64_t round = 0; done < bytes; round++)
		for (size_t i = 0; i < n; i++)
			done += put_round(&streams[i], round ? wraps << REC_TIME_BITS : 0);
	printf("%llu bytes in %zu streams\n", (unsigned long long)done, n);
	return 0;
}
