/* SPDX-License-Identifier: MIT */
/*
 * Does the walk up a stack find what there is, and come to an end, and to no fault, whatever stack
 * and tables it is given: frames in a circle, at the end of a mapping, where nothing is mapped or
 * soon nothing will be; and tables that something has written over? The calls are made on a
 * thread's stack, above which lie the frames that are made up.
 */
#include <pthread.h>

#include "injector/reader/reader.h"
#include "tests/unit/payload_world.h"

enum {
	PROBED = 1, TABLES = 1 << 16, LISTS = 256, MODULES = 8, ROWS = 4096, RULES = 64,
	FRAMES = 4 << 20,		/* for frames */
	MOST = 100, RANDOM = 30000,
};

static struct world w;
static uint8_t *tables;
static probed_fn *called;
static struct reader *reader;
static struct reader_func names[] = { { .name = "?" }, { .name = "called" } };

/* Of the last call. */
static uint64_t found[CALLERS_MOST];
static int nfound, cut;
static uint64_t calls;

static uint64_t *room;		/* above all stacks of threads that are made later */

static struct callers *head(void)
{
	return (struct callers *)tables;
}

static struct callers_module *list(uint32_t i)
{
	return (struct callers_module *)(tables + LISTS) + (size_t)i * MODULES;
}

static void make_tables(void)
{
	uint64_t size = TABLES + (uint64_t)w.s->nrings * (WALK_SIZE + CAPTURE_SIZE);

	tables = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(tables != MAP_FAILED);
	w.s->callers_off = (uint64_t)tables - (uint64_t)w.s;
	w.s->callers_size = TABLES;
	w.s->walks_off = w.s->callers_off + TABLES;
	w.s->captures_off = w.s->walks_off + (uint64_t)w.s->nrings * WALK_SIZE;
	w.s->plans_off = w.s->callers_off + sizeof(struct callers) + 64;
	w.s->plans_size = 8;
	w.s->plans_funcs = 1;
	w.s->reads = READS_BY_CALL;
	*head() = (struct callers){ .most = MOST, .funcs = 8, .funcs_at = sizeof(struct callers),
				    .lists_at = LISTS, .most_modules = MODULES };
	tables[sizeof(struct callers) + PROBED] = CALLERS_ENTRY;
}

static probed_fn *make(void)
{
	probed_fn *f = (probed_fn *)here(&w);

	emit_record(&w, REC_ENTRY | (uint64_t)PROBED << REC_FUNC_SHIFT,
		    hot_begin + hot_table.values_entry);
	emit_record(&w, REC_EXIT | (uint64_t)PROBED << REC_FUNC_SHIFT,
		    hot_begin + hot_table.values_exit);
	emit_ret(&w);
	return f;
}

static int see(void *ctx, const struct event *e)
{
	if (e->kind != EVENT_ENTRY)
		return 0;
	calls++;
	cut = -1;
	nfound = 0;
	if (!e->callers)
		return 0;
	cut = e->cut;
	nfound = e->ncallers;
	memcpy(found, e->callers, (size_t)nfound * sizeof(*found));
	return 0;
}

static void look(void)
{
	while (reader_drain(reader, false, see, NULL) > 0)
		;
}

/* Call it with this frame pointer. */
static __attribute__((noinline)) void call_with(uint64_t fp)
{
#if defined(__x86_64__)
	__asm__ volatile("push %%rbp\n\tsub $8, %%rsp\n\tmov %0, %%rbp\n\tcall *%1\n\t"
			 "add $8, %%rsp\n\tpop %%rbp"
			 : : "r"(fp), "r"(called)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory",
			   "cc");
#else
	__asm__ volatile("stp x29, x30, [sp, #-16]!\n\tmov x29, %0\n\tblr %1\n\t"
			 "ldp x29, x30, [sp], #16"
			 : : "r"(fp), "r"(called)
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			   "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x30", "memory", "cc");
#endif
}

static void walk(uint64_t fp)
{
	call_with(fp);
	look();
}

/* Frame i at room[at]: the next one's, and where it returns to. */
static uint64_t *frame(size_t at, uint64_t *next, uint64_t back)
{
	room[at] = (uint64_t)next;
	room[at + 1] = back;
	return &room[at];
}

/* ---- tests, each on a thread's stack ---------------------------------------- */

