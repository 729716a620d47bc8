/* SPDX-License-Identifier: MIT */
/* reader_counts: what have all threads counted, where calls are counted, or timed? */
#include "injector/reader/reader_impl.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

static uint64_t bytes_of(const struct reader *r)
{
	return (uint64_t)r->nsub * r->sub_size;
}

/* Functions that there is room for. */
static size_t counters_room(const struct reader *r)
{
	return r->way->funcs ? r->way->funcs(bytes_of(r)) : 0;
}

static const struct timing *timings_of(const struct lane *l)
{
	return (const struct timing *)((const char *)l->ring + TIMINGS_OFF);
}

/* A ring that no thread has ever had is memory that was not touched. */
static bool was_used(const struct lane *l)
{
	return load(&l->ring->generation);
}

static void add_ring(const struct reader *r, const struct lane *l, uint64_t *calls, size_t n)
{
	const uint64_t *counts = n ? r->way->counts(l->ring, bytes_of(r)) : NULL;

	for (size_t i = 0; i < n && was_used(l); i++)
		calls[i] += load(&counts[i]) & ~TIMING_TAKEN;
}

void reader_counts(const struct reader *r, uint64_t *calls, size_t n)
{
	memset(calls, 0, n * sizeof(*calls));
	for (uint32_t i = 0; i < r->nrings; i++)
		add_ring(r, &r->lanes[i], calls, MIN(n, counters_room(r)));
}

static void add_timing(const struct timing *t, struct timing *ret)
{
	ret->total += load(&t->total);
	ret->self += load(&t->self);
	ret->most = MAX(ret->most, load(&t->most));
	ret->unwound += load(&t->unwound);
	for (int i = 0; i < BUCKETS; i++)
		ret->buckets[i] += load(&t->buckets[i]);
}

/* To look at what was not touched would make memory of it: so only at what this ring's
 * thread has called, or taken over from another. */
void reader_timings(const struct reader *r, const uint64_t *calls, struct timing *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (calls[i])
			ret[i] = (struct timing){ 0 };
	for (uint32_t j = 0; j < r->nrings && r->way->pairs; j++) {
		const struct lane *l = &r->lanes[j];
		const uint64_t *counts = r->way->counts(l->ring, bytes_of(r));

		for (size_t i = 0; i < MIN(n, counters_room(r)) && was_used(l); i++)
			if (calls[i] && load(&counts[i]))
				add_timing(&timings_of(l)[i], &ret[i]);
	}
}

/* ---- the calls of a thread that has ended -------------------------------- */

/* What its memory says of its own stack's frames, the outermost first: how many. They are
 * still there, and so are their sides in the ring, until it is another's. */
static size_t read_frames(const struct reader *r, const struct lane *l, pid_t owner,
			  uint64_t frames[FRAMES_SPLIT / 8])
{
	uint64_t at = load(&r->session->threads) + (uint64_t)(l - r->lanes) * THREAD_SIZE, top;
	char path[32];
	struct thread t;

	snprintf(path, sizeof(path), "/proc/%d/mem", r->pid);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, &t, sizeof(t), (off_t)at) != sizeof(t) ||
	    t.magic != THREAD_MAGIC || t.tid != (uint64_t)owner)
		return 0;
	top = t.current ? t.stacks[0].top : t.top;
	if (top <= FRAMES_OFF || top >= FRAMES_SPLIT || top % 8)
		return 0;
	top -= FRAMES_OFF;
	return pread(fd, frames, top, (off_t)(at + FRAMES_OFF + 8)) == (ssize_t)top ? top / 8 : 0;
}

/* The same as timing_end of the payload. */
static void end_side(const struct reader *r, const struct lane *l, struct side *side)
{
	uint64_t func = load(&side->func), begin = load(&side->begin), ticks = r->now - begin, ns;
	struct timing *f;

	if (func >= counters_room(r) || begin > r->now)
		return;
	f = (struct timing *)timings_of(l) + func;
	ns = timing_ns(ticks, load(&r->session->scale));
	f->unwound++;
	f->total += ticks;
	f->self += ticks - MIN(load(&side->inner), ticks);
	f->most = MAX(f->most, ticks);
	f->buckets[timing_bucket(ns)]++;
	side[-1].inner += ticks;
}

void counts_end(const struct reader *r, const struct lane *l, pid_t owner)
{
	struct side *sides = (struct side *)((char *)l->ring + TIMING_SIDES_OFF);
	auto_free uint64_t *frames = calloc(FRAMES_SPLIT / 8, sizeof(*frames));
	size_t n = frames && r->way->pairs && counters_room(r) ?
		read_frames(r, l, owner, frames) : 0;

	for (; n; n--)
		if (!(frames[n - 1] & 1))
			end_side(r, l, &sides[FRAMES_OFF / 8 + n]);
}
