/* SPDX-License-Identifier: MIT */
/*
 * switches_ring: from the rings of the kernel to switches in the order of time.
 *
 * Their clock is CLOCK_MONOTONIC_RAW, and that of the calls is the counter: a time is converted
 * between two moments of which both are known, the one when the rings were read before and the one
 * now. It is as exact as these (some ten nanoseconds), whatever keeps the kernel's time.
 *
 * A ring that is full drops, and says so only with a later record. So one that is found full is
 * taken to have dropped something from its last record up to the moment at which it had room again.
 */
#include "injector/switches/switches_impl.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "arch/clock.h"
#include "injector/log/clock.h"
#include "injector/proc/kernel.h"

enum {
	RING_BYTES = 1 << 19,	/* with its page what each user may lock for each processor, as
				 * the kernel is made (perf_event_mlock_kb) */
	RING_LEAST = 1 << 14,
	RECORD_MOST = 64,	/* bytes of one that we ask for */
	ID_BYTES = 16,		/* behind all: process, thread, time */
	PAIR_TRIES = 8,
	PAIR_OFF = 1 << 17,	/* ticks: a moment that is not known better is none */
	SEEN_AFTER = 1 << 14,	/* ticks in which a processor has seen what another has stored */
};

#define LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

int switch_ring_map(struct switch_ring *r, int cpu, int fd)
{
	size_t head = kernel_page();

	for (size_t size = RING_BYTES; size >= MAX((size_t)RING_LEAST, head); size /= 2) {
		void *at = mmap(NULL, head + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (at != MAP_FAILED) {
			r->page = at;
			r->size = size;
			r->fd = fd;
			return 0;
		}
		if (errno != EPERM && errno != ENOMEM)
			break;
	}
	return fail(errno, "map the ring of processor %d (kernel.perf_event_mlock_kb and "
			   "ulimit -l limit them)", cpu);
}

void switch_ring_unmap(struct switch_ring *r)
{
	if (r->page)
		munmap(r->page, kernel_page() + r->size);
	r->page = NULL;
}

/* ---- one ring ------------------------------------------------------------ */

struct taking {
	struct switches *s;
	struct thread_switch **v;
	size_t *n, *cap;
};

static int push(struct taking *t, const struct thread_switch *what)
{
	struct thread_switch *slot = vec_push(*t->v, *t->n, *t->cap);

	if (!slot)
		return fail(ENOMEM, "keep the switches of threads");
	*slot = *what;
	return 0;
}

static uint64_t ticks_of(const struct switches *s, uint64_t ns)
{
	const struct clock_pair *a = &s->before, *b = &s->now;
	__int128 by = (__int128)ns - a->ns, ticks = b->ticks - a->ticks, span = b->ns - a->ns;

	return (uint64_t)(a->ticks + by * ticks / span);
}

static int push_gap(struct taking *t, uint64_t from, uint64_t to)
{
	t->s->gaps++;
	return push(t, &(struct thread_switch){ .tsc = from, .kind = SWITCH_GAP }) ?:
	       push(t, &(struct thread_switch){ .tsc = MAX(to, from + 1), .kind = SWITCH_GAP_END });
}

static uint32_t word(const uint8_t *record, size_t at)
{
	uint32_t ret;

	memcpy(&ret, record + at, sizeof(ret));
	return ret;
}

static uint64_t time_of(const uint8_t *record, const struct perf_event_header *h)
{
	uint64_t ns;

	memcpy(&ns, record + h->size - ID_BYTES + 8, sizeof(ns));
	return ns;
}

static int take_record(struct taking *t, struct switch_ring *r, const uint8_t *record,
		       const struct perf_event_header *h)
{
	const uint8_t *id = record + h->size - ID_BYTES;
	struct thread_switch out = { .tid = (int32_t)word(id, 4) };
	uint64_t ns = time_of(record, h), last = r->last;

	r->last = MAX(r->last, ns);
	out.tsc = ticks_of(t->s, ns);
	switch (h->type) {
	case PERF_RECORD_SWITCH:
		out.kind = !(h->misc & PERF_RECORD_MISC_SWITCH_OUT) ? SWITCH_ON :
			   h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SWITCH_PREEMPTED :
			   SWITCH_OFF;
		return push(t, &out);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		out.kind = h->type == PERF_RECORD_FORK ? SWITCH_BORN : SWITCH_ENDED;
		out.tid = (int32_t)word(record, 16);
		out.parent = (int32_t)word(record, 20);
		return push(t, &out);
	case PERF_RECORD_LOST:
		if (r->told) {
			r->told = false;
			return 0;
		}
		return push_gap(t, ticks_of(t->s, last) + 1, out.tsc);
	}
	return 0;
}

static void copy_out(const struct switch_ring *r, uint64_t at, uint8_t *to, size_t n)
{
	const uint8_t *data = (const uint8_t *)r->page + kernel_page();
	size_t from = at & (r->size - 1), first = MIN(n, r->size - from);

	memcpy(to, data + from, first);
	memcpy(to + first, data, n - first);
}

/* What has happened since the clock was looked at stays for the next time: of what came before it,
 * on another processor, another ring may have been taken already. */
static int take_ring(struct taking *t, struct switch_ring *r)
{
	uint64_t head = LOAD(&r->page->data_head);
	bool full = r->size - MIN(head - r->tail, r->size) < RECORD_MOST, later = false;
	int err = 0;

	while (r->tail != head && !err) {
		union {
			struct perf_event_header head;
			uint8_t bytes[RECORD_MOST];
		} u;

		copy_out(r, r->tail, u.bytes, sizeof(u.head));
		if (u.head.size < sizeof(u.head) + ID_BYTES || u.head.size > head - r->tail)
			break;
		if (u.head.size <= RECORD_MOST) {
			copy_out(r, r->tail, u.bytes, u.head.size);
			later = !full && time_of(u.bytes, &u.head) > t->s->now.ns;
			if (later)
				break;
			err = take_record(t, r, u.bytes, &u.head);
		}
		r->tail += u.head.size;
	}
	full |= r->tail != head && !later;
	r->tail = later ? r->tail : head;
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
	r->told |= full;
	return err || !full ? err :
		push_gap(t, ticks_of(t->s, r->last) + 1, arch_ticks() + SEEN_AFTER);
}

/* ---- all of them --------------------------------------------------------- */

/* Was there something since the last time by which times cannot be converted: a machine that
 * slept, or went on elsewhere? */
static bool clock_jumped(const struct switches *s)
{
	uint64_t ticks = s->before.ticks - s->first.ticks, ns = s->before.ns - s->first.ns, even;

	if (!ticks || !ns)
		return false;
	even = (uint64_t)((unsigned __int128)(s->now.ticks - s->before.ticks) * ns / ticks);
	ns = s->now.ns - s->before.ns;
	return MAX(even, ns) - MIN(even, ns) > ns / 256 + PAIR_OFF;
}

/* False: it could not be told well enough. */
static bool look_at_clock(struct switches *s)
{
	struct clock_pair pair = { 0 };
	uint64_t off = UINT64_MAX;

	for (int i = 0; i < PAIR_TRIES && off > PAIR_OFF / 64; i++) {
		struct clock_pair next = { 0 };
		uint64_t next_off = clock_pair(CLOCK_MONOTONIC_RAW, &next);

		if (next_off >= off)
			continue;
		off = next_off;
		pair = next;
	}
	if (pair.ticks <= s->now.ticks || pair.ns <= s->now.ns)
		return false;
	s->before = s->now;
	s->now = pair;
	return off <= PAIR_OFF && !clock_jumped(s);
}

void switches_begin(struct switches *s)
{
	clock_pair(CLOCK_MONOTONIC_RAW, &s->first);
	s->now = s->first;
}

/* A processor that was not there has no events of ours; from then on nothing is known. */
static bool sees_all(struct switches *s)
{
	char text[sizeof(s->online)];
	ssize_t n = pread(s->online_fd, text, sizeof(text) - 1, 0);

	if (n >= 0)
		text[n] = '\0';
	s->blind |= n < 0 || strcmp(text, s->online) != 0;
	return !s->blind;
}

int switches_take(struct switches *s, struct thread_switch **v, size_t *n, size_t *cap)
{
	struct taking t = { s, v, n, cap };
	size_t held = *n;
	bool even = look_at_clock(s);
	int err = even ? 0 : push_gap(&t, s->before.ticks + 1, s->now.ticks);

	for (size_t i = 0; i < s->nrings && !err; i++)
		err = take_ring(&t, &s->rings[i]);
	if (!err && !s->blind && !sees_all(s))
		err = push(&t, &(struct thread_switch){ .tsc = s->before.ticks + 1,
							.kind = SWITCH_GAP });
	if (!err && *n > held)
		base_sort(*v, *n, sizeof(**v));
	return err;
}
