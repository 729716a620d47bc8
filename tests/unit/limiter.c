/* SPDX-License-Identifier: MIT */
/*
 * Does the limiter choose the probes that cost too much, and no others; by what
 * happened within a window, whenever it is read; and does it wait where there
 * is too little to judge by?
 */
#include "injector/show/limiter.h"

#include "tests/unit/check.h"

#define MS 1000000ull

static const struct limiter_costs costs = { .recorded = 10, .lost = 5 };

static struct limiter *begin(uint32_t percent)
{
	struct limiter *b;

	CHECK(limiter_new(percent * 100, &costs, &b) == 0);
	return b;
}

/* One of the clock's ticks is a nanosecond here. */
static void sample_lost(struct limiter *b, uint64_t at, uint64_t processor, uint64_t lost)
{
	struct limiter_sample s = { at, at, processor, lost };

	limiter_sample(b, &s);
}

static void sample(struct limiter *b, uint64_t at, uint64_t processor)
{
	sample_lost(b, at, processor, 0);
}

static void event(struct limiter *b, uint64_t at, uint32_t func, enum event_kind kind)
{
	struct event e = { .tsc = at, .func = func, .kind = (uint8_t)kind };

	CHECK(limiter_event(b, &e) == 0);
}

/* `n` calls, 20 ns each. */
static void call(struct limiter *b, uint64_t at, uint32_t func, unsigned n)
{
	while (n--) {
		event(b, at, func, EVENT_ENTRY);
		event(b, at, func, EVENT_EXIT);
	}
}

/* What has to go is exactly this, in this order. */
static void expect(struct limiter *b, const int *funcs, size_t n)
{
	struct limiter_verdict v;
	size_t i = 0;

	for (; limiter_next(b, &v); i++)
		CHECK(i < n && v.func == (uint32_t)funcs[i]);
	CHECK_EQ(i, n);
}

static void expect_none(struct limiter *b)
{
	expect(b, NULL, 0);
}

/* 100 ms of processor time; 1: 2 ms, 2: 6 ms, 3: 1 ms; all: 9 %. */
static void three(struct limiter *b)
{
	sample(b, 1000 * MS, 0);
	call(b, 1001 * MS, 1, 100000);
	call(b, 1001 * MS, 2, 300000);
	call(b, 1001 * MS, 3, 50000);
	sample(b, 1200 * MS, 100 * MS);
	event(b, 1201 * MS, 9, EVENT_ENTRY);
}

static void check_limits(void)
{
	struct limiter *b = begin(10);

	three(b);
	expect_none(b);
	limiter_free(b);
	b = begin(5);
	three(b);
	expect(b, (const int[]){ 2 }, 1);
	expect_none(b);
	limiter_free(b);
	b = begin(2);
	three(b);
	expect(b, (const int[]){ 2, 1 }, 2);
	limiter_free(b);
	/* More than all of the time is all of it. */
	b = begin(100);
	three(b);
	call(b, 1202 * MS, 1, 6000000);
	sample(b, 1400 * MS, 200 * MS);
	event(b, 1401 * MS, 9, EVENT_ENTRY);
	expect_none(b);
	limiter_free(b);
}

static void check_verdict(void)
{
	struct limiter_verdict v = { 0 };
	struct limiter *b = begin(5);

	three(b);
	CHECK(limiter_next(b, &v));
	CHECK_EQ(v.percent + 0.5, 6);
	CHECK_EQ(v.calls + 0.5, 1500000);
	limiter_free(b);
}

/* What comes behind the mark belongs to the next window. */
static void check_windows(void)
{
	struct limiter *b = begin(5);

	sample(b, 1000 * MS, 0);
	sample(b, 1200 * MS, 100 * MS);
	call(b, 1199 * MS, 1, 200000);
	expect_none(b);
	call(b, 1201 * MS, 2, 400000);
	expect_none(b);
	sample(b, 1400 * MS, 200 * MS);
	call(b, 1401 * MS, 3, 1);
	expect(b, (const int[]){ 2 }, 1);
	limiter_free(b);
}

