/* SPDX-License-Identifier: MIT */
/*
 * reader_world: a session made by hand, as a payload would leave it, and a log
 * of what the reader says about it. Times are ticks after `world.base`, which
 * lies in the past.
 */
#ifndef TESTS_UNIT_READER_WORLD_H
#define TESTS_UNIT_READER_WORLD_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "injector/proc/kernel.h"
#include "injector/reader/reader_impl.h"
#include "tests/unit/check.h"

/* Of copies of inlined functions: one, another within it, and one more of the first one's name; and
 * two marks where they end. */
enum { COPY_OUTER = 10, COPY_INNER, COPY_MORE, END_INNER, END_BOTH, CATCH, COPY_WITH };

static const struct copy_ended world_ends[] = {
	{ .func = COPY_INNER }, { .func = COPY_OUTER }, { .func = COPY_MORE },
	{ .func = COPY_INNER, .thrown = true }, { .func = COPY_OUTER, .thrown = true },
};

static const uint32_t world_with[] = { COPY_OUTER, 1000, COPY_WITH, COPY_INNER };

static const struct reader_func world_funcs[] = {
	{ .name = "net_accept", .module = "srv" },
	{ .name = "net_read", .module = "srv" },
	{ .name = "net_wait", .module = "srv" },
	{ .name = "net_log", .module = "libnet.so", .entry_only = true },
	{ .name = "runtime.schedule", .module = "srv" },
	{ .name = "runtime.execute", .module = "srv" },
	{ .name = "runtime.gogo.abi0", .module = "srv", .entry_only = true },
	{ .name = "runtime.goexit1", .module = "srv", .entry_only = true },
	{ .name = "runtime.exitThread.abi0", .module = "srv", .entry_only = true },
	{ .name = "runtime.gogos", .module = "srv", .entry_only = true },
	{ .name = "in_outer", .module = "srv", .begins = true },
	{ .name = "in_inner", .module = "srv", .begins = true },
	{ .name = "in_outer", .module = "srv", .begins = true, .as = COPY_OUTER },
	{ .name = "?", .module = "?", .hidden = true, .ends = world_ends, .nends = 1 },
	{ .name = "?", .module = "?", .hidden = true, .ends = world_ends, .nends = 3 },
	{ .name = "in_caught", .module = "srv", .entry_only = true, .ends = world_ends + 3,
	  .nends = 2 },
	{ .name = "in_with", .module = "srv", .entry_only = true, .with = world_with,
	  .nwith = ARRAY_SIZE(world_with) },
};

enum { ACCEPT, READ, WAIT, LOG, SCHEDULE, EXECUTE, GOGO, GOEXIT, EXIT_THREAD, GOGOS,
	NFUNCS = ARRAY_SIZE(world_funcs) };

struct world {
	uint8_t *map, *low;	/* low: where what was mapped for it begins, */
	size_t size, all;	/* and how long that is */
	uint64_t base;
	/* Of each ring: where its thread writes, and to which sub-buffer. */
	uint64_t *cur[8];
	struct subbuf *sub[8];
	struct reader *reader;
};

enum { SUBBUF_WORDS = (SUBBUF_SIZE - sizeof(struct subbuf)) / 8 };

static inline struct session *world_session(struct world *w)
{
	return (struct session *)w->map;
}

static inline struct ring *world_ring(struct world *w, uint32_t i)
{
	struct session *s = world_session(w);

	return (struct ring *)(w->map + s->rings_off + i * s->ring_stride);
}

static inline struct subbuf *world_subbuf(struct world *w, uint32_t i, uint64_t place)
{
	return (struct subbuf *)((uint8_t *)world_ring(w, i) + PAGE +
				 place % world_session(w)->nsub * SUBBUF_SIZE);
}

