/* SPDX-License-Identifier: MIT */
/*
 * Where registers are recorded as they are: does the reader make of them what the function was
 * given and has returned, to the last bit, and nothing else, whatever is in them; where the ring is
 * full; and of a plan that something has written over?
 */
#include "injector/reader/reader.h"
#include "tests/unit/payload_world.h"
#include "values/reads.h"

enum { RINGS = 8, FUNC = 1, PLANS = 1 << 14, CALLS = 20000, NOTHING = 4096 };

typedef __int128 many_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static struct world w;
static struct reader *reader;
static struct reader_func names[] = { { .name = "?" }, { .name = "kept" } };
static uint8_t *plans, *areas;

/* By DWARF's numbers, in the order in which routines keep them. */
#if defined(__x86_64__)
static const uint8_t arguments[] = { 5, 4, 1, 2, 8, 9 }, results[] = { 0, 1 };
#else
static const uint8_t arguments[] = { 0, 1, 2, 3, 4, 5, 6 }, results[] = { 0, 1 };
#endif

static uint64_t seed = 88172645463325252u;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* What was given, and returned; zeros and ones are as frequent as others. */
static uint64_t given[ARRAY_SIZE(arguments)], returned[2];
static unsigned int nentry, nexit;	/* registers that are read */
static uint64_t entries, exits, bare, made;

static __int128 body(uint64_t a, uint64_t b)
{
	return (unsigned __int128)returned[1] << 64 | returned[0];
}

static struct capture_plan *plan_at(void)
{
	return (struct capture_plan *)(plans + 64);
}

/* All eight bytes of some, four of others, one byte from the middle of the rest. */
static uint16_t cap_of(unsigned int i)
{
	return i % 3 == 0 ? 8 : i % 3 == 1 ? 4 : 1;
}

static uint64_t part_of(uint64_t value, unsigned int i)
{
	return i % 3 == 0 ? value : i % 3 == 1 ? value & 0xffffffff : value >> 56;
}

static void make_plan(void)
{
	struct capture_plan *p = plan_at();

	p->plan = (struct read_plan){ .nops = (uint16_t)(nentry + nexit),
				      .nentry = (uint16_t)nentry };
	for (unsigned int i = 0; i < nentry + nexit; i++) {
		unsigned int at = i < nentry ? i : i - nentry;

		p->plan.ops[i] = (struct read_op){
			.source = READ_GENERAL, .cap = cap_of(at), .offset = at % 3 == 2 ? 7 : 0,
			.index = i < nentry ? arguments[at] : results[at],
			.flags = i < nentry ? 0 : READ_AT_EXIT, .length_index = READS_NONE,
			.if_index = READS_NONE, .unit = 1,
		};
	}
	MUST(!reads_check(&p->plan));
	MUST_EQ(reads_registers(&p->plan, false, arguments, ARRAY_SIZE(arguments)), nentry);
	MUST_EQ(reads_registers(&p->plan, true, results, ARRAY_SIZE(results)), nexit);
	((uint32_t *)plans)[FUNC] = 64 / 8;
}

static void check_capture(const struct event *e, const uint64_t *values, unsigned int n,
			  unsigned int first)
{
	const uint8_t *p = e->capture;

	for (unsigned int i = 0; i < n; i++) {
		struct read_result head;
		uint64_t value = 0;

		memcpy(&head, p, sizeof(head));
		MUST(head.n == cap_of(i) && head.op == first + i && head.status == READ_DONE);
		memcpy(&value, p + sizeof(head), head.n);
		MUST_EQ(value, part_of(values[i], i));
		p += sizeof(head) + (head.n + 3u) / 4 * 4;
	}
	MUST_EQ(p - e->capture, e->ncapture);
}

static int see(void *ctx, const struct event *e)
{
	bool entry = e->kind == EVENT_ENTRY;

	if (!entry && e->kind != EVENT_EXIT)
		return 0;
	entries += entry;
	exits += !entry;
	if (!e->capture)
		bare++;
	else if (ctx)
		check_capture(e, entry ? given : returned, entry ? nentry : nexit,
			      entry ? 0 : nentry);
	return 0;
}

