/* SPDX-License-Identifier: MIT */
/*
 * Where eight bytes of stack are all there is, is a call recorded without a touch of
 * what lies below them, and does it leave every register and flag as it was? The
 * first of a thread, which has no spill frames yet, as any other; of a goroutine, on another
 * stack, without a g, with a full ring, and when all spill areas are taken.
 */
#include "payload/payload.h"
#include "tests/unit/payload_tight.h"
#include "tests/unit/payload_world.h"

enum {
	FUNC = 7, MARKED = 8, THREADS = 8, AREAS = 2 + THREADS,
	BELOW = 4096, ABOVE = 256,
};

/* What a g begins with. */
struct g { uint64_t lo, hi, more[6]; };

/* Of a thread: the registers, and the flags, before and after a call; and the stack that it is
 * made on: so much is left below its stack pointer. */
struct caller {
	uint64_t before[GPRS + 1], after[GPRS + 1];
	uint64_t sp, own_sp;
	void *f;
	_Alignas(16) uint8_t stack[BELOW + LEFT + ABOVE];
};

static __thread struct caller me __attribute__((aligned(64)));
static __thread struct g *current;	/* as a thread of Go's has it */
static __thread struct g own __attribute__((aligned(64)));
static __thread uint64_t spills;	/* where the payload has no such word */
static struct g one __attribute__((aligned(64))), two __attribute__((aligned(64)));

static struct world w;
static const uint64_t *at;	/* the next word to be looked at */
static uint64_t seed = 88172645463325252ull;
static int taken;		/* bytes of the stack, by what is called */

void call_tightly(struct caller *);

_Static_assert(offsetof(struct caller, sp) == AT_SP && offsetof(struct caller, f) == AT_F,
	       "as call_tightly has it");

static uint64_t rnd(void)
{
	uint64_t x = __atomic_load_n(&seed, __ATOMIC_RELAXED);

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	__atomic_store_n(&seed, x, __ATOMIC_RELAXED);
	return x;
}

/* Its stack pointer is `sp` at its entry; all but what is left below is not touched, and what it
 * takes of the spill frames it gives back. */
static void call(void *f, uint64_t flags)
{
	uint64_t sp = (uint64_t)me.stack + BELOW + LEFT;
	uint64_t *word = (uint64_t *)(arch_thread_pointer() + w.s->spills_offset), free_to = *word;

	for (int i = 0; i < GPRS; i++)
		me.before[i] = rnd();
	me.before[GPRS] = (flags & FLAGS) | FLAGS_SET;
	memset(me.stack, 0x5a, sizeof(me.stack));
	me.sp = sp;
	me.f = f;
	call_tightly(&me);
	MUST_EQ(me.sp, sp + RETURNED);
	for (int i = 0; i < GPRS; i++)
		MUST_EQ(me.after[i], me.before[i]);
	MUST_EQ(me.after[GPRS] & (FLAGS | FLAGS_SET), me.before[GPRS]);
	MUST(!free_to || *word == free_to);
	for (int i = 0; i < BELOW + LEFT - TOUCHED - taken; i++)
		MUST_EQ(me.stack[i], 0x5a);
}

static void every_flag(void *f)
{
	uint64_t flags = 0;

	do {
		call(f, flags);
		flags = (flags - FLAGS) & FLAGS;
	} while (flags);
}

static void emit_tight(uint64_t word, const uint8_t *routine)
{
	struct record_call call = {
		.word = word,
		.routine = (raddr_t)(w.arena + (routine - hot_begin)),
		.gate = (raddr_t)&world_gates[word >> REC_FUNC_SHIFT],
		.first = (raddr_t)(w.arena + hot_table.tight_first),
		.spills = (int32_t)w.s->spills_offset,
		.g = (int32_t)((uint64_t)&current - arch_thread_pointer()),
	};
	world_gates[word >> REC_FUNC_SHIFT] = 1;
	int n = arch_host()->record((raddr_t)(w.arena + w.used), &call, w.arena + w.used);

	MUST(n > 0 && n <= ARCH_TIGHT_MAX);
	w.used += (size_t)n;
}

static void *tight(void)
{
	void *f = here(&w);

	emit_tight(REC_ENTRY | (uint64_t)FUNC << REC_FUNC_SHIFT,
		   ROUTINE(TIGHT, entry));
	emit_tight(REC_EXIT | (uint64_t)FUNC << REC_FUNC_SHIFT,
		   ROUTINE(TIGHT, exit));
	emit_ret(&w);
	return f;
}

/* One record, of kind REC_NONE. */
static void *tight_marked(const uint8_t *routine)
{
	void *f = here(&w);

	emit_tight(REC_NONE | (uint64_t)MARKED << REC_FUNC_SHIFT, routine);
	emit_ret(&w);
	return f;
}

