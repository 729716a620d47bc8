/* SPDX-License-Identifier: MIT */
/*
 * Does the payload close the gates of the functions that cost too much, and of no
 * others; over enough time; also where many have the same place in its table; and
 * does it believe nothing of what it reads?
 */
#include "payload/limiter.c"
#include "payload/wiped.c"

#include <string.h>
#include <sys/mman.h>

#include "tests/unit/check.h"

enum {
	FUNCS = 5000,
	COST = 10,
	WINDOW = 1000000,
	WORDS = (SUBBUF_SIZE - sizeof(struct subbuf)) / 8,
};

static struct session *s;
static struct ring ring;
static struct thread t;
static struct subbuf *buffer;	/* behind it nothing is mapped */
static uint64_t now;
static size_t used;

/* Everything goes, and up to `limit` hundredths of a percent may be spent. */
static void begin(uint32_t limit)
{
	now += 100 * WINDOW;
	s->limit = limit;
	s->cost = COST;
	s->window = WINDOW;
	s->nfuncs = FUNCS;
	s->nsub = 4;
	s->sub_size = SUBBUF_SIZE;
	s->keep_last = 1;
	memset((uint8_t *)s + GATES_OFF, 1, FUNCS);
	memset(buffer, 0, SUBBUF_SIZE);
	t = (struct thread){ .ring = (uint64_t)&ring, .judged_at = now };
	ring.head = 4;
	used = 0;
}

static void word(uint64_t w)
{
	CHECK(used < WORDS);
	((uint64_t *)(buffer + 1))[used++] = w;
}

/* `n` events. */
static void events(uint32_t func, unsigned n)
{
	while (n--)
		word((n & 1 ? REC_ENTRY : REC_EXIT) | (uint64_t)func << REC_FUNC_SHIFT);
}

static void marks(uint32_t func, unsigned n)
{
	while (n--) {
		word(REC_EXT | (uint64_t)EXT_MARK << REC_FUNC_SHIFT | 1ull << REC_WORDS_SHIFT);
		word((uint64_t)func << REC_TIME_SHIFT);
	}
}

/* The sub-buffer ends, so long after the last judgement. */
static void end(uint64_t passed)
{
	now += passed;
	buffer->reserved = used * 8;
	limiter_look(s, &t, buffer, now);
}

static bool closed(uint32_t func)
{
	return !((uint8_t *)s)[GATES_OFF + func];
}

static size_t count_closed(void)
{
	size_t n = 0;

	for (uint32_t i = 0; i < FUNCS; i++)
		n += closed(i);
	return n;
}

/* 600 events are 6000 ticks of a million: 60 hundredths of a percent. */
static void only_what_is_needed(void)
{
	begin(59);
	events(1, 100);
	events(2, 300);
	marks(3, 150);
	events(4, 50);
	end(WINDOW);
	CHECK(closed(2) && count_closed() == 1);

	begin(61);
	events(2, 600);
	end(WINDOW);
	CHECK_EQ(count_closed(), 0u);

	/* What is closed already was recorded before, and costs nothing any more. */
	begin(30);
	((uint8_t *)s)[GATES_OFF + 1] = 0;
	events(1, 1000);
	events(2, 100);
	end(WINDOW);
	CHECK(closed(1) && count_closed() == 1);

	/* Two have to go, the mark's function with its 250. */
	begin(10);
	events(1, 100);
	events(2, 300);
	marks(3, 250);
	end(WINDOW);
	CHECK(closed(2) && closed(3) && count_closed() == 2);
}

/* A short burst is none, and what was long ago does not count again. */
static void over_enough_time(void)
{
	begin(50);
	events(1, 8000);
	end(WINDOW / 2);
	CHECK_EQ(count_closed(), 0u);
	used = 0;
	end(WINDOW / 2);	/* nothing was recorded: nothing to judge by */
	CHECK_EQ(count_closed(), 0u);
	used = 0;
	events(2, 100);
	end(1);			/* 8100 in a window: by the sample, all of 2 */
	CHECK(closed(2) && count_closed() == 1);
	used = 0;
	events(1, 400);
	end(WINDOW);
	CHECK_EQ(count_closed(), 1u);

	/* The first end only begins. */
	begin(1);
	t.judged_at = 0;
	events(1, 8000);
	end(WINDOW);
	CHECK_EQ(count_closed(), 0u);
}

