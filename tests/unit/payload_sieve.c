/* SPDX-License-Identifier: MIT */
/*
 * Where calls are sifted: is each call told that takes long enough, once and with the times that it
 * had, and none that does not; with handlers that come at any time, after a longjmp, on fibers that
 * go from thread to thread, too deep, where the ring is full, and while a call hangs?
 */
#include "tests/unit/payload_sifted.h"

enum { THREADS = 4, TREES = 400 };

static int depth;

static void *plant_many(void *arg)
{
	seed = 7 + (unsigned int)(uintptr_t)arg;
	for (int i = 0; i < TREES; i++)
		plant(5);
	return NULL;
}

static void test_threads(void)
{
	pthread_t t[THREADS];

	fresh(LEAST, SUBBUFS);
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(&t[i], NULL, plant_many, (void *)(uintptr_t)i));
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_join(t[i], NULL));
	drain(true);
	MUST(ntold > 100 && ntold < nmade / 2);
	MUST_EQ(lost(), 0);
	judge(0);
}

/* ---- signals ------------------------------------------------------------- */

static volatile sig_atomic_t signals;

static void on_alarm(int sig)
{
	signals++;
	plant(1);
}

/* What comes in the middle of a slow path is lost; such a call may be a long one. */
static void test_signals(int flags)
{
	struct itimerval often = { { 0, 60 }, { 0, 60 } }, never = { 0 };
	struct sigaction act = { .sa_handler = on_alarm, .sa_flags = flags };

	fresh(LEAST, SUBBUFS);
	signals = 0;
	MUST(!sigaction(SIGALRM, &act, NULL));
	setitimer(ITIMER_REAL, &often, NULL);
	while (signals < 1500 && nmade < MOST - 5000)
		plant(3);
	setitimer(ITIMER_REAL, &never, NULL);
	drain(true);
	MUST(ntold > 20);
	judge(world_ring_of(&w, 0)->lost_entries);
}

/* ---- turns --------------------------------------------------------------- */

static struct thread *mine(void)
{
	return (struct thread *)world_thread(&w, world_ring_of(&w, 0));
}

static bool is_turn(void)
{
	return mine()->cur & SIEVE_TURN;
}

/* The count is full a few paths from here, also under handlers; it never goes back. */
static void turn_soon(void)
{
	struct thread *t = mine();
	uint64_t next = (t->cur | (SIEVE_TURN - 1)) - 2 * draw(40);

	MUST(t->cur & 1);
	if (!is_turn() && next > t->cur)
		t->cur = next;
	plant(3);
}

/* Each turn goes to C once; or, where the thread spends too much, for a sample. */
static void test_turns(uint32_t limit)
{
	struct itimerval often = { { 0, 60 }, { 0, 60 } }, never = { 0 };
	struct sigaction act = { .sa_handler = on_alarm };
	unsigned int sampled = 0, turns = 0;

	fresh(LEAST, SUBBUFS);
	plant(1);
	w.s->cost = 1000;
	w.s->window = 1;
	w.s->limit = limit;
	signals = 0;
	MUST(!sigaction(SIGALRM, &act, NULL));
	setitimer(ITIMER_REAL, &often, NULL);
	while ((signals < 500 || nmade < 8000) && nmade < MOST - 5000) {
		uint64_t before = mine()->cur;
		bool was = is_turn();

		turn_soon();
		MUST(mine()->cur > before);
		turns += mine()->cur / SIEVE_TURN / 2 > before / SIEVE_TURN / 2;
		sampled += was && is_turn();
	}
	setitimer(ITIMER_REAL, &never, NULL);
	drain(true);
	printf("%u turns, %u samples, %zu calls\n", turns, sampled, nmade);
	MUST(turns > 5 && (sampled > 5) == (limit != 0));
	if (!limit)
		judge(world_ring_of(&w, 0)->lost_entries);
	else
		MUST(memchr((char *)w.s + GATES_OFF + 1, 0, 4));
}

/* ---- what is left -------------------------------------------------------- */

static void jump_out(void *arg)
{
	if (arg)
		spin(LEAST + LEAST / 8);
	siglongjmp(middle, 1);
}

static void call_leaver(void *arg)
{
	f[5](arg);
}

static void test_left(void)
{
	size_t unwound;

	fresh(LEAST, SUBBUFS);
	f[5] = sifted(&w, 5, jump_out);
	f[6] = sifted(&w, 6, call_leaver);
	for (int i = 0; i < 200; i++) {
		if (!sigsetjmp(middle, 0))
			f[6](i % 2 ? &depth : NULL);
		f[7](NULL);
	}
	drain(true);
	unwound = 0;
	for (size_t i = 0; i < ntold; i++) {
		MUST(told[i].how == EVENT_UNWOUND || told[i].func == 7);
		unwound += told[i].how == EVENT_UNWOUND;
	}
	/* Each of those that took long; and of others what was put aside. */
	MUST(unwound >= 200 && unwound < 220);
}

