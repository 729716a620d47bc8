/* SPDX-License-Identifier: MIT */
/*
 * Is the record exact and in order while signal handlers, which call probed
 * functions too, interrupt the recording anywhere? On the same stack, on a
 * stack of their own, with a ring that overflows, and leaving by siglongjmp.
 */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include "tests/unit/payload_world.h"

enum { SECONDS_MS = 1500, ENOUGH = 1000, PERIOD_NS = 150000, DEPTH = 4096, STACKS = 4096 };

static struct world w;
static probed_fn *leaf, *outer, *in_handler, *handler_leaf, *marker;
static volatile uint64_t handled, jumped;
static volatile bool stop_reader, can_jump;	/* can: `out` is of a frame that is there */
static sigjmp_buf out;
static bool may_jump;

/* What a reader makes of it: open calls by stack. */
struct replay {
	uint64_t entries, exits, marks, unwound, mismatched, depths_wrong;
	uint32_t now, depth[STACKS];
	uint32_t open[64][DEPTH];
};

/* 0: the born one; the signal stack has a number of the process. */
static uint32_t stack_of(uint64_t number)
{
	uint32_t n = number & STACK_SHARED ? 1 + (number & STACK_FIBERS) : 0;

	MUST(n < STACKS);
	return n;
}

static void replay(void *ctx, const struct rec *r)
{
	struct replay *p = ctx;
	uint32_t *n = &p->depth[p->now], *open = p->open[p->now % 64];

	if (r->kind == REC_NONE) {
		p->now = stack_of(r->func);
		n = &p->depth[p->now];
		/* One off where the call that was interrupted was about to
		 * push or pop its frame. */
		if (r->body + 1 - *n > 2) {
			p->depths_wrong++;
			*n = r->body;
		}
	} else if (r->kind == REC_ENTRY) {
		p->entries++;
		MUST(*n < DEPTH);
		open[(*n)++] = r->func;
	} else if (r->kind == REC_EXIT) {
		p->exits++;
		if (*n && open[*n - 1] == r->func)
			--*n;
		else
			p->mismatched++;
	} else if (r->sub == EXT_MARK) {
		p->marks++;
	} else if (r->sub == EXT_UNWOUND) {
		p->unwound++;
		if (r->body < *n)
			*n = r->body;
	} else if (r->sub == EXT_STACK) {
		p->now = stack_of(r->body);
	}
}

static void call_leaf(void *arg)
{
	leaf(arg);
}

static void call_handler_leaf(void *arg)
{
	handler_leaf(arg);
	handler_leaf(arg);
	marker(arg);
}

static void on_signal(int sig)
{
	in_handler(NULL);
	handled++;
	if (may_jump && can_jump && handled % 3 == 0) {
		jumped++;
		siglongjmp(out, 1);
	}
}

static timer_t start_timer(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, PERIOD_NS }, { 0, PERIOD_NS } };
	timer_t timer;

	ev._sigev_un._tid = (int)syscall(SYS_gettid);
	MUST(!timer_create(CLOCK_MONOTONIC, &ev, &timer));
	MUST(!timer_settime(timer, 0, &every, NULL));
	return timer;
}

struct reading {
	struct ring *r;
	struct drain d;
	unsigned int pause_us;
};

static void *read_along(void *arg)
{
	struct reading *rd = arg;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	rd->d.patience = 3;
	while (!stop_reader) {
		world_drain(&w, rd->r, &rd->d);
		usleep(rd->pause_us);
	}
	return NULL;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Calls until the time is over and enough signals came; the number of outer()
 * calls made. */
static uint64_t hammer(uint64_t *leaves)
{
	static volatile uint64_t outers, singles;
	uint64_t end = now_ms() + SECONDS_MS;
	int i;

	outers = singles = 0;
	sigsetjmp(out, 1);
	can_jump = true;
	while (now_ms() < end || handled <= ENOUGH)
		for (i = 0; i < 1000; i++) {
			outers++;
			outer(NULL);
			singles++;
			leaf(NULL);
		}
	can_jump = false;
	*leaves = singles;
	return outers;
}

struct result {
	uint64_t outers, leaves, lost;
	struct replay *p;
	struct drain d;
};

/* One round: hammer with a timer, read along, count. */
static struct result run(int flags, unsigned int pause_us, uint32_t nsub)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = flags };
	struct reading rd = { .pause_us = pause_us };
	struct result ret = { .p = calloc(1, sizeof(*ret.p)) };
	pthread_t reader;
	timer_t timer;

	w.s = world_session(2, nsub);
	world_hello()(w.s);
	leaf(NULL);
	handled = jumped = 0;
	rd.r = world_ring_of(&w, 0);
	rd.d.each = replay;
	rd.d.jumps = may_jump;
	rd.d.ctx = ret.p;
	stop_reader = false;
	MUST(!pthread_create(&reader, NULL, read_along, &rd));
	sigaction(SIGUSR1, &act, NULL);
	timer = start_timer();
	ret.outers = hammer(&ret.leaves);
	timer_delete(timer);
	stop_reader = true;
	pthread_join(reader, NULL);
	rd.d.patience = 0;
	world_drain(&w, rd.r, &rd.d);
	ret.d = rd.d;
	ret.lost = rd.r->lost_entries;
	/* A hole that was given up may be filled yet, by a thread that was put
	 * aside within a handler: in a place that has been given back. */
	MUST(ret.d.inversions <= ret.d.holes);
	MUST(handled > ENOUGH);
	return ret;
}

