/* SPDX-License-Identifier: MIT */
/*
 * ring_snapshot: what did the rings of a session hold at one moment?
 *
 * Each ring by itself:
 *
 *  1. its head is read: which sub-buffers does it hold?
 *  2. they are copied, the newest first, for the oldest may go at any moment, until
 *     `tail` has passed the next one
 *  3. of the newest, which is being written, the words up to the last record that was
 *     found are copied again: now all of them are there that come before it, and what
 *     belongs to it. What comes behind it is dropped, for it may have gaps
 *  4. its head is read again: what `tail` has passed meanwhile is dropped. What was
 *     overwritten is counted as it was when `tail` was that: so it is read twice, until
 *     the owner was in no step to another one (give_up in payload/ring.c)
 *
 * Nothing is in order but what one step reads behind another's, and that is as docs/order.md
 * has it; tests/unit/ring_model.c tries it.
 *
 * A ring that went round while we did not get a processor is copied again.
 *
 * In the copy each ring has all of its sub-buffers behind it, as if there were no banks.
 */
#include "injector/reader/ring_snapshot.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { HEAD_TRIES = 100, RING_TRIES = 5 };

struct taking {
	const struct segment *segment;
	const struct session *session;
	struct ring_snapshot *still;
	uint64_t room;		/* bytes that may still be copied */
	uint32_t ring;		/* that is being copied; */
	uint32_t bank, nsub;	/* its bank, and sub-buffers in both */
};

static uint64_t ring_at(const struct taking *k)
{
	return k->session->rings_off + k->ring * k->session->ring_stride;
}

static struct ring *ring_copy(const struct taking *k)
{
	const struct session *s = k->still->map;

	return (struct ring *)((char *)s + s->rings_off + k->ring * s->ring_stride);
}

/* 1. The head is not read at one moment; what makes no sense is read again. */
static int read_head(struct taking *k, struct ring *ret, bool *sane)
{
	const struct session *s = k->session;
	int err = 0;

	*sane = false;
	for (int n = 0; n < HEAD_TRIES && !err && !*sane; n++) {
		err = segment_read(k->segment, ring_at(k), ret, sizeof(*ret));
		k->bank = ret->bank;
		k->nsub = s->nsub + (ret->bank ? s->bank_subs : 0);
		*sane = !err && ret->bank <= s->nbanks && ret->head - ret->tail <= k->nsub;
	}
	return err;
}

/* Words that belong to a record, at most. */
static size_t words_behind(uint64_t word)
{
	unsigned int subkind = word >> REC_FUNC_SHIFT & 63;

	if ((word & 3) != REC_EXT)
		return 1;
	return subkind == EXT_VALUES || subkind == EXT_CALLERS ? word >> REC_WORDS_SHIFT :
		word >> REC_WORDS_SHIFT & 15;
}

/* 3. A record is stored with release, and its body is not. */
static int copy_newest(const struct taking *k, uint64_t off, struct subbuf *copy)
{
	size_t most = (k->session->sub_size - sizeof(*copy)) / sizeof(uint64_t), n = most;
	uint64_t *w = (uint64_t *)(copy + 1);

	while (n && (w[n - 1] & 3) == REC_NONE)
		n--;
	size_t all = MIN(n + (n ? words_behind(w[n - 1]) : 1), most);
	int err = segment_read(k->segment, off + sizeof(*copy), w, all * sizeof(*w));
	if (all > n && (w[n] & 3) != REC_NONE)
		all = n;
	memset(w + all, 0, (most - all) * sizeof(*w));
	return err;
}

/* Where sub-buffer n is: see subbuf_at in payload/ring.c. */
static uint64_t place_at(const struct taking *k, uint64_t n)
{
	const struct session *s = k->session;
	uint64_t place = n % k->nsub, at = ring_at(k) + PAGE;

	if (place >= s->nsub) {
		place -= s->nsub;
		at = s->banks_off + (k->bank - 1) * (uint64_t)s->bank_subs * s->sub_size;
	}
	return at + place * s->sub_size;
}

static struct subbuf *place_copy(const struct taking *k, uint64_t n)
{
	return (struct subbuf *)((char *)ring_copy(k) + PAGE + n % k->nsub * k->session->sub_size);
}

/* 2. One sub-buffer; *ret: it was there, and `tail` had not passed it when its copy
 * was made. */
static int copy_subbuf(struct taking *k, uint64_t n, bool newest, bool *ret)
{
	uint64_t off = place_at(k, n), tail = 0;
	struct subbuf *b = place_copy(k, n);

	*ret = false;
	if (k->room < k->session->sub_size)
		return fail(ENOMEM, "the rings hold more than half of this machine's memory");
	k->room -= k->session->sub_size;
	int err = segment_read(k->segment, off, b, k->session->sub_size);
	if (!err && newest)
		err = copy_newest(k, off, b);				/* 3 */
	err = err ? err : segment_read(k->segment, ring_at(k) + offsetof(struct ring, tail),
				       &tail, sizeof(tail));
	*ret = !err && b->seq == n + 1 && tail <= n;
	return err;
}

/* 4. A thread that was put aside in between is not waited for. */
static int read_given(const struct taking *k, struct ring *ret)
{
	struct ring again;
	bool same = false;
	int err = 0;

	for (int n = 0; n < HEAD_TRIES && !err && !same; n++) {
		err = segment_read(k->segment, ring_at(k), ret, sizeof(*ret));
		err = err ? err : segment_read(k->segment, ring_at(k), &again, sizeof(again));
		same = !err && again.next_tail == ret->tail &&
			again.overwritten == ret->overwritten;
	}
	return err;
}

