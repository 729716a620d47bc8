/* SPDX-License-Identifier: MIT */
/*
 * record_write: how do packets and metadata get into files, whatever happens?
 *
 * A packet goes out whole or is taken back, and the metadata are replaced by whole
 * ones: so a full disk or a kill leaves readable files. A file is open while it is
 * written to only: no number of threads meets a limit of descriptors.
 */
#include "trace/write/record_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "trace/format/metadata.h"
#include "trace/output/place.h"

/* From a place in the file on, or at its end if that is -1. Changes the pieces. */
static int write_pieces(int fd, struct iovec *v, int n, off_t at)
{
	while (n) {
		ssize_t done = at < 0 ? writev(fd, v, n) : pwritev(fd, v, n, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -ENOSPC;
		at += at < 0 ? 0 : done;
		for (; n && (size_t)done >= v->iov_len; n--, v++)
			done -= (ssize_t)v->iov_len;
		if (n) {
			v->iov_base = (char *)v->iov_base + done;
			v->iov_len -= (size_t)done;
		}
	}
	return 0;
}

/* ---- metadata ------------------------------------------------------------ */

int record_write_metadata(struct record *r, const struct about *about)
{
	struct about a = *about;
	auto_free struct caller *callers = NULL;
	auto_free char *text = NULL;
	struct iovec piece;

	memcpy(a.uuid, r->uuid, sizeof(a.uuid));
	a.packets = r->packets;
	a.lanes = r->nlanes;
	a.events = r->events;
	a.rotated = r->rotated;
	a.nbefore = r->nbefore;
	a.first_funcs = r->first_funcs;
	a.failed = r->failed;
	a.left_free = r->left_free;
	r->told_funcs = a.nfuncs;
	r->told_run = a.clock.run_ticks;
	r->told_callers = a.ncallers = r->ncallers;
	int err = record_sort_callers(r, &callers);
	a.callers = callers;
	err = err ? err : metadata_make(&a, &text, &piece.iov_len);
	if (err)
		return err;
	piece.iov_base = text;
	int fd = openat(r->dir, PLACE_METADATA_NEW,
			O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(errno, "write %s/metadata", r->path);
	err = write_pieces(fd, &piece, 1, -1);
	if (close(fd) < 0 && !err)
		err = -errno;
	if (!err && renameat(r->dir, PLACE_METADATA_NEW, r->dir, "metadata") < 0)
		err = -errno;
	if (!err) {
		metadata_end(text, &a, &r->end);
		return 0;
	}
	unlinkat(r->dir, PLACE_METADATA_NEW, 0);
	return fail(-err, "write %s/metadata", r->path);
}

/* The metadata that are there have room for their end, however full the disk is. */
void record_mark_end(struct record *r, const struct about *about)
{
	auto_close int fd = openat(r->dir, "metadata", O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	struct metadata_place now;
	struct about a = *about;

	a.failed = r->failed;
	if (fd >= 0 && metadata_end(METADATA_END_KEY, &a, &now) && now.size == r->end.size)
		write_pieces(fd, &(struct iovec){ now.text, now.size }, 1, (off_t)r->end.at);
}

/* ---- packets ------------------------------------------------------------- */

static void stream_name(const struct record *r, uint32_t lane, uint64_t chunk, char ret[64])
{
	const char *suffix = r->squeezer ? ".zst" : "";

	if (r->options.rotate)
		snprintf(ret, 64, "stream_%u_%llu%s", lane, (unsigned long long)chunk, suffix);
	else
		snprintf(ret, 64, "stream_%u%s", lane, suffix);
}

/* The packet in memory as it goes to the file: so many pieces. */
static int pack(struct record *r, struct lane *l, struct iovec ret[2])
{
	const void *bytes;
	int err;

	if (!r->squeezer) {
		ret[0] = (struct iovec){ &l->head, sizeof(l->head) };
		ret[1] = (struct iovec){ l->words, l->n * 8 };
		return 2;
	}
	err = squeeze_packet(r->squeezer, &l->head, l->words, l->n, &bytes, &ret[0].iov_len);
	ret[0].iov_base = (void *)bytes;
	return err ? err : 1;
}

uint64_t record_overhead(const struct record *r)
{
	if (!r->squeezer)
		return sizeof(struct packet);
	return sizeof(struct squeezed) + SQUEEZED_MOST - PACKET_BYTES + sizeof(struct packet);
}

/* What it took in memory is free, and what it takes in the file is not. */
static void wrote(struct record *r, struct lane *l, uint64_t bytes)
{
	uint64_t held = record_overhead(r) + l->n * 8;

	r->size -= held - bytes;
	r->held -= held - bytes;
	r->waiting -= held;
	l->size += bytes;
	l->head.seq++;
	r->packets[l->index]++;
	l->n = 0;
}

static void complete_head(const struct record *r, struct lane *l)
{
	const struct clock *c = r->options.clock;
	struct clock_pair now = c ? clock_last(c) : (struct clock_pair){ 0 };

	l->head.size = (sizeof(l->head) + l->n * 8) * 8;
	/* Other readers would take what pads the last event for one more. */
	l->head.content = l->head.size - 8 * l->spare;
	l->head.end = l->last;
	l->head.clock_ticks = now.ticks;
	l->head.clock_ns = now.ns;
}

int record_write_packet(struct record *r, struct lane *l)
{
	struct iovec pieces[2];
	char name[64];
	int fd, n, err;

	if (!l->n)
		return 0;
	complete_head(r, l);
	n = pack(r, l, pieces);
	if (n < 0)
		return n;
	uint64_t bytes = pieces[0].iov_len + (n > 1 ? pieces[1].iov_len : 0);
	stream_name(r, l->index, r->chunk, name);
	/* The first packet makes the file: one that is there is not ours. */
	fd = openat(r->dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC |
		    (l->size ? 0 : O_CREAT | O_EXCL), 0600);
	if (fd < 0)
		return fail(errno, "write %s/%s", r->path, name);
	err = write_pieces(fd, pieces, n, (off_t)l->size);
	if (err && ftruncate(fd, (off_t)l->size) < 0 && l->size == 0)
		unlinkat(r->dir, name, 0);
	if (close(fd) < 0 && !err)
		err = -errno;
	if (err) {
		r->failed = (uint64_t)-err;
		return fail(-err, "write %s/%s", r->path, name);
	}
	wrote(r, l, bytes);
	return 0;
}

int record_write_all(struct record *r)
{
	int err = 0;

	for (size_t i = 0; i < r->nlanes && !err; i++)
		err = record_write_packet(r, r->lanes[i]);
	return err;
}

/* ---- chunks -------------------------------------------------------------- */

static void drop_oldest(struct record *r)
{
	char name[64];

	for (uint32_t i = 0; i < r->nlanes; i++) {
		stream_name(r, i, r->oldest, name);
		unlinkat(r->dir, name, 0);
	}
	r->size -= r->sizes[r->oldest % RECORD_CHUNKS];
	r->oldest++;
	r->rotated = true;
}

int record_next_chunk(struct record *r)
{
	int err = record_write_all(r);

	r->sizes[r->chunk++ % RECORD_CHUNKS] = r->held;
	r->held = 0;
	for (size_t i = 0; i < r->nlanes; i++)
		r->lanes[i]->size = 0;
	if (r->chunk - r->oldest >= RECORD_CHUNKS)
		drop_oldest(r);
	return err;
}