static inline void world_make(struct world *w, uint32_t nrings, uint32_t nsub)
{
	uint64_t stride = PAGE + (uint64_t)nsub * SUBBUF_SIZE, page = kernel_page();
	struct session *s;

	*w = (struct world){ .size = PAGE + nrings * stride };
	/* Between two pages that must not be touched, right before the second one. */
	w->all = ALIGN_UP(w->size, page) + 2 * page;
	w->low = mmap(NULL, w->all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	mprotect(w->low, page, PROT_NONE);
	mprotect(w->low + w->all - page, page, PROT_NONE);
	w->map = w->low + w->all - page - w->size;
	s = world_session(w);
	s->magic = SESSION_MAGIC;
	s->abi = ABI_VERSION;
	s->size = w->size;
	s->rings_off = PAGE;
	s->ring_stride = stride;
	s->nrings = nrings;
	s->nsub = nsub;
	s->sub_size = SUBBUF_SIZE;
	w->base = reader_now() - 1000000000;
}

static inline void world_read(struct world *w, pid_t pid)
{
	CHECK_EQ(reader_new(w->map, w->size, pid, world_funcs, NFUNCS, &w->reader), 0);
}

static inline void world_end(struct world *w)
{
	reader_free(w->reader);
	munmap(w->low, w->all);
}

/* Begin the next sub-buffer of ring `i` in that place. */
static inline void world_begin_at(struct world *w, uint32_t i, uint64_t t, uint32_t place)
{
	struct ring *r = world_ring(w, i);
	struct subbuf *b = world_subbuf(w, i, place);

	b->seq = r->head + 1;
	b->begin = w->base + t;
	b->epoch = b->begin >> REC_TIME_BITS << REC_TIME_BITS;
	b->reserved = 0;
	b->lost_entries = r->lost_entries;
	b->lost_exits = r->lost_exits;
	w->sub[i] = b;
	w->cur[i] = (uint64_t *)(b + 1);
	r->used[place / 64] |= 1ull << place % 64;
	__atomic_store_n(&r->head, r->head + 1, __ATOMIC_RELEASE);
}

/* Begin the next sub-buffer of ring `i`; false if the ring is full. */
static inline bool world_begin(struct world *w, uint32_t i, uint64_t t)
{
	struct ring *r = world_ring(w, i);

	if (r->head - r->tail >= world_session(w)->nsub)
		return false;
	world_begin_at(w, i, t, (uint32_t)(r->head % world_session(w)->nsub));
	return true;
}

static inline void world_close(struct world *w, uint32_t i)
{
	struct subbuf *b = w->sub[i];

	b->reserved = (uint64_t)((uint8_t *)w->cur[i] - (uint8_t *)(b + 1));
}

static inline void world_claim(struct world *w, uint32_t i, int32_t tid, uint64_t t)
{
	struct ring *r = world_ring(w, i);

	r->state = RING_CLAIMED;
	r->generation++;
	r->tid = tid;
	r->lost_entries = r->lost_exits = 0;
	world_begin(w, i, t);
}

static inline uint64_t world_word(struct world *w, unsigned kind, uint64_t func, uint64_t t)
{
	uint64_t time = (w->base + t) & ((1ull << REC_TIME_BITS) - 1);

	return kind | time << REC_TIME_SHIFT | func << REC_FUNC_SHIFT;
}

static inline void world_put(struct world *w, uint32_t i, unsigned kind, uint64_t func,
		      uint64_t t)
{
	*w->cur[i]++ = world_word(w, kind, func, t);
}

static inline void world_ext(struct world *w, uint32_t i, unsigned sub, uint64_t body,
		      uint64_t t)
{
	w->cur[i][1] = body << 2;
	w->cur[i][0] = world_word(w, REC_EXT, sub | 1 << 6, t);
	w->cur[i] += 2;
}

/* What the reader said, a word per event: "+read -read ...". */
static char told[65536];

static inline int world_tell(void *ctx, const struct event *e)
{
	static const char *const kinds[] = {
		[EVENT_ENTRY] = "+", [EVENT_EXIT] = "-", [EVENT_UNWOUND] = "!",
		[EVENT_MARK] = ".", [EVENT_LOST] = "lost", [EVENT_EXIT_LOST] = "?",
		[EVENT_STACK_END] = "end", [EVENT_BEFORE] = "~",
	};
	const char *name = world_funcs[e->func].name;
	size_t n = strlen(told);

	if (n + 64 > sizeof(told))
		return 0;
	if (n)
		told[n++] = ' ';
	n += (size_t)sprintf(told + n, "%u", e->thread);
	if (e->stack)
		n += (size_t)sprintf(told + n, "/%u", e->stack);
	n += (size_t)sprintf(told + n, "%s", kinds[e->kind]);
	if (e->kind == EVENT_LOST)
		sprintf(told + n, "%llu", (unsigned long long)e->lost);
	else if (e->kind != EVENT_STACK_END)
		sprintf(told + n, "%s", name + strcspn(name, "_.") + 1);
	return 0;
}

static inline const char *world_drain(struct world *w, bool last)
{
	told[0] = '\0';
	reader_drain(w->reader, last, world_tell, NULL);
	return told;
}

#define CHECK_TOLD(w, last, expected) do { \
	const char *is_ = world_drain(w, last); \
	if (strcmp(is_, expected) != 0) { \
		failures++; \
		printf("%s:%d:\n  told   %s\n  wanted %s\n", __FILE__, __LINE__, \
		       is_, expected); \
	} \
} while (0)

/* The name of a goroutine's stack. */
static inline uint64_t goroutine(uint32_t g) { return STACK_SHARED | STACK_GOROUTINE | g; }

/* What is recorded on a goroutine's stack has its depth with it. */
static inline void put_deep(struct world *w, uint32_t i, unsigned kind, uint64_t func, uint64_t t,
			    uint64_t depth)
{
	w->cur[i][1] = depth << 2;
	w->cur[i][0] = world_word(w, kind, func, t);
	w->cur[i] += 2;
}

#endif
