/* SPDX-License-Identifier: MIT */
/* Does the reader say what a thread of the target did, and nothing else? */
#include "tests/unit/reader_world.h"

static void test_pair(void)
{
	struct reader_stats st;
	struct world w;

	world_make(&w, 2, 4);
	world_read(&w, 0);
	CHECK_TOLD(&w, false, "");
	world_claim(&w, 1, 7, 0);
	world_put(&w, 1, REC_ENTRY, ACCEPT, 10);
	world_put(&w, 1, REC_ENTRY, READ, 20);
	CHECK_TOLD(&w, false, "0+accept 0+read");
	world_put(&w, 1, REC_EXIT, READ, 30);
	world_put(&w, 1, REC_EXIT, ACCEPT, 40);
	world_ext(&w, 1, EXT_MARK, LOG, 50);
	CHECK_TOLD(&w, false, "0-read 0-accept 0.log");
	CHECK_TOLD(&w, false, "");
	reader_stats(w.reader, &st);
	CHECK_EQ(st.calls, 3);
	CHECK_EQ(st.events, 5);
	CHECK_EQ(st.lost, 0);
	CHECK_EQ(st.damaged, 0);
	CHECK_EQ(st.threads, 1);
	world_end(&w);
}

static void test_merge(void)
{
	struct world w;

	world_make(&w, 3, 2);
	world_read(&w, 0);
	for (uint32_t i = 0; i < 3; i++)
		world_claim(&w, i, (int32_t)i + 1, 0);
	world_put(&w, 0, REC_ENTRY, ACCEPT, 10);
	world_put(&w, 1, REC_ENTRY, READ, 5);
	world_put(&w, 2, REC_ENTRY, WAIT, 7);
	world_put(&w, 1, REC_EXIT, READ, 11);
	world_put(&w, 0, REC_EXIT, ACCEPT, 20);
	world_put(&w, 2, REC_EXIT, WAIT, 8);
	CHECK_TOLD(&w, false, "1+read 2+wait 2-wait 0+accept 1-read 0-accept");
	world_end(&w);
}

/* Sub-buffers go back zeroed, and only when all of them was read. */
static void test_wrap(void)
{
	struct world w;
	struct reader_stats st;
	uint64_t total = 0;

	world_make(&w, 1, 3);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < SUBBUF_WORDS; i++, total++)
			world_put(&w, 0, i % 2 ? REC_EXIT : REC_ENTRY, READ, total);
		world_close(&w, 0);
		CHECK(world_begin(&w, 0, total));
		world_drain(&w, false);
		CHECK_EQ(world_ring(&w, 0)->tail, world_ring(&w, 0)->head - 1);
		for (int i = 0; i < SUBBUF_WORDS; i++)
			CHECK(!((uint64_t *)(world_subbuf(&w, 0, round) + 1))[i]);
	}
	reader_stats(w.reader, &st);
	CHECK_EQ(st.events, total);
	CHECK_EQ(st.damaged, 0);
	world_end(&w);
}

static void test_hole(void)
{
	struct reader_stats st;
	struct world w;
	uint64_t *hole;

	world_make(&w, 1, 4);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	world_put(&w, 0, REC_ENTRY, ACCEPT, 1);
	hole = w.cur[0]++;
	world_put(&w, 0, REC_ENTRY, READ, 3);
	CHECK_TOLD(&w, false, "0+accept");
	CHECK_TOLD(&w, false, "");
	/* It comes after all, although the sub-buffer is closed by now. */
	world_close(&w, 0);
	world_begin(&w, 0, 10);
	CHECK_TOLD(&w, false, "");
	*hole = world_word(&w, REC_ENTRY, WAIT, 2);
	CHECK_TOLD(&w, false, "0+wait 0+read");
	/* This one does not. */
	w.cur[0]++;
	world_put(&w, 0, REC_EXIT, READ, 12);
	world_close(&w, 0);
	world_begin(&w, 0, 20);
	for (int i = 0; i < HOLE_PASSES; i++)
		CHECK_TOLD(&w, false, "");
	CHECK_TOLD(&w, false, "0-read");
	reader_stats(w.reader, &st);
	CHECK_EQ(st.damaged, 1);
	world_end(&w);
}

