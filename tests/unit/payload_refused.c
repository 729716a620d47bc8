/* SPDX-License-Identifier: MIT */
/*
 * Calls that a register refuses: is that the register, and the range, which the plan that holds
 * says; does each lose its frame, and none that passes its record, whatever is within them and
 * wherever a handler comes; and is nothing refused by a plan that is not there?
 */
#include <setjmp.h>
#include <ucontext.h>

#include "injector/reader/reader.h"
#include "tests/unit/payload_forks.h"
#include "tests/unit/payload_reads.h"
#include "values/condition_early.h"

enum { RINGS = 8, READ = 1, ASKED = 2, OTHER = 3, PLANS = 4096, ROUNDS = 4000, FIBERS = 20 };

#define KEY 0x1234567890abcdefull
/* The first argument is KEY. */
#define IS_KEY { 1, ~0ull, KEY, 0, 1 }

typedef void asked_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static struct world w;
static probed_fn *asked, *other, *read_one;
static struct reader *reader;
static struct reader_func names[WORLD_FUNCS];
static size_t told[READS_FUNCS], ended[READS_FUNCS], results;
static void (*within)(void);
static sigjmp_buf middle;
static char inner[16] = "inner", outer[16] = "outer";

/* ---- plans --------------------------------------------------------------- */

static uint8_t *plans_at(uint64_t at)
{
	return (uint8_t *)w.s + w.s->plans_off + at;
}

static uint32_t *list(unsigned int i)
{
	return (uint32_t *)plans_at(0) + i * w.s->plans_funcs;
}

/* C passes all calls of it. */
static struct capture_plan *put_plan(unsigned int which, uint32_t func,
				     struct condition_early early)
{
	uint64_t at = PLANS * (1 + which * 3ull + func - READ);
	struct capture_plan *p = (struct capture_plan *)plans_at(at);
	struct condition *c = (struct condition *)(p + 1);

	memset(p, 0, sizeof(*p) + sizeof(*c));
	p->early = early;
	c->nops = 1;
	c->ops[0] = (struct condition_op){ .code = CONDITION_CONSTANT, .index = CONDITION_TRUE };
	MUST(!condition_check(c));
	p->condition = (uint32_t)((at + sizeof(*p)) / 8);
	list(which)[func] = (uint32_t)(at / 8);
	return p;
}

/* C says of each call what the register says. */
static void put_true_plan(uint32_t func)
{
	struct capture_plan *p = put_plan(0, func, (struct condition_early){ .argument = 0 });
	struct condition *c = (struct condition *)(p + 1);

	p->plan = (struct read_plan){ .nops = 1, .nentry = 1 };
	p->plan.ops[0] = (struct read_op){ .source = READ_GENERAL, .index = READS_ARGUMENT,
					   .cap = 8, .length_index = READS_NONE,
					   .if_index = READS_NONE, .unit = 1 };
	c->ops[0] = (struct condition_op){ .code = CONDITION_TEST, .relation = RELATION_EQ,
					   .form = 8, .bits = 64, .number = KEY };
	MUST(!condition_check(c) && !reads_check(&p->plan));
	condition_early(c, &p->plan, arch_host()->arguments, arch_host()->narguments, &p->early);
	MUST(p->early.argument == 1);
}

static probed_fn *asked_function(uint32_t func, probed_fn *body)
{
	return reads_function(&w, func, body, hot_table.asks[BARE].entry,
			      hot_table.asks[BARE].exit);
}

/* ---- what is told -------------------------------------------------------- */

static int see(void *ctx, const struct event *e)
{
	const uint8_t *p = e->capture;
	struct read_result r;

	if (e->kind == EVENT_ENTRY)
		told[e->func]++;
	ended[e->func] += e->kind == EVENT_EXIT || e->kind == EVENT_UNWOUND;
	for (size_t at = 0; p && at + sizeof(r) <= e->ncapture;
	     at += (r.n + sizeof(r) + 3) & ~3ull) {
		memcpy(&r, p + at, sizeof(r));
		results++;
	}
	return 0;
}

static void drain(void)
{
	memset(told, 0, sizeof(told));
	memset(ended, 0, sizeof(ended));
	results = 0;
	MUST(reader_drain(reader, false, see, NULL) >= 0);
}

static const struct thread *mine(void)
{
	return world_thread(&w, world_ring_of(&w, 0));
}