static void test_chain(void)
{
	uint64_t *first = NULL;

	for (size_t i = 10; i-- > 0;)
		first = frame(100 + i * 40, first, 0x1000 + i);
	walk((uint64_t)first);
	CHECK_EQ(nfound, 11);		/* the first is this file's */
	CHECK_EQ(cut, CALLERS_WHOLE);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(found[1 + i], 0x1000u + (unsigned int)i);
}

static void test_most(void)
{
	uint64_t *first = NULL;

	for (size_t i = 200; i-- > 0;)
		first = frame(100 + i * 2, first, 0x1000 + i);
	walk((uint64_t)first);
	CHECK_EQ(nfound, MOST);
	CHECK_EQ(cut, CALLERS_FULL);
	head()->most = 3;
	walk((uint64_t)first);
	CHECK_EQ(nfound, 3);
	head()->most = UINT32_MAX;	/* nothing is believed */
	walk((uint64_t)first);
	CHECK_EQ(nfound, CALLERS_MOST);
	head()->most = MOST;
}

static void test_circles(void)
{
	frame(100, &room[100], 0x1000);
	walk((uint64_t)&room[100]);
	CHECK_EQ(nfound, 2);
	CHECK_EQ(cut, CALLERS_NO_TABLE);
	frame(100, &room[200], 0x1000);
	frame(200, &room[100], 0x2000);
	walk((uint64_t)&room[100]);
	CHECK_EQ(nfound, 3);
	CHECK_EQ(cut, CALLERS_NO_TABLE);
}

static void test_odd(void)
{
	walk(0);
	CHECK_EQ(nfound, 1);
	CHECK_EQ(cut, CALLERS_NO_TABLE);
	walk((uint64_t)&room[100] + 4);
	CHECK_EQ(cut, CALLERS_NO_TABLE);
	walk(16);			/* below the stack */
	CHECK_EQ(cut, CALLERS_NO_TABLE);
	walk(~7ull);
	CHECK_EQ(cut, CALLERS_ODD);
	walk(1ull << 62);
	CHECK_EQ(cut, CALLERS_ODD);
	frame(100, NULL, ~0ull);	/* no address of code */
	walk((uint64_t)&room[100]);
	CHECK_EQ(nfound, 1);
	CHECK_EQ(cut, CALLERS_ODD);
	frame(100, NULL, 0);
	walk((uint64_t)&room[100]);
	CHECK_EQ(cut, CALLERS_WHOLE);
}

static void test_ends(void)
{
	uint64_t *end = room + FRAMES / 8;

	walk((uint64_t)(end - 1));	/* a frame of which half is there */
	CHECK_EQ(nfound, 1);
	CHECK_EQ(cut, CALLERS_NO_MEMORY);
	walk((uint64_t)end);
	CHECK_EQ(cut, CALLERS_NO_MEMORY);
	frame(FRAMES / 8 - 2, NULL, 0x1000);
	walk((uint64_t)(end - 2));
	CHECK_EQ(nfound, 2);
	CHECK_EQ(cut, CALLERS_WHOLE);
	walk((1ull << 56) - 4096);
	CHECK_EQ(cut, CALLERS_NO_MEMORY);
}

/* Each frame is a copy of its own: there are not as many as there are frames. */
static void test_far(void)
{
	uint64_t *first = NULL;

	for (size_t i = 60; i-- > 0;)
		first = frame(100 + i * 8192, first, 0x1000 + i);
	walk((uint64_t)first);
	CHECK(nfound > 4 && nfound < 20);
	CHECK_EQ(cut, CALLERS_NO_MEMORY);
	w.s->reads = READS_NOTHING;
	walk((uint64_t)first);
	CHECK_EQ(nfound, 1);
	CHECK_EQ(cut, CALLERS_NO_MEMORY);
	w.s->reads = READS_BY_CALL;
}

static volatile bool over;

/* Frames that are there, and are not. */
static void *vanish(void *at)
{
	while (!over) {
		mprotect(at, 1 << 16, PROT_NONE);
		mprotect(at, 1 << 16, PROT_READ | PROT_WRITE);
		madvise(at, 1 << 16, MADV_DONTNEED);
	}
	return NULL;
}

static void test_vanishing(void)
{
	pthread_t thread;
	uint64_t *first = NULL, *second = room + (1 << 14);

	for (size_t i = 50; i-- > 0;)
		first = frame(i * 2, first ? first : second, 0x1000 + i);
	MUST(!pthread_create(&thread, NULL, vanish, second));
	calls = 0;
	for (int i = 0; i < RANDOM; i++)
		walk((uint64_t)first);
	over = true;
	pthread_join(thread, NULL);
	CHECK_EQ(calls, RANDOM);
}

