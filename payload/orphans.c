/* SPDX-License-Identifier: MIT */
/*
 * orphans: which calls of fibers are open that no thread has a frame of?
 *
 * The bounds of a fiber's stack are not told. Where stacks are small and lie side by
 * side, calls of one are taken for calls of another, and then for some that were left.
 * And a thread has places for a few stacks only. So two kinds of calls are put here,
 * by the stack pointer that they will end with:
 *
 * - one that was said to be unwound, or that was pending (sieve.h) when it seemed to be, with
 *   the stack pointer that made us say so. If it ends after all, the two are on different stacks:
 *   between them there is a wall, which bounds what is guessed from then on;
 * - one that is open on a stack that has lost its place, with the number of that.
 *
 * There is one list of orphans for all threads, as fibers go from one to another. A place in it
 * belongs to the thread that makes its key BUSY. If that is left for good in there, the place is
 * not used any more. Walls are hints, and as good as what the last thread that wrote there knew.
 */
#include "payload/payload.h"

#define ORPHANS_PLACES 16384	/* a power of two */
#define ORPHANS_NEAR 8		/* from the home of an address on, which is aligned */
#define KEY_BUSY 1ull
#define EPOCH_SHIFT 48
#define ATTEMPTS 4

/* In place.what: TOLD, whether it was pending, how far above the outermost call is that was said
 * to be unwound with this one, and because of what stack pointer, both in words. Or whether the
 * entry was lost, or is pending, or has failed, how far below the next call within this one is, in
 * words, how many are around it, and the number of the stack. */
#define WHAT_TOLD 1ull
#define TOLD_PENDING 2ull
#define OUTER_SHIFT 2
#define OUTER_BITS 17
#define BY_SHIFT 19	/* of an address below 1 << 48, which arm64 has, too */
#define WHAT_LOST 2ull
#define WHAT_PENDING 4ull
#define WHAT_FAILED (WHAT_LOST | WHAT_PENDING)
#define INNER_SHIFT 3
#define INNER_BITS 15
#define WITHIN_SHIFT 18
#define WITHIN_BITS 14
#define NUMBER_SHIFT 32

struct place {
	uint64_t key;		/* 0: free */
	uint64_t what;
};

static struct place places[ORPHANS_PLACES];
static struct side sides[ORPHANS_PLACES];	/* of what is open there */
static uint64_t epoch;		/* what was put here in another is not there */
static uint32_t turn;

/* Where walls are: one for each so many bytes, at most, and for a few megabytes of stacks
 * that lie side by side. */
#define WALL_GRAIN 256
#define WALLS 16384
/* None is looked for further above what is known to be below it, nor put there: less than
 * what is left below the last call of a stack, for that is recorded, too. */
#define WALL_REACH 8192
#define WALL_NEAR 512

static uint64_t walls[WALLS];

/* A forked child, or a later visit, begins with nothing open. */
void orphans_clear(void)
{
	publish(&epoch, epoch + 1);
}

static uint64_t key_of(uint64_t sp)
{
	return (sp & ~7ull) ^ observe(&epoch) << EPOCH_SHIFT;
}

static struct place *home_of(uint64_t sp)
{
	uint64_t n = (sp >> 3) * HOME_FACTOR >> 32;

	return &places[n % ORPHANS_PLACES & ~(ORPHANS_NEAR - 1ull)];
}

/* How much would be lost with what is there now? */
static unsigned int worth(const struct place *p, uint64_t key)
{
	uint64_t seen = observe(&p->key);

	if (seen & KEY_BUSY)
		return 4;
	if (seen == key || !seen || (seen ^ key) >> EPOCH_SHIFT)
		return seen == key ? 0 : 1;
	return p->what & WHAT_TOLD ? 2 : 3;
}

/* A place of its home: the same call's, or the one that matters least. */
static struct place *orphans_choose(uint64_t sp, uint64_t key)
{
	uint32_t from = __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED), i;
	struct place *home = home_of(sp), *best = &home[from % ORPHANS_NEAR], *p;

	for (i = 1; i < ORPHANS_NEAR; i++) {
		p = &home[(from + i) % ORPHANS_NEAR];
		if (worth(p, key) < worth(best, key))
			best = p;
	}
	return best;
}