static bool has_frames(void)
{
	return mine()->top != FRAMES_OFF;
}

static size_t passed(uint64_t value)
{
	asked((void *)value);
	drain();
	MUST_EQ(told[ASKED], ended[ASKED]);
	MUST(!has_frames());
	return told[ASKED];
}

static void act(void *arg)
{
	void (*what)(void) = within;

	within = NULL;
	if (what)
		what();
}

static void fresh(void)
{
	if (reader)
		reader_free(reader);
	w.s = world_session(RINGS, 16);
	w.s->counting = COUNT_SIFTED;
	reads_begin(&w, READ);
	w.s->callers_size = 0;
	memset(list(0), 0, 2 * READS_FUNCS * sizeof(uint32_t));
	world_hello()(w.s);
	world_lead(&w);
	MUST(!reader_new(w.s, w.s->size, getpid(), names, ARRAY_SIZE(names), &reader));
	for (unsigned int i = 0; i < 2; i++)
		for (uint32_t func = READ; func <= OTHER; func++)
			put_plan(i, func, (struct condition_early)IS_KEY);
}

/* -------------------------------------------------------------------------- */

static void test_registers(void)
{
	unsigned int n = arch_host()->narguments;

	for (unsigned int i = 1; i <= n; i++) {
		put_plan(0, ASKED, (struct condition_early){ 1, ~0ull, KEY, 0, i });
		for (unsigned int k = 0; k <= 7; k++) {
			uint64_t a[7] = { 1, 2, 3, 4, 5, 6, 7 };

			if (k < 7)
				a[k] = KEY;
			((asked_fn *)(uintptr_t)asked)(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
			drain();
			MUST_EQ(told[ASKED], k == i - 1);
		}
	}
	/* There is no such register: C is asked. */
	for (unsigned int i = n + 1; i < 300; i += 1 + i % 5) {
		put_plan(0, ASKED, (struct condition_early){ 1, ~0ull, KEY, 0, i < 8 ? 0 : i });
		MUST_EQ(passed(1), 1);
	}
	put_plan(0, ASKED, (struct condition_early)IS_KEY);
}

/* As condition_refuses() has it. */
static void test_ranges(void)
{
	uint64_t x = 88172645463325252u;
	unsigned int refused = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct condition_early e = { 1ull << i % 64, ~0ull << i % 64, 0, 0, 1 };
		uint64_t value;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		value = i % 3 ? x : x >> 60;
		e.low = i % 2 ? x * 3 : value * e.scale - i % 5;
		e.span = i % 7 ? x >> x % 64 : i % 4 ? 0 : ~0ull;
		put_plan(0, ASKED, e);
		MUST_EQ(passed(value), !condition_refuses(&e, value));
		refused += condition_refuses(&e, value);
	}
	MUST(refused > ROUNDS / 8 && refused < ROUNDS - ROUNDS / 8);
	put_plan(0, ASKED, (struct condition_early)IS_KEY);
}

static void test_lists(void)
{
	put_plan(1, ASKED, (struct condition_early){ 1, ~0ull, 7, 0, 1 });
	MUST(passed(KEY) && !passed(7));
	w.s->plans_at = 1;
	MUST(!passed(KEY) && passed(7));
	w.s->plans_at = 0;
	/* No plan, one that is not there, and a function that the lists do not have. */
	list(0)[ASKED] = 0;
	MUST(passed(1));
	list(0)[ASKED] = (uint32_t)(w.s->plans_size / 8);
	MUST(passed(1));
	list(0)[ASKED] = ~0u;
	MUST(passed(1));
	put_plan(0, ASKED, (struct condition_early)IS_KEY);
	MUST(!passed(1));
	w.s->plans_funcs = ASKED;
	MUST(passed(1));
	w.s->plans_funcs = READS_FUNCS;
}

/* ---- calls within each other --------------------------------------------- */

static int depth;

static void nest(void)
{
	if (--depth > 0) {
		within = nest;
		asked(NULL);
	} else {
		other((void *)KEY);
	}
}

/* What is refused is no level of what is kept. */
static void test_deepest(uint32_t deepest)
{
	fresh();
	w.s->deepest = deepest;
	put_true_plan(ASKED);
	MUST(passed(KEY) && !passed(1));
	for (int i = 1; i < 200; i += i) {
		depth = i;
		nest();
		drain();
		MUST(told[OTHER] == 1 && ended[OTHER] == 1 && !told[ASKED]);
		MUST(!has_frames());
	}
}

