/* SPDX-License-Identifier: MIT */
/*
 * spin_threads [N [idle]]: N threads that do nothing but call the functions
 * that a test probes. Is every call counted, and does none go wrong?
 *
 * spin_*  are called all the time, unless idle; count_* in counted phases only.
 */
#include "tests/victims/phases.h"

/* A leaf: straight line. */
PROBED uint64_t spin_leaf(uint64_t x)
{
	return x * 6364136223846793005u + 1442695040888963407u;
}

/* Early returns: several exits. */
PROBED uint64_t spin_branch(uint64_t x)
{
	if (x & 1)
		return 3 * x + 1;
	if (x & 2)
		return spin_leaf(x);
	return x / 2;
}

/* A frame, saved registers, a loop. */
PROBED uint64_t spin_loop(uint64_t x)
{
	uint64_t sum = 0;

	for (int i = 0; i < 3; i++)
		sum += spin_branch(x + i);
	return sum;
}

/* A jump table, and a tail call. */
PROBED uint64_t spin_switch(uint64_t x)
{
	switch (x % 8) {
	case 0: return x + 11;
	case 1: return x ^ 0x5555;
	case 2: return spin_leaf(x + 2);
	case 3: return x >> 3;
	case 4: return spin_branch(x * 5);
	case 5: return ~x;
	case 6: return x * x;
	default: return x - 9;
	}
}

PROBED uint64_t count_leaf(uint64_t x)
{
	return x ^ x >> 29;
}

PROBED uint64_t count_frame(uint64_t x)
{
	return count_leaf(x + 1) + count_leaf(x + 2);
}

PROBED uint64_t count_tail(uint64_t x)
{
	return count_leaf(x * 3);
}

/* The same numbers by code that is never probed. */
static inline uint64_t plain_leaf(uint64_t x)
{
	return x * 6364136223846793005u + 1442695040888963407u;
}

static inline uint64_t plain_branch(uint64_t x)
{
	return x & 1 ? 3 * x + 1 : x & 2 ? plain_leaf(x) : x / 2;
}

static uint64_t plain_switch(uint64_t x)
{
	const uint64_t by_case[] = { x + 11, x ^ 0x5555, plain_leaf(x + 2),
		x >> 3, plain_branch(x * 5), ~x, x * x, x - 9 };

	return by_case[x % 8];
}

static void spin_round(struct worker *w)
{
	uint64_t x = w->state = plain_leaf(w->state);
	uint64_t loop = plain_branch(x) + plain_branch(x + 1) +
		plain_branch(x + 2);

	if (spin_loop(x) != loop)
		victim_wrong("spin_loop");
	if (spin_switch(x >> 7) != plain_switch(x >> 7))
		victim_wrong("spin_switch");
}

#define plain_count(x) ((x) ^ (x) >> 29)

static void count_round(struct worker *w)
{
	uint64_t x = w->state;

	if (count_frame(x) != plain_count(x + 1) + plain_count(x + 2))
		victim_wrong("count_frame");
	if (count_tail(x) != plain_count(x * 3))
		victim_wrong("count_tail");
	w->counted += 5;
}

int main(int argc, char **argv)
{
	return phases_run(argc, argv);
}
