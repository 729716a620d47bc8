/* SPDX-License-Identifier: MIT */
/*
 * Is what a plan says read of each call, and given with its record: in recursion, around others,
 * where the ring is full, after a longjmp, in signal handlers that come at any time; is it
 * forgotten with its plan; and does a plan that something has written over do no harm?
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "injector/reader/reader.h"
#include "tests/unit/payload_world.h"
#include "values/reads.h"

enum { VALUED = 1, DEEP, LEFT, AROUND, REPLACED };
enum { PLANS = 1 << 16, BLOCKS = 200, RANDOM = 20000 };

/* What the functions are given: read by the pointer at the entry, and at the exit. */
struct block {
	char text[16];
	uint32_t number;
};

static struct world w;
static probed_fn *valued, *deep, *left, *around, *replaced;
static uint8_t *plans;
static struct reader *reader;
static struct reader_func names[] = {
	{ .name = "?" }, { .name = "valued" }, { .name = "deep" }, { .name = "left" },
	{ .name = "around" }, { .name = "replaced" },
};
static struct block blocks[BLOCKS];
static jmp_buf back;
static uint64_t entries, exits, wrong, unread;

/* The first argument, and the result, by their numbers in DWARF. */
#if defined(__x86_64__)
enum { ARGUMENT = 5, RESULT = 0 };
#else
enum { ARGUMENT = 0, RESULT = 0 };
#endif

#define NONE .length_index = READS_NONE, .if_index = READS_NONE, .unit = 1

static const struct read_op ops[] = {
	{ .source = READ_GENERAL, .index = ARGUMENT, .cap = 8, NONE },
	{ .source = READ_MEMORY, .index = 0, .cap = 15, .flags = READ_TEXT, .role = READ_BEHIND,
	  NONE },
	{ .source = READ_MEMORY, .index = 0, .offset = offsetof(struct block, number), .cap = 4,
	  .flags = READ_AT_EXIT, .role = READ_BEHIND, NONE },
	{ .source = READ_GENERAL, .index = RESULT, .cap = 8, .flags = READ_AT_EXIT,
	  .param = READS_RESULT, NONE },
};

static struct capture_plan *plan_at(void)
{
	return (struct capture_plan *)(plans + 64);
}

static void make_plans(void)
{
	struct capture_plan *p = plan_at();
	uint64_t size = PLANS + (uint64_t)w.s->nrings * CAPTURE_SIZE;

	plans = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(plans != MAP_FAILED);
	w.s->plans_off = (uint64_t)plans - (uint64_t)w.s;
	w.s->plans_size = PLANS;
	w.s->captures_off = w.s->plans_off + PLANS;
	w.s->plans_funcs = 8;
	w.s->reads = READS_BY_CALL;
	p = plan_at();
	p->kept = 1;
	p->plan = (struct read_plan){ .nops = 4, .nentry = 2 };
	memcpy(p->plan.ops, ops, sizeof(ops));
	MUST(!reads_check(&p->plan));
	for (int i = VALUED; i <= REPLACED; i++)
		((uint32_t *)plans)[i] = 64 / 8;
}

static probed_fn *make(uint32_t func, probed_fn *body)
{
	probed_fn *f = (probed_fn *)here(&w);

	emit_record(&w, REC_ENTRY | (uint64_t)func << REC_FUNC_SHIFT,
		    hot_begin + hot_table.values_entry);
	emit_call(&w, body);
	emit_record(&w, REC_EXIT | (uint64_t)func << REC_FUNC_SHIFT,
		    hot_begin + hot_table.values_exit);
	emit_ret(&w);
	return f;
}

static void body(void *arg)
{
	struct block *b = arg;

	b->number++;
}

static void again(void *arg)
{
	struct block *b = arg;

	if (b + 1 < blocks + BLOCKS)
		deep(b + 1);
	b->number += 1000;
}

static void many(void *arg)
{
	for (int i = 0; i < 500; i++)
		valued(arg);
}

static void replace(void *arg)
{
	plan_at()->number++;
}

static void leave(void *arg)
{
	longjmp(back, 1);
}

/* ---- what the reader gives ----------------------------------------------- */

static struct read_result head_of(const uint8_t *p)
{
	struct read_result r;

	memcpy(&r, p, sizeof(r));
	return r;
}

/* "block N" and where that is. */
static void see_entry(const struct event *e)
{
	struct read_result r = head_of(e->capture), text;
	struct block *b;

	entries++;
	memcpy(&b, e->capture + sizeof(r), sizeof(b));
	text = head_of(e->capture + sizeof(r) + 8);
	wrong += e->ncapture < 20 || r.n != 8 || r.op != 0 || text.op != 1 ||
		b < blocks || b >= blocks + BLOCKS ||
		text.n != strlen(b->text) || memcmp(e->capture + 16, b->text, text.n) != 0;
}

static void see_exit(const struct event *e)
{
	struct read_result r = head_of(e->capture);

	exits++;
	if (r.status == READ_NOT)
		unread++;
	else
		wrong += r.n != 4 || r.op != 2;
	wrong += e->ncapture < 4 + 12;
}

static int see(void *ctx, const struct event *e)
{
	if (e->kind != EVENT_ENTRY && e->kind != EVENT_EXIT)
		return 0;
	if (!e->capture)
		wrong++;
	else if (e->kind == EVENT_ENTRY)
		see_entry(e);
	else
		see_exit(e);
	return 0;
}

static void look(void)
{
	while (reader_drain(reader, false, see, NULL) > 0)
		;
}

