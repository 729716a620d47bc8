/* SPDX-License-Identifier: MIT */
/*
 * Does every thread get a ring of its own, also when threads come and go, when
 * there are more of them than rings, and does a child after fork write
 * nothing? And does a thread that runs on several stacks keep them apart?
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include "tests/unit/payload_world.h"

static struct world w;
static probed_fn *leaf, *outer, *fiber_step;

struct count {
	uint64_t entries, exits, unwound, switches, mismatched;
	uint32_t now, depth[4096], open[4096][16];
};

/* Fibers behind the stacks that are the thread's own. */
static uint32_t index_of(uint64_t number)
{
	uint64_t i = number & STACK_SHARED ? 2048 + (number & ~STACK_SHARED) : number;

	MUST(i < 4096);
	return (uint32_t)i;
}

static void note(void *ctx, const struct rec *r)
{
	struct count *c = ctx;
	uint32_t *n = &c->depth[c->now];

	if (r->kind == REC_NONE) {
		c->now = index_of(r->func);
	} else if (r->kind == REC_ENTRY) {
		c->entries++;
		MUST(*n < 16);
		c->open[c->now][(*n)++] = r->func;
	} else if (r->kind == REC_EXIT) {
		c->exits++;
		if (*n && c->open[c->now][*n - 1] == r->func)
			--*n;
		else
			c->mismatched++;
	} else if (r->sub == EXT_STACK) {
		c->switches++;
		c->now = index_of(r->body);
	} else if (r->sub == EXT_UNWOUND) {
		c->unwound++;
	}
}

static void drain(struct ring *r, struct count *c)
{
	struct drain d = { .each = note, .ctx = c };

	memset(c, 0, sizeof(*c));
	world_drain(&w, r, &d);
	MUST_EQ(d.inversions, 0);
	MUST_EQ(d.holes, 0);
}

static struct count seen;

static void call_leaf(void *arg)
{
	leaf(arg);
}

static void new_session(uint32_t nrings, uint32_t nsub)
{
	w.s = world_session(nrings, nsub);
	world_hello()(w.s);
}

/* The reader's part when a thread is gone: all was read. */
static void free_ring(struct ring *r)
{
	uint32_t place = world_find(&w, r, r->head - 1);

	MUST_EQ(r->tail, r->head - 1);
	MUST(place < w.s->nsub);
	world_give_back(r, place);
	__atomic_store_n(&r->state, RING_FREE, __ATOMIC_RELEASE);
}

enum { CHURN = 400, AT_ONCE = 8, CALLS = 300 };

static void *call_some(void *arg)
{
	int i;

	for (i = 0; i < CALLS; i++)
		outer(arg);
	return NULL;
}

static void run_threads(int n)
{
	pthread_t t[64];
	int i;

	for (i = 0; i < n; i++)
		MUST(!pthread_create(&t[i], NULL, call_some, NULL));
	for (i = 0; i < n; i++)
		MUST(!pthread_join(t[i], NULL));
}

static uint64_t collect(void)
{
	uint64_t entries = 0;
	struct ring *r;
	uint32_t i;

	for (i = 0; i < w.s->nrings; i++) {
		r = world_ring(&w, i);
		if (r->state != RING_CLAIMED)
			continue;
		drain(r, &seen);
		MUST_EQ(seen.entries, seen.exits);
		MUST_EQ(seen.mismatched, 0);
		MUST_EQ(r->lost_entries, 0);
		entries += seen.entries;
		free_ring(r);
	}
	return entries;
}

/* Rings are used again and again by threads that come and go. */
static void test_churn(void)
{
	int i;

	new_session(AT_ONCE, 2);
	for (i = 0; i < CHURN / AT_ONCE; i++) {
		run_threads(AT_ONCE);
		MUST_EQ(collect(), AT_ONCE * CALLS * 2);
	}
	MUST_EQ(w.s->lost_entries, 0);
	MUST(world_ring(&w, 0)->generation > 10);
}

/* A ring that was freed is the next one to be taken, if the reader says so. */
static void test_freed_first(void)
{
	uint64_t i;

	new_session(4, 2);
	for (i = 1; i < 3; i++) {
		run_threads(1);
		MUST_EQ(world_ring(&w, 0)->generation, i);
		MUST_EQ(w.s->next_ring, 1);
		collect();
		w.s->next_ring = 0;
	}
}

