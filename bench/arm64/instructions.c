/* SPDX-License-Identifier: MIT */
/*
 * instructions: each variant of a tiny function, called three times: of the last call
 * instructions.sh counts the instructions, as an emulator logs them. Prints where each begins,
 * and all words of the arena that they and the recording routines lie in, as PC WORD.
 */
#include "tests/unit/payload_world.h"

enum { SUBBUFS = TIMING_SIDES / SUBBUF_SIZE + 1 };

static struct world w;

/* What a probed function does where the recording calls are. */
static probed_fn *plain(bool clock)
{
	probed_fn *f = (probed_fn *)here(&w);

	if (clock)
		emit_word(&w, 0xd53be040);		/* mrs x0, cntvct_el0 */
	if (clock)
		emit_word(&w, 0xd53be040);
	emit_ret(&w);
	return f;
}

static void call(const char *name, probed_fn *f)
{
	for (int i = 0; i < 3; i++)
		f(NULL);
	printf("%#lx %s\n", (unsigned long)f, name);
}

/* Another session, in which calls are recorded in another way. */
static void fresh(enum counting counting)
{
	w.s = world_session(2, SUBBUFS);
	w.s->counting = counting;
	w.s->scale = 1ull << (64 - SCALE_SHIFT);
	world_hello()(w.s);
	world_lead(&w);
}

static void print_words(void)
{
	for (size_t i = 0; i < w.used; i += 4) {
		uint32_t word;

		memcpy(&word, w.arena + i, sizeof(word));
		printf("%#lx %08x\n", (unsigned long)(w.arena + i), word);
	}
}

int main(void)
{
	probed_fn *pair;

	world_begin(&w, 2, SUBBUFS);
	call("plain call", plain(false));
	call("two clock readings (the floor)", plain(true));
	pair = probed(&w, 1, NULL);
	call("entry and exit recorded", pair);
	call("entry only recorded", marked(&w, 2, NULL));
	world_gates[1] = 0;
	call("not recorded, gate closed", pair);
	fresh(COUNT_CALLS);
	call("counted", counted(&w, 3, NULL));
	fresh(COUNT_TIMES);
	call("timed", timed(&w, 4, NULL));
	MUST_EQ(w.s->lost_entries + w.s->lost_exits, 0);
	print_words();
	return failures != 0;
}
