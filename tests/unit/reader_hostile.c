/* SPDX-License-Identifier: MIT */
/*
 * Does the reader survive a segment in which anything may stand, and does it
 * end? A target may write what it likes, at any moment. Whatever comes out has
 * to be well formed all the same; the call graph's frames are fed with it.
 * Seeds are printed; READER_SEED=n runs one.
 */
#include "tests/unit/reader_judge.h"
#include "values/condition_compile.h"

enum { ROUNDS = 300, RINGS = 4, DRAINS = 12 };

static uint64_t state;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t odd_number(void)
{
	switch (rnd() % 6) {
	case 0: return 0;
	case 1: return UINT64_MAX;
	case 2: return rnd() % 16;
	case 3: return 1ull << (rnd() % 64);
	case 4: return reader_now() + rnd() % 4096;
	default: return rnd();
	}
}

/* A word that is likely to mean something. */
static uint64_t likely_word(struct world *w)
{
	uint64_t t = rnd() % 1000000000;

	switch (rnd() % 8) {
	case 0: return 0;
	case 1: return rnd();
	case 2: return world_word(w, REC_EXT, rnd() % 8 | (rnd() % 3) << 6, t);
	case 3: return rnd() % 64;
	case 4: case 5: return world_word(w, REC_EXIT, rnd() % (NFUNCS + 1), t);
	default: return world_word(w, REC_ENTRY, rnd() % (NFUNCS + 1), t);
	}
}

static void disturb_ring(struct world *w, uint32_t i)
{
	struct ring *r = world_ring(w, i);

	r->state = rnd() % 8 ? RING_CLAIMED : (uint32_t)rnd() % 4;
	r->tid = (int32_t)(rnd() % 3);
	if (rnd() % 8 == 0)
		r->generation = odd_number();
	if (rnd() % 4 == 0)
		r->lost_entries = odd_number();
	if (rnd() % 4 == 0)
		r->used[0] = rnd() % 2 ? rnd() % 16 : odd_number();
	switch (rnd() % 6) {
	case 0: r->head = odd_number(); break;
	case 1: r->tail = odd_number(); break;
	case 2: case 3: r->head = r->tail + rnd() % 5; break;
	}
}

static void disturb_subbuf(struct world *w, uint32_t i, uint32_t n)
{
	struct subbuf *b = world_subbuf(w, i, n);
	uint64_t *words = (uint64_t *)(b + 1), count = rnd() % SUBBUF_WORDS;
	struct ring *r = world_ring(w, i);

	r->used[0] |= 1ull << n;
	b->seq = rnd() % 4 ? r->tail + 1 + (n + 8 - r->tail % 4) % 4 : odd_number();
	b->epoch = rnd() % 2 ? w->base : odd_number();
	b->begin = rnd() % 2 ? w->base + rnd() % 1000 : odd_number();
	b->reserved = rnd() % 2 ? count * 8 : odd_number();
	b->depth = (uint32_t)odd_number();
	b->stack = (uint32_t)(rnd() % 2 ? rnd() % 100 : odd_number());
	b->lost_entries = rnd() % 4 ? 0 : odd_number();
	if (rnd() % 2)
		for (uint64_t j = 0; j < count; j++)
			words[j] = likely_word(w);
}

static void disturb(struct world *w)
{
	for (uint32_t i = 0; i < RINGS; i++) {
		disturb_ring(w, i);
		for (uint32_t n = 0; n < 4; n++)
			if (rnd() % 2)
				disturb_subbuf(w, i, n);
	}
}

/* Conditions that the reader asks: some are decided at the entry, some at the end, some between. */
static void ask(struct world *w)
{
	static const char *const texts[] = {
		"duration > 1ns", "depth == 2 || duration > 1us && duration < 60m",
		"1 in 2 && duration > 10ms", "tid > 1 || comm == \"x\"",
	};
	static struct condition asked[ARRAY_SIZE(texts)];
	static struct reader_func funcs[NFUNCS];
	struct read_plan plan = { 0 };

	memcpy(funcs, world_funcs, sizeof(funcs));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_EQ(condition_compile(texts[i], NULL, &plan, NULL, &asked[i], NULL), 0);
	for (size_t i = 0; i < NFUNCS; i++)
		if (i % 5 < ARRAY_SIZE(texts))
			funcs[i].asked = &asked[i % 5];
	reader_name(w->reader, funcs, NFUNCS);
}

static void round_of(uint64_t seed)
{
	struct frames_options options = { .min_ns = seed % 3 ? 0 : 100 };
	struct frames *frames;
	struct reader_stats st;
	struct world w;
	int passes = 0;

	state = seed * 0x9e3779b97f4a7c15ull + 1;
	world_make(&w, RINGS, 4);
	world_read(&w, seed % 2 ? getpid() : 0);
	if (seed / 2 % 2)
		ask(&w);
	CHECK_EQ(frames_new(reader_clock(w.reader), reader_now(), world_funcs, &options,
			    &judge_sink, &frames), 0);
	for (int i = 0; i < DRAINS; i++) {
		disturb(&w);
		reader_drain(w.reader, false, judge_event, frames);
		frames_tick(frames, reader_reached(w.reader));
	}
	reader_limit(w.reader, 100 + rnd() % 10000, 0);
	while (reader_drain(w.reader, true, judge_event, frames) && passes++ < 100000)
		disturb(&w);
	CHECK(passes < 100000);
	frames_finish(frames, reader_now());
	reader_stats(w.reader, &st);
	CHECK(st.calls <= st.events);
	frames_free(frames);
	world_end(&w);
}

int main(void)
{
	const char *one = getenv("READER_SEED");

	if (one) {
		round_of(strtoull(one, NULL, 0));
		return failures != 0;
	}
	for (uint64_t seed = 1; seed <= ROUNDS && !failures; seed++) {
		round_of(seed);
		if (failures)
			printf("READER_SEED=%llu\n", (unsigned long long)seed);
	}
	printf("reader_hostile: %llu events\n", (unsigned long long)events);
	return failures != 0 || events < ROUNDS;
}
