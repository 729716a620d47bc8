/* SPDX-License-Identifier: MIT */
/*
 * trace_world: a recording made up at random, always the same for a seed, and a
 * directory of its own that goes with the test.
 */
#ifndef TESTS_UNIT_TRACE_WORLD_H
#define TESTS_UNIT_TRACE_WORLD_H

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/check.h"
#include "trace/read/archive.h"
#include "trace/format/layout.h"
#include "trace/write/record.h"
#include "values/compile.h"
#include "values/hand.h"
#include "values/pack.h"

static bool world_switches;	/* threads leave their processors, too */
static uint64_t seed = 88172645463325252u;

static inline uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Names that TSDL, JSON and a terminal would stumble over. */
static const struct reader_func world_funcs[] = {
	{ .name = "net_accept", .module = "srv" },
	{ .name = "std::map<int, \"x\">::operator[]", .module = "srv" },
	{ .name = "tail\\n", .module = "srv" },
	{ .name = "net_log", .module = "libnet.so", .entry_only = true },
	{ .name = "gr\xc3\xb6\xc3\x9f" "e", .module = "libnet.so" },
	{ .name = "net_accept", .module = "libother.so" },
};

enum { WORLD_FUNCS = 6, WORLD_MARK = 3 };

static const struct about_module world_modules[] = {
	{ "/srv/bin/srv", "0123456789abcdef0123456789abcdef01234567", 0x555555554000 },
	{ "/srv/lib/libnet.so", "", 0x7fffff000000 },
};

/* ---- values -------------------------------------------------------------- */

/* Of one function they are read at the entry and at the exit, of another at the entry. */
enum { WORLD_VALUED = 2, WORLD_ALIKE = 4, WORLD_CAPTURE = 512 };

static struct world_values {
	struct packed packed;
	struct read_plan plan;
} world_values[WORLD_VALUED];

static const char *const world_signatures[WORLD_VALUED] = {
	"f(fd:i32, key:str, len:u64, by:f64, buf:buf(len), ret:i32)", "g(key:str, n:i16, at:ptr)",
};

static inline void world_sign(void)
{
	for (int i = 0; i < WORLD_VALUED && !world_values[i].packed.n; i++) {
		struct world_values *v = &world_values[i];
		struct signature s;
		struct hand_error error;
		size_t name;

		MUST_EQ(hand_parse(world_signatures[i], EM_X86_64, &s, &name, &error), 0);
		reads_compile(&s, &(struct compile_options){ .deep = COMPILE_DEEP }, &v->plan);
		MUST_EQ(values_pack(&s, &v->plan, &v->packed), 0);
		signature_clear(&s);
	}
}

/* What the payload might have read: one of WORLD_ALIKE captures that there are of a function's
 * entries, or of its exits. */
static inline void world_capture(uint32_t func, bool exit, uint64_t which, struct event *ret)
{
	static uint8_t bytes[WORLD_VALUED][2][WORLD_ALIKE][WORLD_CAPTURE];
	uint8_t *to;
	size_t n = 0;

	if (func >= WORLD_VALUED)
		return;
	const struct read_plan *plan = &world_values[func].plan;

	to = bytes[func][exit][which % WORLD_ALIKE];
	unsigned int from = exit ? plan->nentry : 0, end = exit ? plan->nops : plan->nentry;

	for (unsigned int i = from; i < end; i++) {
		const struct read_op *o = &plan->ops[i];
		uint16_t size = MIN(o->cap, 8);
		struct read_result r = { size, i % 3 == 2 ? READ_CUT : READ_DONE, (uint8_t)i };

		MUST(n + sizeof(r) + size <= WORLD_CAPTURE);
		memcpy(to + n, &r, sizeof(r));
		memset(to + n + sizeof(r), 'a' + (int)(which % WORLD_ALIKE), size);
		n = ALIGN_UP(n + sizeof(r) + size, 4);
	}
	ret->capture = n ? to : NULL;
	ret->ncapture = (uint16_t)n;
}

/* One tick is half a nanosecond. */
static inline struct about world_about(void)
{
	static struct reader_func funcs[WORLD_FUNCS];

	world_sign();
	for (int i = 0; i < WORLD_FUNCS; i++) {
		funcs[i] = world_funcs[i];
		funcs[i].values = i < WORLD_VALUED ? world_values[i].packed.v : NULL;
		funcs[i].nvalues = i < WORLD_VALUED ? world_values[i].packed.n : 0;
	}
	return (struct about){
		.host = "host \"of\" test", .program = "srv", .exe = "/srv/bin/srv", .pid = 4121,
		.clock = { .ticks = 1ull << 50, .ns = 7, .realtime = 1700000000ull * 1000000000,
			   .run_ticks = 2000000000, .run_ns = 1000000000 },
		.begin = 1ull << 50, .funcs = funcs, .nfuncs = WORLD_FUNCS,
		.modules = world_modules, .nmodules = 2, .probed = 6, .refused = 1,
		.pause_ns = 1800000, .lost = 12, .off_cpu = world_switches,
	};
}

