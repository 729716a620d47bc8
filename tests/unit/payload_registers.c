/* SPDX-License-Identifier: MIT */
/*
 * Does a recording call leave every register and flag as it was, on the fast
 * path and on each way through the slow one?
 */
#include "tests/unit/payload_reads.h"
#include "tests/unit/payload_state.h"

static struct world w;

static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void once(probed_fn *f, uint64_t flags)
{
	uint64_t bits;
	size_t i;

	for (i = 0; i < GPRS; i++)
		state_in.gpr[i] = rnd();
	for (i = 0; i < sizeof(state_in.xmm); i++)
		((uint8_t *)state_in.xmm)[i] = rnd();
	state_in.flags = (flags & FLAGS) | FLAGS_SET;
	memset(&state_out, 0, sizeof(state_out));
	call_with_state(f);
	for (i = 0; i < GPRS; i++)
		MUST_EQ(state_out.gpr[i], state_in.gpr[i]);
	bits = state_out.flags & (FLAGS | FLAGS_SET);
	MUST_EQ(bits, state_in.flags);
	MUST_EQ(state_out.sp, state_sp);
	MUST(!memcmp(state_in.xmm, state_out.xmm, sizeof(state_in.xmm)));
}

/* Every combination of flags. */
static void every_flag(probed_fn *f)
{
	uint64_t flags = 0;

	do {
		once(f, flags);
		flags = (flags - FLAGS) & FLAGS;
	} while (flags);
}

static void fresh(uint32_t nsub)
{
	w.s = world_session(2, nsub);
	world_hello()(w.s);
}

/* The thread's first call, each time. */
static void test_claim(probed_fn *f)
{
	int i;

	for (i = 0; i < 20; i++) {
		fresh(1);
		once(f, rnd());
	}
	fresh(4);
}

/* Sub-buffers begin and end, the ring is full, the session is closed, the gates are. */
static void test_slow(probed_fn *f)
{
	int i;

	fresh(2);
	for (i = 0; i < 20000; i++)
		once(f, rnd());
	MUST(world_ring_of(&w, 0)->head == 2);
	every_flag(f);
	w.s->state = SESSION_CLOSED;
	every_flag(f);
	fresh(4);
	memset(world_gates, 0, sizeof(world_gates));
	every_flag(f);
	memset(world_gates, 1, sizeof(world_gates));
}

static void check(probed_fn *f)
{
	once(f, 0);
	every_flag(f);
	test_claim(f);
	test_slow(f);
}

/* The first call of a thread, and those that follow. */
static void check_counted(probed_fn *f)
{
	int i;

	for (i = 0; i < 20; i++) {
		fresh(1);
		w.s->counting = 1;
		once(f, rnd());
		once(f, rnd());
	}
	every_flag(f);
	fresh(4);
}

/* The same; and exits without entries, and entries without exits. */
static void check_timed(probed_fn *f)
{
	int i;

	for (i = 0; i < 20; i++) {
		fresh(TIMING_SIDES / SUBBUF_SIZE + 1);
		w.s->counting = COUNT_TIMES;
		once(f, rnd());
		once(f, rnd());
	}
	every_flag(f);
	fresh(4);
}

/* Calls that are too short, and such as a register refuses, or leaves to C in one of two cases. */
static void check_sifted(probed_fn *f)
{
	unsigned int n = arch_host()->narguments;
	struct capture_plan *p;

	for (unsigned int i = 0; i < 20; i++) {
		fresh(4);
		w.s->counting = COUNT_SIFTED;
		w.s->least = 1ull << 60;
		reads_begin(&w, 6);
		reads_condition(&w, 0);
		p = (struct capture_plan *)((uint8_t *)w.s + w.s->plans_off + 64);
		p->early = (struct condition_early){ 1, i % 2 ? ~0ull : 1, 0, 0, 1 + i % n };
		once(f, rnd());
		every_flag(f);
	}
	fresh(4);
}

int main(void)
{
	probed_fn *alone;

	world_begin(&w, 2, 4);
	check(probed(&w, 1, NULL));
	check(marked(&w, 2, NULL));
	check_counted(counted(&w, 3, NULL));
	check_timed(timed(&w, 3, NULL));
	alone = (probed_fn *)here(&w);
	emit_timed_return(&w, 3);
	check_timed(alone);
	alone = (probed_fn *)here(&w);
	emit_timed_entry(&w, 3);
	emit_ret(&w);
	check_timed(alone);
	for (int i = 1; i <= KEPT_ARGUMENTS && hot_table.reads[BARE].entry[i - 1]; i++)
		check(kept(&w, 5, NULL, i, i % 2 + 1));
	check_sifted(sifted(&w, 5, NULL));
	check_sifted(reads_function(&w, 6, NULL, hot_table.asks[BARE].entry,
				    hot_table.asks[BARE].exit));
	/* Exits without their entries: always on the slow path. */
	alone = (probed_fn *)here(&w);
	emit_return(&w, 3);
	check(alone);
	/* Entries without exits: unwound each time. */
	alone = (probed_fn *)here(&w);
	emit_entry(&w, 4);
	emit_ret(&w);
	check(alone);
	return 0;
}
