/* SPDX-License-Identifier: MIT */
/* Do rings that keep the last hold the last, whole, and count what went? */
#include "tests/unit/payload_world.h"

#include <fcntl.h>

#include "injector/reader/reader.h"
#include "injector/reader/ring_snapshot.h"

enum { SUBS = 4, FUNCS = 61 };
enum { SMALL = 8192, OWN = 2, BANK = 5 };	/* a session as it is in a file */

static struct world w;
static probed_fn *funcs[FUNCS];
static uint64_t recorded_before;	/* events, by the first thread */
static struct reader_func names[FUNCS + 1];

/* Functions 1, 2, ... FUNCS, again and again: what is missing shows. */
static void call_all(unsigned int rounds)
{
	for (unsigned int i = 0; i < rounds; i++)
		for (int f = 0; f < FUNCS; f++)
			funcs[f](NULL);
}

static void take(struct ring_snapshot *ret)
{
	struct segment seg = { .fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC),
			       .at = w.s->base, .size = w.s->size };
	struct session head = *w.s;

	MUST(seg.fd >= 0);
	MUST(!ring_snapshot_take(&seg, &head, ret));
	close(seg.fd);
}

/* ---- what a copy holds --------------------------------------------------- */

struct seen {
	uint64_t events, lost, before;
	uint32_t last[64], open[64];	/* by thread: function */
	uint32_t threads;
};

static int see(void *ctx, const struct event *e)
{
	struct seen *s = ctx;
	uint32_t *last = &s->last[e->thread];

	MUST(e->thread < 64);
	s->threads = e->thread + 1 > s->threads ? e->thread + 1 : s->threads;
	s->lost += e->kind == EVENT_LOST ? e->lost : 0;
	s->before += e->kind == EVENT_BEFORE;
	s->events += e->kind == EVENT_ENTRY || e->kind == EVENT_EXIT || e->kind == EVENT_BEFORE;
	if (e->kind == EVENT_ENTRY) {
		MUST_EQ(s->open[e->thread], 0);
		if (*last)
			MUST_EQ(e->func, *last % FUNCS + 1);
		*last = s->open[e->thread] = e->func;
	} else if (e->kind == EVENT_EXIT || e->kind == EVENT_BEFORE) {
		if (*last)
			MUST_EQ(e->func, *last);
		*last = e->func;
		s->open[e->thread] = 0;
	}
	return 0;
}

static void look(const struct ring_snapshot *still, struct seen *ret)
{
	struct reader *r;

	memset(ret, 0, sizeof(*ret));
	MUST(!reader_new(still->map, still->size, getpid(), names, FUNCS + 1, &r));
	while (reader_drain(r, true, see, ret) > 0)
		;
	reader_free(r);
}

/* By a thread that has so many sub-buffers. */
static void test_last_are_kept(unsigned int subs)
{
	const uint64_t words = (w.s->sub_size - sizeof(struct subbuf)) / 8;
	struct ring_snapshot still;
	struct seen seen;

	for (unsigned int rounds = 1; rounds < 2000; rounds = 3 * rounds + 1) {
		uint64_t before, all;

		take(&still);
		look(&still, &seen);
		before = seen.events + still.overwritten;
		ring_snapshot_clear(&still);
		call_all(rounds);
		take(&still);
		look(&still, &seen);
		all = seen.events + still.overwritten;
		MUST_EQ(all - before, 2 * rounds * FUNCS);
		MUST(seen.events <= subs * words);
		MUST(!still.overwritten || seen.events > (subs - 2) * words);
		MUST_EQ(seen.lost, 0);
		MUST_EQ(still.lost, 0);
		MUST(seen.before <= 1);
		ring_snapshot_clear(&still);
	}
	MUST_EQ(seen.threads, 1);
}

/* ---- rings with a bank, and without one ---------------------------------- */

