/* SPDX-License-Identifier: MIT */
/*
 * Where calls are timed: is each call of each thread, and of handlers that interrupt
 * them, counted and timed once; does each come into the bucket of what it took, and no
 * time of those within it into its own; what becomes of calls that are left without an
 * exit, or begin too deep; and which thread stays out of which session?
 */
#include <setjmp.h>
#include <sys/time.h>
#include "arch/clock.h"
#include "injector/proc/kernel.h"
#include "injector/show/counts.h"
#include "tests/unit/payload_forks.h"

enum { THREADS = 8, CALLS = 20000, SUBBUFS = TIMING_SIDES / SUBBUF_SIZE + 1, RINGS = 4 };

#define FUNCS timing_funcs((uint64_t)SUBBUFS * SUBBUF_SIZE)

static struct world w;
static probed_fn *one, *two, *outer, *deep, *leaver, *spins, *far_off, *recorded, *entered;
static volatile sig_atomic_t signals;
static sigjmp_buf middle;
static int depth;

static struct timing *timing(uint32_t ring, uint32_t func)
{
	return (struct timing *)((char *)world_ring(&w, ring) + TIMINGS_OFF) + func;
}

static uint64_t calls(uint32_t func)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < w.s->nrings; i++)
		n += ((uint64_t *)timing(i, FUNCS))[func] & ~TIMING_TAKEN;
	return n;
}

/* All rings together where, as the reader sees it, the function was called. */
static struct timing sum(uint32_t func)
{
	struct timing all = { 0 };

	for (uint32_t i = 0; i < w.s->nrings; i++) {
		struct timing *f = timing(i, func);

		if (!((uint64_t *)timing(i, FUNCS))[func])
			continue;
		all.total += f->total;
		all.self += f->self;
		all.unwound += f->unwound;
		all.most = all.most < f->most ? f->most : all.most;
		for (int j = 0; j < BUCKETS; j++)
			all.buckets[j] += f->buckets[j];
	}
	return all;
}

static uint64_t ended(uint32_t func)
{
	struct timing all = sum(func);
	uint64_t n = 0;

	for (int i = 0; i < BUCKETS; i++)
		n += all.buckets[i];
	return n;
}

static void check_calls(uint32_t func, uint64_t n)
{
	MUST_EQ(calls(func), n);
	MUST_EQ(ended(func), n);
}

static void fresh(uint32_t nrings, enum counting counting)
{
	w.s = world_session(nrings, SUBBUFS);
	w.s->counting = counting;
	w.s->scale = 1ull << (64 - SCALE_SHIFT);	/* a tick is a nanosecond */
	world_hello()(w.s);
	world_lead(&w);
	MUST_EQ(w.s->state, SESSION_READY);
}

static void *work(void *arg)
{
	for (int i = 0; i < CALLS; i++) {
		outer(NULL);
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

/* One after another, they have the same ring, if the last are kept. Of what takes its
 * time outside of itself, it has no more than that. */
static void test_threads(void)
{
	fresh(THREADS, COUNT_TIMES);
	w.s->keep_last = 1;
	run_threads(THREADS / 2);
	run_threads(THREADS / 2);
	for (int i = 0; i < 20; i++)
		run_threads(1);
	check_calls(1, (THREADS + 20ull) * CALLS);
	check_calls(2, (THREADS + 20ull) * CALLS / 2);
	check_calls(3, (THREADS + 20ull) * CALLS);
	MUST_EQ(sum(3).self + sum(1).total, sum(3).total);
	MUST_EQ(sum(1).self, sum(1).total);
	MUST_EQ(w.s->lost_entries, 0);
}

static void on_alarm(int sig)
{
	signals++;
	outer(NULL);
}

/* Wherever a handler comes, on the same stack or one of its own. */
static void test_signals(int flags)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };
	struct sigaction act = { .sa_handler = on_alarm, .sa_flags = flags };
	uint64_t made = 0, lost;

	fresh(RINGS, COUNT_TIMES);
	signals = 0;
	MUST(!sigaction(SIGALRM, &act, NULL));
	setitimer(ITIMER_REAL, &often, NULL);
	for (; signals < 2000; made++)
		outer(NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	/* What comes in the middle of a slow path is lost, and counted. */
	lost = world_ring_of(&w, 0)->lost_entries;
	MUST_EQ(world_ring_of(&w, 0)->lost_exits, lost);
	MUST_EQ(calls(1) + calls(3) + lost, 2 * (made + (uint64_t)signals));
	MUST_EQ(ended(1) + ended(3) + lost, 2 * (made + (uint64_t)signals));
	MUST(lost < (uint64_t)signals);
	/*
	 * A handler that comes between a frame and its offset has had the same place; if another
	 * one comes before that is settled, the call passes for one that was left. Under an
	 * emulator, where handlers take longer than they are apart, that is one of 4000.
	 */
	MUST(sum(1).unwound + sum(3).unwound <= 2);
}

static uint64_t steps, stop_at;
static bool hit, leaves;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	if (++steps != stop_at)
		return;
	stop_stepping(context);
	hit = true;
	outer(NULL);
	if (leaves)
		siglongjmp(middle, 1);
}

