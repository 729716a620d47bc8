/* SPDX-License-Identifier: MIT */
/* Does the payload record what is called, in order, and count what it cannot? */
#include <setjmp.h>
#include "tests/unit/payload_world.h"

static struct world w;
static probed_fn *leaf, *outer, *recursive, *marker, *thrower, *catcher, *late;

struct log {
	struct rec recs[64];
	size_t n;
	uint64_t entries, exits, marks, unwound, lost;
};

static void note(void *ctx, const struct rec *r)
{
	struct log *log = ctx;

	if (r->kind == REC_NONE)
		return;
	if (log->n < 64)
		log->recs[log->n++] = *r;
	log->entries += r->kind == REC_ENTRY;
	log->exits += r->kind == REC_EXIT;
	log->marks += r->kind == REC_EXT && r->sub == EXT_MARK;
	log->unwound += r->kind == REC_EXT && r->sub == EXT_UNWOUND;
	log->lost += r->kind == REC_EXT && r->sub == EXT_LOST ? r->body : 0;
}

static struct drain d;
static struct log seen;

static void drain_all(void)
{
	memset(&seen, 0, sizeof(seen));
	d.each = note;
	d.ctx = &seen;
	world_drain(&w, world_ring_of(&w, 0), &d);
	MUST_EQ(d.inversions, 0);
	MUST_EQ(d.holes, 0);
}

static void call_leaf_twice(void *arg)
{
	leaf(arg);
	leaf(arg);
}

static void expect(size_t i, uint32_t kind, uint32_t func)
{
	MUST(i < seen.n);
	MUST_EQ(seen.recs[i].kind, kind);
	MUST_EQ(seen.recs[i].func, func);
}

static void test_pairs(void)
{
	outer(NULL);
	drain_all();
	MUST_EQ(seen.n, 6);
	expect(0, REC_ENTRY, 2);
	expect(1, REC_ENTRY, 1);
	expect(2, REC_EXIT, 1);
	expect(3, REC_ENTRY, 1);
	expect(4, REC_EXIT, 1);
	expect(5, REC_EXIT, 2);
}

/* Recorded behind a push, and not watched. */
static probed_fn *make_late(uint32_t func, probed_fn *body)
{
	const uint64_t pushed = LATE_PUSHED | REC_UNWATCHED;
	probed_fn *f = (probed_fn *)here(&w);

	emit_push(&w);
	emit_record(&w, REC_ENTRY | pushed << REC_LATE_SHIFT |
		    (uint64_t)func << REC_FUNC_SHIFT, hot_begin + hot_table.watch_entry);
	emit_align(&w);
	emit_call(&w, body);
	emit_unalign(&w);
	emit_pop(&w);
	emit_exit(&w, func);
	emit_ret(&w);
	return f;
}

/* Paired by where the function begins. */
static void test_late(void)
{
	struct thread *t = world_thread(&w, world_ring_of(&w, 0));

	late(NULL);
	late(NULL);
	drain_all();
	MUST_EQ(seen.n, 12);
	for (size_t i = 0; i < 12; i += 6) {
		expect(i, REC_ENTRY, 0x155555);
		expect(i + 1, REC_ENTRY, 1);
		expect(i + 2, REC_EXIT, 1);
		expect(i + 5, REC_EXIT, 0x155555);
	}
	for (int i = 0; i < THREAD_WATCHED; i++)
		MUST_EQ(t->watched[i].sp, 0);
}

static void test_mark(void)
{
	marker(NULL);
	drain_all();
	MUST_EQ(seen.n, 3);
	MUST_EQ(seen.recs[0].sub, EXT_MARK);
	/* And where on the stack: bits 3 to 32 of its stack pointer, which is near ours. */
	uint64_t here = (uint64_t)__builtin_frame_address(0) >> 3;
	uint64_t at = seen.recs[0].body >> MARK_AT;

	MUST_EQ(seen.recs[0].body & 0xffffffff, 0x3ffff7);
	MUST(((here - at) & ((1u << MARK_AT_BITS) - 1)) < 1 << 14);
	expect(1, REC_ENTRY, 1);
	expect(2, REC_EXIT, 1);
}

/* Many times round the ring, drained as it goes. */
static void test_wrap(void)
{
	uint64_t entries = 0, exits = 0;
	int i, k;

	for (i = 0; i < 100; i++) {
		for (k = 0; k < 5000; k++)
			leaf(NULL);
		drain_all();
		entries += seen.entries;
		exits += seen.exits;
	}
	MUST_EQ(entries, 500000);
	MUST_EQ(exits, 500000);
	MUST(world_ring_of(&w, 0)->head > 2 * w.s->nsub);
}