static bool orphans_own(struct place *p, uint64_t seen, uint64_t key)
{
	return !(seen & KEY_BUSY) &&
	       __atomic_compare_exchange_n(&p->key, &seen, key | KEY_BUSY, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void orphans_set(uint64_t sp, uint64_t what, const struct side *side)
{
	uint64_t key = key_of(sp);
	struct place *p;
	uint32_t i;

	for (i = 0; i < ATTEMPTS; i++) {
		p = orphans_choose(sp, key);
		if (!orphans_own(p, observe(&p->key), key))
			continue;
		publish(&p->what, what);
		timing_copy(&sides[p - places], side);
		publish(&p->key, key);
		return;
	}
}

/* What has no room is not known. */
static uint64_t bits(uint64_t value, unsigned int n)
{
	return value >> n ? 0 : value;
}

void orphans_tell(uint64_t frame, uint64_t by, uint64_t outer, const struct side *side)
{
	uint64_t sp = frame_sp(frame);

	orphans_set(sp, by >> 3 << BY_SHIFT | bits((outer - sp) >> 3, OUTER_BITS) << OUTER_SHIFT |
		    (frame == sp - FRAME_PENDING ? TOLD_PENDING : 0) | WHAT_TOLD, side);
}

void orphans_put(uint64_t frame, uint64_t inner, uint32_t number, uint32_t within,
	       const struct side *side)
{
	uint64_t sp = frame_sp(frame), down = inner ? bits((sp - inner) / 8, INNER_BITS) : 0;

	orphans_set(sp, (uint64_t)number << NUMBER_SHIFT |
		    bits(within, WITHIN_BITS) << WITHIN_SHIFT | down << INNER_SHIFT |
		    (frame == sp - FRAME_LOST ? WHAT_LOST : 0) |
		    (frame == sp - FRAME_PENDING ? WHAT_PENDING : 0) |
		    (frame == sp - FRAME_FAILED ? WHAT_FAILED : 0), side);
}

static bool is_of(const struct place *p, uint32_t number)
{
	uint64_t what = observe(&p->what);

	return what & WHAT_TOLD ? !number : what >> NUMBER_SHIFT == number;
}

/* Where it is, and ours now; or NULL. */
static struct place *orphans_find(uint64_t sp, uint32_t number)
{
	struct place *home = home_of(sp), *p;
	uint64_t key = key_of(sp);

	for (p = home; p < home + ORPHANS_NEAR; p++) {
		if (observe(&p->key) != key || !orphans_own(p, key, key))
			continue;
		if (is_of(p, number))
			return p;
		publish(&p->key, key);
	}
	return NULL;
}

static void read_back(const struct place *p, uint64_t sp, struct orphan *ret)
{
	uint64_t what = observe(&p->what);
	uint64_t outer = what >> OUTER_SHIFT & ((1 << OUTER_BITS) - 1);
	uint64_t inner = what >> INNER_SHIFT & ((1 << INNER_BITS) - 1);

	if (what & WHAT_TOLD) {
		ret->by = what >> BY_SHIFT << 3;
		ret->outer = sp + 8 * outer;
		ret->frame = what & TOLD_PENDING ? sp - FRAME_PENDING : 0;
		ret->side = sides[p - places];
		return;
	}
	ret->frame = sp - ((what & WHAT_FAILED) == WHAT_FAILED ? FRAME_FAILED :
			   what & WHAT_LOST ? FRAME_LOST :
			   what & WHAT_PENDING ? FRAME_PENDING : 0);
	ret->inner = inner ? sp - 8 * inner : 0;
	ret->within = what >> WITHIN_SHIFT & ((1 << WITHIN_BITS) - 1);
	ret->side = sides[p - places];
}

uint32_t orphans_number(uint64_t sp)
{
	struct place *home = home_of(sp), *p;
	uint64_t key = key_of(sp), what;

	for (p = home; p < home + ORPHANS_NEAR; p++) {
		what = observe(&p->what);
		if (observe(&p->key) == key && !(what & WHAT_TOLD))
			return (uint32_t)(what >> NUMBER_SHIFT);
	}
	return 0;
}

bool orphans_take(uint64_t sp, uint32_t number, struct orphan *ret)
{
	struct place *p = orphans_find(sp, number);

	if (!p)
		return false;
	read_back(p, sp, ret);
	publish(&p->key, 0);
	return true;
}

void orphans_drop(uint64_t sp, uint32_t number)
{
	struct place *p = orphans_find(sp, number);

	if (p)
		publish(&p->key, 0);
}

/* Where the wall is that is known of these bytes; 0: of none. */
static uint64_t wall_at(uint64_t grain)
{
	uint64_t at = observe(&walls[grain % WALLS]);

	return at / WALL_GRAIN == grain ? at : 0;
}

void orphans_narrow(uint64_t sp, uint64_t *lo, uint64_t *hi)
{
	uint64_t grain, end = *hi / WALL_GRAIN, at;

	for (grain = *lo / WALL_GRAIN; grain <= end; grain++) {
		at = wall_at(grain);
		if (at > *lo && at <= sp)
			*lo = at;
		else if (at > sp && at < *hi)
			*hi = at;
	}
}

/*
 * Where in that range is it? A stack's first calls are not far below its end, and what is
 * behind that end is the other end of the next one, which is hardly ever reached. So not far
 * above the outermost call: at the roundest address there, for many stacks are aligned.
 */
static uint64_t place_wall(uint64_t below, uint64_t above)
{
	above = above < below + WALL_NEAR ? above : below + WALL_NEAR;
	return above & ~0ull << (63 - __builtin_clzll((below ^ above) | 8));
}

uint64_t orphans_part(uint64_t below, uint64_t above, uint64_t outer)
{
	uint64_t grain, end = above < below + WALL_REACH ? above : below + WALL_REACH, at;

	for (grain = below / WALL_GRAIN; grain <= end / WALL_GRAIN; grain++) {
		at = wall_at(grain);
		if (at > below && at <= end)
			return at;
	}
	at = place_wall(outer < above ? outer : below, above);
	publish(&walls[at / WALL_GRAIN % WALLS], at);
	return at;
}