/* True if it was left. */
static bool call_or_leave(probed_fn *f)
{
	if (sigsetjmp(middle, 1))
		return true;
	steps = 0;
	hit = false;
	call_stepping(f);
	return false;
}

/* What one call adds, and a handler's two, at whichever instruction that comes; if it
 * does not come back, the call that it has interrupted may be missing, or be left. */
static void step(uint64_t n)
{
	uint64_t began = calls(1) + calls(3), over = ended(1) + ended(3), made;
	uint64_t lost = world_ring_of(&w, 0)->lost_entries;
	bool left;

	stop_at = n;
	left = call_or_leave(one);
	one(NULL);
	made = 1 + !left + (hit ? 2 : 0);
	lost = world_ring_of(&w, 0)->lost_entries - lost;
	began = calls(1) + calls(3) + lost - began;
	over = ended(1) + ended(3) + lost - over;
	MUST(began >= made && began <= made + left);
	MUST(over >= made && over <= made + left);
}

/* On the fast path, and on the slow one. */
static void test_steps(int flags, bool slow)
{
	struct sigaction act = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | flags };
	uint64_t n = 1;

	fresh(RINGS, COUNT_TIMES);
	one(NULL);
	MUST(!sigaction(SIGTRAP, &act, NULL));
	do {
		if (slow)
			world_thread(&w, world_ring_of(&w, 0))->end = 0;
		step(n++);
	} while (hit);
	MUST(n > 100);
}

static uint64_t spin_for, spun;

static void spin(void *arg)
{
	uint64_t began = arch_ticks();

	do
		spun = arch_ticks() - began;
	while (spun < spin_for);
}

/* The one bucket that has one more than before; -1: none has, or more than one. */
static int bucket_of_last(struct timing *before)
{
	struct timing now = sum(5);
	int bucket = -1;

	for (int i = 0; i < BUCKETS; i++) {
		if (now.buckets[i] == before->buckets[i])
			continue;
		if (bucket >= 0 || now.buckets[i] != before->buckets[i] + 1)
			return -1;
		bucket = i;
	}
	*before = now;
	return bucket;
}

/* A call is in the bucket of its time: no less than what passed within, no more than around it. */
static void test_buckets(void)
{
	for (uint32_t i = 8; i < 44; i++) {
		uint64_t n = i > 30 ? 3 : 200, within = 0, around = 0;
		struct timing before = { 0 };

		fresh(RINGS, COUNT_TIMES);
		spin_for = timing_from(i) + timing_from(i) / 8;
		for (uint64_t j = 0; j < n; j++) {
			uint64_t began = arch_ticks(), all;
			int bucket;

			spins(NULL);
			all = arch_ticks() - began;
			bucket = bucket_of_last(&before);
			MUST(bucket >= (int)timing_bucket(spun));
			MUST(bucket <= (int)timing_bucket(all));
			within += spun;
			around += all;
		}
		check_calls(5, n);
		MUST(sum(5).total >= within && sum(5).total <= around);
		MUST(sum(5).most >= spin_for && sum(5).most <= sum(5).total);
	}
}

static void nest(void *arg)
{
	if (--depth > 0)
		deep(NULL);
}

/* What has no frame is counted, and no time of it; all else is timed. */
static void test_depth(void)
{
	fresh(RINGS, COUNT_TIMES);
	depth = 1000;
	deep(NULL);
	check_calls(4, 1000);
	MUST(sum(4).self * 2 < sum(4).total);
	depth = 20000;
	deep(NULL);
	MUST_EQ(calls(4), 21000);
	MUST(ended(4) > 1000 + 7000 && ended(4) < 1000 + 8192);
	depth = 1000;
	deep(NULL);
	MUST(ended(4) > 2000 + 7000 && ended(4) < 2000 + 8192);
	MUST_EQ(sum(4).unwound, 0);
}

static void jump_out(void *arg)
{
	siglongjmp(middle, 1);
}