static uint64_t lost(void)
{
	struct reader_stats st;

	reader_stats(reader, &st);
	CHECK_EQ(st.damaged, 0);
	return st.lost;
}

static void begin(void)
{
	entries = exits = wrong = unread = 0;
}

/* ---- tests --------------------------------------------------------------- */

static void test_each(void)
{
	begin();
	for (int i = 0; i < 1000; i++)
		valued(&blocks[i % BLOCKS]);
	look();
	CHECK_EQ(entries, 1000);
	CHECK_EQ(exits, 1000);
	CHECK_EQ(unread, 0);
	CHECK_EQ(wrong, 0);
}

/* What the exits of the outermost need was forgotten. */
static void test_deep(void)
{
	begin();
	deep(&blocks[0]);
	look();
	CHECK_EQ(entries, BLOCKS);
	CHECK_EQ(exits, BLOCKS);
	CHECK(unread > 0 && unread < BLOCKS);
	CHECK_EQ(wrong, 0);
}

/* However many calls are made in a call: its exit has what its entry has read. */
static void test_around(void)
{
	begin();
	around(&blocks[0]);
	look();
	around(&blocks[1]);
	look();
	CHECK_EQ(entries, 1002);
	CHECK_EQ(exits, 1002);
	CHECK_EQ(unread, 0);
	CHECK_EQ(wrong, 0);
}

/* Another plan has the place of that which the entry was read by. */
static void test_replaced(void)
{
	begin();
	for (int i = 0; i < 100; i++)
		replaced(&blocks[i]);
	look();
	CHECK_EQ(entries, 100);
	CHECK_EQ(exits, 100);
	CHECK_EQ(unread, 100);
	CHECK_EQ(wrong, 0);
}

static void test_left(void)
{
	begin();
	for (volatile int i = 0; i < 100; i++) {
		if (!setjmp(back))
			left(&blocks[i]);
		valued(&blocks[i + 1]);
	}
	look();
	CHECK_EQ(entries, 200);
	CHECK_EQ(exits, 100);
	CHECK_EQ(wrong, 0);
}

static void test_full(void)
{
	uint64_t before = lost();

	begin();
	for (int i = 0; i < 50000; i++)
		valued(&blocks[i % BLOCKS]);
	look();
	CHECK(lost() > before);
	CHECK_EQ(entries + exits + lost() - before, 100000);
	CHECK_EQ(wrong, 0);
}

static void test_no_call(void)
{
	struct capture_plan *p = plan_at();

	begin();
	w.s->reads = READS_NOTHING;
	valued(&blocks[0]);
	look();
	CHECK_EQ(entries, 1);
	CHECK_EQ(exits, 1);
	CHECK(wrong > 0);		/* the text was not read */
	w.s->reads = READS_BY_CALL;
	p->plan.nops = 2;		/* nothing at the exit */
	begin();
	valued(&blocks[0]);
	look();
	CHECK_EQ(entries, 1);
	CHECK_EQ(wrong, 1);
	p->plan.nops = 4;
}

static volatile uint64_t handled;

static void on_alarm(int signal)
{
	valued(&blocks[signal]);
	handled++;
}

static void test_handlers(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };
	struct sigaction sa = { .sa_handler = on_alarm };
	uint64_t before = lost(), calls = 0;

	begin();
	MUST(!sigaction(SIGALRM, &sa, NULL) && !setitimer(ITIMER_REAL, &often, NULL));
	while (handled < 2000) {
		for (int i = 0; i < 100; i++, calls++)
			valued(&blocks[i]);
		look();
	}
	MUST(!setitimer(ITIMER_REAL, &never, NULL));
	while (reader_drain(reader, true, see, NULL) > 0)
		;
	CHECK_EQ(entries + exits + lost() - before, 2 * (calls + handled));
	CHECK_EQ(wrong, 0);
}

static uint64_t seed = 88172645463325252u;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* Some bytes of it, or all. */
static void test_damaged(void)
{
	static uint8_t good[sizeof(struct capture_plan)];
	uint8_t *p = plans + 64;

	memcpy(good, p, sizeof(good));
	for (int i = 0; i < RANDOM; i++) {
		for (uint64_t k = random_word() % 8; k; k--)
			p[random_word() % (i % 2 ? sizeof(good) : 160)] = (uint8_t)random_word();
		for (uint64_t k = random_word() % 64; k; k--)
			plans[PLANS + random_word() % CAPTURE_TAKEN] = (uint8_t)random_word();
		((uint32_t *)plans)[VALUED] = i % 16 ? 8 : (uint32_t)random_word();
		valued(&blocks[i % BLOCKS]);
		if (i % 32 == 0)
			memcpy(p, good, sizeof(good));
	}
}

int main(void)
{
	world_begin(&w, 2, 4);
	make_plans();
	MUST(!reader_new(w.s, w.s->size, getpid(), names, ARRAY_SIZE(names), &reader));
	for (int i = 0; i < BLOCKS; i++)
		snprintf(blocks[i].text, sizeof(blocks[i].text), "block %d", i);
	valued = make(VALUED, body);
	deep = make(DEEP, again);
	left = make(LEFT, leave);
	around = make(AROUND, many);
	replaced = make(REPLACED, replace);
	test_each();
	test_deep();
	test_around();
	test_replaced();
	test_left();
	test_full();
	test_no_call();
	test_handlers();
	test_damaged();
	reader_free(reader);
	return failures != 0;
}