/* Thousands of functions, a few at each place: the most expensive ones go, and the
 * rest in the next windows. */
static void many_functions(void)
{
	size_t before = 0;

	begin(1);
	for (uint32_t i = 1; i <= 4000; i++)
		events(i, i <= 3 ? 1000 : 1);
	for (int i = 0; i < 50 && !(closed(1) && closed(2) && closed(3)); i++) {
		end(WINDOW);
		CHECK(count_closed() <= before + CLOSED_MOST);
		before = count_closed();
	}
	CHECK(closed(1) && closed(2) && closed(3));
}

/* Which have the same place is another question each time; a function with few events is not
 * taken for one with many. */
static void same_place(void)
{
	for (int i = 0; i < 2000; i++) {
		now += (uint64_t)i * 977;
		begin(60);
		for (uint32_t f = 1; f <= 500; f++)
			events(f, f == 250 ? 600 : 1);
		end(WINDOW);
		CHECK(closed(250));
		CHECK_EQ(count_closed(), 1u);
	}
}

/* All at one place, where none has most: not the one that comes last. */
static void no_majority(void)
{
	now = (((now >> 32) + 2) << 32) - 101 * WINDOW;
	begin(1);
	for (int i = 0; i < 600; i++)
		events(1 + (i & 1), 1);
	events(3, 1);
	end(WINDOW);
	CHECK_EQ(count_closed(), 0u);
	end(WINDOW);
	CHECK(closed(1) && closed(2) && !closed(3));
}

/* A thread that has the table and never comes back has it for some time only. */
static void table_is_taken(void)
{
	begin(1);
	events(1, 1000);
	taken = now;
	end(WINDOW);
	CHECK_EQ(count_closed(), 0u);
	end(WINDOWS_STALE * WINDOW);
	CHECK(closed(1) && !taken);
}

/* A ring that keeps the first is judged once more as it is full, whatever the time. */
static void full_ring(void)
{
	begin(1000);
	s->keep_last = 0;
	events(1, 1000);
	ring.head = 3;
	end(WINDOW / 100);
	CHECK_EQ(count_closed(), 0u);
	ring.head = 4;
	end(WINDOW / 100);
	CHECK(closed(1));
}

/* What tells that a filter comes stays, whatever it costs. */
static void guards(void)
{
	begin(10);
	((uint8_t *)s)[GATES_OFF + 1] = GATE_GUARDS;
	events(1, 1000);
	events(2, 500);
	end(WINDOW);
	CHECK(!closed(1) && closed(2));
}

/* ---- where calls are sifted ---------------------------------------------- */

static struct thread other;

/* A thread's count is full, so long after its last judgement. */
static void turn(struct thread *of, uint64_t passed)
{
	of->losses = SIEVE_TURN | 1;
	of->judged_at = cpu_clock() - passed;
	limiter_sift(s, of, 1);
	of->losses = 1;
}

/* `n` of its entries and exits are seen. */
static void seen(uint32_t func, unsigned n)
{
	while (n--)
		limiter_sift(s, &t, func);
}

/* A turn is of a million, of COST ticks each, which are a tenth of LONG. */
#define LONG (10ull * COST * (SIEVE_TURN / 2))

static void begin_sifted(uint32_t limit)
{
	begin(limit);
	sampler = NULL;
	taken = 0;
	s->window = LONG / 100;
	other = t;
}

