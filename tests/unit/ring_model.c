/* SPDX-License-Identifier: MIT */
/*
 * ring_model: does the protocol of a ring hold where memory is of weak order?
 *
 * All that a thread, a signal handler of its, the thread that has the ring after it, and the
 * reader may do in some small scenarios is tried, on a memory like arm64's (model_memory.h), and:
 *
 *  - a record is taken once it is whole, once, and as one of the round in which it was written
 *  - what is recorded is taken or, with what is lost, counted
 *  - within a ring times do not go back
 *  - a ring that has room does not stay full
 *
 * Then the same without one order after the other: if nothing goes wrong then, that order is
 * not needed, or the model does not see what it is for; either way the test fails.
 * docs/order.md says what each is for.
 */
#include <time.h>

#include "tests/unit/check.h"
#include "tests/unit/model_owner.h"
#include "tests/unit/model_reader.h"
#include "tests/unit/model_snapshot.h"

static const struct scenario scenarios[] = {
	{ .name = "two rounds", .words = 2, .script = { { 1, 2, 1, 1 } } },
	{ .name = "the next thread", .words = 2, .script = { { 2, 1 }, { 1, 2 } } },
	{ .name = "full", .words = 1, .script = { { 1, 1, 1, HAS_ROOM | 1 } } },
	{ .name = "the last are kept", .words = 2, .script = { { 1, 1, 2, 1, 1 } }, .kept = true },
	{ .name = "one word each is kept", .words = 3, .script = { { 1, 1, 1, 1, 1, 1, 1 } },
	  .kept = true },
	{ .name = "two words each are kept", .words = 3, .script = { { 1, 2, 2, 1, 2 } },
	  .kept = true },
	{ .name = "a handler that leaves", .words = 2, .script = { { 1, 2, 1 } }, .handler = 1,
	  .leaves = true },
	{ .name = "a handler", .words = 2, .script = { { 1, 2, 1 } }, .handler = 1 },
	{ .name = "a handler of two words", .words = 3, .script = { { 1, 1, 1 } }, .handler = 2 },
	{ .name = "a handler in a full ring", .words = 1, .script = { { 1, 1, 1 } }, .handler = 1 },
};

/* ---- what was seen ------------------------------------------------------- */

struct key {
	uint64_t a, b;
};

static struct {
	struct key *v;
	size_t n, size;		/* a power of two */
	struct state *stack;
	size_t depth, room;
	size_t ends;
} seen;

static struct key key_of(const struct state *s)
{
	const uint8_t *p = (const uint8_t *)s;
	struct key k = { 1, 2 };
	uint64_t w;

	for (size_t i = 0; i + sizeof(w) <= sizeof(*s); i += sizeof(w)) {
		memcpy(&w, p + i, sizeof(w));
		k.a = (k.a ^ w) * 0x9e3779b97f4a7c15ull;
		k.a ^= k.a >> 29;
		k.b = (k.b ^ w) * 0xc2b2ae3d27d4eb4full;
		k.b ^= k.b >> 31;
	}
	return k;
}

static void seen_grow(void)
{
	struct key *old = seen.v;
	size_t size = seen.size;

	seen.size = size ? 2 * size : 1 << 16;
	seen.v = calloc(seen.size, sizeof(*seen.v));
	MUST(seen.v);
	for (size_t i = 0; i < size; i++) {
		size_t at = old[i].a & (seen.size - 1);

		if (!old[i].a && !old[i].b)
			continue;
		while (seen.v[at].a || seen.v[at].b)
			at = (at + 1) & (seen.size - 1);
		seen.v[at] = old[i];
	}
	free(old);
}

/* Has this state not been here yet? */
static bool seen_new(const struct state *s)
{
	struct key k = key_of(s);
	size_t at;

	if (seen.n * 2 >= seen.size)
		seen_grow();
	for (at = k.a & (seen.size - 1); seen.v[at].a || seen.v[at].b;
	     at = (at + 1) & (seen.size - 1))
		if (seen.v[at].a == k.a && seen.v[at].b == k.b)
			return false;
	seen.v[at] = k;
	seen.n++;
	return true;
}

static void seen_push(const struct state *s)
{
	if (seen.depth == seen.room) {
		seen.room = seen.room ? 2 * seen.room : 1024;
		seen.stack = realloc(seen.stack, seen.room * sizeof(*seen.stack));
		MUST(seen.stack);
	}
	seen.stack[seen.depth++] = *s;
}