/* If a reader is in time, a ring touches two places and no more of its memory,
 * however much is recorded. */
static void test_low_places(void)
{
	struct ring *r;
	uint32_t place;
	int i, k;

	w.s = world_session(4, 70);
	world_hello()(w.s);
	memset(&d, 0, sizeof(d));
	for (i = 0; i < 1000; i++) {
		for (k = 0; k < 1000; k++)
			leaf(NULL);
		drain_all();
		MUST_EQ(seen.entries, 1000);
	}
	r = world_ring_of(&w, 0);
	MUST(r->head > 200);
	for (place = 0; place < 70; place++)
		MUST_EQ(world_place(r, place)->seq != 0, place < 2);
	/* All of them are there to be used. */
	for (i = 0; i < 70 * 5000; i++)
		leaf(NULL);
	for (place = 0; place < 70; place++)
		MUST(world_used(r, place));
	drain_all();
	MUST_EQ(seen.entries + r->lost_entries, 70 * 5000);
}

/* The rings are not read: what was recorded and what was lost is what was called. */
static void test_full(void)
{
	struct ring *r = world_ring_of(&w, 0);
	uint64_t made = 100000, before = r->lost_entries, k;

	for (k = 0; k < made; k++)
		outer(NULL);
	drain_all();
	MUST(r->lost_entries > before);
	MUST_EQ(seen.entries + r->lost_entries - before, 3 * made);
	MUST_EQ(seen.exits + r->lost_exits, 3 * made);
	MUST_EQ(seen.lost, 0);
	leaf(NULL);
	drain_all();
	MUST_EQ(seen.lost, r->lost_entries + r->lost_exits);
	MUST_EQ(seen.n, 3);
	MUST_EQ(seen.recs[0].sub, EXT_LOST);
	expect(1, REC_ENTRY, 1);
	expect(2, REC_EXIT, 1);
}

/* A lost entry was interrupted before its frame by a handler that lost something,
 * too: the frame that the slow path then writes is that of a lost entry, whose
 * exit is not recorded. The code is what hot.S does then. */
static void test_settle_lost(void)
{
	struct ring *r = world_ring_of(&w, 0);
	struct thread *t = world_thread(&w, r);
	uint64_t word = (t->top + 8) << 2 | SETTLE_LOST, lost = r->lost_exits;
	probed_fn *f = (probed_fn *)here(&w);

	emit_slow(&w, word, w.s->slow_entry);
	emit_exit(&w, 1);
	emit_ret(&w);
	t->top += 8;
	f(NULL);
	MUST_EQ(r->lost_exits, lost + 1);
	t->end = 0;	/* what was lost is told on the slow path */
	leaf(NULL);
	drain_all();
	MUST_EQ(seen.lost, 1);
	MUST_EQ(seen.exits, 1);
}

static jmp_buf out;

static void do_throw(void *arg)
{
	(void)arg;
	longjmp(out, 1);
}

static void do_catch(void *arg)
{
	if (!setjmp(out))
		thrower(arg);
	leaf(arg);
}

static void test_unwound(void)
{
	catcher(NULL);
	drain_all();
	MUST_EQ(seen.entries, 3);
	MUST_EQ(seen.exits, 2);
	MUST_EQ(seen.unwound, 1);
	expect(0, REC_ENTRY, 5);
	expect(1, REC_ENTRY, 4);
	MUST_EQ(seen.recs[2].sub, EXT_UNWOUND);
	MUST_EQ(seen.recs[2].body, 1);
	expect(3, REC_ENTRY, 1);
	expect(4, REC_EXIT, 1);
	expect(5, REC_EXIT, 5);
}

/* A call that began, and was left. */
static probed_fn *make_left(uint32_t func)
{
	probed_fn *f = (probed_fn *)here(&w);

	emit_entry(&w, func);
	emit_ret(&w);
	return f;
}

/* A function with a place where its stack pointer is lower than at its entry; as low as that of
 * such a call began, where calls push nothing. */
static probed_fn *make_framed(uint32_t func, uint32_t place, probed_fn *left)
{
	probed_fn *f = (probed_fn *)here(&w);

	emit_entry(&w, func);
	emit_push(&w);
	emit_align(&w);
	emit_call(&w, left);
	emit_push(&w);
	emit_place(&w, place, true);
	emit_pop(&w);
	emit_unalign(&w);
	emit_pop(&w);
	emit_exit(&w, func);
	emit_ret(&w);
	return f;
}

/* And one with a place where it is as high as at the entry. */
static probed_fn *make_bare(uint32_t func, uint32_t place, probed_fn *body)
{
	probed_fn *f = (probed_fn *)here(&w);

	emit_entry(&w, func);
	emit_call(&w, body);
	emit_place(&w, place, false);
	emit_exit(&w, func);
	emit_ret(&w);
	return f;
}