static void *keep_few(void *unused)
{
	struct ring *mine;
	struct ring_snapshot still;
	struct seen seen;

	call_all(3000);
	mine = world_ring_of(&w, 0);
	MUST_EQ(mine->bank, 0);
	MUST(mine->head > 100 && mine->head - mine->tail == OWN);
	take(&still);
	look(&still, &seen);
	MUST_EQ(seen.threads, 2);
	MUST_EQ(seen.lost, 0);
	MUST_EQ(seen.events + still.overwritten, recorded_before + 2 * 3000 * FUNCS);
	ring_snapshot_clear(&still);
	return unused;
}

/* The first thread that records has one, the next has not, and each keeps as many as it has
 * room for: no thread writes to another's. */
static void test_banks(void)
{
	struct ring_snapshot still;
	struct seen seen;
	pthread_t t;

	w.s = world_session(4, SUBS);
	w.s->sub_size = SMALL;
	w.s->nsub = OWN;
	w.s->ring_stride = PAGE + OWN * SMALL;
	w.s->banks_off = w.s->rings_off + w.s->nrings * w.s->ring_stride;
	w.s->bank_subs = BANK;
	w.s->nbanks = 1;
	w.s->keep_last = 1;
	w.s->started = 1;
	world_hello()(w.s);
	world_lead(&w);
	test_last_are_kept(OWN + BANK);
	MUST_EQ(world_ring_of(&w, 0)->bank, 1);
	take(&still);
	look(&still, &seen);
	recorded_before = seen.events + still.overwritten;
	ring_snapshot_clear(&still);
	MUST(!pthread_create(&t, NULL, keep_few, NULL));
	MUST(!pthread_join(t, NULL));
	MUST_EQ(((uint8_t *)w.s)[w.s->banks_off + BANK * SMALL], 0);
}

/* ---- while they are written ---------------------------------------------- */

static volatile bool stop;

static void *call_on(void *unused)
{
	while (!stop)
		call_all(100);
	return NULL;
}

/* Copies are made of rings that go round several times meanwhile, and yet no word
 * of another round is in them. */
static void test_copy_of_moving_rings(void)
{
	pthread_t thread[2];
	uint64_t events = 0;

	stop = false;
	for (int i = 0; i < 2; i++)
		MUST(!pthread_create(&thread[i], NULL, call_on, NULL));
	for (int i = 0; i < 100; i++) {
		struct ring_snapshot still;
		struct seen seen;

		take(&still);
		look(&still, &seen);
		events += seen.events;
		ring_snapshot_clear(&still);
	}
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	MUST(events);
}

/* ---- threads that end ---------------------------------------------------- */

static void *call_once(void *rounds)
{
	call_all((unsigned int)(uintptr_t)rounds);
	return NULL;
}

static unsigned int rings_used(void)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < w.s->nrings; i++)
		n += ((struct ring *)(w.s->base + w.s->rings_off +
				      i * w.s->ring_stride))->head != 0;
	return n;
}

/* libc gives the stack of a thread that has ended to the next one, with its thread
 * pointer: then that goes on with the ring, and both are in it. */
static void test_rings_are_inherited(void)
{
	unsigned int before = rings_used();
	uint64_t lost = w.s->lost_entries;
	struct ring_snapshot still;
	struct seen seen;
	pthread_t t;

	for (int i = 0; i < 40; i++) {
		MUST(!pthread_create(&t, NULL, call_once, (void *)3));
		pthread_join(t, NULL);
	}
	MUST(rings_used() <= before + 2);
	MUST_EQ(w.s->lost_entries, lost);
	take(&still);
	look(&still, &seen);
	MUST(seen.threads >= SUBS);
	ring_snapshot_clear(&still);
}

int main(void)
{
	world_begin(&w, 16, SUBS);
	w.s->keep_last = 1;
	w.s->started = 1;
	for (uint32_t f = 0; f < FUNCS; f++) {
		funcs[f] = probed(&w, f + 1, NULL);
		names[f + 1] = (struct reader_func){ .name = "f", .module = "m" };
	}
	test_last_are_kept(SUBS);
	test_copy_of_moving_rings();
	test_rings_are_inherited();
	test_banks();
	return 0;
}
