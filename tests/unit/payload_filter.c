/* SPDX-License-Identifier: MIT */
/*
 * What a session keeps is changed while calls are open: is each judged by one condition, that of
 * its entry; is one of which nothing is known any more left out; are results told by the numbers
 * that a plan says; and does the fast path leave all to C, or nothing, as its thread is told?
 */
#include "injector/reader/reader.h"
#include "tests/unit/payload_reads.h"

enum { RINGS = 8, READ = 1, SLOW = 100000000 };

static struct world w;
static probed_fn *called;
static struct reader *reader;
static struct reader_func names[WORLD_FUNCS];
static char one[16] = "one", other[16] = "other";
static size_t entries, exits, results, numbers;
static void (*within)(void);

/* Two plans, one behind the other, with their conditions; the lists have one each. */
static struct capture_plan *plan(unsigned int i)
{
	size_t size = sizeof(struct capture_plan) + sizeof(struct condition);

	return (struct capture_plan *)((uint8_t *)w.s + w.s->plans_off + 2 * READS_FUNCS * 4 +
				       i * size);
}

static uint32_t *list(unsigned int i)
{
	return (uint32_t *)((uint8_t *)w.s + w.s->plans_off) + i * w.s->plans_funcs;
}

static uint32_t place_of(const void *p)
{
	return (uint32_t)(((uint64_t)p - (uint64_t)w.s - w.s->plans_off) / 8);
}

/* Those pass whose first argument is `value`; one that is open at the end asks that it lasts. */
static void make_plan(unsigned int i, uint64_t value, uint32_t number)
{
	struct capture_plan *p = plan(i);
	struct condition *c = (struct condition *)(p + 1);

	reads_plan(p);
	memset(c, 0, sizeof(*c));
	c->nops = 1;
	c->ops[0] = (struct condition_op){ .code = CONDITION_TEST, .relation = RELATION_EQ,
					   .form = 8, .bits = 64, .number = value };
	MUST(!condition_check(c));
	p->condition = place_of(c);
	p->number = number;
	list(i)[READ] = place_of(p);
}

static int see(void *ctx, const struct event *e)
{
	const uint8_t *p = e->capture;
	struct read_result r;

	if (e->func != READ)
		return 0;
	entries += e->kind == EVENT_ENTRY;
	exits += e->kind == EVENT_EXIT;
	for (size_t at = 0; p && at + sizeof(r) <= e->ncapture;
	     at += (r.n + sizeof(r) + 3) & ~3ull) {
		memcpy(&r, p + at, sizeof(r));
		results++;
		numbers |= 1ul << r.op;
	}
	return 0;
}

static void act(void *arg)
{
	if (within)
		within();
	within = NULL;
}

/* A call, and what is done within it; how many are kept? */
static size_t passed(char *arg, void (*what)(void))
{
	within = what;
	entries = exits = results = numbers = 0;
	called(arg);
	MUST(reader_drain(reader, false, see, NULL) >= 0);
	MUST_EQ(entries, exits);
	return entries;
}

static void change(void)
{
	w.s->plans_at = !w.s->plans_at;
}

/* Something else has the place of the plan that the call has. */
static void replace(void)
{
	plan(w.s->plans_at)->number += 100;
	change();
}

/* As verb_filter.c of the injector does. */
static void send(uint64_t least, bool asks)
{
	struct thread *t = (struct thread *)world_thread(&w, world_ring_of(&w, 0));

	w.s->least = least;
	w.s->asks = asks;
	t->least = LEAST_ASKS;
}

static void test_changed(void)
{
	make_plan(0, (uint64_t)one, 1);
	make_plan(1, (uint64_t)other, 2);
	for (int asks = 0; asks < 2; asks++) {
		MUST_EQ(passed(one, NULL), 1);
		MUST_EQ(passed(other, NULL), 0);
		/* By the one of its entry, whether that is to pass it or not. */
		MUST_EQ(passed(one, change), 1);
		MUST_EQ(passed(one, NULL), 0);
		MUST_EQ(passed(other, NULL), 1);
		MUST_EQ(passed(one, change), 0);
		/* Pending: it is asked at its end. */
		send(1, true);
		MUST_EQ(passed(one, change), 1);
		MUST_EQ(passed(one, change), 0);
		MUST_EQ(passed(one, replace), 0);
		change();
		MUST_EQ(passed(one, NULL), 1);
		send(0, true);
	}
}

static void test_renamed(void)
{
	struct capture_plan *p = plan(w.s->plans_at);

	MUST_EQ(passed(one, NULL), 1);
	MUST_EQ(numbers, 7);
	memset(p->told, READS_NONE, sizeof(p->told));
	p->told[1] = 0;
	p->told[2] = 1;
	p->renamed = 1;
	for (int least = 0; least < 2; least++) {
		send((uint64_t)least, true);
		MUST_EQ(passed(one, NULL), 1);
		MUST_EQ(numbers, 3);
		MUST_EQ(results, 2);
	}
	memset(p->told, READS_NONE, sizeof(p->told));
	MUST_EQ(passed(one, NULL), 1);
	MUST_EQ(results, 0);
	p->renamed = 0;
}

/* Without a condition it is the time that says which calls are kept. */
static void test_sent(void)
{
	list(w.s->plans_at)[READ] = 0;
	send(SLOW * 100ull, false);
	MUST_EQ(passed(one, NULL), 0);
	MUST_EQ(((struct thread *)world_thread(&w, world_ring_of(&w, 0)))->least, SLOW * 100ull);
	send(0, false);
	MUST_EQ(passed(one, NULL), 1);
	/* And how many of a stack are. */
	w.s->deepest = 1;
	send(0, false);
	MUST_EQ(passed(one, NULL), 1);
	MUST_EQ(world_thread(&w, world_ring_of(&w, 0))->deepest, 1);
	w.s->deepest = 0;
	send(0, false);
	MUST_EQ(passed(one, NULL), 1);
	MUST_EQ(world_thread(&w, world_ring_of(&w, 0))->deepest, 0);
}

int main(void)
{
	const struct routine_set *set = &hot_table.sets[0][ROUTINES_SIFTED];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		names[i] = (struct reader_func){ .name = "f", .module = "m" };
	world_begin(&w, RINGS, 4);
	called = reads_function(&w, READ, act, set->entry, set->exit);
	w.s = world_session(RINGS, 4);
	w.s->counting = COUNT_SIFTED;
	reads_begin(&w, READ);
	w.s->asks = 1;
	world_hello()(w.s);
	world_lead(&w);
	MUST(!reader_new(w.s, w.s->size, getpid(), names, ARRAY_SIZE(names), &reader));
	test_changed();
	test_renamed();
	test_sent();
	reader_free(reader);
	return 0;
}
