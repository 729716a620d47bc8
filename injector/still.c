/* SPDX-License-Identifier: MIT */
/*
 * still: what did the rings of a session hold at one moment?
 *
 * Each ring by itself:
 *
 *  1. its head is read: which sub-buffers does it hold?
 *  2. they are copied, the newest first, for the oldest may go at any moment, until
 *     `tail` has passed the next one
 *  3. of the newest, which is being written, the words up to the last one that was
 *     found are copied again: now all of them are there that come before it
 *  4. its head is read again: what `tail` has passed meanwhile is dropped
 *
 * A ring that went round while we did not get a processor is copied again.
 */
#include "injector/still.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { HEAD_TRIES = 100, RING_TRIES = 5 };

struct taking {
	const struct segment *segment;
	const struct session *session;
	struct still *still;
	uint64_t room;		/* bytes that may still be copied */
};

static uint64_t ring_at(const struct taking *k, uint32_t i)
{
	return k->session->rings_off + i * k->session->ring_stride;
}

static void *in_copy(const struct taking *k, uint64_t off)
{
	return (char *)k->still->map + off;
}

/* 1. The head is not read at one moment; what makes no sense is read again. */
static int read_head(const struct taking *k, uint32_t i, struct ring *ret, bool *sane)
{
	int err = 0;

	*sane = false;
	for (int n = 0; n < HEAD_TRIES && !err && !*sane; n++) {
		err = segment_read(k->segment, ring_at(k, i), ret, sizeof(*ret));
		*sane = !err && ret->head - ret->tail <= k->session->nsub;
	}
	return err;
}

/* 3. */
static int copy_newest(const struct taking *k, uint64_t off)
{
	uint64_t *w = in_copy(k, off);
	size_t n = SUBBUF_SIZE / sizeof(*w);

	while (n && !w[n - 1])
		n--;
	return segment_read(k->segment, off, w, n * sizeof(*w));
}

static uint64_t place_at(const struct taking *k, uint32_t i, uint64_t n)
{
	return ring_at(k, i) + PAGE + n % k->session->nsub * SUBBUF_SIZE;
}

/* 2. One sub-buffer; *ret: it was there, and `tail` had not passed it when its copy
 * was made. */
static int copy_subbuf(struct taking *k, uint32_t i, uint64_t n, bool newest, bool *ret)
{
	uint64_t off = place_at(k, i, n), tail = 0;
	struct subbuf *b = in_copy(k, off);

	*ret = false;
	if (k->room < SUBBUF_SIZE)
		return fail(ENOMEM, "the rings hold more than half of this machine's memory");
	k->room -= SUBBUF_SIZE;
	int err = segment_read(k->segment, off, b, SUBBUF_SIZE);
	if (!err && newest)
		err = copy_newest(k, off);				/* 3 */
	err = err ? err : segment_read(k->segment, ring_at(k, i) + offsetof(struct ring, tail),
				       &tail, sizeof(tail));
	*ret = !err && b->seq == n + 1 && tail <= n;
	return err;
}

/* 4. What is held goes from `first` to head - 1. */
static int finish_ring(struct taking *k, uint32_t i, uint64_t first)
{
	struct ring *r = in_copy(k, ring_at(k, i)), now;
	int err = segment_read(k->segment, ring_at(k, i), &now, sizeof(now));

	if (err)
		return err;
	r->tail = MIN(MAX(first, now.tail), r->head);
	r->overwritten = now.overwritten;
	for (uint64_t n = r->tail; n < r->head; n++) {
		uint64_t place = n % k->session->nsub;

		r->used[place / 64] |= 1ull << place % 64;
	}
	return 0;
}

static int try_ring(struct taking *k, uint32_t i, struct ring *r)
{
	bool sane, held = true;
	int err = read_head(k, i, r, &sane);				/* 1 */
	uint64_t first = r->head;

	memset(r->used, 0, sizeof(r->used));
	if (err || !sane)
		first = r->head = r->tail = 0;
	while (!err && held && first > r->tail) {
		err = copy_subbuf(k, i, first - 1, first == r->head, &held);
		first -= held;
	}
	return err ? err : finish_ring(k, i, first);
}

static void note_begin(struct taking *k, uint64_t begin)
{
	if (!k->still->begin || begin < k->still->begin)
		k->still->begin = begin;
}

static int copy_ring(struct taking *k, uint32_t i)
{
	struct ring *r = in_copy(k, ring_at(k, i));
	uint64_t room = k->room;
	int err = 0;

	for (int n = 0; n < RING_TRIES && !err; n++) {
		k->room = room;
		err = try_ring(k, i, r);
		if (r->tail < r->head || !r->head)
			break;
	}
	r->state = r->head ? RING_CLAIMED : RING_FREE;
	if (r->tail < r->head)
		note_begin(k, ((struct subbuf *)in_copy(k, place_at(k, i, r->tail)))->begin);
	k->still->overwritten += r->overwritten;
	k->still->lost += r->lost_entries + r->lost_exits;
	return err;
}

static int check(const struct taking *k)
{
	const struct session *s = k->session;
	uint64_t all;

	if (s->nrings && s->nsub && s->nsub <= SUBBUFS_MOST && s->rings_off % PAGE == 0 &&
	    s->ring_stride % PAGE == 0 && s->size <= k->segment->size &&
	    s->ring_stride >= PAGE + (uint64_t)s->nsub * SUBBUF_SIZE &&
	    !__builtin_mul_overflow(s->ring_stride, (uint64_t)s->nrings, &all) &&
	    !__builtin_add_overflow(s->rings_off, all, &all) && all <= s->size)
		return 0;
	return fail(EBADMSG, "the session is damaged: its rings do not fit");
}

int still_take(const struct segment *segment, const struct session *s, struct still *ret)
{
	struct taking k = { segment, s, ret, .room = (uint64_t)sysconf(_SC_PHYS_PAGES) *
					     (uint64_t)sysconf(_SC_PAGESIZE) / 2 };
	int err = check(&k);

	*ret = (struct still){ 0 };
	if (err)
		return err;
	void *map = mmap(NULL, s->size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return fail(errno, "copy a session of %lu MiB", (unsigned long)(s->size >> 20));
	ret->map = map;
	ret->size = s->size;
	ret->lost = s->lost_entries + s->lost_exits;
	memcpy(map, s, sizeof(*s));
	for (uint32_t i = 0; i < s->nrings && !err; i++)
		err = copy_ring(&k, i);
	if (err)
		still_clear(ret);
	return err;
}

void still_clear(struct still *still)
{
	if (still->map)
		munmap(still->map, still->size);
	*still = (struct still){ 0 };
}