/* What is recorded next is the slow path's. */
static void go_slow(void *arg)
{
	if (arg)
		world_thread(&w, world_ring_of(&w, 0))->end = 0;
}

static void expect_mark(size_t i, uint32_t func)
{
	MUST_EQ(seen.recs[i].sub, EXT_MARK);
	MUST_EQ(seen.recs[i].body & 0xffffffff, func);
}

/* A place ends the calls from its function that were left, and not that of its function: by the
 * routine, and by C. */
static void test_places(void)
{
	probed_fn *framed = make_framed(20, 21, make_left(22));
	probed_fn *bare = make_bare(23, 24, go_slow);

	for (int slow = 0; slow < 2; slow++) {
		framed(NULL);
		bare(slow ? &w : NULL);
		drain_all();
		size_t i = 0;

		expect(i++, REC_ENTRY, 20);
		expect(i++, REC_ENTRY, 22);
		MUST_EQ(seen.recs[i].sub, EXT_UNWOUND);
		MUST_EQ(seen.recs[i++].body, 1);
		expect_mark(i++, 21);
		expect(i++, REC_EXIT, 20);
		expect(i++, REC_ENTRY, 23);
		expect_mark(i++, 24);
		expect(i++, REC_EXIT, 23);
		MUST_EQ(seen.n, i);
	}
}

static void recurse(void *arg)
{
	uintptr_t n = (uintptr_t)arg;

	if (n > 1)
		recursive((void *)(n - 1));
}

/* Deeper than the table of frames: all is still counted, once. */
static void test_recursion(void)
{
	uint64_t depth = 12000;

	recursive((void *)depth);
	drain_all();
	MUST_EQ(seen.entries, depth);
	MUST_EQ(seen.exits, depth);
	MUST_EQ(seen.unwound, 0);
	leaf(NULL);
	drain_all();
	MUST_EQ(seen.n, 2);
}

/* f() { ...; goto g; } as exit sites see it: an exit, then g's entry. */
static void test_tail_call(void)
{
	probed_fn *f = (probed_fn *)here(&w);
	uint8_t jump[ARCH_JUMP_MAX];
	int n;

	emit_entry(&w, 7);
	emit_exit(&w, 7);
	n = arch_host()->jump((raddr_t)w.arena + w.used, (raddr_t)leaf, jump);
	MUST(n > 0);
	emit(&w, jump, (size_t)n);
	f(NULL);
	drain_all();
	MUST_EQ(seen.n, 4);
	expect(0, REC_ENTRY, 7);
	expect(1, REC_EXIT, 7);
	expect(2, REC_ENTRY, 1);
	expect(3, REC_EXIT, 1);
}

static void expect_before(size_t i, uint32_t func)
{
	expect(i, REC_EXT, EXT_BEFORE | 1 << 6);
	MUST_EQ(seen.recs[i].body, func);
}

/* An exit of a call that began before its probe was in, alone or in the middle of
 * one whose probe was: as when a library that is loaded later is called. */
static void test_exit_alone(void)
{
	probed_fn *f = (probed_fn *)here(&w), *around;

	emit_call(&w, leaf);
	emit_exit(&w, 8);
	emit_ret(&w);
	f(NULL);
	drain_all();
	MUST_EQ(seen.n, 3);
	expect_before(2, 8);
	around = probed(&w, 9, f);
	around(NULL);
	drain_all();
	MUST_EQ(seen.n, 5);
	expect(0, REC_ENTRY, 9);
	expect_before(3, 8);
	expect(4, REC_EXIT, 9);
}

/* The clock's high bits change: a sub-buffer ends early, and the next one has
 * another epoch. That takes minutes; so the thread is told it has come. */
static void test_epoch(void)
{
	struct ring *r = world_ring_of(&w, 0);
	struct thread *t = world_thread(&w, r);
	uint64_t head = r->head, epoch = t->bias >> REC_TIME_SHIFT;
	int i;

	MUST_EQ(t->magic, THREAD_MAGIC);
	MUST_EQ(t->limit, epoch + (1ull << REC_TIME_BITS));
	for (i = 0; i < 3; i++) {
		t->limit = 0;
		outer(NULL);
		MUST_EQ(r->head, head + i + 1);
		MUST_EQ(t->bias >> REC_TIME_SHIFT, epoch);
		drain_all();
		MUST_EQ(seen.n, 6);
		MUST_EQ(r->tail, r->head - 1);
	}
}

