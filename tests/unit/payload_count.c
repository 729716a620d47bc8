/* SPDX-License-Identifier: MIT */
/*
 * Where calls are counted: is each call of each thread, and of handlers that interrupt
 * them, counted once; what becomes of those that have no counter; and does a thread that counts
 * keep out of a session that records, and one that records out of one that counts?
 */
#include <signal.h>
#include <sys/time.h>
#include "tests/unit/payload_forks.h"

enum { THREADS = 8, CALLS = 200000, SUBBUFS = 1, RINGS = 4 };

#define COUNTERS (SUBBUFS * SUBBUF_SIZE / sizeof(uint64_t))

static struct world w;
static probed_fn *one, *two, *far_off, *recorded;
static volatile sig_atomic_t signals;

static uint64_t *counters(uint32_t ring)
{
	return (uint64_t *)((char *)world_ring(&w, ring) + PAGE);
}

static uint64_t counts(uint32_t func)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < w.s->nrings; i++)
		n += counters(i)[func];
	return n;
}

static void fresh(uint32_t nrings, bool counting)
{
	w.s = world_session(nrings, SUBBUFS);
	w.s->counting = counting;
	world_hello()(w.s);
	world_lead(&w);
	MUST_EQ(w.s->state, SESSION_READY);
}

static void *work(void *arg)
{
	for (int i = 0; i < CALLS; i++) {
		one(NULL);
		if (i % 2)
			two(NULL);
	}
	return NULL;
}

static void run_threads(int n)
{
	pthread_t t[THREADS];

	for (int i = 0; i < n; i++)
		MUST(!pthread_create(&t[i], NULL, work, NULL));
	for (int i = 0; i < n; i++)
		MUST(!pthread_join(t[i], NULL));
}

/* One after another, they have the same ring, if the last are kept. */
static void test_threads(void)
{
	fresh(THREADS, true);
	w.s->keep_last = 1;
	run_threads(THREADS / 2);
	run_threads(THREADS / 2);
	for (int i = 0; i < 20; i++)
		run_threads(1);
	MUST_EQ(counts(1), (THREADS + 20ull) * CALLS);
	MUST_EQ(counts(2), (THREADS + 20ull) * CALLS / 2);
	MUST_EQ(w.s->lost_entries, 0);
}

static void on_alarm(int sig)
{
	signals++;
	one(NULL);
}

static void test_signals(void)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };
	uint64_t made = 0;

	fresh(RINGS, true);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; signals < 2000; made++)
		one(NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	MUST_EQ(counts(1), made + (uint64_t)signals);
	MUST_EQ(w.s->lost_entries, 0);
}

static void test_no_counter(void)
{
	fresh(RINGS, true);
	far_off(NULL);
	far_off(NULL);
	MUST_EQ(w.s->lost_entries, 2);
	one(NULL);
	MUST_EQ(counts(1), 1);
}

/* No thread looks for one again for some time. */
static void test_no_ring(void)
{
	fresh(1, true);
	one(NULL);
	run_threads(1);
	MUST_EQ(counts(1) + counts(2), 1);
	MUST_EQ(w.s->lost_entries, CALLS + CALLS / 2);
}

static void test_other_kind(void)
{
	fresh(RINGS, true);
	one(NULL);
	recorded(NULL);
	MUST_EQ(world_ring_of(&w, 0)->head, 0);
	MUST_EQ(counts(1), 1);
	MUST_EQ(w.s->lost_entries + w.s->lost_exits, 0);
	fresh(RINGS, false);
	recorded(NULL);
	for (int i = 0; i < 5; i++)
		one(NULL);
	MUST_EQ(world_ring_of(&w, 0)->head, 1);
	MUST_EQ(world_thread(&w, world_ring_of(&w, 0))->counted, 0);
	MUST_EQ(w.s->lost_entries + w.s->lost_exits, 0);
}

/* The counters of a session that is over are no thread's. */
static void test_over(void)
{
	struct world old;
	uint64_t before;

	fresh(RINGS, true);
	one(NULL);
	old = w;
	before = counts(1);
	fresh(RINGS, true);
	one(NULL);
	MUST_EQ(counts(1), 1);
	w.s->state = SESSION_CLOSED;
	world_thread(&w, world_ring_of(&w, 0))->counted = 0;
	one(NULL);
	MUST_EQ(counts(1), 1);
	w = old;
	MUST_EQ(counts(1), before);
}

/* A handler forks a child at each instruction: its thread's memory is wiped. */
static void test_fork_steps(void)
{
	fresh(RINGS, true);
	uint64_t made = fork_at_steps(one);

	/* Those that were forked right before the call was counted have counted it, too. */
	MUST(counts(1) >= made && counts(1) <= made + 4);
}

/* A forked child counts if that is wanted, in a ring of its own. */
static void test_fork(bool follow)
{
	fresh(RINGS, true);
	w.s->follow_forks = follow;
	fork_between(one, 100);
	MUST_EQ(counts(1), follow ? 102 : 2);
}

int main(void)
{
	world_begin(&w, RINGS, SUBBUFS);
	/* A forked child is known by its own id. */
	w.s->tid_offset = world_tid_offset();
	one = counted(&w, 1, NULL);
	far_off = counted(&w, COUNTERS, NULL);
	recorded = probed(&w, 3, NULL);
	two = counted(&w, 2, NULL);
	test_threads();
	test_signals();
	test_no_counter();
	test_other_kind();
	test_over();
	if (CAN_STEP)
		test_fork_steps();
	test_fork(false);
	test_fork(true);
	test_no_ring();
	return 0;
}