static void leave_twice(void *arg)
{
	leaver(NULL);
}

/* What is left ends when the next call that is further up begins, or ends. */
static void test_left(void)
{
	fresh(RINGS, COUNT_TIMES);
	for (int i = 0; i < 100; i++) {
		if (!sigsetjmp(middle, 0))
			entered(NULL);
		one(NULL);
	}
	check_calls(6, 100);
	check_calls(7, 100);
	MUST_EQ(sum(6).unwound, 100);
	MUST_EQ(sum(7).unwound, 100);
	MUST_EQ(sum(1).unwound, 0);
	check_calls(1, 100);
}

static ucontext_t fiber, back;

static void on_fiber(void)
{
	for (;;) {
		outer(NULL);
		swapcontext(&fiber, &back);
	}
}

/* A call in the middle of which another fiber runs. */
static void switch_over(void *arg)
{
	swapcontext(&back, &fiber);
}

static void test_fiber(void)
{
	probed_fn *switches = timed(&w, 8, switch_over);
	static char stack[256 * 1024];

	fresh(RINGS, COUNT_TIMES);
	MUST(!getcontext(&fiber));
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = sizeof(stack);
	makecontext(&fiber, on_fiber, 0);
	for (int i = 0; i < 1000; i++)
		switches(NULL);
	check_calls(8, 1000);
	check_calls(3, 1000);
	check_calls(1, 1000);
	MUST_EQ(sum(8).unwound + sum(3).unwound + sum(1).unwound, 0);
}

enum { FIBERS = 60, STACK = 32 * 1024, WAITS = 10 };

static ucontext_t fibers[FIBERS];
static probed_fn *waits[FIBERS];
static int running;

static void leave_fiber(void *arg)
{
	swapcontext(&fibers[running], &back);
}

static void live(void)
{
	waits[running](NULL);
	leave_fiber(NULL);
}

static void *run_fibers(void *arg)
{
	for (running = 0; running < FIBERS; running++)
		MUST(!swapcontext(&back, &fibers[running]));
	return NULL;
}

/* A thread that has never called these functions ends their calls, half of which had lost
 * their places in the thread where they began. */
static void test_taken(void)
{
	static char stacks[FIBERS][STACK];
	pthread_t t;

	fresh(RINGS, COUNT_TIMES);
	for (int i = 0; i < FIBERS; i++) {
		waits[i] = timed(&w, WAITS + (uint32_t)i, leave_fiber);
		MUST(!getcontext(&fibers[i]));
		fibers[i].uc_stack.ss_sp = stacks[i];
		fibers[i].uc_stack.ss_size = STACK;
		makecontext(&fibers[i], live, 0);
	}
	MUST(!pthread_create(&t, NULL, run_fibers, NULL));
	MUST(!pthread_join(t, NULL));
	run_fibers(NULL);
	for (uint32_t i = 0; i < FIBERS; i++) {
		check_calls(WAITS + i, 1);
		MUST_EQ(sum(WAITS + i).unwound, 0);
	}
}

static void test_no_room(void)
{
	fresh(RINGS, COUNT_TIMES);
	far_off(NULL);
	far_off(NULL);
	MUST_EQ(world_ring_of(&w, 0)->lost_entries, 2);
	one(NULL);
	check_calls(1, 1);
}

static void test_other_kind(void)
{
	fresh(RINGS, COUNT_TIMES);
	one(NULL);
	for (int i = 0; i < 5; i++)
		recorded(NULL);
	MUST_EQ(world_ring_of(&w, 0)->head, 0);
	check_calls(1, 1);
	check_calls(9, 0);
	fresh(RINGS, COUNT_NONE);
	recorded(NULL);
	for (int i = 0; i < 5; i++)
		one(NULL);
	MUST_EQ(world_ring_of(&w, 0)->head, 1);
	MUST_EQ(world_thread(&w, world_ring_of(&w, 0))->timed, 0);
	MUST_EQ(w.s->lost_entries + w.s->lost_exits, 0);
	fresh(RINGS, COUNT_CALLS);
	one(NULL);
	MUST_EQ(w.s->lost_entries + w.s->lost_exits, 0);
}

/* A handler forks a child at each instruction: its thread's memory is wiped. */
static void test_fork_steps(void)
{
	fresh(RINGS, COUNT_TIMES);
	uint64_t made = fork_at_steps(one);

	/* Those that were forked right before that have begun it, or ended it, too. */
	MUST(calls(1) >= made && calls(1) < made + 30);
	MUST(ended(1) >= made && ended(1) < made + 60);
}