static void test_closed(void)
{
	uint64_t head = world_ring_of(&w, 0)->head;
	int k;

	w.s->state = SESSION_CLOSED;
	for (k = 0; k < 50000; k++)
		leaf(NULL);
	MUST_EQ(world_ring_of(&w, 0)->head, head);
	w.s->state = SESSION_READY;
	drain_all();
}

static void set_gate(void *arg)
{
	world_gates[3] = *(uint8_t *)arg;
}

/* While a gate is closed nothing is recorded, and nothing lost: a call that was open
 * then is left by the one around it, and one that ends later began before. */
static void test_gate(void)
{
	struct ring *r = world_ring_of(&w, 0);
	uint64_t lost = r->lost_entries + r->lost_exits;
	probed_fn *gated = probed(&w, 3, set_gate), *around = probed(&w, 4, gated);
	uint8_t closed = 0, open = 1;

	drain_all();
	around(&closed);
	gated(&closed);
	gated(&open);
	around(&open);
	drain_all();
	MUST_EQ(seen.n, 9);
	expect(0, REC_ENTRY, 4);
	expect(1, REC_ENTRY, 3);
	MUST_EQ(seen.recs[2].sub, EXT_UNWOUND);
	expect(3, REC_EXIT, 4);
	expect_before(4, 3);
	expect(5, REC_ENTRY, 4);
	expect(6, REC_ENTRY, 3);
	expect(7, REC_EXIT, 3);
	expect(8, REC_EXIT, 4);
	MUST_EQ(r->lost_entries + r->lost_exits, lost);
}

/* When its reader has ended, the payload closes them itself. */
static void test_reader_gone(void)
{
	uint8_t *gates = (uint8_t *)w.s + GATES_OFF;
	int k;

	memset(gates, 1, WORLD_FUNCS + 1);
	w.s->reader = READER_GONE;
	for (k = 0; k < 50000 && w.s->state != SESSION_CLOSED; k++)
		leaf(NULL);
	MUST_EQ(w.s->state, SESSION_CLOSED);
	for (k = 0; k <= WORLD_FUNCS; k++)
		MUST_EQ(gates[k], k == WORLD_FUNCS);
	w.s->reader = 0;
	w.s->state = SESSION_READY;
	drain_all();
}

/* Another session: threads go over to it at their next call. */
static void test_second_hello(void)
{
	struct world old = w;
	uint64_t threads;

	leaf(NULL);
	drain_all();
	w.s = world_session(4, 4);
	w.s->generation = 2;
	world_hello()(w.s);
	MUST_EQ(w.s->answer, 2);
	memset(&d, 0, sizeof(d));
	outer(NULL);
	drain_all();
	MUST_EQ(seen.n, 6);
	MUST_EQ(world_ring_of(&old, 0)->head, world_ring_of(&old, 0)->tail + 1);
	/* The same one again, with what was not yet read. */
	outer(NULL);
	w.s->generation = 3;
	world_hello()(w.s);
	outer(NULL);
	drain_all();
	MUST_EQ(seen.n, 12);
	/* New rings, and the threads wiped, as the injector does it; after hello
	 * they would be what a forked child finds. */
	threads = w.s->threads;
	w.s = world_session(4, 4);
	w.s->threads = threads;
	madvise((void *)threads, (size_t)w.s->nrings * THREAD_SIZE, MADV_DONTNEED);
	world_hello()(w.s);
	memset(&d, 0, sizeof(d));
	outer(NULL);
	drain_all();
	MUST_EQ(seen.n, 6);
}

/* A session that is not one is left alone. */
static void test_bad_hello(void)
{
	struct session bad = { .magic = SESSION_MAGIC, .abi = ABI_VERSION + 1 };

	world_hello()(&bad);
	MUST_EQ(bad.state, SESSION_NEW);
	bad.magic = 0;
	bad.abi = ABI_VERSION;
	world_hello()(&bad);
	MUST_EQ(bad.answer, 0);
}

int main(void)
{
	world_begin(&w, 4, 4);
	leaf = probed(&w, 1, NULL);
	outer = probed(&w, 2, call_leaf_twice);
	recursive = probed(&w, 3, recurse);
	thrower = probed(&w, 4, do_throw);
	catcher = probed(&w, 5, do_catch);
	marker = marked(&w, 0x3ffff7, leaf);
	late = make_late(0x155555, call_leaf_twice);
	test_pairs();
	test_late();
	test_mark();
	test_wrap();
	test_full();
	test_settle_lost();
	test_unwound();
	test_places();
	test_recursion();
	test_tail_call();
	test_exit_alone();
	test_epoch();
	test_closed();
	test_gate();
	test_reader_gone();
	test_bad_hello();
	test_second_hello();
	test_low_places();
	return 0;
}