/* Threads that get no ring are counted. */
static void test_no_ring(void)
{
	uint64_t recorded;

	new_session(3, 2);
	run_threads(10);
	recorded = collect();
	MUST_EQ(recorded, 3 * CALLS * 2);
	MUST_EQ(w.s->lost_entries, 7 * CALLS * 2);
	MUST_EQ(w.s->lost_exits, 7 * CALLS * 2);
	/* A ring is free again, and after a while that is found out. */
	usleep(300000);
	run_threads(1);
	MUST_EQ(collect(), CALLS * 2);
}

static void in_child(void)
{
	void *before = malloc(w.s->size);
	int i;

	memcpy(before, w.s, w.s->size);
	for (i = 0; i < 20000; i++)
		outer(NULL);
	run_threads(2);
	_exit(memcmp(before, w.s, w.s->size) != 0);
}

/* A child shares the session's memory and leaves it alone. */
static void test_fork(void)
{
	int status;
	pid_t pid;

	new_session(4, 2);
	outer(NULL);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		in_child();
	MUST(waitpid(pid, &status, 0) == pid);
	MUST_EQ(status, 0);
	outer(NULL);
	drain(world_ring_of(&w, 0), &seen);
	MUST_EQ(seen.entries, 4);
	MUST_EQ(seen.exits, 4);
}

/* In a child, a session of its own. */
static void test_fork_hello(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		outer(NULL);
		new_session(2, 2);
		outer(NULL);
		drain(world_ring_of(&w, 0), &seen);
		_exit(seen.entries != 2 || seen.mismatched);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	MUST_EQ(status, 0);
}

static void *leaf_and_tid(void *ret)
{
	leaf(NULL);
	*(int32_t *)ret = gettid();
	return NULL;
}

/* A thread knows its id by itself, if the injector has said where it lies and
 * that is so. */
static void test_tid_offset(void)
{
	int32_t tid;
	pthread_t t;

	w.s = world_session(2, 2);
	w.s->tid_offset = world_tid_offset();
	world_hello()(w.s);
	MUST_EQ(w.s->tid_offset, world_tid_offset());
	MUST(!pthread_create(&t, NULL, leaf_and_tid, &tid));
	pthread_join(t, NULL);
	MUST_EQ(world_ring_of(&w, tid)->tid, tid);
	w.s = world_session(2, 2);
	w.s->tid_offset = world_tid_offset() + sizeof(int32_t);
	world_hello()(w.s);
	MUST_EQ(w.s->tid_offset, 0);
	leaf(NULL);
	MUST_EQ(world_ring_of(&w, 0)->tid, gettid());
}

enum { FIBERS = 12, STEPS = 200, FIBER_STACK = 32768 };

static ucontext_t main_context, fiber[FIBERS];
static int running;

static void step(void *arg)
{
	leaf(arg);
	swapcontext(&fiber[running], &main_context);
	leaf(arg);
}

static void fiber_main(void)
{
	for (;;)
		fiber_step(NULL);
}

/* Calls that are open on many stacks at a time, each with its own frames. */
static void test_fibers(void)
{
	static char stacks[FIBERS][FIBER_STACK] __attribute__((aligned(4096)));
	int i, k;

	new_session(2, 64);
	for (i = 0; i < FIBERS; i++) {
		MUST(!getcontext(&fiber[i]));
		fiber[i].uc_stack.ss_sp = stacks[i];
		fiber[i].uc_stack.ss_size = FIBER_STACK;
		makecontext(&fiber[i], fiber_main, 0);
	}
	for (k = 0; k < STEPS; k++)
		for (i = 0; i < FIBERS; i++) {
			running = (i * 5 + k) % FIBERS;
			outer(NULL);
			MUST(!swapcontext(&main_context, &fiber[running]));
		}
	drain(world_ring_of(&w, 0), &seen);
	/* A visit: outer and leaf, and leaf, end of step, step, leaf. */
	MUST_EQ(seen.entries, FIBERS * (2 * STEPS + 3 * STEPS - 1));
	MUST_EQ(seen.exits, seen.entries - FIBERS);
	MUST_EQ(seen.unwound, 0);
	MUST_EQ(seen.mismatched, 0);
	/* But for those that a sub-buffer's header told. */
	MUST(seen.switches + 64 >= 2 * STEPS * FIBERS);
}