static void pass_once(void)
{
	other((void *)KEY);
}

/* Two levels, of which one is kept. */
static void pass_twice(void)
{
	within = pass_once;
	other((void *)KEY);
}

static void nest_deepened(void)
{
	if (--depth > 0) {
		within = nest_deepened;
		asked(NULL);
		return;
	}
	w.s->deepest = 1;
	((struct thread *)(uintptr_t)mine())->least = LEAST_ASKS;
	pass_twice();
	pass_twice();
}

/* Nor is what had been refused before so many levels were asked for, open or not. */
static void test_deepened(void)
{
	for (int i = 1; i < 200; i += i) {
		fresh();
		put_true_plan(ASKED);
		MUST(passed(KEY) && !passed(1));
		depth = i;
		nest_deepened();
		drain();
		MUST(told[OTHER] == 2 && ended[OTHER] == 2 && !told[ASKED]);
		MUST(!has_frames());
		pass_twice();
		drain();
		MUST(told[OTHER] == 1 && ended[OTHER] == 1);
	}
}

static void read_inner(void)
{
	depth = 300;
	within = nest;
	asked(NULL);
	within = NULL;
	read_one(inner);
}

static void read_between(void)
{
	if (--depth > 0) {
		within = read_between;
		asked(NULL);
	} else {
		within = NULL;
		read_one(inner);
	}
}

static void begin_held(void)
{
	fresh();
	reads_plan(put_plan(0, READ, (struct condition_early){ .argument = 0 }));
	put_true_plan(ASKED);
	/* All is on this stack, as far as calls may come here. */
	depth = 400;
	nest();
	w.s->least = 1;
	((struct thread *)(uintptr_t)mine())->least = LEAST_ASKS;
	drain();
}

/* What a pending call has read is there at its end, however many were refused between it and
 * another one. */
static void test_held(void (*what)(void))
{
	begin_held();
	depth = 300;
	within = what;
	read_one(outer);
	drain();
	MUST(told[READ] == 2 && ended[READ] == 2 && !told[ASKED]);
	MUST_EQ(results, 6);
	MUST(!has_frames());
}

/* ---- handlers ------------------------------------------------------------ */

static uint64_t steps, stop_at;
static bool hit, leaves, holds;

static void pass_within(void)
{
	other((void *)KEY);
}

/* A handler's stack may be the current one by now. */
static void be_refused(void)
{
	const struct thread *t = mine();
	uint64_t frame = *(const uint64_t *)((const char *)t + FRAMES_OFF + 8 * (holds ? 2 : 1));

	MUST_EQ(frame & 7, 8 - FRAME_FAILED);
	if (holds)
		read_one(inner);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	void (*what)(void) = within;

	if (++steps != stop_at)
		return;
	stop_stepping(context);
	hit = true;
	within = NULL;
	asked(NULL);
	within = pass_within;
	asked(NULL);
	other((void *)KEY);
	within = what;
	if (leaves)
		siglongjmp(middle, 1);
}

/* A handler comes at each instruction of a call that is refused; of its own calls two pass, but
 * what comes in the middle of a slow path is lost. */
static void test_steps(int flags, bool leave)
{
	struct sigaction act = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | flags };
	volatile uint64_t n = 0, kept = 0;

	fresh();
	put_true_plan(ASKED);
	MUST(passed(KEY) && !passed(1));
	MUST(!sigaction(SIGTRAP, &act, NULL));
	leaves = leave;
	do {
		uint64_t before = world_ring_of(&w, 0)->lost_entries;

		stop_at = ++n;
		steps = 0;
		hit = false;
		within = be_refused;
		if (!sigsetjmp(middle, 1))
			call_stepping(asked);
		within = NULL;
		before = world_ring_of(&w, 0)->lost_entries - before;
		/* Another one finds out what was left. */
		other((void *)KEY);
		drain();
		MUST_EQ(told[OTHER] + before, hit ? 3 : 1);
		MUST(ended[OTHER] == told[OTHER] && !told[ASKED]);
		MUST(!has_frames());
		kept += told[OTHER];
	} while (hit);
	MUST(n > 100 && kept > 2 * n);
}

static void step_within(void)
{
	within = be_refused;
	call_stepping(asked);
	within = NULL;
}

