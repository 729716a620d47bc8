/* SPDX-License-Identifier: MIT */
/*
 * reader: from the rings of a session to calls in time order.
 *
 * A drain is one pass over all rings: each is looked at, and the items are
 * merged by time up to the moment when the pass began. What is later waits for
 * the next pass, since a ring that was looked at before may have got something
 * earlier meanwhile.
 */
#include "injector/reader/reader_impl.h"

#include <errno.h>
#include <time.h>

#include "arch/clock.h"
#include "injector/log/clock.h"

enum { LOOK_AT_CLOCK = 64 };	/* items between two looks */

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

/* The geometry is copied before it is checked: it is in shared memory. */
static int check_geometry(struct reader *r, uint64_t size)
{
	uint64_t all;

	r->rings_off = load(&r->session->rings_off);
	r->ring_stride = load(&r->session->ring_stride);
	r->nrings = load(&r->session->nrings);
	r->nsub = load(&r->session->nsub);
	r->sub_size = load(&r->session->sub_size);
	if (!r->nrings || r->nrings > MAX_RINGS || !r->nsub ||
	    r->nsub > SUBBUFS_MOST || !r->sub_size ||
	    r->sub_size > SUBBUF_SIZE || r->sub_size % PAGE ||
	    r->rings_off % PAGE || r->ring_stride % PAGE ||
	    r->ring_stride < PAGE + (uint64_t)r->nsub * r->sub_size ||
	    __builtin_mul_overflow(r->ring_stride, (uint64_t)r->nrings, &all) ||
	    __builtin_add_overflow(r->rings_off, all, &all) || all > size)
		return fail(0, "the session in the target is damaged: %u rings of "
			       "%llu bytes do not fit",
			    r->nrings, (unsigned long long)r->ring_stride);
	return 0;
}

static int check_session(struct reader *r, uint64_t size)
{
	if (size < PAGE || load(&r->session->magic) != SESSION_MAGIC)
		return fail(0, "the session in the target is damaged: no magic number");
	if (load(&r->session->abi) != ABI_VERSION)
		return fail(0, "the session in the target is of another version of inject (%u)",
			    r->session->abi);
	return check_geometry(r, size);
}

static int make_lanes(struct reader *r)
{
	r->lanes = calloc(r->nrings, sizeof(*r->lanes));
	r->heap = calloc(r->nrings, sizeof(*r->heap));
	r->places = calloc((size_t)r->nrings * r->nsub, sizeof(*r->places));
	if (!r->lanes || !r->heap || !r->places)
		return fail(ENOMEM, "read %u rings", r->nrings);
	for (uint32_t i = 0; i < r->nrings; i++) {
		uint8_t *at = r->map + r->rings_off + i * r->ring_stride;
		struct lane *l = &r->lanes[i];

		l->ring = (struct ring *)at;
		l->buffers = at + PAGE;
		l->places = r->places + (size_t)i * r->nsub;
		l->generation = UINT64_MAX;
		l->memory = -1;
		if (load(&l->ring->state) != RING_CLAIMED)
			continue;
		lane_claim(r, l);
		if (r->started)
			continue;
		l->base_entries = l->lost_entries = load(&l->ring->lost_entries);
		l->base_exits = l->lost_exits = load(&l->ring->lost_exits);
	}
	return 0;
}

int reader_new(void *map, size_t size, pid_t pid, const struct reader_func *funcs,
	       size_t nfuncs, struct reader **ret)
{
	struct reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return fail(ENOMEM, "read the session");
	r->map = map;
	r->size = size;
	r->session = map;
	r->pid = pid;
	r->funcs = funcs;
	r->nfuncs = nfuncs;
	r->limit = INT64_MAX;
	namespace_open(pid, &r->ids);
	err = check_session(r, size);
	r->forks = !err && load(&r->session->follow_forks);
	r->started = !err && load(&r->session->started);
	r->kept = !err && load(&r->session->keep_last);
	r->way = ways_of(err ? COUNT_NONE : load(&r->session->counting));
	r->pending = r->way == &way_sifted && !r->started;
	err = err ? err : make_lanes(r);
	if (err) {
		reader_free(r);
		return err;
	}
	r->base_entries = r->started ? 0 : load(&r->session->lost_entries);
	r->base_exits = r->started ? 0 : load(&r->session->lost_exits);
	clock_begin(&r->clock);
	*ret = r;
	return 0;
}

