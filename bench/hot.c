/* SPDX-License-Identifier: MIT */
/*
 * hot: what does recording cost, beside the least that it could?
 *
 * Every variant is the same tiny function called in the same loop: plain, with
 * two bare readings of the clock around its call (the floor), probed at entry
 * and exit, and entry-only. Rounds of all variants alternate, and each gets
 * its median, so that a drifting clock rate touches all alike. The ring is
 * taken for read as it fills, which costs nothing here: what a reader on
 * another CPU costs is bench.sh's to tell.
 */
#include <time.h>
#include "tests/unit/payload_world.h"

enum { PLAIN, FLOOR, PAIR, MARK, FULL, CLOSED, GATED, COUNT, VARIANTS };

#define CALLS 200000
#define ROUNDS 41
/* The last one is never used but for a counter at its end. */
#define SUBBUFS (CALLS * 16 / SUBBUF_SIZE + 4)

static struct world w;

/* Of our own: what else runs on this machine is not to count. */
static double wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static double median(double *v, int n)
{
	double t;
	int i, k;

	for (i = 1; i < n; i++)
		for (k = i; k > 0 && v[k] < v[k - 1]; k--)
			t = v[k], v[k] = v[k - 1], v[k - 1] = t;
	return v[n / 2];
}

/* What a probed function does where the recording calls are. */
static probed_fn *plain(bool clock)
{
	probed_fn *f = (probed_fn *)here(&w);

	if (clock)
		EMIT(&w, 0x0f, 0x31);		/* rdtsc */
	EMIT(&w, 0x90);
	if (clock)
		EMIT(&w, 0x0f, 0x31);
	EMIT(&w, 0xc3);
	return f;
}

/* The states in which a call is not recorded, once the current sub-buffer is
 * at its end, which takes a few per cent of a round. */
static void prepare(int variant)
{
	struct ring *r = world_ring_of(&w, 0);

	world_gates[1] = variant != GATED;
	w.s->counting = variant == COUNT;
	w.s->state = variant == CLOSED ? SESSION_CLOSED : SESSION_READY;
	if (variant == FULL || variant == CLOSED)
		memset(r->used, 0xff, sizeof(r->used));
}

/* Nothing reads: hand the sub-buffers back as they are, but the current one. The
 * thread of a full ring has none, and begins one only when it may record. */
static void give_back(int variant)
{
	bool full = variant == FULL || variant == CLOSED;
	struct ring *r = world_ring_of(&w, 0);
	uint32_t place = 0;

	memset(r->used, 0, sizeof(r->used));
	if (r->tail == r->head)
		return;
	while (world_place(r, place)->seq != r->head)
		place++;
	if (!full)
		r->used[place / 64] = 1ull << place % 64;
	__atomic_store_n(&r->tail, r->head - !full, __ATOMIC_RELEASE);
}

static double round_ns(probed_fn *f)
{
	double begin = wall_ns();
	int i;

	for (i = 0; i < CALLS; i++)
		f(NULL);
	return (wall_ns() - begin) / CALLS;
}

/* A session of its own, in which calls are timed; beside the floor of these rounds. */
static void timing(probed_fn *floor)
{
	static double cost[2][ROUNDS];
	probed_fn *f[2] = { floor, timed(&w, 3, NULL) };

	w.s = world_session(2, TIMING_SIDES / SUBBUF_SIZE + 1);
	w.s->counting = COUNT_TIMES;
	w.s->scale = 1ull << 59;
	world_hello()(w.s);
	world_lead(&w);
	f[1](NULL);
	for (int i = 0; i < ROUNDS; i++)
		for (int k = 0; k < 2; k++)
			cost[k][i] = round_ns(f[k]);
	CHECK_EQ(world_ring_of(&w, 0)->lost_entries, 0);
	printf("%-34s %7.2f ns  %5.2f of the floor\n", "timed", median(cost[1], ROUNDS),
	       median(cost[1], ROUNDS) / median(cost[0], ROUNDS));
}

int main(void)
{
	static const char *const name[VARIANTS] = {
		"plain call", "two clock readings (the floor)",
		"entry and exit recorded", "entry only recorded",
		"entry and exit dropped, ring full", "not recorded, session closed",
		"not recorded, gate closed", "counted",
	};
	static double cost[VARIANTS][ROUNDS];
	probed_fn *f[VARIANTS];
	double base, floor;
	uint64_t lost;
	int i, k;

	world_begin(&w, 2, SUBBUFS);
	f[PLAIN] = plain(false);
	f[FLOOR] = plain(true);
	f[PAIR] = probed(&w, 1, NULL);
	f[MARK] = marked(&w, 2, NULL);
	f[FULL] = f[CLOSED] = f[GATED] = f[PAIR];
	f[COUNT] = counted(&w, SUBBUFS * SUBBUF_SIZE / 8 - 1, NULL);
	f[PAIR](NULL);
	for (i = 0; i < ROUNDS; i++)
		for (k = 0; k < VARIANTS; k++) {
			lost = world_ring_of(&w, 0)->lost_entries;
			prepare(k);
			cost[k][i] = round_ns(f[k]);
			CHECK(k == FULL || lost == world_ring_of(&w, 0)->lost_entries);
			give_back(k);
		}
	base = median(cost[PLAIN], ROUNDS);
	floor = median(cost[FLOOR], ROUNDS);
	for (k = 0; k < VARIANTS; k++)
		printf("%-34s %7.2f ns  %5.2f of the floor\n", name[k],
		       median(cost[k], ROUNDS), median(cost[k], ROUNDS) / floor);
	timing(f[FLOOR]);
	return base > floor;
}