/* Its entry is recorded behind a push. */
static void *tight_pushed(void)
{
	const uint64_t func = (uint64_t)FUNC << REC_FUNC_SHIFT;
	void *f = here(&w);

	EMIT(&w, LOWER);
	emit_tight(REC_ENTRY | LOWERED << REC_LATE_SHIFT | func,
		   hot_begin + hot_table.tight_late);
	EMIT(&w, RAISE);
	emit_tight(REC_EXIT | func, ROUTINE(TIGHT, exit));
	emit_ret(&w);
	return f;
}

/* The depth of what is called here is 8 * n. */
static void run(struct g *g, uint64_t n)
{
	if (g)
		*g = (struct g){ (uint64_t)me.stack,
				 (uint64_t)me.stack + BELOW + LEFT + 8 * n, { 0 } };
	current = g;
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

static uint64_t number(const struct g *g)
{
	return STACK_SHARED | STACK_GOROUTINE |
		((uint64_t)g >> GOROUTINE_SHIFT) % STACK_FIBERS;
}

static void expect_calls(int n, uint64_t depth)
{
	for (int i = 0; i < 2 * n; i++) {
		expect_word(i & 1 ? REC_EXIT : REC_ENTRY, FUNC);
		MUST_EQ(*at++, depth << REC_TIME_SHIFT);
	}
}

/* Of a stack that is no goroutine's, calls are paired by the thread. */
static void expect_plain(int n)
{
	MUST_EQ(*at & 3, REC_EXT);
	MUST(!(at[1] >> REC_TIME_SHIFT & STACK_GOROUTINE));
	at += 2;
	for (int i = 0; i < 2 * n; i++)
		expect_word(i & 1 ? REC_EXIT : REC_ENTRY, FUNC);
}

/* A bare payload knows of none: what maps it says where the word is. */
static void place_spills(void)
{
	if (BARE)
		w.s->spills_offset = (uint64_t)&spills - arch_thread_pointer();
	MUST(w.s->spills_offset);
}

static void fresh(uint32_t nsub)
{
	uint64_t areas = w.s->spills, nspills = w.s->nspills;

	w.s = world_session(2 + THREADS, nsub);
	w.s->spills = areas;
	w.s->nspills = (uint32_t)nspills;
	world_hello()(w.s);
	place_spills();
}

/* Twice each, the first of them by the slow path. */
static void test_words(void *f, void *mark)
{
	fresh(4);
	run(&one, 3);
	call(f, 0), call(f, 0);
	run(NULL, 0);
	call(f, 0), call(f, 0);
	run(&one, 4);
	call(f, 0), call(f, 0);
	run(&two, 5);
	call(f, 0), call(f, 0);
	/* On a stack that is none of its g's: just above, just below. */
	two.hi = (uint64_t)me.stack + BELOW + LEFT;
	call(f, 0), call(f, 0);
	run(&two, 5);
	call(f, 0);
	two.lo = (uint64_t)me.stack + BELOW + LEFT + 1;
	call(f, 0), call(f, 0);
	run(&two, 6);
	call(mark, 0), call(mark, 0);

	struct subbuf *b = world_place(world_ring_of(&w, 0), 0);

	at = (const uint64_t *)(b + 1);
	MUST_EQ(b->stack, number(&one));
	expect_calls(2, 24);
	expect_plain(2);
	expect_ext(EXT_STACK, number(&one));
	expect_calls(2, 32);
	expect_ext(EXT_STACK, number(&two));
	expect_calls(2, 40);
	expect_plain(2);
	expect_ext(EXT_STACK, number(&two));
	expect_calls(1, 40);
	expect_plain(2);
	expect_ext(EXT_STACK, number(&two));
	expect_ext(EXT_MARK, MARKED), expect_ext(EXT_MARK, MARKED);
	MUST_EQ(*at, 0);
}

/* Where it begins counts, for goroutines and others. */
static void test_pushed(void *f)
{
	struct subbuf *b;

	fresh(4);
	taken = TAKEN;
	run(&one, 3);
	call(f, 0), call(f, 0);
	run(NULL, 0);
	call(f, 0), call(f, 0);
	taken = 0;
	b = world_place(world_ring_of(&w, 0), 0);
	at = (const uint64_t *)(b + 1);
	MUST_EQ(b->stack, number(&one));
	expect_calls(2, 24);
	expect_plain(2);
	MUST_EQ(*at, 0);
}

/* Not even a loss is counted. */
static void test_closed(void *f)
{
	uint64_t lost = w.s->lost_entries;

	world_gates[FUNC] = 0;
	for (int i = 0; i < 3; i++)
		every_flag(f);
	world_gates[FUNC] = 1;
	MUST_EQ(w.s->lost_entries, lost);
}

/* A thread that is late from a session that records counts nothing in one that counts, and the
 * other way round. */
static void test_count(void *count, void *f)
{
	const uint64_t *counts;

	fresh(1);
	run(&one, 3);
	call(count, 0);
	w.s->counting = 1;
	every_flag(count);
	every_flag(f);
	counts = (uint64_t *)((char *)world_ring_of(&w, 0) + PAGE);
	MUST_EQ(counts[MARKED], 1 << __builtin_popcountll(FLAGS));
	MUST_EQ(counts[FUNC], 0);
}

/* The ring is full: counted. */
static void test_full(void *f)
{
	struct ring *r;

	fresh(1);
	run(&one, 3);
	for (int i = 0; i < 2100; i++)
		call(f, rnd());
	every_flag(f);
	r = world_ring_of(&w, 0);
	MUST_EQ(r->head, 1);
	MUST(r->lost_entries > 40 && r->lost_exits >= r->lost_entries);
	w.s->state = SESSION_CLOSED;
	every_flag(f);
}

/* Without a goroutine calls have frames. They go with their calls, too, where these are lost. */
static void test_full_framed(void *f)
{
	const struct thread *t;
	struct ring *r;
	uint64_t top;

	fresh(1);
	run(NULL, 0);
	call(f, 0);
	r = world_ring_of(&w, 0);
	t = world_thread(&w, r);
	top = t->top;
	for (int i = 0; i < 5000; i++) {
		call(f, rnd());
		MUST_EQ(t->top, top);
	}
	MUST(r->lost_entries > 40 && r->lost_exits >= r->lost_entries);
}

static void take_areas(uint64_t owner)
{
	for (uint32_t i = 0; i < AREAS; i++)
		*(uint64_t *)(w.s->spills + i * (uint64_t)SPILL_AREA_SIZE) = owner;
}

/* A thread that finds them all taken counts, and does not look at each again at the next call;
 * but some time later. */
static void test_taken(void *f)
{
	uint64_t began, lost;

	do {
		began = cpu_clock();
		lost = w.s->lost_entries;
		take_areas(1);
		*(uint64_t *)(arch_thread_pointer() + w.s->spills_offset) = 0;
		call(f, 0);
		MUST_EQ(w.s->lost_entries, lost + 1);
		take_areas(0);
		call(f, 0);
		/* It may have taken that long, by whatever came between. */
	} while (w.s->lost_entries == lost + 1 && cpu_clock() - began >= cpu_tenth());
	MUST_EQ(w.s->lost_entries, lost + 2);
	do {
		lost = w.s->lost_entries;
		call(f, 0);
	} while (w.s->lost_entries > lost);
}

/* An area that the injector is asking about is not even its owner's; one that was given back is
 * free, and at once. */
static void test_back(void *f)
{
	uint64_t *word = (uint64_t *)(arch_thread_pointer() + w.s->spills_offset);
	uint64_t lost = w.s->lost_entries;

	take_areas(arch_thread_pointer() | (uint64_t)SPILL_AREA_ASKED << 8 * SPILL_AREA_STATE);
	*word = 0;
	call(f, 0);
	MUST_EQ(w.s->lost_entries, lost + 1);
	take_areas(1 | (uint64_t)SPILL_AREA_BACK << 8 * SPILL_AREA_STATE);
	w.s->returns++;
	call(f, 0);
	MUST_EQ(w.s->lost_entries, lost + 1);
	MUST(*word);
	take_areas(0);
	*word = 0;
	w.s->returns--;
	do {
		lost = w.s->lost_entries;
		call(f, 0);
	} while (w.s->lost_entries > lost);
}

static pthread_barrier_t all;

static void *first_calls(void *f)
{
	run(&own, 3);
	pthread_barrier_wait(&all);
	for (int i = 0; i < 100; i++)
		call(f, (uint64_t)i * 0x9e3779b9);
	pthread_barrier_wait(&all);
	return NULL;
}

/* First calls of many threads at once; and of those behind them, which have their
 * thread pointers, and so their areas. */
static void test_first(void *f)
{
	pthread_t t[THREADS];

	fresh(4);
	for (int round = 0; round < 20; round++) {
		MUST(!pthread_barrier_init(&all, NULL, THREADS));
		for (int i = 0; i < THREADS; i++)
			MUST(!pthread_create(&t[i], NULL, first_calls, f));
		for (int i = 0; i < THREADS; i++)
			MUST(!pthread_join(t[i], NULL));
		for (int i = 0; i < THREADS; i++)
			world_ring(&w, (uint32_t)i)->state = RING_FREE;
	}
	MUST_EQ(w.s->lost_entries, 0);
}

int main(void)
{
	void *f, *mark, *count, *pushed;

	world_begin(&w, 2 + THREADS, 4);
	place_spills();
	f = tight();
	pushed = tight_pushed();
	mark = tight_marked(ROUTINE(TIGHT, mark));
	count = tight_marked(ROUTINE(TIGHT, count));
	run(&one, 3);
	test_closed(f);
	/* No areas: counted. */
	call(f, 0);
	MUST_EQ(w.s->lost_entries, 1);
	MUST_EQ(w.s->lost_exits, 1);
	every_flag(f);
	w.s->spills = (uint64_t)mmap(NULL, AREAS * SPILL_AREA_SIZE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	w.s->nspills = AREAS;
	test_taken(f);
	test_back(f);
	every_flag(f);
	every_flag(mark);
	test_words(f, mark);
	test_pushed(pushed);
	test_full(f);
	test_full_framed(f);
	test_first(f);
	test_count(count, f);
	return 0;
}