/* A reader far behind comes to a judgement all the same. */
static void check_late(void)
{
	struct limiter *b = begin(5);

	sample(b, 1000 * MS, 0);
	call(b, 1001 * MS, 1, 300000);
	for (uint64_t at = 1200; at < 3000; at += 200)
		sample(b, at * MS, (at - 1000) / 2 * MS);
	event(b, 1201 * MS, 2, EVENT_ENTRY);
	expect(b, (const int[]){ 1 }, 1);
	limiter_free(b);
}

/* Little processor time says nothing, but is not forgotten. */
static void check_idle(void)
{
	struct limiter *b = begin(5);

	sample(b, 1000 * MS, 0);
	call(b, 1001 * MS, 1, 50000);
	sample(b, 1200 * MS, 1 * MS);
	event(b, 1201 * MS, 2, EVENT_ENTRY);
	expect_none(b);
	sample(b, 1400 * MS, 20 * MS);
	event(b, 1401 * MS, 2, EVENT_ENTRY);
	expect(b, (const int[]){ 1 }, 1);
	limiter_free(b);
}

/* Of 100000 calls three quarters were lost: those cost half. */
static void check_lost(void)
{
	struct limiter *b = begin(4);

	sample_lost(b, 1000 * MS, 0, 7);
	call(b, 1001 * MS, 1, 100000);
	sample_lost(b, 1200 * MS, 100 * MS, 600007);
	event(b, 1201 * MS, 2, EVENT_ENTRY);
	expect(b, (const int[]){ 1 }, 1);
	/* Numbers of losses are the target's: they may go back. */
	call(b, 1202 * MS, 1, 50000);
	sample_lost(b, 1400 * MS, 200 * MS, 3);
	event(b, 1401 * MS, 2, EVENT_ENTRY);
	expect_none(b);
	limiter_free(b);
}

static void check_traps(void)
{
	struct limiter *b = begin(5);

	CHECK(limiter_more(b, 1, 2000) == 0);
	sample(b, 1000 * MS, 0);
	call(b, 1001 * MS, 1, 2000);
	call(b, 1001 * MS, 2, 2000);
	sample(b, 1200 * MS, 100 * MS);
	event(b, 1201 * MS, 2, EVENT_ENTRY);
	expect(b, (const int[]){ 1 }, 1);
	limiter_free(b);
}

/* What happened before the first sample, or while probes went, says nothing. What
 * cannot go is not asked for. */
static void check_begins(void)
{
	struct limiter *b = begin(5);

	call(b, 900 * MS, 1, 300000);
	three(b);
	expect(b, (const int[]){ 2 }, 1);
	call(b, 1250 * MS, 2, 300000);
	limiter_restart(b);
	call(b, 1260 * MS, 3, 300000);
	sample(b, 1300 * MS, 150 * MS);
	call(b, 1299 * MS, 3, 300000);
	limiter_spare(b, 3);
	call(b, 1310 * MS, 3, 300000);
	sample(b, 1500 * MS, 250 * MS);
	event(b, 1501 * MS, 9, EVENT_ENTRY);
	expect_none(b);
	call(b, 1510 * MS, 2, 300000);
	sample(b, 1700 * MS, 350 * MS);
	event(b, 1701 * MS, 9, EVENT_ENTRY);
	expect(b, (const int[]){ 2 }, 1);
	limiter_free(b);
}

/* Marks are calls without an exit; numbers of functions are anything. */
static void check_marks(void)
{
	struct limiter *b = begin(1);
	struct limiter_verdict v = { 0 };

	sample(b, 1000 * MS, 0);
	for (int i = 0; i < 200000; i++)
		event(b, 1001 * MS, (1u << 16) - 1, EVENT_MARK);
	event(b, 1001 * MS, 5, EVENT_UNWOUND);
	sample(b, 1200 * MS, 100 * MS);
	event(b, 1201 * MS, 2, EVENT_ENTRY);
	CHECK(limiter_next(b, &v));
	CHECK_EQ(v.func, (1u << 16) - 1);
	CHECK_EQ(v.percent + 0.5, 2);
	CHECK(!limiter_next(b, &v));
	limiter_free(b);
}

int main(void)
{
	check_limits();
	check_verdict();
	check_windows();
	check_late();
	check_idle();
	check_lost();
	check_traps();
	check_begins();
	check_marks();
	return failures != 0;
}
