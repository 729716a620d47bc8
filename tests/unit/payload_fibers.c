/* SPDX-License-Identifier: MIT */
/*
 * Is each call of a fiber counted once, and does it end where it began: on stacks so near
 * that one is taken for another, and on more stacks than a thread has places for?
 */
#include "tests/unit/payload_world.h"
#include "tests/victims/change_stacks.h"

enum { NEAR = 4096, FAR = 32768, FIBERS = 100, WAITER = 1, CALLER = 2, MARKER = 3,
	MARKS = 12 };

static struct world w;
static probed_fn *waiter, *caller, *marker;

struct fiber {
	void *sp;		/* where it goes on */
	void *catch[5];
	bool throws;		/* waiter is left for its caller, */
	int more;		/* which calls it so many times again */
};

static struct fiber fibers[FIBERS], *running;
static void *main_sp;
static char stacks[FIBERS * FAR] __attribute__((aligned(4096)));

static __attribute__((no_sanitize("address", "undefined"))) void leave(void *arg)
{
	struct fiber *f = running;

	change_stacks(&f->sp, main_sp);
	if (f->throws) {
		f->throws = false;
		__builtin_longjmp(f->catch, 1);
	}
}

static __attribute__((no_sanitize("address", "undefined"))) void wait_caught(void *arg)
{
	do
		if (!__builtin_setjmp(running->catch))
			waiter(arg);
	while (running->more-- > 0);
}

static __attribute__((no_sanitize("address", "undefined"), noreturn)) void live(void)
{
	for (;;) {
		struct fiber *f = running;

		caller(NULL);
		change_stacks(&f->sp, main_sp);
	}
}

static __attribute__((no_sanitize("address", "undefined"), noreturn)) void mark(void)
{
	for (;;) {
		struct fiber *f = running;

		marker(NULL);
		change_stacks(&f->sp, main_sp);
	}
}

static void nothing(void *arg) {}

static void run(struct fiber *f)
{
	running = f;
	change_stacks(&main_sp, f->sp);
}

/* Fibers from the first on, the first one highest, so far apart. */
static void begin(int n, size_t apart)
{
	for (int i = 0; i < n; i++)
		fibers[i] = (struct fiber){
			.sp = new_stack(stacks + sizeof(stacks) - i * apart, live),
		};
}

/* What a reader would make of it. */
struct count {
	uint64_t entries, exits, unwound, before, after, mismatched;
	uint32_t now, depth[4096], open[4096][8];
	uint32_t nmarks, marks[MARKS];	/* which stacks they were made on */
};

static struct count seen;

static uint32_t index_of(uint64_t number)
{
	uint64_t i = number & STACK_SHARED ? 2048 + (number & ~STACK_SHARED) : number;

	MUST(i < 4096);
	return (uint32_t)i;
}

static void note(void *ctx, const struct rec *r)
{
	uint32_t *n = &seen.depth[seen.now];

	if (r->kind == REC_NONE) {
		seen.now = index_of(r->func);
	} else if (r->kind == REC_ENTRY) {
		seen.entries++;
		MUST(*n < 8);
		seen.open[seen.now][(*n)++] = r->func;
	} else if (r->kind == REC_EXIT) {
		seen.exits++;
		if (*n && seen.open[seen.now][*n - 1] == r->func)
			--*n;
		else
			seen.mismatched++;
	} else if (r->sub == EXT_STACK) {
		seen.now = index_of(r->body);
	} else if (r->sub == EXT_UNWOUND) {
		MUST(r->body <= *n);
		seen.unwound += *n - r->body;
		*n = (uint32_t)r->body;
	} else if (r->sub == EXT_MARK) {
		MUST(seen.nmarks < MARKS);
		seen.marks[seen.nmarks++] = seen.now;
	} else {
		seen.before += r->sub == EXT_BEFORE;
		seen.after += r->sub == EXT_AFTER;
	}
}

static struct drain d;

/* Since the last time. */
static void drain(void)
{
	struct count before = seen;

	d.each = note;
	world_drain(&w, world_ring_of(&w, 0), &d);
	MUST_EQ(d.holes, 0);
	seen.entries -= before.entries;
	seen.exits -= before.exits;
	seen.unwound -= before.unwound;
	seen.after -= before.after;
	MUST_EQ(seen.mismatched, 0);
}

static void new_session(void)
{
	memset(&seen, 0, sizeof(seen));
	memset(&d, 0, sizeof(d));
	w.s = world_session(2, 16);
	world_hello()(w.s);
}

/* Both wait in both functions; then one after the other comes out of them. */
static void meet(struct fiber *a, struct fiber *b)
{
	run(a);
	run(b);
	run(a);
	run(b);
	drain();
	MUST_EQ(seen.entries, 4);
	MUST_EQ(seen.before, 0);
}

