/* SPDX-License-Identifier: MIT */
/*
 * payload_sifted: calls that are sifted, as they were made, and as they were told.
 */
#ifndef TESTS_UNIT_PAYLOAD_SIFTED_H
#define TESTS_UNIT_PAYLOAD_SIFTED_H

#include <setjmp.h>
#include <sys/time.h>
#include "arch/clock.h"
#include "injector/reader/reader.h"
#include "tests/unit/payload_forks.h"

enum { RINGS = 8, SUBBUFS = 8, FUNCS = 8, MOST = 1 << 17 };

#define LEAST 30000	/* ticks */
#define STEPPED (LEAST * 300)

/* A call as it was made: between `from` and `within` it began, and likewise it ended. */
struct made {
	uint32_t func;
	pid_t tid;
	uint64_t from, within, over, to;
};

/* As it was told. */
struct told {
	uint32_t func;
	pid_t tid;
	uint64_t begin, end;
	int how;		/* enum event_kind; 0: it is open */
};

static struct world w;
static probed_fn *f[FUNCS];
static struct made made[MOST];
static struct told told[MOST];
static size_t nmade, ntold;
static struct { uint32_t thread, stack; size_t calls[4096], n; } open_calls[64];
static struct reader *reader;
static struct reader_func names[FUNCS + 64];
static sigjmp_buf middle;
static bool leaves;
static __thread unsigned int seed = 1;
static uint64_t least = LEAST;

static inline unsigned int draw(unsigned int n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % n;
}

/* ---- what is told -------------------------------------------------------- */

static inline bool is_of(size_t i, const struct event *e)
{
	return open_calls[i].thread == e->thread && open_calls[i].stack == e->stack;
}

static inline size_t *opened(const struct event *e, size_t **n)
{
	size_t i = 0;

	while (i < 64 && !(open_calls[i].n && is_of(i, e)))
		i++;
	for (size_t j = 0; i == 64 && j < 64; j++)
		i = open_calls[j].n ? i : j;
	MUST(i < 64);
	open_calls[i].thread = e->thread;
	open_calls[i].stack = e->stack;
	*n = &open_calls[i].n;
	return open_calls[i].calls;
}

static inline int tell(void *ctx, const struct event *e)
{
	size_t *n, *calls = opened(e, &n);

	if (e->kind == EVENT_ENTRY) {
		MUST(ntold < MOST && *n < 4096);
		MUST(e->begin && e->begin <= e->tsc);
		calls[(*n)++] = ntold;
		told[ntold++] = (struct told){ e->func, e->tid, e->begin, 0, 0 };
	} else if (e->kind == EVENT_EXIT || e->kind == EVENT_UNWOUND ||
		   (e->kind == EVENT_EXIT_LOST && leaves)) {
		struct told *t = *n ? &told[calls[--*n]] : NULL;

		MUST(t && t->func == e->func);
		t->end = e->tsc;
		t->how = e->kind;
	} else {
		/* What is left in the middle of its record may end twice. */
		MUST(e->kind == EVENT_STACK_END || e->kind == EVENT_LOST ||
		     (e->kind == EVENT_BEFORE && leaves));
	}
	return 0;
}

static inline void drain(bool last)
{
	int64_t n;

	do
		n = reader_drain(reader, last, tell, NULL);
	while (last && n > 0);
	MUST(n >= 0);
}

static inline uint64_t lost(void)
{
	struct reader_stats stats;

	reader_stats(reader, &stats);
	return stats.lost;
}

static inline void fresh(uint64_t ticks, uint32_t nsub)
{
	if (reader)
		reader_free(reader);
	nmade = ntold = 0;
	memset(open_calls, 0, sizeof(open_calls));
	least = ticks;
	w.s = world_session(RINGS, nsub);
	w.s->counting = COUNT_SIFTED;
	w.s->least = ticks;
	world_hello()(w.s);
	world_lead(&w);
	MUST_EQ(w.s->state, SESSION_READY);
	MUST(!reader_new(w.s, w.s->size, getpid(), names, ARRAY_SIZE(names), &reader));
}

static inline void world_sifted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		names[i] = (struct reader_func){ .name = "f", .module = "m" };
	world_begin(&w, RINGS, SUBBUFS);
	w.s->tid_offset = world_tid_offset();
}

/* ---- what is made -------------------------------------------------------- */

static inline struct made *make(uint32_t func)
{
	size_t i = __atomic_fetch_add(&nmade, 1, __ATOMIC_RELAXED);

	MUST(i < MOST);
	made[i].func = func;
	made[i].tid = (pid_t)syscall(SYS_gettid);
	made[i].from = arch_ticks();
	return &made[i];
}

static inline void call(uint32_t func, void *arg, struct made **within)
{
	struct made *m = make(func);

	*within = m;
	f[func](arg);
	m->to = arch_ticks();
}

static inline void spin(uint64_t ticks)
{
	uint64_t begin = arch_ticks();

	while (arch_ticks() - begin < ticks)
		;
}

/*
 * Each call that took long enough was told, and none that did not; with the times that it had. What
 * is lost is said to be.
 */
static inline void judge(uint64_t may_miss)
{
	uint64_t missing = 0, more = 0;

	for (size_t i = 0; i < nmade; i++) {
		struct made *m = &made[i];
		size_t n = 0;

		for (size_t j = 0; j < ntold; j++) {
			struct told *t = &told[j];

			/* A handler that came before it had begun may have called the same. */
			if (t->func != m->func || t->tid != m->tid ||
			    t->begin < m->from || t->begin > m->within ||
			    t->end < m->over || t->end > m->to)
				continue;
			n++;
			MUST(t->how == EVENT_EXIT && m->to - m->from >= least);
		}
		MUST(n <= 1);
		more += n;
		missing += !n && m->over - m->within >= least;
	}
	MUST_EQ(more, ntold);
	if (missing > may_miss)
		fprintf(stderr, "%llu missing, %llu lost\n", (unsigned long long)missing,
			(unsigned long long)may_miss);
	MUST(missing <= may_miss);
}

/* ---- trees of calls ------------------------------------------------------ */

struct tree {
	int deep;
	struct made *m;
};

static inline void grow(struct tree *t)
{
	struct tree in = { t->deep - 1, NULL };
	struct made *m = t->m;

	m->within = arch_ticks();
	for (unsigned int n = draw(4); t->deep > 0 && n; n--)
		call(1 + draw(4), &in, &in.m);
	if (!draw(12))
		spin(LEAST + LEAST / 8);
	m->over = arch_ticks();
}

static inline void body(void *arg)
{
	grow(arg);
}

static inline void plant(int deep)
{
	struct tree t = { deep, NULL };

	call(1 + draw(4), &t, &t.m);
}


#endif