/* A forked child has its own ring, if that is wanted. */
static void test_fork(bool follow)
{
	fresh(RINGS, COUNT_TIMES);
	w.s->follow_forks = follow;
	fork_between(one, 100);
	check_calls(1, follow ? 102 : 2);
}

enum { MANY_SUBBUFS = SUBBUFS + 64, MANY = 5000 };

/* Pages of a ring's timings that are there. */
static size_t pages_there(void)
{
	uintptr_t at = (uintptr_t)world_ring_of(&w, 0) + TIMINGS_OFF, page = kernel_page();
	static unsigned char there[MANY * sizeof(struct timing) / PAGE + 1];
	uintptr_t first = ALIGN_DOWN(at, page), end = at + MANY * sizeof(struct timing);
	size_t n = 0;

	MUST(!mincore((void *)first, end - first, there));
	for (size_t i = 0; i < (end - first + page - 1) / page; i++)
		n += there[i] & 1;
	return n;
}

/* Does the reader have the same sums, and makes no memory of what was never called? */
static void test_reader(void)
{
	static struct reader_func funcs[MANY];
	static uint64_t counted_calls[MANY];
	static struct timing timings[MANY];
	struct reader *r;
	size_t before;

	w.s = world_session(RINGS, MANY_SUBBUFS);
	w.s->counting = COUNT_TIMES;
	w.s->keep_last = 1;
	w.s->scale = 1ull << (64 - SCALE_SHIFT);
	for (int i = 0; i < MANY; i++)
		funcs[i] = (struct reader_func){ .name = "f", .module = "m" };
	world_hello()(w.s);
	world_lead(&w);
	MUST(!reader_new(w.s, w.s->size, getpid(), funcs, MANY, &r));
	for (int i = 0; i < 100; i++)
		outer(NULL);
	before = pages_there();
	MUST(before > 0 && before <= 2);
	reader_counts(r, counted_calls, MANY);
	reader_timings(r, counted_calls, timings, MANY);
	MUST_EQ(counted_calls[1], 100);
	MUST_EQ(counted_calls[3], 100);
	MUST_EQ(counted_calls[2], 0);
	MUST_EQ(timing_ended(&timings[1]), 100);
	MUST_EQ(timing_ended(&timings[3]), 100);
	MUST_EQ(timings[3].total, timings[3].self + timings[1].total);
	MUST_EQ(pages_there(), before);
	reader_free(r);
}

static void *call_far_off(void *arg)
{
	far_off(NULL);
	return NULL;
}

/* Does the reader tell what threads have lost that had the same ring, one after another? */
static void test_lost(void)
{
	static const struct reader_func funcs[1];
	struct reader_stats stats;
	struct reader *r;
	pthread_t t;

	fresh(RINGS, COUNT_TIMES);
	w.s->keep_last = 1;
	MUST(!reader_new(w.s, w.s->size, getpid(), funcs, 1, &r));
	for (int i = 0; i < 10; i++) {
		MUST(!pthread_create(&t, NULL, call_far_off, NULL));
		MUST(!pthread_join(t, NULL));
	}
	MUST(reader_drain(r, true, NULL, NULL) == 0);
	reader_stats(r, &stats);
	MUST_EQ(stats.lost_entries, 10);
	MUST_EQ(stats.lost, 10);
	reader_free(r);
}

int main(void)
{
	static uint8_t own[65536];
	stack_t ss = { .ss_sp = own, .ss_size = sizeof(own) };

	world_begin(&w, RINGS, SUBBUFS);
	w.s->tid_offset = world_tid_offset();
	one = timed(&w, 1, NULL);
	two = timed(&w, 2, NULL);
	outer = timed(&w, 3, one);
	deep = timed(&w, 4, nest);
	spins = timed(&w, 5, spin);
	leaver = timed(&w, 6, jump_out);
	entered = timed(&w, 7, leave_twice);
	recorded = probed(&w, 9, NULL);
	far_off = timed(&w, FUNCS, NULL);
	test_threads();
	test_signals(0);
	MUST(!sigaltstack(&ss, NULL));
	test_signals(SA_ONSTACK);
	for (int i = 0; i < 8 && CAN_STEP; i++) {
		leaves = i & 1;
		test_steps(i & 2 ? SA_ONSTACK : 0, i & 4);
	}
	test_buckets();
	test_depth();
	test_left();
	test_fiber();
	test_taken();
	test_no_room();
	test_reader();
	test_lost();
	test_other_kind();
	if (CAN_STEP)
		test_fork_steps();
	test_fork(false);
	test_fork(true);
	return 0;
}
