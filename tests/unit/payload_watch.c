/* SPDX-License-Identifier: MIT */
/*
 * Is it noticed, once, that a call of a watched function took too long; and is what was
 * recorded before it kept from then on, with every event counted, until it is armed
 * again?
 */
#include <fcntl.h>
#include <setjmp.h>
#include <time.h>

#include "injector/reader/reader.h"
#include "injector/reader/ring_snapshot.h"
#include "tests/unit/payload_world.h"

enum { SUBS = 6, WATCHED = 1, STEP = 2, ROUNDS = 200000, LIMIT = 2500000 /* ticks */ };

#define NEVER (UINT64_MAX / 2)

static struct world w;
static probed_fn *watched, *jumped, *recursive, *step;
static struct reader_func names[] = {
	{ .name = "?" }, { .name = "watched" }, { .name = "step" },
};
static jmp_buf back;

static uint64_t clock_now(void)
{
	return reader_now();
}

static void be_slow(void *arg)
{
	uint64_t begin = clock_now();

	while (arg && clock_now() - begin <= *(const uint64_t *)arg)
		;
}

static void leave(void *arg)
{
	longjmp(back, 1);
}

static void again(void *arg)
{
	int *depth = arg;

	if (--*depth)
		recursive(depth);
}

static void flood(void)
{
	for (int i = 0; i < ROUNDS; i++)
		step(NULL);
}

static void emit_watched(uint64_t kind, const uint8_t *routine)
{
	emit_record(&w, kind | (uint64_t)WATCHED << REC_FUNC_SHIFT, routine);
}

static probed_fn *make_watched(probed_fn *body)
{
	probed_fn *f = (probed_fn *)here(&w);

	emit_watched(REC_ENTRY, hot_begin + hot_table.watch_entry);
	emit_call(&w, body);
	emit_watched(REC_EXIT, hot_begin + hot_table.watch_exit);
	emit_ret(&w);
	return f;
}

struct held {
	uint64_t events, before;	/* all; before the slow call began */
	uint64_t counted;		/* held, overwritten and lost */
};

static int see(void *ctx, const struct event *e)
{
	struct held *h = ctx;

	if (e->kind != EVENT_ENTRY && e->kind != EVENT_EXIT && e->kind != EVENT_BEFORE)
		return 0;
	h->events++;
	h->before += e->tsc < w.s->fired_begin;
	return 0;
}

static struct held look(void)
{
	struct segment seg = { .fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC),
			       .at = w.s->base, .size = w.s->size };
	struct session head = *w.s;
	struct held h = { 0 };
	struct reader *r;
	struct ring_snapshot still;

	MUST(!ring_snapshot_take(&seg, &head, &still));
	MUST(!reader_new(still.map, still.size, getpid(), names, 3, &r));
	while (reader_drain(r, true, see, &h) > 0)
		;
	h.counted = h.events + still.overwritten + still.lost;
	reader_free(r);
	ring_snapshot_clear(&still);
	close(seg.fd);
	return h;
}

/* As the injector does. */
static void arm(void)
{
	struct thread *t = world_thread(&w, world_ring_of(&w, 0));

	w.s->fired = WATCH_ARMED;
	t->full_tail = UINT64_MAX;
}

static void test_quick(void)
{
	int depth = THREAD_WATCHED;

	for (int i = 0; i < 1000; i++)
		watched(NULL);
	recursive(&depth);
	MUST_EQ(w.s->fired, WATCH_ARMED);
}

/* What was left is forgotten when another call stands where it stood. */
static void test_left(void)
{
	struct thread *t = world_thread(&w, world_ring_of(&w, 0));

	for (volatile int i = 0; i < 40; i++) {
		if (!setjmp(back))
			jumped(NULL);
		watched(NULL);
	}
	for (int i = 0; i < THREAD_WATCHED; i++)
		MUST_EQ(t->watched[i].sp, 0);
}

static void test_kept(uint32_t times)
{
	uint64_t span = w.s->watches[0].ticks, before = look().counted, lost;
	struct ring *r = world_ring_of(&w, 0);
	struct held h;

	flood();
	MUST_EQ(w.s->fired, WATCH_ARMED);
	lost = r->lost_entries + r->lost_exits;
	watched(&span);
	MUST_EQ(w.s->fired, WATCH_FIRED);
	MUST_EQ(w.s->firings, times);
	MUST_EQ(w.s->fired_func, WATCHED);
	MUST_EQ(w.s->fired_tid, getpid());
	MUST(w.s->fired_end - w.s->fired_begin > span);
	flood();
	/* Another one changes nothing. */
	watched(&span);
	MUST_EQ(w.s->firings, times);
	h = look();
	MUST(h.before > SUBBUF_SIZE / 16);
	MUST(h.events > h.before + SUBBUF_SIZE / 16);
	MUST(r->lost_entries + r->lost_exits > lost);
	MUST_EQ(h.counted - before, 2 * (2 * ROUNDS + 2));
}

/* The last are kept again, and nothing else is lost. */
static void test_armed_again(void)
{
	struct ring *r = world_ring_of(&w, 0);
	uint64_t before = look().counted, lost;

	arm();
	step(NULL);
	lost = r->lost_entries + r->lost_exits;
	flood();
	MUST_EQ(r->lost_entries + r->lost_exits, lost);
	MUST_EQ(look().before, 0);
	MUST_EQ(look().counted - before, 2 * (ROUNDS + 1));
}

/* A second call is about to fire: as its number is not there yet, no ring is full for it. */
static void test_about_to_fire(void)
{
	struct ring *r = world_ring_of(&w, 0);
	uint64_t lost = r->lost_entries + r->lost_exits;

	w.s->fired = WATCH_FIRES;
	flood();
	MUST_EQ(r->lost_entries + r->lost_exits, lost);
	w.s->fired = WATCH_ARMED;
}

/* The step by which the oldest sub-buffer is given up was left before its end. */
static void test_given_up_once(void)
{
	struct ring *r = world_ring_of(&w, 0);
	uint64_t head = r->head, sum = r->overwritten + 12345;

	r->next_tail = head - SUBS + 1;
	r->next_overwritten = sum;
	r->overwritten = sum;
	while (r->head == head)
		step(NULL);
	MUST_EQ(r->tail, head - SUBS + 1);
	MUST_EQ(r->overwritten, sum);
}

int main(void)
{
	world_begin(&w, 2, SUBS);
	w.s->keep_last = 1;
	w.s->started = 1;
	w.s->watches[0] = (struct watch){ .ticks = NEVER, .func = WATCHED };
	w.s->nwatches = 1;
	watched = make_watched(be_slow);
	jumped = make_watched(leave);
	recursive = make_watched(again);
	step = probed(&w, STEP, NULL);
	test_quick();
	test_left();
	w.s->watches[0].ticks = LIMIT;
	for (uint32_t i = 1; i <= 3; i++) {
		test_kept(i);
		test_armed_again();
		test_about_to_fire();
	}
	test_given_up_once();
	return 0;
}
