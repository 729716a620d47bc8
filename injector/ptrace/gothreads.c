/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/gothreads.h"

/* The first words of a g. */
struct g {
	uint64_t lo, hi;	/* its stack */
	uint64_t guards[2];
	uint64_t panics, defers;
	uint64_t m;		/* that runs it; 0: none */
};

enum {
	WORD = sizeof(uint64_t),
	TLS_WORDS = 6,
	BEFORE = 64,		/* words of m before m.tls that are looked at */
	/* In words from the thread pointer. */
	G_AT = -1,
	CURG_AT = TLS_WORDS,	/* behind m.tls and m.mstartfn */
};

static bool read_words(const struct target *t, raddr_t at, void *buf, size_t n)
{
	bool ok = target_read(t, at, buf, n) == 0;

	fail_clear();
	return ok;
}

/* A g of this m, with a stack. */
static bool read_g(const struct target *t, raddr_t at, raddr_t m, struct g *ret)
{
	return at && at % WORD == 0 && read_words(t, at, ret, sizeof(*ret)) && ret->m == m &&
		ret->lo < ret->hi;
}

/* Before gsignal stands the id, 0 until the thread has stored it. Backwards, for what
 * m begins with has another g: the one that last asked for more stack. */
static bool find_id(const struct target *t, raddr_t m, raddr_t tp, struct gothread *ret)
{
	size_t n = (tp + (int64_t)G_AT * WORD - m) / WORD;
	uint64_t words[BEFORE];
	struct g g;

	if (n > BEFORE || !read_words(t, m, words, n * WORD))
		return false;
	for (size_t i = n; i-- > 1;) {
		if (!read_g(t, words[i], m, &g))
			continue;
		ret->tid = words[i - 1];
		ret->tid_offset = m + (i - 1) * WORD - tp;
		ret->signal = (struct range){ g.lo, g.hi };
		return ret->tid && ret->tid <= INT32_MAX;
	}
	return false;
}

bool gothread_read(const struct target *t, raddr_t tp, struct gothread *ret)
{
	struct gothread found = { 0 };
	uint64_t current, own, curg;
	struct g g;

	*ret = found;
	if (!tp || tp % WORD || !read_words(t, tp + (int64_t)G_AT * WORD, &current, WORD) ||
	    !current || current % WORD || !read_words(t, current, &g, sizeof(g)))
		return false;
	raddr_t m = g.m;
	if (m % WORD || m >= tp || tp - m > BEFORE * WORD || !read_words(t, m, &own, WORD) ||
	    !read_g(t, own, m, &g))
		return false;
	found.own = (struct range){ g.lo, g.hi };
	if (!find_id(t, m, tp, &found))
		return false;
	if (read_words(t, tp + (int64_t)CURG_AT * WORD, &curg, WORD) && read_g(t, curg, m, &g))
		found.current = (struct range){ g.lo, g.hi };
	*ret = found;
	return true;
}

struct range gothread_stack(const struct gothread *g, raddr_t sp)
{
	const struct range *all[] = { &g->own, &g->signal, &g->current };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (range_has(*all[i], sp))
			return *all[i];
	return (struct range){ 0, 0 };
}