static void too_many_are_sampled(void)
{
	/* The first turn only begins. */
	begin_sifted(900);
	t.losses = SIEVE_TURN | 1;
	t.judged_at = 0;
	limiter_sift(s, &t, 1);
	CHECK(t.judged_at && !t.judged_words && !limiter_samples(&t));

	/* Without a turn nothing is looked at. */
	t.losses = SIEVE_TURN - 1;
	t.judged_at = 1;
	limiter_sift(s, &t, 1);
	CHECK_EQ(t.judged_words, 0u);

	/* As much as it may. */
	begin_sifted(1001);
	turn(&t, LONG);
	CHECK(!limiter_samples(&t) && !t.judged_words);

	/* More: the most frequent one goes, and no more than needed. */
	begin_sifted(900);
	turn(&t, LONG);
	CHECK(limiter_samples(&t) && !limiter_samples(&other));
	seen(1, SAMPLES / 4);
	seen(2, SAMPLES / 2);
	seen(3, SAMPLES / 4 - 1);
	CHECK(limiter_samples(&t) && !count_closed());
	seen(3, 1);
	CHECK(!limiter_samples(&t) && !taken && !t.judged_words);
	CHECK(closed(2) && count_closed() == 1);

	/* Two have to go. */
	begin_sifted(300);
	turn(&t, LONG);
	seen(1, SAMPLES / 4);
	seen(2, SAMPLES / 2);
	seen(3, SAMPLES / 4 - 10);
	seen(4, 10);
	CHECK(closed(1) && closed(2) && count_closed() == 2);

	/* A short burst is none, but counts. */
	begin_sifted(900);
	turn(&t, LONG / 200);
	CHECK(!limiter_samples(&t) && t.judged_words == SIEVE_TURN / 2);
	turn(&t, LONG);
	CHECK(limiter_samples(&t));
}

/* One thread at a time; one that has the table and never comes back for some time only. */
static void one_is_sampled(void)
{
	begin_sifted(900);
	turn(&t, LONG);
	turn(&other, LONG);
	CHECK(limiter_samples(&t) && !limiter_samples(&other));
	seen(1, SAMPLES / 2);
	taken = cpu_clock() - (WINDOWS_STALE + 1) * s->window;
	turn(&other, LONG);
	CHECK(limiter_samples(&other) && !sampled);
	/* The one that was sampled goes on without. */
	seen(1, SAMPLES);
	CHECK(!sampled && !count_closed());
	/* A number that is none is no place. */
	sampled = SAMPLES + 7;
	limiter_sift(s, &other, 1);
	CHECK(!limiter_samples(&other));
}

static void hostile(void)
{
	uint8_t *gates = (uint8_t *)s + GATES_OFF;
	const uint32_t last = (1 << REC_FUNC_BITS) - 1;

	begin(1);
	gates[FUNCS] = gates[last] = 1;
	events(FUNCS, 1000);
	events(last, 1000);
	while (used < WORDS - 1)
		word(0);
	word(REC_EXT | (uint64_t)EXT_MARK << REC_FUNC_SHIFT | 1ull << REC_WORDS_SHIFT);
	end(WINDOW);
	CHECK(gates[FUNCS] && gates[last] && !count_closed());
	buffer->reserved = 4 * SUBBUF_SIZE;
	now += WINDOW;
	limiter_look(s, &t, buffer, now);
	s->window = 0;
	s->cost = ~0u;
	t.judged_words = ~0ull;
	limiter_look(s, &t, buffer, now - 5);
	CHECK_EQ(count_closed(), 0u);
}

int main(void)
{
	s = mmap(NULL, SLOTS_OFF, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	buffer = mmap(NULL, SUBBUF_SIZE + PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED || buffer == MAP_FAILED ||
	    mprotect((char *)buffer + SUBBUF_SIZE, PAGE, PROT_NONE))
		return 1;
	only_what_is_needed();
	over_enough_time();
	many_functions();
	same_place();
	no_majority();
	table_is_taken();
	full_ring();
	guards();
	s->counting = COUNT_SIFTED;
	too_many_are_sampled();
	one_is_sampled();
	s->counting = COUNT_NONE;
	hostile();
	return failures != 0;
}