static sigjmp_buf base;
static probed_fn *left, *waiter;

static void jump_to_base(void *arg)
{
	siglongjmp(base, 1);
}

static void wait_here(void *arg)
{
	swapcontext(&fiber[0], &main_context);
}

static __attribute__((noinline)) void leave_further_down(void)
{
	volatile char room[1024];

	room[0] = 0;
	left(NULL);
	room[1] = room[0];
}

static void moving_main(void)
{
	if (!sigsetjmp(base, 0))
		leave_further_down();
	swapcontext(&fiber[0], &main_context);
	waiter(NULL);
	swapcontext(&fiber[0], &main_context);
}

static void *go_on(void *ret)
{
	*(int32_t *)ret = gettid();
	MUST(!swapcontext(&main_context, &fiber[0]));
	return NULL;
}

/* Calls that are open on fibers, by what a thread knows. */
static uint64_t open_on_fibers(const struct thread *t)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 1; i < THREAD_STACKS; i++) {
		const struct stack *k = &t->stacks[i];
		uint64_t top = i == t->current ? t->top : k->top;

		if (k->used && k->opened && k->number < STACK_LEAVES)
			n += (top - FRAMES_SPLIT - (i - 1) * FRAMES_OTHER) / 8;
	}
	return n;
}

/*
 * A call that another thread has seen begin, on a stack of which this one knows an
 * open call further down: one that was left, which nothing has told it yet.
 */
static void test_moved(void)
{
	static char stack[4 * FIBER_STACK] __attribute__((aligned(4096)));
	const struct thread *self, *other;
	int32_t tid;
	pthread_t t;

	new_session(3, 4);
	MUST(!getcontext(&fiber[0]));
	fiber[0].uc_stack.ss_sp = stack;
	fiber[0].uc_stack.ss_size = sizeof(stack);
	makecontext(&fiber[0], moving_main, 0);
	MUST(!swapcontext(&main_context, &fiber[0]));
	self = world_thread(&w, world_ring_of(&w, 0));
	MUST_EQ(open_on_fibers(self), 1);
	MUST(!pthread_create(&t, NULL, go_on, &tid));
	pthread_join(t, NULL);
	other = world_thread(&w, world_ring_of(&w, tid));
	MUST_EQ(open_on_fibers(other), 1);
	MUST(!swapcontext(&main_context, &fiber[0]));
	MUST_EQ(open_on_fibers(other), 0);
	MUST_EQ(open_on_fibers(self), 1);
}

static void on_signal(int sig)
{
	outer(NULL);
}

static void raise_it(void *arg)
{
	raise(SIGUSR1);
	leaf(arg);
}

/* A signal stack, of which the bounds are not told. */
static void *with_signal_stack(void *arg)
{
	static char elsewhere[32768];
	probed_fn *raiser = arg;
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	stack_t before, ss = { .ss_sp = elsewhere, .ss_size = sizeof(elsewhere) };

	MUST(!sigaltstack(&ss, &before));
	sigaction(SIGUSR1, &act, NULL);
	raiser(NULL);
	raiser(NULL);
	MUST(!sigaltstack(&before, NULL));	/* a sanitizer's */
	return NULL;
}

static void test_signal_stack(void)
{
	pthread_t t;

	new_session(2, 4);
	MUST(!pthread_create(&t, NULL, with_signal_stack, probed(&w, 7, raise_it)));
	pthread_join(t, NULL);
	drain(world_ring(&w, 0)->state ? world_ring(&w, 0) : world_ring(&w, 1), &seen);
	MUST_EQ(seen.entries, 2 * 4);
	MUST_EQ(seen.exits, 2 * 4);
	MUST_EQ(seen.unwound, 0);
	MUST_EQ(seen.mismatched, 0);
	MUST_EQ(seen.switches, 4);
}

int main(void)
{
	world_begin(&w, 4, 4);
	leaf = probed(&w, 1, NULL);
	outer = probed(&w, 2, call_leaf);
	fiber_step = probed(&w, 3, step);
	left = probed(&w, 4, jump_to_base);
	waiter = probed(&w, 5, wait_here);
	test_churn();
	if (!BARE)	/* there threads have homes */
		test_freed_first();
	test_no_ring();
	test_fork();
	test_fork_hello();
	test_tid_offset();
	test_fibers();
	test_moved();
	test_signal_stack();
	return 0;
}