static void test_last_takes_what_is_behind_holes(void)
{
	struct world w;

	world_make(&w, 1, 4);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	w.cur[0]++;
	world_put(&w, 0, REC_ENTRY, READ, 3);
	CHECK_TOLD(&w, true, "0+read");
	world_end(&w);
}

/* Sub-buffers lie in any order, and one that its owner never came to fill may
 * lie nowhere. */
static void test_places(void)
{
	static const uint32_t place[] = { 66, 0, 65, 3 };
	struct reader_stats st;
	struct world w;

	world_make(&w, 1, 67);
	world_read(&w, 0);
	world_ring(&w, 0)->state = RING_CLAIMED;
	for (uint32_t i = 0; i < ARRAY_SIZE(place); i++) {
		world_begin_at(&w, 0, 10 * i, place[i]);
		world_put(&w, 0, REC_ENTRY, i, 10 * i + 1);
		world_close(&w, 0);
	}
	CHECK_TOLD(&w, false, "0+accept 0+read 0+wait 0+log");
	CHECK_EQ(world_ring(&w, 0)->used[0], 1 << 3);
	CHECK_EQ(world_ring(&w, 0)->used[1], 0);
	CHECK_EQ(world_ring(&w, 0)->tail, 3);
	/* Counted, and put aside before it had its place: the reader waits until
	 * the next one shows that nothing will be in it. */
	world_ring(&w, 0)->head++;
	CHECK_TOLD(&w, false, "");
	CHECK_TOLD(&w, false, "");
	CHECK_EQ(world_ring(&w, 0)->tail, 4);
	world_begin_at(&w, 0, 50, 66);
	world_put(&w, 0, REC_EXIT, LOG, 51);
	CHECK_TOLD(&w, false, "0-log");
	CHECK_EQ(world_ring(&w, 0)->tail, 5);
	reader_stats(w.reader, &st);
	CHECK_EQ(st.damaged, 1);
	world_end(&w);
}

static void test_stacks(void)
{
	struct world w;

	world_make(&w, 1, 4);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	world_put(&w, 0, REC_ENTRY, ACCEPT, 1);
	world_ext(&w, 0, EXT_STACK, 1, 2);
	world_put(&w, 0, REC_ENTRY, READ, 3);
	world_ext(&w, 0, EXT_STACK, 0, 4);
	world_put(&w, 0, REC_EXIT, ACCEPT, 5);
	world_ext(&w, 0, EXT_STACK, 1, 6);
	world_put(&w, 0, REC_EXIT, READ, 7);
	CHECK_TOLD(&w, false, "0+accept 0/1+read 0-accept 0/1-read");
	world_end(&w);
}

/* Stacks without end cost no memory without end. */
static void test_many_stacks(void)
{
	struct world w;

	world_make(&w, 1, 4);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	for (uint64_t i = 0; i < MAX_STACKS; i++) {
		world_ext(&w, 0, EXT_STACK, i, i);
		world_put(&w, 0, REC_ENTRY, READ, i);
	}
	world_drain(&w, false);
	world_ext(&w, 0, EXT_STACK, MAX_STACKS, 1000);
	world_put(&w, 0, REC_ENTRY, WAIT, 1000);
	CHECK_TOLD(&w, false, "0?read 0end 0/64+wait");
	CHECK_EQ(w.reader->lanes[0].nstacks, MAX_STACKS);
	world_end(&w);
}

static void test_unwound(void)
{
	struct world w;

	world_make(&w, 1, 4);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	world_put(&w, 0, REC_ENTRY, ACCEPT, 1);
	world_put(&w, 0, REC_ENTRY, READ, 2);
	world_put(&w, 0, REC_ENTRY, WAIT, 3);
	world_ext(&w, 0, EXT_UNWOUND, 1, 4);
	world_put(&w, 0, REC_EXIT, ACCEPT, 5);
	CHECK_TOLD(&w, false, "0+accept 0+read 0+wait 0!wait 0!read 0-accept");
	world_ext(&w, 0, EXT_UNWOUND, 0, 6);
	CHECK_TOLD(&w, false, "");
	world_end(&w);
}