static void report(const char *name, const struct result *r)
{
	printf("%-10s %9llu entries %9llu exits %7llu lost %6llu signals %5llu unwound "
	       "%3llu holes %3llu mismatched\n", name, (unsigned long long)r->p->entries,
	       (unsigned long long)r->p->exits, (unsigned long long)r->lost,
	       (unsigned long long)handled, (unsigned long long)r->p->unwound,
	       (unsigned long long)r->d.holes, (unsigned long long)r->p->mismatched);
	fflush(stdout);
}

/* entries made = recorded + lost, and the same for exits. */
static void exact(const struct result *r)
{
	struct ring *ring = world_ring_of(&w, 0);
	uint64_t made = 1 + 2 * r->outers + r->leaves + 4 * handled;

	MUST_EQ(r->d.holes, 0);
	MUST_EQ(r->p->entries + r->p->marks + ring->lost_entries, made + handled);
	MUST_EQ(r->p->exits + ring->lost_exits, made);
}

/* Where the ring never was full, every exit finds its entry: calls nested in a
 * slow path are lost in pairs. */
static void paired(const struct result *r)
{
	if (r->lost > handled)
		return;
	MUST_EQ(r->p->mismatched, 0);
	MUST_EQ(r->p->unwound, 0);
	MUST_EQ(r->p->depths_wrong, 0);
}

/* No call is open: then no stack has a frame left. */
static void balanced(void)
{
	const struct thread *t = world_thread(&w, world_ring_of(&w, 0));
	uint32_t i;

	for (i = 0; i < THREAD_STACKS; i++) {
		uint64_t top = i == t->current ? t->top : t->stacks[i].top;

		if (t->stacks[i].used)
			MUST_EQ(top, i ? FRAMES_SPLIT + (i - 1) * FRAMES_OTHER : FRAMES_OFF);
	}
}

static void test_same_stack(void)
{
	struct result r = run(SA_RESTART, 500, 256);

	report("same", &r);
	exact(&r);
	paired(&r);
	free(r.p);
}

static void test_own_stack(void)
{
	static char own[65536];
	stack_t ss = { .ss_sp = own, .ss_size = sizeof(own) };
	struct result r;

	MUST(!sigaltstack(&ss, NULL));
	r = run(SA_RESTART | SA_ONSTACK, 500, 256);
	report("own", &r);
	exact(&r);
	paired(&r);
	free(r.p);
}

static void test_overflow(int flags)
{
	struct result r = run(SA_RESTART | flags, 3000, 4);

	report("overflow", &r);
	MUST(r.lost > 0);
	exact(&r);
	balanced();
	free(r.p);
}

/* The last jump may have left a hole, which hides what follows it until its
 * sub-buffer is closed: so close that. Returns how many entries this makes; each
 * of outer() has four words. */
static uint64_t close_last(struct result *r)
{
	const unsigned int calls = SUBBUF_SIZE / 8 / 4 + 1;

	for (unsigned int i = 0; i < calls; i++)
		outer(NULL);
	world_drain(&w, world_ring_of(&w, 0), &r->d);
	r->lost = world_ring_of(&w, 0)->lost_entries;
	return 2 * calls;
}

/* Once a slow path was left for good, the thread must not be busy for ever. */
static void goes_on(struct result *r)
{
	uint64_t before = r->p->entries;

	outer(NULL);
	outer(NULL);
	world_drain(&w, world_ring_of(&w, 0), &r->d);
	MUST_EQ(r->p->entries, before + 4);
}

/* What a siglongjmp leaves is one call at most that is not counted, of those
 * that it interrupted or nested. */
static void test_jump(int flags, unsigned int pause_us, uint32_t nsub)
{
	struct result r;
	uint64_t most;

	may_jump = true;
	r = run(SA_RESTART | flags, pause_us, nsub);
	may_jump = false;
	report("jump", &r);
	MUST(jumped > 100);
	most = 1 + 2 * r.outers + r.leaves + 5 * handled + close_last(&r);
	MUST(r.p->entries + r.p->marks + r.lost <= most);
	MUST(r.p->entries + r.p->marks + r.lost + 3 * jumped >= most);
	goes_on(&r);
	free(r.p);
}

int main(void)
{
	setbuf(stdout, NULL);
	world_begin(&w, 2, 4);
	leaf = probed(&w, 1, NULL);
	outer = probed(&w, 2, call_leaf);
	handler_leaf = probed(&w, 3, NULL);
	in_handler = probed(&w, 4, call_handler_leaf);
	marker = marked(&w, 5, handler_leaf);
	test_same_stack();
	test_own_stack();
	test_overflow(0);
	test_overflow(SA_ONSTACK);
	test_jump(0, 500, 256);
	test_jump(SA_ONSTACK, 500, 256);
	test_jump(0, 3000, 4);
	test_jump(SA_ONSTACK, 3000, 4);
	return 0;
}