static void meet_known(struct fiber *a, struct fiber *b)
{
	meet(a, b);
	MUST_EQ(seen.exits, 4);
	MUST_EQ(seen.unwound, 0);
	MUST_EQ(seen.after, 0);
}

/* A function that is only marked leaves no frame: each mark is on the stack that it is made on
 * nevertheless. */
static void test_marks(void)
{
	new_session();
	fibers[0] = (struct fiber){ .sp = new_stack(stacks + sizeof(stacks), mark) };
	for (int i = 0; i < MARKS; i++)
		i / 2 % 2 ? run(&fibers[0]) : marker(NULL);
	drain();
	MUST_EQ(seen.nmarks, MARKS);
	MUST(seen.marks[0] != seen.marks[2]);
	for (int i = 0; i < MARKS; i++)
		MUST_EQ(seen.marks[i], seen.marks[i / 2 % 2 * 2]);
}

/* Neighbours. What is known of them is not forgotten, neither by a later visit. */
static void test_near(int first, int second)
{
	new_session();
	begin(FIBERS / 2, NEAR);
	meet(&fibers[first], &fibers[second]);
	MUST_EQ(seen.exits, 2);
	MUST_EQ(seen.unwound, 2);
	MUST_EQ(seen.after, 2);
	meet_known(&fibers[first], &fibers[second]);
	meet_known(&fibers[first], &fibers[second]);
	new_session();
	meet_known(&fibers[first], &fibers[second]);
}

/* But a later visit knows nothing of calls. */
static void test_later(void)
{
	new_session();
	begin(FIBERS / 2, NEAR);
	run(&fibers[8]);
	run(&fibers[9]);
	run(&fibers[8]);
	drain();
	MUST_EQ(seen.unwound, 2);
	new_session();
	run(&fibers[9]);
	drain();
	MUST_EQ(seen.after, 0);
	MUST_EQ(seen.before, 2);
}

/* With room between them none is taken for another, though most lose their places. */
static void test_many(void)
{
	new_session();
	begin(FIBERS, FAR);
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < FIBERS; i++)
			run(&fibers[i * 7 % FIBERS]);
	drain();
	MUST_EQ(seen.entries, 2 * FIBERS);
	MUST_EQ(seen.exits, 2 * FIBERS);
	MUST_EQ(seen.unwound, 0);
	MUST_EQ(seen.after, 0);
	MUST_EQ(seen.before, 0);
}

/* Calls are left on stacks that have lost their places. */
static void test_left(void)
{
	new_session();
	begin(FIBERS, FAR);
	for (int i = 0; i < FIBERS; i++)
		run(&fibers[i]);
	drain();
	MUST_EQ(seen.entries, 2 * FIBERS);
	/* With the caller's end. */
	fibers[0].throws = true;
	run(&fibers[0]);
	drain();
	MUST_EQ(seen.exits, 1);
	MUST_EQ(seen.unwound, 1);
	/* Before: one returns, one is left, and one begins instead of it. */
	fibers[1].more = 2;
	run(&fibers[1]);
	fibers[1].throws = true;
	run(&fibers[1]);
	drain();
	MUST_EQ(seen.entries, 2);
	MUST_EQ(seen.exits, 1);
	MUST_EQ(seen.unwound, 1);
	run(&fibers[1]);
	drain();
	MUST_EQ(seen.exits, 2);
	MUST_EQ(seen.before, 0);
}

static void *run_first(void *tid)
{
	*(int32_t *)tid = gettid();
	run(&fibers[0]);
	return NULL;
}

/* Of a thread that is changing stacks just now, the innermost frame may be another
 * stack's: then nothing is taken of this one. */
static void test_changing(void)
{
	struct thread *other;
	int32_t tid;
	pthread_t t;

	new_session();
	begin(1, FAR);
	MUST(!pthread_create(&t, NULL, run_first, &tid));
	MUST(!pthread_join(t, NULL));
	other = world_thread(&w, world_ring_of(&w, tid));
	other->top = THREAD_SIZE - 8;
	run(&fibers[0]);
	drain();
	MUST_EQ(seen.exits, 0);
	MUST_EQ(seen.before, 2);
}

int main(void)
{
	world_begin(&w, 4, 4);
	waiter = probed(&w, WAITER, leave);
	caller = probed(&w, CALLER, wait_caught);
	marker = marked(&w, MARKER, nothing);
	test_marks();
	test_near(0, 1);
	test_near(5, 4);
	test_later();
	test_many();
	test_left();
	test_changing();
	return 0;
}
