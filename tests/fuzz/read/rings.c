/* SPDX-License-Identifier: MIT */
/*
 * rings: the input is what a target does to the memory that it shares with us: a list
 * of fields, words and bytes to be written, and of moments at which we look.
 */
#include <unistd.h>

#include "tests/fuzz/read/read.h"
#include "tests/unit/reader_judge.h"

enum { RINGS = 4, SUBBUFS = 4, PASSES = 100000 };

static struct input in;

static uint64_t number(struct world *w)
{
	return input_value(&in, w->base);
}

static void write_ring(struct world *w)
{
	struct ring *r = world_ring(w, (uint32_t)input_number(&in, 1) % RINGS);

	switch (input_number(&in, 1) % 11) {
	case 0: r->state = (uint32_t)number(w); break;
	case 1: r->tid = (int32_t)number(w); break;
	case 2: r->generation = number(w); break;
	case 3: r->lost_entries = number(w); break;
	case 4: r->lost_exits = number(w); break;
	case 5: r->used[0] = number(w); break;
	case 6: r->head = number(w); break;
	case 7: r->tail = number(w); break;
	case 8: r->head = r->tail + input_number(&in, 1) % (SUBBUFS + 2); break;
	case 9: world_session(w)->lost_entries = number(w); break;
	case 10: world_session(w)->lost_exits = number(w); break;
	}
}

static struct subbuf *any_subbuf(struct world *w)
{
	uint8_t which = (uint8_t)input_number(&in, 1);

	return world_subbuf(w, which % RINGS, which / RINGS % SUBBUFS);
}

static void write_subbuf(struct world *w)
{
	struct subbuf *b = any_subbuf(w);

	switch (input_number(&in, 1) % 8) {
	case 0: b->seq = number(w); break;
	case 1: b->epoch = number(w); break;
	case 2: b->begin = number(w); break;
	case 3: b->reserved = number(w); break;
	case 4: b->depth = (uint32_t)number(w); break;
	case 5: b->stack = (uint32_t)number(w); break;
	case 6: b->lost_entries = number(w); break;
	case 7: b->lost_exits = number(w); break;
	}
}

static void write_words(struct world *w)
{
	uint64_t *words = (uint64_t *)(any_subbuf(w) + 1);
	size_t at = input_number(&in, 2) % SUBBUF_WORDS, n = input_number(&in, 1) % 32;

	for (; n && at < SUBBUF_WORDS; n--, at++) {
		uint8_t how = (uint8_t)input_number(&in, 1);

		words[at] = how & 128 ? number(w) :
			world_word(w, how & 3, how >> 2 & 7, input_number(&in, 2));
	}
}

static void write_bytes(struct world *w)
{
	size_t at = PAGE + input_number(&in, 3) % (w->size - PAGE - 8);
	uint64_t value = input_number(&in, 8);

	memcpy(w->map + at, &value, 8);
}

/* As a payload would: the next sub-buffer, and a few words. */
static void write_well(struct world *w)
{
	uint32_t i = (uint32_t)input_number(&in, 1) % RINGS;
	struct ring *r = world_ring(w, i);
	uint64_t t = input_number(&in, 2), n = input_number(&in, 1);

	if (r->state != RING_CLAIMED)
		world_claim(w, i, getpid(), t);
	else if (!world_begin(w, i, t))
		return;
	if (w->sub[i] != world_subbuf(w, i, (r->head - 1) % SUBBUFS))
		return;
	while (n--) {
		uint8_t what = (uint8_t)input_number(&in, 1);

		if ((what & 3) == REC_EXT)
			world_ext(w, i, what >> 2 & 7, input_number(&in, 2), t++);
		else
			world_put(w, i, what & 3, what >> 2 & 7, t++);
	}
	world_close(w, i);
}

static void step(struct world *w, struct frames *frames)
{
	static void (*const ways[])(struct world *) = {
		write_ring, write_subbuf, write_words, write_bytes, write_well,
	};
	uint8_t what = (uint8_t)input_number(&in, 1);

	if (what % 8 < ARRAY_SIZE(ways)) {
		ways[what % 8](w);
	} else if (what % 8 == 5) {
		reader_limit(w->reader, 1 + input_number(&in, 1), 0);
	} else {
		reader_drain(w->reader, false, judge_event, frames);
		frames_tick(frames, reader_reached(w->reader));
	}
}

/* A header that is not ours either is refused, or what it says is there. Then it is
 * put back, for we find the rings by it; the reader has its own copy. */
static int read_session(struct world *w, uint8_t flags)
{
	struct session ours = *world_session(w);

	if (flags & 2)
		for (int i = 0; i < 3; i++) {
			size_t at = input_number(&in, 2) % sizeof(ours);

			w->map[at] = (uint8_t)input_number(&in, 1);
		}
	int err = reader_new(w->map, w->size, flags & 1 ? getpid() : 0, world_funcs,
			     NFUNCS, &w->reader);

	*world_session(w) = ours;
	return err;
}

static void finish(struct world *w, struct frames *frames)
{
	struct reader_stats st;
	int passes = 0;

	while (reader_drain(w->reader, true, judge_event, frames) && passes++ < PASSES)
		;
	CHECK(passes < PASSES);
	frames_finish(frames, reader_now());
	reader_stats(w->reader, &st);
	CHECK(st.calls <= st.events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frames_options options = { 0 };
	struct frames *frames;
	struct world w;

	in = (struct input){ data, size };
	uint8_t flags = (uint8_t)input_number(&in, 1);

	options.min_ns = flags & 4 ? 100 : 0;
	world_make(&w, RINGS, SUBBUFS);
	if (read_session(&w, flags)) {
		CHECK(*fail_text());
		fail_clear();
		w.reader = NULL;
	} else {
		CHECK_EQ(frames_new(reader_clock(w.reader), reader_now(), world_funcs,
				    &options, &judge_sink, &frames), 0);
		while (in.left)
			step(&w, frames);
		finish(&w, frames);
		frames_free(frames);
	}
	world_end(&w);
	if (failures)
		abort();
	return 0;
}
