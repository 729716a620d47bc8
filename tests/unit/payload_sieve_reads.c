/* SPDX-License-Identifier: MIT */
/*
 * Where calls are sifted, and read: is a fiber's call that another thread ends given no values of
 * another call's; and is one that a condition has refused not taken for another that was left?
 */
#include <setjmp.h>
#include <ucontext.h>

#include "injector/reader/reader.h"
#include "tests/unit/payload_reads.h"

enum { RINGS = 8, READ = 1, PLAIN = 2, CALLS = 8, STACK = 1 << 16, FIBERS = THREAD_STACKS - 1 };

static struct world w;
static probed_fn *read_one, *plain, *jumper;
static jmp_buf out;
static char passing[16] = "passes", failing[16] = "fails";
static bool jumps;
static struct reader *reader;
static struct reader_func names[WORLD_FUNCS];
static ucontext_t fibers[FIBERS], back;
static char stacks[FIBERS][STACK];
static int running;
static const char *text;
static char told[CALLS][16];	/* of each call: what its first argument led to, or "?" */
static size_t entries, exits;

static void run(int i)
{
	running = i;
	MUST(!swapcontext(&back, &fibers[i]));
}

static void leave(void *arg)
{
	MUST(!swapcontext(&fibers[running], &back));
}

/* The first fiber's calls are read. */
static void live(void)
{
	for (;;) {
		if (running == 0)
			read_one((void *)text);
		else
			plain(NULL);
		leave(NULL);
	}
}

/* (Not in the loop: getcontext may return twice, and a counter need not outlive that.) */
static void make_fiber(int i)
{
	MUST(!getcontext(&fibers[i]));
	fibers[i].uc_stack = (stack_t){ .ss_sp = stacks[i], .ss_size = STACK };
	makecontext(&fibers[i], live, 0);
}

static void make_fibers(void)
{
	for (int i = 0; i < FIBERS; i++)
		make_fiber(i);
}

/* Behind the first argument stands what it led to. */
static void note_entry(const struct event *e)
{
	struct read_result first, second;
	const uint8_t *p = e->capture;

	MUST(entries < CALLS);
	memcpy(told[entries], "?", 2);
	if (p && e->ncapture >= 20) {
		memcpy(&first, p, sizeof(first));
		memcpy(&second, p + sizeof(first) + 8, sizeof(second));
		MUST(first.n == 8 && second.op == 1 && second.n < 16);
		memcpy(told[entries], p + 16, second.n);
		told[entries][second.n] = '\0';
	}
	entries++;
}

static int see(void *ctx, const struct event *e)
{
	if (e->kind == EVENT_ENTRY && e->func == READ)
		note_entry(e);
	exits += e->kind == EVENT_EXIT && e->func == READ;
	return 0;
}

static void *begin_new(void *arg)
{
	text = "new";
	run(0);
	return NULL;
}

/*
 * This thread makes a call on the first fiber. Another one begins the next there, at the same place
 * of that stack, and this one ends it: where it puts that call it has kept what the earlier one had
 * read, for others have had the place since, of whose calls nothing is.
 */
static void test_taken(void)
{
	pthread_t t;

	text = "old";
	run(0);
	run(0);
	for (int i = 1; i < FIBERS; i++)
		run(i);
	for (int i = 1; i < FIBERS - 1; i++)
		run(i);
	MUST(!pthread_create(&t, NULL, begin_new, NULL));
	MUST(!pthread_join(t, NULL));
	run(0);
	MUST(reader_drain(reader, true, see, NULL) >= 0);
	MUST(entries == 2 && exits == 2);
	MUST(!strcmp(told[0], "old"));
	MUST(!strcmp(told[1], "new") || !strcmp(told[1], "?"));
}

static void jump(void *arg)
{
	if (jumps)
		longjmp(out, 1);
}

/* The same further down the stack. */
static __attribute__((noinline)) void call_below(void *arg)
{
	volatile char room[2048];

	room[0] = 1;
	jumper(arg);
	room[1] = room[0];
}

/* A call passes, and is left; a call above it tells so. Another one at the same place of the stack
 * is refused, and ends: what was left is not on another stack for that. */
static void test_refused(void)
{
	const struct thread *t = world_thread(&w, world_ring_of(&w, 0));
	uint64_t lo, hi;

	reads_condition(&w, (uint64_t)passing);
	jumper(failing);
	lo = t->stacks[0].lo;
	hi = t->stacks[0].hi;
	jumps = true;
	if (!setjmp(out))
		call_below(passing);
	jumps = false;
	jumper(passing);
	call_below(failing);
	MUST_EQ(t->stacks[0].lo, lo);
	MUST_EQ(t->stacks[0].hi, hi);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		names[i] = (struct reader_func){ .name = "f", .module = "m" };
	world_begin(&w, RINGS, 4);
	make_fibers();
	plain = probed(&w, PLAIN, NULL);
	read_one = reads_function(&w, READ, leave, hot_table.values_entry, hot_table.values_exit);
	jumper = reads_function(&w, READ, jump, hot_table.values_entry, hot_table.values_exit);
	w.s = world_session(RINGS, 4);
	w.s->counting = COUNT_SIFTED;
	w.s->least = 1;
	reads_begin(&w, READ);
	world_hello()(w.s);
	world_lead(&w);
	MUST(!reader_new(w.s, w.s->size, getpid(), names, ARRAY_SIZE(names), &reader));
	test_taken();
	w.s->least = 0;
	test_refused();
	reader_free(reader);
	return 0;
}