void reader_name(struct reader *r, const struct reader_func *funcs, size_t nfuncs)
{
	r->funcs = funcs;
	r->nfuncs = nfuncs;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; r->lanes && i < r->nrings; i++) {
		struct lane *l = &r->lanes[i];

		for (size_t j = 0; j < l->nstacks; j++)
			calls_forget(r, &l->stacks[j]);
		free(l->stacks);
		free(l->capture);
		free(l->callers);
		threads_forget(l);
	}
	for (size_t i = 0; i < MAX_FIBERS; i++)
		calls_forget(r, &r->fibers[i]);
	free(r->lanes);
	free(r->places);
	free(r->heap);
	namespace_close(&r->ids);
	switches_forget(r);
	plans_forget(r);
	free(r);
}

static bool earlier(const struct lane *a, const struct lane *b)
{
	return a->tsc < b->tsc;
}

static void sift_down(struct reader *r, size_t i)
{
	for (;;) {
		size_t least = i, left = 2 * i + 1, right = left + 1;
		struct lane *swap = r->heap[i];

		if (left < r->nheap && earlier(r->heap[left], r->heap[least]))
			least = left;
		if (right < r->nheap && earlier(r->heap[right], r->heap[least]))
			least = right;
		if (least == i)
			return;
		r->heap[i] = r->heap[least];
		r->heap[least] = swap;
		i = least;
	}
}

/* An item that had to wait was read before this pass: its time cannot lie
 * ahead, whatever it says, or it would wait for ever. */
static void end_wait(struct reader *r, struct lane *l)
{
	if (l->ready && l->waited && l->tsc > r->now)
		l->tsc = MAX(l->last, r->now);
}

/* True if the ring is a thread's, and we know which one's. Where calls are sifted a thread may end
 * that has recorded nothing, and its ring is to be given back all the same. */
static bool reader_look(struct reader *r, struct lane *l)
{
	uint64_t generation;

	if (load(&l->ring->state) != RING_CLAIMED)
		return l->claimed;
	generation = load(&l->ring->generation);
	if (l->claimed && generation == l->generation)
		return true;
	if (l->claimed)
		lane_end(r, l, r->now);
	else if (generation == l->generation ||
		 (r->way != &way_sifted && load(&l->ring->head) == load(&l->ring->tail)))
		return false;
	lane_claim(r, l);
	/* No later pass looks at its thread, and what that has written is read now. */
	if (r->last)
		threads_look_at(r, l);
	return true;
}

static void begin_pass(struct reader *r)
{
	r->fill = 0;
	r->nheap = 0;
	threads_look(r);
	for (uint32_t i = 0; i < r->nrings; i++) {
		struct lane *l = &r->lanes[i];

		if (!r->frozen && reader_look(r, l))
			lane_snapshot(r, l);
		if (!l->claimed)
			continue;
		end_wait(r, l);
		if (lane_peek(r, l))
			r->heap[r->nheap++] = l;
	}
	r->frozen = r->last;
	for (size_t i = r->nheap / 2; i-- > 0;)
		sift_down(r, i);
}

/* What is made of an event may take a thousand times as long for one trace as for another. One
 * that has delivered nothing goes on, for that means that there is no more. */
static bool is_over_time(const struct reader *r, unsigned int step, uint64_t until)
{
	return until && r->delivered && step % LOOK_AT_CLOCK == 0 && clock_monotonic() >= until;
}

static void reader_merge(struct reader *r)
{
	uint64_t horizon = r->last ? UINT64_MAX : r->now;
	uint64_t until = r->most ? clock_monotonic() + r->most : 0;

	for (unsigned int step = 1; r->nheap && !r->err && r->delivered < r->limit &&
	     r->heap[0]->tsc <= horizon && !is_over_time(r, step, until); step++) {
		struct lane *l = r->heap[0];

		lane_take(r, l);
		if (!lane_peek(r, l))
			r->heap[0] = r->heap[--r->nheap];
		sift_down(r, 0);
	}
	r->cut = r->nheap && r->heap[0]->tsc <= horizon;
	for (size_t i = 0; i < r->nheap; i++)
		r->heap[i]->waited = true;
	r->reached = r->nheap ? MIN(r->heap[0]->tsc, r->now) : r->now;
}