static void look(bool check)
{
	while (reader_drain(reader, false, see, check ? &w : NULL) > 0)
		;
}

static uint64_t mostly(void)
{
	uint64_t word = random_word();

	return word % 8 == 0 ? 0 : word % 8 == 1 ? ~0ull : word % 8 == 2 ? 1ull << word / 8 % 64 :
		random_word();
}

static void call(many_fn *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		given[i] = mostly();
	returned[0] = mostly();
	returned[1] = mostly();
	unsigned __int128 r = (unsigned __int128)f(given[0], given[1], given[2], given[3],
						   given[4], given[5],
						   given[ARRAY_SIZE(given) - 1]);

	MUST(r == ((unsigned __int128)returned[1] << 64 | returned[0]));
	made++;
}

/* A session. Its last ring's memory has the plans: nothing else is within what the reader reads. */
static void begin(unsigned int entry, unsigned int exit)
{
	w.s = world_session(RINGS, 4);
	w.s->plans_off = w.s->rings_off + (RINGS - 1) * w.s->ring_stride + PAGE;
	w.s->plans_size = PLANS;
	w.s->plans_funcs = 8;
	w.s->captures_off = (uint64_t)areas - (uint64_t)w.s;
	plans = (uint8_t *)w.s + w.s->plans_off;
	world_hello()(w.s);
	world_lead(&w);
	nentry = entry;
	nexit = exit;
	make_plan();
	entries = exits = bare = made = 0;
	MUST(!reader_new(w.s, w.s->size, getpid(), names, ARRAY_SIZE(names), &reader));
}

static void check_stats(uint64_t damaged)
{
	struct reader_stats st;

	reader_stats(reader, &st);
	MUST_EQ(st.damaged != 0, damaged != 0);
	MUST_EQ(entries + exits + st.lost, 2 * made);
	reader_free(reader);
}

static void test_each(many_fn *f, unsigned int entry, unsigned int exit)
{
	begin(entry, exit);
	for (int i = 0; i < CALLS / 20; i++) {
		call(f);
		look(true);
	}
	MUST_EQ(entries, made);
	MUST_EQ(exits, made);
	MUST_EQ(bare, 0);
	check_stats(0);
}

static void test_full(many_fn *f)
{
	begin(1, 1);
	for (int i = 0; i < CALLS; i++)
		call(f);
	look(false);
	MUST(entries < made);
	MUST_EQ(bare, 0);
	check_stats(0);
}

/* The reader has a copy, if it makes sense; else there are no values, and that is told. */
static void test_damaged(many_fn *f)
{
	begin(1, 1);
	for (uint32_t i = 0; i < NOTHING; i++) {
		for (size_t k = 0; k < offsetof(struct read_plan, ops[2]); k++)
			((uint8_t *)&plan_at()->plan)[k] = (uint8_t)random_word();
		((uint32_t *)plans)[FUNC] = i % 4 ? 64 / 8 : (uint32_t)random_word();
		call(f);
		look(false);
	}
	MUST(bare > 0);
	check_stats(1);
}

int main(void)
{
	static many_fn *f[ARRAY_SIZE(arguments)][2];

	areas = mmap(NULL, RINGS * CAPTURE_SIZE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(areas != MAP_FAILED);
	world_begin(&w, RINGS, 4);
	for (unsigned int i = 0; i < ARRAY_SIZE(arguments); i++)
		for (int j = 0; j < 2; j++)
			f[i][j] = (many_fn *)(void *)kept(&w, FUNC, (probed_fn *)(void *)body,
							  (int)i + 1, j + 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(arguments); i++)
		for (unsigned int j = 0; j < 2; j++)
			test_each(f[i][j], i + 1, j + 1);
	test_full(f[0][0]);
	test_damaged(f[0][0]);
	return 0;
}