/* How events of the fiber with number 5 are told, which are no thread's. */
#define FIBER "4294967295/2147483653"

static void test_began_before(void)
{
	struct reader_stats st;
	struct world w;

	world_make(&w, 1, 4);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	world_put(&w, 0, REC_EXIT, WAIT, 1);
	world_put(&w, 0, REC_ENTRY, READ, 2);
	world_put(&w, 0, REC_EXIT, READ, 3);
	CHECK_TOLD(&w, false, "0~wait 0+read 0-read");
	/* In the middle of calls, which go on. */
	world_put(&w, 0, REC_ENTRY, ACCEPT, 4);
	world_put(&w, 0, REC_ENTRY, READ, 5);
	world_ext(&w, 0, EXT_BEFORE, WAIT, 6);
	world_put(&w, 0, REC_EXIT, READ, 7);
	world_put(&w, 0, REC_EXIT, ACCEPT, 8);
	world_ext(&w, 0, EXT_BEFORE, NFUNCS, 9);
	CHECK_TOLD(&w, false, "0+accept 0+read 0~wait 0-read 0-accept");
	reader_stats(w.reader, &st);
	CHECK_EQ(st.events, 8);
	CHECK_EQ(st.calls, 3);
	CHECK_EQ(st.damaged, 1);
	world_end(&w);
}

/* A fiber's call that was said to have ended ends once, whatever comes of it then. */
static void test_ends_once(void)
{
	struct reader_stats st;
	struct world w;

	world_make(&w, 1, 4);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	world_ext(&w, 0, EXT_STACK, STACK_SHARED | 5, 1);
	world_put(&w, 0, REC_ENTRY, ACCEPT, 2);
	world_put(&w, 0, REC_ENTRY, READ, 3);
	world_put(&w, 0, REC_EXIT, ACCEPT, 4);
	world_put(&w, 0, REC_EXIT, READ, 5);
	world_put(&w, 0, REC_ENTRY, WAIT, 6);
	world_ext(&w, 0, EXT_UNWOUND, 0, 7);
	world_ext(&w, 0, EXT_AFTER, WAIT, 8);
	world_ext(&w, 0, EXT_AFTER, NFUNCS, 9);
	CHECK_TOLD(&w, false, FIBER "+accept " FIBER "+read " FIBER "?read " FIBER "-accept "
		   FIBER "+wait " FIBER "!wait");
	reader_stats(w.reader, &st);
	CHECK_EQ(st.events, 6);
	CHECK_EQ(st.calls, 3);
	CHECK_EQ(st.damaged, 1);
	world_end(&w);
}

/* A full ring drops; the counts are exact, and what it leaves is well formed. */
static void test_lost(void)
{
	struct reader_stats st;
	struct world w;

	world_make(&w, 1, 4);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	world_put(&w, 0, REC_ENTRY, ACCEPT, 1);
	world_put(&w, 0, REC_ENTRY, READ, 2);
	world_close(&w, 0);
	world_ring(&w, 0)->lost_entries = 5;
	world_ring(&w, 0)->lost_exits = 6;
	world_begin(&w, 0, 10);
	world_subbuf(&w, 0, 1)->depth = 1;
	world_put(&w, 0, REC_EXIT, ACCEPT, 11);
	CHECK_TOLD(&w, false, "0+accept 0+read 0lost11 0?read 0-accept");
	/* The same said again by a word is no news; more of it is. */
	world_ext(&w, 0, EXT_LOST, 11, 12);
	CHECK_TOLD(&w, false, "");
	world_ring(&w, 0)->lost_exits = 8;
	world_ext(&w, 0, EXT_LOST, 2, 13);
	CHECK_TOLD(&w, false, "0lost2");
	world_ring(&w, 0)->lost_exits = 9;
	world_session(&w)->lost_entries = 100;
	CHECK_TOLD(&w, false, "");
	CHECK_TOLD(&w, true, "0lost1");
	reader_stats(w.reader, &st);
	CHECK_EQ(st.lost, 114);
	CHECK_EQ(st.lost_entries, 105);
	world_end(&w);
}