/* A thread that has recorded nothing may have lived longer than all that have: then the fibers are
 * not over yet by theirs. */
static void end_target(struct reader *r)
{
	struct lane *l = r->lanes, *end = l + r->nrings;

	while (l < end && l->claimed)
		l++;
	if (l == end)
		return;
	l->pid = l->tid = r->pid;
	l->last = r->over;
	calls_end_fibers(r, l);
	calls_end(r, l);
}

static void end_pass(struct reader *r)
{
	for (uint32_t i = 0; i < r->nrings && !r->err; i++) {
		struct lane *l = &r->lanes[i];

		if (r->last && l->claimed && !l->ready)
			lane_tell_lost(r, l, r->leaves ? r->leaves : r->now);
	}
	if (r->last && r->over && !r->nheap && !r->err)
		end_target(r);
}

int64_t reader_drain(struct reader *r, bool last,
		     int (*each)(void *ctx, const struct event *), void *ctx)
{
	r->now = arch_ticks();
	r->last = last;
	r->each = each;
	r->ctx = ctx;
	r->delivered = 0;
	r->err = 0;
	clock_update(&r->clock);
	begin_pass(r);
	names_look(r);
	if (r->mixture)
		r->err = switches_look(r);
	reader_merge(r);
	pending_look(r);
	held_look(r);
	end_pass(r);
	if (r->mixture)
		switches_settle(r);
	return r->err ? r->err : r->delivered;
}

/* Where calls are timed nothing is read of a ring, which goes from thread to thread as it
 * is: what it says is lost is all that they have lost together. */
static void add_lost(const struct reader *r, const struct lane *l, uint64_t *entries,
		     uint64_t *exits)
{
	if (r->way->pairs) {
		*entries += load(&l->ring->lost_entries);
		*exits += load(&l->ring->lost_exits);
	} else {
		*entries += l->lost_entries - l->base_entries;
		*exits += l->lost_exits - l->base_exits;
	}
}

void reader_stats(const struct reader *r, struct reader_stats *ret)
{
	uint64_t entries = load(&r->session->lost_entries) - r->base_entries;
	uint64_t exits = load(&r->session->lost_exits) - r->base_exits;

	for (uint32_t i = 0; i < r->nrings; i++)
		add_lost(r, &r->lanes[i], &entries, &exits);
	*ret = r->stats;
	if (r->way->pairs)
		ret->lost_entries = ret->lost = 0;
	ret->lost_entries += entries;
	ret->lost += entries + exits;
}

uint64_t reader_lost(const struct reader *r)
{
	uint64_t lost = r->stats.lost + load(&r->session->lost_entries) +
		load(&r->session->lost_exits) - r->base_entries - r->base_exits;

	for (uint32_t i = 0; i < r->nrings; i++) {
		const struct lane *l = &r->lanes[i];

		if (l->claimed)
			lost += load(&l->ring->lost_entries) + load(&l->ring->lost_exits) -
				l->base_entries - l->base_exits;
	}
	return lost;
}

void reader_limit(struct reader *r, uint64_t events, uint64_t ns)
{
	r->most = ns;
	r->limit = events && events < INT64_MAX ? (int64_t)events : INT64_MAX;
}

bool reader_is_cut(const struct reader *r)
{
	return r->cut;
}

uint64_t reader_reached(const struct reader *r)
{
	return r->reached;
}

unsigned reader_fill(const struct reader *r)
{
	return r->fill;
}

void reader_calibrate(struct reader *r)
{
	const struct timespec run = { .tv_nsec = 10000000 };

	nanosleep(&run, NULL);
	clock_update(&r->clock);
}

void reader_leave(struct reader *r)
{
	r->leaves = arch_ticks();
}

void reader_target_gone(struct reader *r)
{
	r->over = r->over ? r->over : arch_ticks();
}

void reader_name_threads(struct reader *r)
{
	r->names = true;
}

void reader_tell_pending(struct reader *r)
{
	r->pending = r->way == &way_sifted && r->pid;
}

uint64_t reader_now(void)
{
	return arch_ticks();
}

const struct clock *reader_clock(const struct reader *r)
{
	return &r->clock;
}