static uint64_t seed = 88172645463325252u;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* A module that has all code, with rows of any rules, near what could be. */
static void make_module(void)
{
	uint32_t *rows = (uint32_t *)(tables + 8192);
	uint16_t *rules = (uint16_t *)(rows + ROWS);
	struct callers_rule *rule = (struct callers_rule *)(tables + 8192 + ROWS * 6);

	*list(0) = *list(1) = (struct callers_module){
		.start = 4096, .end = 1ull << 56, .rows_at = 8192, .rows = ROWS,
		.rules_at = 8192 + ROWS * 6, .rules = RULES,
	};
	head()->modules[0] = head()->modules[1] = 1;
	for (uint32_t i = 0; i < ROWS; i++) {
		rows[i] = i << 20;
		rules[i] = (uint16_t)(random_word() % (RULES + 2));
	}
	for (int i = 0; i < RULES; i++)
		rule[i] = (struct callers_rule){
			.cfa = (int32_t)(random_word() % 512) * 8 - 64,
			.ra = (int16_t)-(int16_t)(8 * (random_word() % 8)),
			.fp = (int16_t)-(int16_t)(8 * (random_word() % 8)),
			.link = (int16_t)(8 * (random_word() % 2)),
			.base = (uint8_t)(random_word() % 9),
			.flags = (uint8_t)(random_word() % 16),
		};
}

/* A rule by which the caller's frame is no higher than its own. */
static void test_down(void)
{
	struct callers_rule *rule = (struct callers_rule *)(tables + 8192 + ROWS * 6);

	make_module();
	for (int i = 0; i < RULES; i++)
		rule[i] = (struct callers_rule){ .base = CALLERS_FP_AT, .ra = 8,
						 .flags = CALLERS_FP_SAME };
	memset(tables + 8192 + ROWS * 4, 0, ROWS * 2);
	head()->changes++;
	room[100] = (uint64_t)&room[50];
	room[51] = 0x5000;
	walk((uint64_t)&room[100]);
	CHECK_EQ(nfound, 2);
	CHECK_EQ(found[1], 0x5000);
	CHECK_EQ(cut, CALLERS_ODD);
}

static void test_rules(void)
{
	calls = 0;
	for (int i = 0; i < RANDOM; i++) {
		if (i % 64 == 0)
			make_module();
		head()->changes++;
		for (int j = 0; j < 64; j++)
			room[100 + random_word() % 400] = random_word() % 2 ?
				(uint64_t)&room[100 + random_word() % 400] : random_word() >> 17;
		walk((uint64_t)&room[100 + random_word() % 100]);
	}
	CHECK_EQ(calls, RANDOM);
}

/* What lies in the session may have been written over: all of it, bit by bit. */
static void test_damaged(void)
{
	static uint8_t good[TABLES];

	make_module();
	memcpy(good, tables, sizeof(good));
	for (int i = 0; i < RANDOM; i++) {
		for (uint64_t k = random_word() % 8; k; k--)
			tables[random_word() % (i % 4 ? 1024 : TABLES)] = (uint8_t)random_word();
		tables[sizeof(struct callers) + PROBED] = CALLERS_ENTRY + (uint8_t)(i % 2);
		walk((uint64_t)&room[100 + random_word() % 100]);
		if (i % 16 == 0)
			memcpy(tables, good, sizeof(good));
	}
	memset(tables + LISTS, 0, TABLES - LISTS);
}

static void *run(void *test)
{
	void (*const *f)(void) = test;

	(*f)();
	return NULL;
}

int main(void)
{
	static void (*const tests[])(void) = {
		test_chain, test_most, test_circles, test_odd, test_ends, test_far, test_vanishing,
		test_down, test_rules, test_damaged,
	};

	/* What lies at its end is not mapped: threads' stacks come below. */
	uint8_t *at = mmap(NULL, FRAMES + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(at != MAP_FAILED && !mprotect(at, FRAMES, PROT_READ | PROT_WRITE));
	room = (uint64_t *)at;
	world_begin(&w, 16, 4);
	make_tables();
	MUST(!reader_new(w.s, w.s->size, getpid(), names, ARRAY_SIZE(names), &reader));
	called = make();
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		pthread_t thread;

		MUST(!pthread_create(&thread, NULL, run, (void *)&tests[i]));
		pthread_join(thread, NULL);
	}
	reader_free(reader);
	return failures != 0;
}
