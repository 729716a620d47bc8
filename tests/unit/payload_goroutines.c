/* SPDX-License-Identifier: MIT */
/*
 * What is recorded of goroutines: the change from one to another and to a stack of
 * the thread's own, and of each call the depth on a stack that may have moved? By
 * the fast path as by the slow one: each function is called twice in a row.
 */
#include "tests/unit/payload_world.h"

enum { GO = 5, C = 9, MARKED = 6 };

/* Its stack's bounds are what a g begins with. */
static struct g { uint64_t lo, hi, more[6]; } one __attribute__((aligned(64))),
	two __attribute__((aligned(64)));

static struct world w;
static const uint64_t *at;	/* the next word to be looked at */

/* A function that takes its g and calls this one. */
static probed_fn *of_go(uint64_t word, const uint8_t *begin, const uint8_t *end)
{
	probed_fn *f = (probed_fn *)here(&w);

	emit_with_g(&w);
	emit_record(&w, (end ? REC_ENTRY : REC_NONE) | word << REC_FUNC_SHIFT, begin);
	if (end)
		emit_record_by(&w, REC_EXIT | word << REC_FUNC_SHIFT, end,
			       !returns_called());
	emit_ret(&w);
	return f;
}

static uint64_t number(const struct g *g)
{
	return STACK_SHARED | STACK_GOROUTINE |
		((uint64_t)g >> GOROUTINE_SHIFT) % STACK_FIBERS;
}

static void expect_word(uint64_t kind, uint64_t func)
{
	MUST_EQ(*at & 3, kind);
	MUST_EQ(*at++ >> REC_FUNC_SHIFT, func);
}

static void expect_ext(unsigned int subkind, uint64_t body)
{
	expect_word(REC_EXT, subkind | 1 << (REC_WORDS_SHIFT - REC_FUNC_SHIFT));
	MUST_EQ(*at++ >> REC_TIME_SHIFT, body);
}

/* Two calls of GO; how deep they were. */
static uint64_t expect_calls(void)
{
	uint64_t depth = at[1] >> REC_TIME_SHIFT;

	for (int i = 0; i < 4; i++) {
		expect_word(i & 1 ? REC_EXIT : REC_ENTRY, GO);
		MUST_EQ(*at++, depth << REC_TIME_SHIFT);
	}
	return depth;
}

static void call(probed_fn *f, struct g *g)
{
	for (int i = 0; i < 2; i++)
		f(g);
}

int main(void)
{
	uint64_t here_now = (uint64_t)__builtin_frame_address(0), depth;
	probed_fn *go, *c, *mark;

	world_begin(&w, 4, 4);
	go = returns_called() ? of_go(GO, ROUTINE(MOVED, entry),
			    ROUTINE(MOVED, exit)) :
		      of_go(GO, ROUTINE(MOVED, entry),
			    ROUTINE(MOVED, leave));
	mark = of_go(MARKED, ROUTINE(MOVED, mark), NULL);
	c = probed(&w, C, NULL);
	one.hi = two.hi = here_now + 65536;
	call(go, &one);
	call(c, NULL);
	call(go, &one);
	call(go, &two);
	one.hi += 4096;
	call(go, &one);
	call(mark, &one);

	struct subbuf *b = world_place(world_ring_of(&w, 0), 0);

	at = (const uint64_t *)(b + 1);
	MUST_EQ(b->stack, number(&one));
	depth = expect_calls();
	MUST(depth > 65536 && depth < 65536 + 4096);
	MUST_EQ(*at & 3, REC_EXT);
	MUST(!(at[1] >> REC_TIME_SHIFT & STACK_SHARED));
	at += 2;
	for (int i = 0; i < 2; i++) {
		expect_word(REC_ENTRY, C);
		expect_word(REC_EXIT, C);
	}
	expect_ext(EXT_STACK, number(&one));
	MUST_EQ(expect_calls(), depth);
	expect_ext(EXT_STACK, number(&two));
	MUST_EQ(expect_calls(), depth);
	expect_ext(EXT_STACK, number(&one));
	MUST_EQ(expect_calls(), depth + 4096);
	for (int i = 0; i < 2; i++)
		expect_ext(EXT_MARK, MARKED);
	MUST_EQ(*at, 0);
	return 0;
}