/* An exit that was dropped shows when an outer call ends. */
static void test_exit_lost(void)
{
	struct world w;

	world_make(&w, 1, 4);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
	world_put(&w, 0, REC_ENTRY, ACCEPT, 1);
	world_put(&w, 0, REC_ENTRY, READ, 2);
	world_put(&w, 0, REC_EXIT, ACCEPT, 3);
	CHECK_TOLD(&w, false, "0+accept 0+read 0?read 0-accept");
	world_put(&w, 0, REC_ENTRY, READ, 4);
	world_put(&w, 0, REC_EXIT, WAIT, 5);
	CHECK_TOLD(&w, false, "0+read 0?read 0~wait");
	world_end(&w);
}

/* A thread that is gone: its ring is free again, its calls are over. */
static void test_thread_gone(void)
{
	struct reader_stats st;
	struct world w;

	world_make(&w, 2, 4);
	world_read(&w, getpid());
	world_claim(&w, 0, 999999999, 0);
	world_put(&w, 0, REC_ENTRY, READ, 1);
	world_claim(&w, 1, getpid(), 0);
	world_put(&w, 1, REC_ENTRY, WAIT, 2);
	/* The first look was before it was claimed. */
	CHECK_TOLD(&w, false, "0+read 1+wait");
	world_session(&w)->next_ring = 2;
	w.reader->next_look = 0;
	CHECK_TOLD(&w, false, "0!read 0end");
	CHECK_EQ(world_ring(&w, 0)->state, RING_FREE);
	CHECK_EQ(world_session(&w)->next_ring, 0);
	CHECK_EQ(world_ring(&w, 0)->tail, 1);
	CHECK_EQ(world_ring(&w, 1)->state, RING_CLAIMED);
	/* Another thread claims it. */
	world_claim(&w, 0, getpid(), 50);
	world_ring(&w, 0)->lost_entries = 3;
	world_put(&w, 0, REC_ENTRY, ACCEPT, 51);
	CHECK_TOLD(&w, false, "2+accept");
	reader_stats(w.reader, &st);
	CHECK_EQ(st.threads, 3);
	CHECK_EQ(st.lost, 3);
	CHECK_EQ(st.calls, 3);
	world_end(&w);
}

static int note_pid(void *ctx, const struct event *e)
{
	*(pid_t *)ctx = e->pid;
	return 0;
}

/* What is read first when the target is gone is still the target's, and has ended with it. */
static void test_target_gone(void)
{
	struct world w;
	pid_t pid = -1;

	world_make(&w, 1, 4);
	world_read(&w, 1234567);
	world_claim(&w, 0, 1234568, 0);
	world_put(&w, 0, REC_ENTRY, READ, 1);
	reader_target_gone(w.reader);
	/* The entry, its end, and the stack's. */
	CHECK_EQ(reader_drain(w.reader, true, note_pid, &pid), 3);
	CHECK_EQ(pid, 1234567);
	world_end(&w);
}

/* A claim was left in its middle, or behind that: the ring is free again when its
 * thread has ended, and not before. */
static void test_claim_left(void)
{
	struct world w;

	world_make(&w, 4, 4);
	world_read(&w, getpid());
	for (uint32_t i = 0; i < 4; i++) {
		world_ring(&w, i)->state = i % 2 ? RING_CLAIMED : RING_CLAIMING;
		world_ring(&w, i)->tid = i < 2 ? 999999999 : getpid();
	}
	world_session(&w)->next_ring = 3;
	CHECK_TOLD(&w, false, "");
	for (uint32_t i = 0; i < 2; i++) {
		CHECK_EQ(world_ring(&w, i)->state, RING_FREE);
		CHECK(world_ring(&w, i + 2)->state != RING_FREE);
	}
	CHECK_EQ(world_session(&w)->next_ring, 0);
	world_claim(&w, 0, getpid(), 0);
	world_put(&w, 0, REC_ENTRY, ACCEPT, 1);
	CHECK_TOLD(&w, false, "0+accept");
	world_end(&w);
}

