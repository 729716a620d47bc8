/* SPDX-License-Identifier: MIT */
/*
 * Where calls are sifted: what becomes of a call if a handler comes at any of its instructions, and
 * calls sifted functions, or leaves it for good, or forks?
 */
#include "tests/unit/payload_sifted.h"

static uint64_t steps, stop_at, until;	/* until: 0, or where another one comes */
static bool hit, calls = true;	/* calls: the handler makes some */

/* What ends now ends in C. */
static void be_slow(void *arg)
{
	world_thread(&w, world_ring_of(&w, 0))->end = 0;
}

/* The second of two handlers; where it comes right behind the first one, what that has called began
 * long ago. */
static void come_again(void)
{
	if (until - stop_at <= 2)
		spin(least);
	f[5](NULL);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	if (++steps == until)
		come_again();
	if (steps >= MAX(stop_at, until))
		stop_stepping(context);
	if (steps != stop_at)
		return;
	hit = true;
	if (calls) {
		f[5](NULL);
		f[6](NULL);
		f[2](NULL);
	}
	if (leaves)
		siglongjmp(middle, 1);
}

/* Of the call that is stepped through: it is short, and neither its entry nor its exit is C's, or
 * its entry is; or it is long, and recorded. */
enum path { PATH_FAST, PATH_SLOW, PATH_RECORDED };

static void be_long(void *arg)
{
	spin(least + least / 8);
}

static bool call_or_leave(probed_fn *function)
{
	if (sigsetjmp(middle, 1))
		return true;
	steps = 0;
	hit = false;
	call_stepping(function);
	return false;
}

/* Calls of the long function that were told from the `from`-th on, each with its end; but one whose
 * record was left for good in the middle may have none. */
static uint64_t count_long(size_t from)
{
	uint64_t n = 0;

	for (size_t i = from; i < ntold; i++) {
		n += told[i].func == 6;
		MUST(leaves || told[i].how);
		MUST(!told[i].how || told[i].end - told[i].begin >= least);
	}
	return n;
}

/*
 * A handler comes at each instruction of a call; it calls a short function and a long one. Another
 * long one follows. What comes in the middle of a slow path is lost; what is behind a word that was
 * left for good is told when all is read.
 */
static void test_steps(int flags, enum path path, bool leave)
{
	struct sigaction act = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | flags };
	uint64_t n = 1, all = 0, losses = 0, longs, before;

	/* A call that is stepped through takes its time. */
	fresh(path == PATH_RECORDED ? LEAST : STEPPED, 64);
	leaves = leave;
	f[1](NULL);
	drain(false);
	MUST(!sigaction(SIGTRAP, &act, NULL));
	do {
		size_t from = ntold;

		before = world_ring_of(&w, 0)->lost_entries;
		if (path == PATH_SLOW)
			world_thread(&w, world_ring_of(&w, 0))->end = 0;
		stop_at = n;
		n += path == PATH_FAST ? 1 : 1 + n / 16;
		call_or_leave(f[7]);
		f[6](NULL);
		all += hit ? 2 : 1;
		before = world_ring_of(&w, 0)->lost_entries - before;
		losses += before;
		drain(false);
		longs = count_long(from);
		MUST(leave || (longs <= (hit ? 2 : 1) && longs + before >= (hit ? 2 : 1)));
	} while (hit);
	drain(true);
	longs = count_long(0);
	MUST(longs <= all && longs + losses >= all);
	MUST(n > 100 && longs > 50);
	leaves = false;
}

/*
 * Two handlers come in one call. While the first is there the call becomes a long one, which what
 * is called there records; what the second calls takes the same place. So the second must find
 * nothing that is still needed.
 */
static void test_two(int flags)
{
	static const unsigned int apart[] = { 1, 2, 3, 4, 5, 6, 8, 12 };
	struct sigaction act = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | flags };
	uint64_t longs, before;

	fresh(STEPPED, 64);
	f[1](NULL);
	drain(false);
	MUST(!sigaction(SIGTRAP, &act, NULL));
	stop_at = 0;
	do {
		stop_at++;
		for (unsigned int i = 0; i < ARRAY_SIZE(apart); i++) {
			size_t from = ntold;

			until = stop_at + apart[i];
			before = world_ring_of(&w, 0)->lost_entries;
			call_or_leave(f[7]);
			drain(false);
			before = world_ring_of(&w, 0)->lost_entries - before;
			longs = count_long(from);
			MUST(longs <= hit && longs + before >= hit);
			for (; from < ntold; from++)
				MUST(told[from].how == EVENT_EXIT);
		}
	} while (hit);
	until = 0;
	drain(true);
	count_long(0);
	MUST(stop_at > 100);
}

/* In a long call the slow path of a short one is left for good. */
static void be_left(void *arg)
{
	world_thread(&w, world_ring_of(&w, 0))->end = 0;
	call_or_leave(f[7]);
	spin(least + least / 8);
}

/* The long one is told, or said to be lost, though all is forgotten that was known of the stack. */
static void test_around(void)
{
	struct sigaction act = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	uint64_t n = 1, around = 0;

	fresh(STEPPED, 64);
	f[3](NULL);
	leaves = true;
	calls = false;
	MUST(!sigaction(SIGTRAP, &act, NULL));
	do {
		stop_at = n;
		n += 1 + n / 16;
		f[4](NULL);
		f[1](NULL);
		drain(false);
		around++;
	} while (hit);
	drain(true);
	n = 0;
	for (size_t i = 0; i < ntold; i++)
		n += told[i].func == 4;
	MUST(n + world_ring_of(&w, 0)->lost_entries >= around && n <= around);
	leaves = false;
	calls = true;
}

/* A handler forks a child at each instruction: its thread's memory is wiped. */
static void test_fork_steps(void)
{
	fresh(STEPPED * 4, SUBBUFS);
	fork_at_steps(f[7]);
}

int main(void)
{
	static uint8_t own[65536];
	stack_t ss = { .ss_sp = own, .ss_size = sizeof(own) };

	world_sifted();
	MUST(!sigaltstack(&ss, NULL));
	f[1] = sifted(&w, 1, NULL);
	f[2] = sifted(&w, 2, be_slow);
	f[3] = sifted(&w, 3, NULL);
	f[4] = sifted(&w, 4, be_left);
	f[5] = sifted(&w, 5, NULL);
	f[6] = sifted(&w, 6, be_long);
	f[7] = sifted(&w, 7, NULL);
	for (int i = 0; i < 12 && CAN_STEP; i++)
		test_steps(i & 1 ? SA_ONSTACK : 0, i / 4, i & 2);
	for (int i = 0; i < 2 && CAN_STEP; i++)
		test_two(i ? SA_ONSTACK : 0);
	if (CAN_STEP)
		test_around();
	if (CAN_STEP)
		test_fork_steps();
	reader_free(reader);
	return 0;
}