static void seen_forget(void)
{
	memset(seen.v, 0, seen.size * sizeof(*seen.v));
	seen.n = seen.depth = seen.ends = 0;
}

/* ---- what may come next -------------------------------------------------- */

enum what { STEP, INTERRUPT };

static bool advance(struct state *s, unsigned int c, enum what what)
{
	if (what == INTERRUPT)
		return owner_interrupt(s, c);
	if (c != READER)
		return owner_step(s, c);
	return now->kept ? snapshot_step(s) : reader_step(s);
}

/* All that this may lead to. */
static void follow(const struct state *from, unsigned int c, enum what what)
{
	memset(&chosen, 0, sizeof(chosen));
	do {
		struct state s = *from;

		if (!advance(&s, c, what) || wrong)
			return;
		memory_tidy(&s.m);
		if (seen_new(&s))
			seen_push(&s);
	} while (choose_next());
}

/* What others cannot tell from its coming later need not come later. */
static bool follow_local(const struct state *s)
{
	for (unsigned int c = 0; c < CPUS; c++) {
		if (c == READER ? now->kept || !reader_is_local(&s->r) : !owner_is_local(&s->t[c]))
			continue;
		follow(s, c, STEP);
		if (c != READER)
			follow(s, c, INTERRUPT);
		return true;
	}
	return false;
}

static bool is_end(const struct state *s)
{
	for (unsigned int c = OWNER; c <= NEXT_OWNER; c++)
		if (now->script[c][0] && (!s->t[c].ended || (!now->kept && s->r.generation <= c)))
			return false;
	return now->kept ? s->s.pc == COPIED : !s->r.claimed;
}

static void follow_all(const struct state *s)
{
	seen.ends += is_end(s);
	if (follow_local(s))
		return;
	for (unsigned int c = 0; c < CPUS && !wrong; c++) {
		follow(s, c, STEP);
		if (c != READER)
			follow(s, c, INTERRUPT);
	}
}

/* ---- scenarios ----------------------------------------------------------- */

static uint32_t all_of(enum loc first, unsigned int n)
{
	return ((1u << n) - 1) << first;
}

static void say_what_is_used(void)
{
	uint32_t words = all_of(WORD, SUBS * WORDS_MOST);
	uint32_t owner = words | bit(STATE) | bit(GENERATION) | bit(HEAD) | bit(TAIL) | bit(USED);
	bool both = now->script[NEXT_OWNER][0];

	uses[OWNER] = both ? ~0u : owner;
	uses[NEXT_OWNER] = both ? ~0u : 0;
	uses[READER] = words | all_of(HEADER, SUBS) | bit(HEAD) | bit(TAIL);
	uses[READER] |= now->kept ? bit(OVERWRITTEN) | bit(NEXT_TAIL) :
		bit(STATE) | bit(GENERATION) | bit(PID) | bit(USED) | bit(LOST) |
		all_of(RESERVED, SUBS);
}

/* What goes wrong; NULL: nothing. */
static const char *explore(const struct scenario *of)
{
	struct state s = { 0 };

	now = of;
	wrong = NULL;
	say_what_is_used();
	memory_begin(&s.m);
	seen_forget();
	seen_push(&s);
	while (seen.depth && !wrong) {
		s = seen.stack[--seen.depth];
		follow_all(&s);
	}
	return wrong;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check_protocol(void)
{
	size_t all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
		double begun = seconds();
		const char *what = explore(&scenarios[i]);

		printf("%s: %zu states, %.2f s\n", scenarios[i].name, seen.n, seconds() - begun);
		all += seen.n;
		if (!what && !seen.ends)
			what = "it never comes to its end";
		if (what)
			fprintf(stderr, "%s: %s\n", scenarios[i].name, what);
		CHECK(!what);
	}
	printf("%zu states\n", all);
}

/* Without this order something must go wrong. */
static void check_order(enum order o)
{
	const char *what = NULL;
	size_t i;

	left_out = o;
	for (i = 0; i < ARRAY_SIZE(scenarios) && !what; i++)
		what = explore(&scenarios[i]);
	if (what)
		printf("unless %s: %s (%s)\n", order_names[o], what, scenarios[i - 1].name);
	else
		fprintf(stderr, "nothing goes wrong unless %s\n", order_names[o]);
	CHECK(what);
	left_out = NOTHING;
}

int main(void)
{
	double begun = seconds();

	seen_grow();
	check_protocol();
	for (enum order o = NOTHING + 1; o < ORDERS; o++)
		check_order(o);
	printf("%.1f s\n", seconds() - begun);
	return failures != 0;
}