/* Is the memory of that place there? */
static bool is_touched(struct world *w, uint32_t place)
{
	unsigned char there[SUBBUF_SIZE / PAGE];
	bool all = !mincore(world_subbuf(w, 0, place), SUBBUF_SIZE, there);

	for (size_t i = 0; i < sizeof(there); i++)
		all &= there[i] & 1;
	return all;
}

/* A thread that has used a place finds the next two there; and so on. */
static void test_touches_ahead(void)
{
	struct world w;

	world_make(&w, 1, 16);
	if (madvise(w.map, PAGE, MADV_POPULATE_READ) < 0) {
		printf("nothing is touched ahead: this kernel does not know how\n");
		world_end(&w);
		return;
	}
	world_read(&w, getpid());
	world_claim(&w, 0, getpid(), 0);
	world_put(&w, 0, REC_ENTRY, READ, 1);
	CHECK_TOLD(&w, false, "0+read");
	for (uint32_t i = 0; i < 16; i++)
		CHECK_EQ(is_touched(&w, i), i < 3);
	world_close(&w, 0);
	CHECK(world_begin(&w, 0, 2));
	CHECK_TOLD(&w, false, "");
	for (uint32_t i = 0; i < 16; i++)
		CHECK_EQ(is_touched(&w, i), i < 5);
	/* Whatever is said to be used. */
	world_ring(&w, 0)->used[0] = world_ring(&w, 0)->used[SUBBUFS_MOST / 64 - 1] = ~0ull;
	CHECK_TOLD(&w, false, "");
	CHECK(is_touched(&w, 15));
	world_end(&w);
}

/* Counters of an earlier visit are not ours. */
static void test_counts_start_at_zero(void)
{
	struct reader_stats st;
	struct world w;

	world_make(&w, 1, 4);
	world_session(&w)->lost_entries = 50;
	world_claim(&w, 0, 1, 0);
	world_ring(&w, 0)->lost_entries = 7;
	world_read(&w, 0);
	world_put(&w, 0, REC_ENTRY, READ, 1);
	world_ring(&w, 0)->lost_entries = 9;
	CHECK_TOLD(&w, true, "0+read 0lost2");
	reader_stats(w.reader, &st);
	CHECK_EQ(st.lost, 2);
	world_end(&w);
}

static void test_refuses_bad_sessions(void)
{
	struct reader *r;
	struct world w;

	world_make(&w, 1, 2);
	CHECK(reader_new(w.map, 100, 0, world_funcs, NFUNCS, &r) < 0);
	CHECK(reader_new(w.map, w.size - 1, 0, world_funcs, NFUNCS, &r) < 0);
	world_session(&w)->rings_off = UINT64_MAX - PAGE + 1;
	CHECK(reader_new(w.map, w.size, 0, world_funcs, NFUNCS, &r) < 0);
	world_session(&w)->rings_off = PAGE;
	world_session(&w)->nrings = 2;
	CHECK(reader_new(w.map, w.size, 0, world_funcs, NFUNCS, &r) < 0);
	world_session(&w)->nrings = 0;
	CHECK(reader_new(w.map, w.size, 0, world_funcs, NFUNCS, &r) < 0);
	world_session(&w)->nrings = 1;
	world_session(&w)->nsub = 3;
	CHECK(reader_new(w.map, w.size, 0, world_funcs, NFUNCS, &r) < 0);
	world_session(&w)->nsub = 2;
	world_session(&w)->abi++;
	CHECK(reader_new(w.map, w.size, 0, world_funcs, NFUNCS, &r) < 0);
	world_session(&w)->magic = 0;
	CHECK(reader_new(w.map, w.size, 0, world_funcs, NFUNCS, &r) < 0);
	fail_clear();
	munmap(w.map, w.size);
}

int main(void)
{
	test_pair();
	test_merge();
	test_wrap();
	test_hole();
	test_last_takes_what_is_behind_holes();
	test_places();
	test_stacks();
	test_many_stacks();
	test_unwound();
	test_began_before();
	test_ends_once();
	test_lost();
	test_exit_lost();
	test_thread_gone();
	test_target_gone();
	test_claim_left();
	test_touches_ahead();
	test_counts_start_at_zero();
	test_refuses_bad_sessions();
	return failures != 0;
}