/* 4. What is held goes from `first` to head - 1. */
static int finish_ring(struct taking *k, uint64_t first)
{
	struct ring *r = ring_copy(k), now;
	int err = read_given(k, &now);

	if (err)
		return err;
	r->tail = MIN(MAX(first, now.tail), r->head);
	r->overwritten = now.overwritten;
	for (uint64_t n = r->tail; n < r->head; n++) {
		uint64_t place = n % k->nsub;

		r->used[place / 64] |= 1ull << place % 64;
	}
	return 0;
}

static int try_ring(struct taking *k, struct ring *r)
{
	bool sane, held = true;
	int err = read_head(k, r, &sane);				/* 1 */
	uint64_t first = r->head;

	memset(r->used, 0, sizeof(r->used));
	if (err || !sane)
		first = r->head = r->tail = 0;
	while (!err && held && first > r->tail) {
		err = copy_subbuf(k, first - 1, first == r->head, &held);
		first -= held;
	}
	return err ? err : finish_ring(k, first);
}

static void note_begin(struct taking *k, uint64_t begin)
{
	if (!k->still->begin || begin < k->still->begin)
		k->still->begin = begin;
}

static int copy_ring(struct taking *k)
{
	struct ring *r = ring_copy(k);
	uint64_t room = k->room;
	int err = 0;

	for (int n = 0; n < RING_TRIES && !err; n++) {
		k->room = room;
		err = try_ring(k, r);
		if (r->tail < r->head || !r->head)
			break;
	}
	/* Where calls are sifted, a thread may have open calls, and nothing recorded. */
	if (r->head || k->session->counting != COUNT_SIFTED)
		r->state = r->head ? RING_CLAIMED : RING_FREE;
	if (r->tail < r->head)
		note_begin(k, place_copy(k, r->tail)->begin);
	k->still->overwritten += r->overwritten;
	k->still->lost += r->lost_entries + r->lost_exits;
	return err;
}

static bool lies_within(const struct session *s, uint64_t off, uint64_t n, uint64_t each)
{
	uint64_t end;

	return !__builtin_mul_overflow(n, each, &end) &&
	       !__builtin_add_overflow(off, end, &end) && end <= s->size;
}

static int ring_snapshot_check(const struct taking *k)
{
	const struct session *s = k->session;

	if (s->nrings && s->nsub && s->nsub <= SUBBUFS_MOST &&
	    s->bank_subs <= SUBBUFS_MOST - s->nsub &&
	    s->sub_size && s->sub_size <= SUBBUF_SIZE && s->sub_size % PAGE == 0 &&
	    s->rings_off % PAGE == 0 && s->ring_stride % PAGE == 0 && s->banks_off % PAGE == 0 &&
	    s->size <= k->segment->size &&
	    s->ring_stride >= PAGE + (uint64_t)s->nsub * s->sub_size &&
	    lies_within(s, s->rings_off, s->nrings, s->ring_stride) &&
	    lies_within(s, s->banks_off, s->nbanks, (uint64_t)s->bank_subs * s->sub_size) &&
	    (!s->plans_funcs || lies_within(s, s->plans_off, 1, s->plans_size)))
		return 0;
	return fail(EBADMSG, "the session is damaged: its rings do not fit");
}

/* Of plans the reader executes some, where calls are not sifted. */
static bool needs_plans(const struct session *s)
{
	return s->plans_funcs && s->counting != COUNT_SIFTED;
}

/* With the plans of what is read of calls, behind the rings, if need be. */
static int make_copy(const struct taking *k)
{
	const struct session *s = k->session;
	uint32_t nsub = s->nsub + (s->nbanks ? s->bank_subs : 0);
	uint64_t stride = PAGE + (uint64_t)nsub * s->sub_size;
	uint64_t plans = PAGE + s->nrings * stride;
	uint64_t size = plans + (needs_plans(s) ? s->plans_size : 0);
	struct session *copy = mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (copy == MAP_FAILED)
		return fail(errno, "copy a session of %lu MiB", (unsigned long)(size >> 20));
	*copy = *s;
	copy->rings_off = PAGE;
	copy->ring_stride = stride;
	copy->nsub = nsub;
	copy->nbanks = 0;
	copy->plans_off = needs_plans(s) ? plans : s->plans_off;
	copy->size = size;
	k->still->map = copy;
	k->still->size = size;
	int err = segment_read(k->segment, offsetof(struct session, plans_at), &copy->plans_at,
			       sizeof(copy->plans_at));

	return err ? err : segment_read(k->segment, s->plans_off, (uint8_t *)copy + plans,
					size - plans);
}

int ring_snapshot_take(const struct segment *segment, const struct session *s,
		       struct ring_snapshot *ret)
{
	struct taking k = { segment, s, ret, .room = (uint64_t)sysconf(_SC_PHYS_PAGES) *
					     (uint64_t)sysconf(_SC_PAGESIZE) / 2 };
	int err = ring_snapshot_check(&k);

	*ret = (struct ring_snapshot){ 0 };
	err = err ? err : make_copy(&k);
	ret->lost = s->lost_entries + s->lost_exits;
	for (; k.ring < s->nrings && !err; k.ring++)
		err = copy_ring(&k);
	if (err)
		ring_snapshot_clear(ret);
	return err;
}

void ring_snapshot_clear(struct ring_snapshot *still)
{
	if (still->map)
		munmap(still->map, still->size);
	*still = (struct ring_snapshot){ 0 };
}