/* What one stack has open. */
struct world_stack {
	uint32_t open[64];
	size_t n;
};

enum { WORLD_THREADS = 5, WORLD_STACKS = 3, WORLD_FIBERS = 2 };

struct world {
	struct event *events;
	size_t n, cap;
	uint64_t now;
	struct world_stack stacks[WORLD_THREADS * WORLD_STACKS + WORLD_FIBERS];
};

static inline struct event *world_push(struct world *w, struct event e)
{
	struct event *at = vec_push(w->events, w->n, w->cap);

	CHECK(at);
	e.tsc = w->now;
	*at = e;
	return at;
}

static inline void world_call(struct world *w, struct world_stack *s, struct event e)
{
	uint64_t what = rnd() % 100;

	e.func = (uint32_t)(rnd() % WORLD_FUNCS);
	if (what < 2) {
		e.kind = EVENT_LOST;
		e.func = 0;
		e.lost = 1 + rnd() % 9;
		if (e.thread == NO_THREAD)
			return;
	} else if (e.func == WORLD_MARK) {
		e.kind = EVENT_MARK;
	} else if (what < 50 && s->n < ARRAY_SIZE(s->open)) {
		e.kind = EVENT_ENTRY;
		s->open[s->n++] = e.func;
	} else if (s->n && what < 98) {
		e.kind = what < 90 ? EVENT_EXIT : what < 95 ? EVENT_UNWOUND : EVENT_EXIT_LOST;
		e.func = s->open[--s->n];
	} else {
		e.kind = EVENT_BEFORE;
	}
	if (e.kind == EVENT_ENTRY || e.kind == EVENT_EXIT)
		world_capture(e.func, e.kind == EVENT_EXIT, w->n / 7, &e);
	world_push(w, e);
}

/* One more event, by whichever thread. */
static inline void world_step(struct world *w)
{
	uint32_t thread = (uint32_t)(rnd() % WORLD_THREADS);
	uint32_t stack = (uint32_t)(rnd() % WORLD_STACKS);
	struct event e = { .thread = thread, .pid = 4121, .tid = 4121 + (int32_t)thread,
			   .stack = stack };
	struct world_stack *s = &w->stacks[thread * WORLD_STACKS + stack];

	if (rnd() % 8 == 0) {
		uint32_t fiber = (uint32_t)(rnd() % WORLD_FIBERS);

		e.thread = NO_THREAD;
		e.stack = STACK_SHARED | fiber;
		s = &w->stacks[WORLD_THREADS * WORLD_STACKS + fiber];
	}
	/* Now and then what 40 bits cannot tell. */
	w->now += rnd() % 1000 == 0 ? 3ull << 40 : 1 + rnd() % 500;
	world_call(w, s, e);
	if (!world_switches || e.thread == NO_THREAD || rnd() % 8)
		return;
	/* As it may be in no recording, too. */
	w->now += 1 + rnd() % 500;
	e.kind = (uint8_t)(EVENT_OFF + rnd() % 4);
	world_push(w, e);
}

static inline void world_make(struct world *w, size_t n)
{
	*w = (struct world){ .now = 1ull << 50 };
	world_sign();
	while (w->n < n)
		world_step(w);
}

static inline bool world_thread_name(void *ctx, int32_t tid, char name[16])
{
	snprintf(name, 16, "thread %d", tid);
	return tid != 4125;
}

/* ---- directories --------------------------------------------------------- */

static inline void world_remove(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    unlinkat(dirfd(d), e->d_name, 0) < 0)
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	if (d)
		closedir(d);
	rmdir(path);
}

static inline void world_write(struct world *w, const char *path, struct record_options o)
{
	struct about about = world_about();
	struct record *r = NULL;

	o.thread_name = world_thread_name;
	CHECK_EQ(record_new(path, &o, &about, &r), 0);
	for (size_t i = 0; i < w->n && r; i++)
		CHECK_EQ(record_event(r, &w->events[i]), 0);
	about.end = w->now + 1;
	CHECK_EQ(r ? record_end(r, &about) : -1, 0);
	record_free(r);
}

#endif