static void close_and_jump(void *arg)
{
	spin(LEAST + LEAST / 8);
	*((uint8_t *)w.s + GATES_OFF + 5) = 0;
	*((uint8_t *)w.s + GATES_OFF + 6) = 0;
	siglongjmp(middle, 1);
}

/* Where a gate was closed calls end unseen: what they leave does not say how long they took. */
static void test_closed(void)
{
	fresh(LEAST, SUBBUFS);
	f[5] = sifted(&w, 5, close_and_jump);
	f[6] = sifted(&w, 6, call_leaver);
	for (int i = 0; i < 50; i++) {
		if (!sigsetjmp(middle, 0))
			f[6](NULL);
		f[7](i % 2 ? &depth : NULL);
	}
	drain(true);
	for (size_t i = 0; i < ntold; i++)
		MUST_EQ(told[i].func, 7);
}

/* ---- depth --------------------------------------------------------------- */

static void nest(void *arg)
{
	if (--depth > 0)
		f[5](NULL);
	else
		spin(LEAST + LEAST / 8);
}

/* All around the innermost are as long; what has no frame is lost. */
static void test_depth(void)
{
	const int frames = (FRAMES_SPLIT - FRAMES_OFF) / 8;

	fresh(LEAST, SUBBUFS);
	f[5] = sifted(&w, 5, nest);
	depth = 1000;
	f[5](NULL);
	drain(false);
	MUST_EQ(ntold, 1000);
	for (size_t i = 0; i < ntold; i++)
		MUST(told[i].how == EVENT_EXIT && (!i || told[i].begin >= told[i - 1].begin));
	w.s->reader = 0;
	fresh(LEAST, 64);
	depth = 12000;
	for (size_t i = 0; i < 64; i++)
		open_calls[i].n = 0;
	f[5](NULL);
	MUST(world_ring_of(&w, 0)->lost_entries >= 12000 - (uint64_t)frames);
	MUST(world_ring_of(&w, 0)->lost_entries < 12010 - (uint64_t)frames);
}

static int ignore(void *ctx, const struct event *e)
{
	return 0;
}

/* Only so many of a stack. */
static void test_deepest(enum counting counting)
{
	fresh(counting == COUNT_SIFTED ? 1 : 0, SUBBUFS);
	reader_free(reader);
	w.s->counting = counting;
	w.s->deepest = 3;
	MUST(!reader_new(w.s, w.s->size, getpid(), names, ARRAY_SIZE(names), &reader));
	for (int i = 0; i < 100; i++) {
		depth = 10;
		(counting == COUNT_SIFTED ? f[5] : f[0])(NULL);
	}
	struct reader_stats stats;

	MUST(reader_drain(reader, true, ignore, NULL) >= 0);
	reader_stats(reader, &stats);
	MUST_EQ(stats.calls, 300);
	MUST_EQ(stats.events, 600);
	MUST_EQ(stats.lost, 0);
}

static void nest_plain(void *arg)
{
	if (--depth > 0)
		f[0](NULL);
}

/* ---- fibers -------------------------------------------------------------- */

enum { FIBERS = 60, STACK = 32 * 1024 };

static ucontext_t fibers[FIBERS], back;
static char stacks[FIBERS][STACK];
static int running;

static void leave_fiber(void *arg)
{
	swapcontext(&fibers[running], &back);
	if (running % 2)
		spin(LEAST + LEAST / 8);
}

static void live(void)
{
	f[5](NULL);
	swapcontext(&fibers[running], &back);
}

static void make_fiber(int i)
{
	MUST(!getcontext(&fibers[i]));
	fibers[i].uc_stack.ss_sp = stacks[i];
	fibers[i].uc_stack.ss_size = STACK;
	makecontext(&fibers[i], live, 0);
}

static void *run_fibers(void *arg)
{
	for (running = 0; running < FIBERS; running++)
		MUST(!swapcontext(&back, &fibers[running]));
	return NULL;
}

/* A thread that has never called the function ends its calls, half of which had lost their places
 * in the thread where they began. */
static void test_taken(void)
{
	pthread_t t;
	size_t ended;

	fresh(LEAST, SUBBUFS);
	f[5] = sifted(&w, 5, leave_fiber);
	for (int i = 0; i < FIBERS; i++)
		make_fiber(i);
	MUST(!pthread_create(&t, NULL, run_fibers, NULL));
	MUST(!pthread_join(t, NULL));
	run_fibers(NULL);
	drain(true);
	ended = 0;
	for (size_t i = 0; i < ntold; i++)
		ended += told[i].how == EVENT_EXIT && told[i].func == 5;
	MUST(ended >= FIBERS / 2);
	MUST_EQ(ended, ntold);
	MUST_EQ(lost(), 0);
}

/* ---- a call that hangs --------------------------------------------------- */

static pthread_barrier_t barrier;

static void hang(void *arg)
{
	if (--depth > 0) {
		f[5](NULL);
		return;
	}
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
}

static void *hang_there(void *arg)
{
	f[7](NULL);
	depth = 5;
	f[5](NULL);
	return NULL;
}

