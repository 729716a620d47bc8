/* SPDX-License-Identifier: MIT */
/*
 * record_room: how much of a disk is left to others?
 *
 * It is not known beforehand how much a process will tell, and the disk that a recording
 * fills may be the one that the process itself writes to.
 */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "trace/write/record_impl.h"

#define LOOK_AFTER (1ull << 20)	/* bytes that we take between two looks, at most, */
#define LEAST 4096ull		/* and at least */
#define SHARE_LEAST (64ull << 20)

/* For all users but root; ROOM_NOT_KNOWN on file systems that do not tell. */
static uint64_t free_of(int err, const struct statvfs *st)
{
	return err || !st->f_blocks ? ROOM_NOT_KNOWN : (uint64_t)st->f_bavail * st->f_frsize;
}

static uint64_t free_of_dir(int dir)
{
	struct statvfs st = { 0 };
	int err = fstatvfs(dir, &st);

	return free_of(err, &st);
}

/* Where nothing is yet, something will be made in the directory around it. */
static uint64_t free_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	auto_free char *around = slash ? strndup(path, MAX((size_t)(slash - path), (size_t)1)) :
		strdup(".");
	struct statvfs st = { 0 };
	int err = statvfs(path, &st);

	if (err && around)
		err = statvfs(around, &st);
	return free_of(err, &st);
}

static uint64_t kept_of(uint64_t is_free, uint64_t wanted)
{
	if (is_free == ROOM_NOT_KNOWN)
		return 0;
	return wanted == RECORD_FREE_SHARE ?
		MIN(MAX(is_free / 10, SHARE_LEAST), is_free / 2) : wanted;
}

void record_room(const char *path, uint64_t min_free, struct record_room *ret)
{
	ret->is_free = free_of_path(path);
	ret->kept = kept_of(ret->is_free, min_free);
}

void record_room_begin(struct record *r)
{
	r->kept = r->options.min_free ? kept_of(free_of_dir(r->dir), r->options.min_free) : 0;
}

void record_room_look(struct record *r)
{
	uint64_t is_free = r->kept && !r->full ? free_of_dir(r->dir) : ROOM_NOT_KNOWN;
	uint64_t used = r->kept + r->waiting + LEAST;

	r->next_look = r->taken + LOOK_AFTER;
	if (is_free == ROOM_NOT_KNOWN)
		return;
	if (is_free >= used) {
		r->next_look = r->taken + MIN(LOOK_AFTER, is_free - used + LEAST);
		return;
	}
	r->full = true;
	r->left_free = MAX(is_free, 1u);
}

void record_room_tick(struct record *r)
{
	if (r->taken >= r->next_look)
		record_room_look(r);
}