/* The same between calls that are pending. */
static void test_steps_held(void)
{
	struct sigaction act = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	uint64_t n = 0;

	begin_held();
	MUST(!sigaction(SIGTRAP, &act, NULL));
	leaves = false;
	holds = true;
	do {
		stop_at = ++n;
		steps = 0;
		hit = false;
		within = step_within;
		read_one(outer);
		drain();
		MUST(told[READ] == 2 && ended[READ] == 2 && !told[ASKED]);
		MUST_EQ(results, 6);
		MUST(!has_frames());
		/* The rest is C's. */
	} while (hit && n < 300);
	holds = false;
}

static void change_twice(int sig, siginfo_t *info, void *context)
{
	if (++steps != stop_at)
		return;
	stop_stepping(context);
	hit = true;
	put_plan(1, ASKED, (struct condition_early){ 1, ~0ull, 0, 0, 1 });
	w.s->plan_changes++;
	w.s->plans_at = 1;
	w.s->plan_changes++;
	put_plan(0, ASKED, (struct condition_early){ 1, ~0ull, KEY, 0, 1 });
}

/* At each instruction of a call that passes by the plan of before, and by the next one, that of
 * before is replaced, and written over by one that does not pass it. */
static void test_changes(void)
{
	struct sigaction act = { .sa_sigaction = change_twice, .sa_flags = SA_SIGINFO };
	uint64_t n = 0;

	fresh();
	MUST(!sigaction(SIGTRAP, &act, NULL));
	do {
		w.s->plans_at = 0;
		put_plan(0, ASKED, (struct condition_early){ 1, ~0ull, 0, 0, 1 });
		stop_at = ++n;
		steps = 0;
		hit = false;
		call_stepping(asked);
		drain();
		MUST(told[ASKED] == 1 && ended[ASKED] == 1);
	} while (hit && n < 300);
	MUST(n > 50);
}

/* ---- fibers -------------------------------------------------------------- */

static ucontext_t fibers[FIBERS], back;
static char stacks[FIBERS][32 * 1024];
static int running;

static void pause_fiber(void)
{
	swapcontext(&fibers[running], &back);
}

static void live(void)
{
	for (int i = 0;; i++) {
		within = pause_fiber;
		asked((void *)(running % 2 ? 0 : KEY));
		other((void *)(i % 2 ? 0 : KEY));
		pause_fiber();
	}
}

/* Each has a call open of its own, half of which were refused, when others go on. */
static void test_fibers(void)
{
	size_t n[2] = { 0, 0 };

	fresh();
	put_true_plan(ASKED);
	put_true_plan(OTHER);
	for (int i = 0; i < FIBERS; i++) {
		MUST(!getcontext(&fibers[i]));
		fibers[i].uc_stack = (stack_t){ .ss_sp = stacks[i], .ss_size = sizeof(stacks[i]) };
		makecontext(&fibers[i], live, 0);
	}
	for (int round = 0; round < 100; round++) {
		for (running = 0; running < FIBERS; running++)
			MUST(!swapcontext(&back, &fibers[running]));
		drain();
		n[0] += told[ASKED];
		n[1] += ended[ASKED];
		MUST_EQ(told[OTHER], round % 4 == 1 ? FIBERS : 0);
	}
	MUST(n[0] == 50 * FIBERS / 2 && n[1] == n[0]);
	MUST_EQ(world_ring_of(&w, 0)->lost_entries, 0);
}

int main(void)
{
	static uint8_t own[65536];
	stack_t ss = { .ss_sp = own, .ss_size = sizeof(own) };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		names[i] = (struct reader_func){ .name = "f", .module = "m" };
	world_begin(&w, RINGS, 16);
	w.s->tid_offset = world_tid_offset();
	MUST(!sigaltstack(&ss, NULL));
	asked = asked_function(ASKED, act);
	other = asked_function(OTHER, NULL);
	read_one = reads_function(&w, READ, act, hot_table.values_entry, hot_table.values_exit);
	fresh();
	test_registers();
	test_ranges();
	test_lists();
	test_deepest(0);
	test_deepest(3);
	test_deepened();
	test_held(read_inner);
	test_held(read_between);
	for (int i = 0; i < 4 && CAN_STEP; i++)
		test_steps(i & 1 ? SA_ONSTACK : 0, i & 2);
	if (CAN_STEP) {
		test_steps_held();
		test_changes();
		fresh();
		fork_at_steps(asked);
	}
	test_fibers();
	reader_free(reader);
	return 0;
}