static size_t told_of(uint32_t func, int how)
{
	size_t n = 0;

	for (size_t i = 0; i < ntold; i++)
		n += told[i].func == func && told[i].how == how;
	return n;
}

static void test_hangs(void)
{
	struct reader_stats stats;
	pthread_t t;

	fresh(LEAST, SUBBUFS);
	f[5] = sifted(&w, 5, hang);
	MUST(!pthread_barrier_init(&barrier, NULL, 2));
	MUST(!pthread_create(&t, NULL, hang_there, NULL));
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 500 && told_of(5, 0) < 5; i++) {
		usleep(20000);
		drain(false);
	}
	MUST_EQ(told_of(5, 0), 5);
	usleep(150000);
	drain(false);
	MUST_EQ(told_of(5, 0), 5);
	pthread_barrier_wait(&barrier);
	MUST(!pthread_join(t, NULL));
	drain(true);
	/* Their own records say no more. */
	MUST_EQ(told_of(5, EVENT_EXIT), 5);
	MUST_EQ(told_of(5, 0), 0);
	reader_stats(reader, &stats);
	MUST_EQ(stats.calls, ntold);
	MUST_EQ(stats.lost, 0);
}

static void *begin_and_wait(void *arg)
{
	running = 0;
	MUST(!swapcontext(&back, &fibers[0]));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* A fiber's call that has ended in another thread is not open any more in that where it began,
 * which has called nothing since; nor is it told again if that was told while it hung. */
static void test_taken_away(bool hangs)
{
	pthread_t t;

	fresh(LEAST, SUBBUFS);
	f[5] = sifted(&w, 5, leave_fiber);
	make_fiber(0);
	MUST(!pthread_create(&t, NULL, begin_and_wait, NULL));
	pthread_barrier_wait(&barrier);
	spin(LEAST + LEAST / 8);
	for (int i = 0; i < 500 && hangs && !ntold; i++) {
		usleep(20000);
		drain(false);
	}
	MUST_EQ(ntold, hangs);
	MUST(!swapcontext(&back, &fibers[0]));
	drain(true);
	MUST_EQ(ntold, 1);
	MUST(told[0].how == EVENT_EXIT && told[0].func == 5);
	pthread_barrier_wait(&barrier);
	MUST(!pthread_join(t, NULL));
}

/* ---- a ring that is full ------------------------------------------------- */

static void test_full(void)
{
	const int calls = 200000;
	uint64_t all;

	fresh(1, 4);
	f[5] = sifted(&w, 5, NULL);
	for (int i = 0; i < calls; i++)
		f[5](NULL);
	MUST(world_ring_of(&w, 0)->lost_entries > 0);
	drain(false);
	all = ntold + world_ring_of(&w, 0)->lost_entries;
	MUST_EQ(all, calls);
	f[5](NULL);
	f[5](NULL);
	drain(true);
	MUST_EQ(ntold + world_ring_of(&w, 0)->lost_entries, calls + 2);
	MUST_EQ(world_ring_of(&w, 0)->lost_entries, world_ring_of(&w, 0)->lost_exits);
}

/* ---- a ring that keeps the last ------------------------------------------ */

/* Begins and ends that are still there. */
static uint64_t count_kept(struct ring *r)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < w.s->nsub; i++) {
		const uint64_t *p = (const uint64_t *)(world_place(r, i) + 1);
		const uint64_t *end = (const uint64_t *)world_place(r, i + 1);

		for (; p < end; p++)
			n += (*p & 3) == REC_EXIT ||
				((*p & 3) == REC_EXT && (*p >> REC_FUNC_SHIFT & 63) == EXT_BEGUN);
	}
	return n;
}

static void test_keeps_last(void)
{
	const int calls = 100000;
	struct ring *r;

	fresh(1, 4);
	w.s->keep_last = 1;
	for (int i = 0; i < calls; i++)
		f[5](NULL);
	r = world_ring_of(&w, 0);
	MUST_EQ(r->lost_entries, 0);
	MUST(r->overwritten > 0);
	MUST_EQ(r->overwritten + count_kept(r), 2 * calls);
}

int main(void)
{
	static uint8_t own[65536];
	stack_t ss = { .ss_sp = own, .ss_size = sizeof(own) };

	world_sifted();
	for (uint32_t i = 1; i < 5; i++)
		f[i] = sifted(&w, i, body);
	f[7] = sifted(&w, 7, NULL);
	test_threads();
	test_signals(0);
	MUST(!sigaltstack(&ss, NULL));
	test_signals(SA_ONSTACK);
	test_turns(0);
	test_turns(1);
	test_left();
	test_closed();
	test_depth();
	f[5] = sifted(&w, 5, nest);
	f[0] = probed(&w, 0, nest_plain);
	test_deepest(COUNT_SIFTED);
	test_deepest(COUNT_NONE);
	test_taken();
	test_hangs();
	test_taken_away(false);
	test_taken_away(true);
	test_full();
	test_keeps_last();
	reader_free(reader);
	return 0;
}
