/* SPDX-License-Identifier: MIT */
/*
 * threads_go: what does Go's runtime keep of a thread that no C library knows?
 *
 * A program of Go's that does not use C makes its threads itself. The runtime has
 * a struct m for each, in which six words stand where a C library would have
 * thread-local storage (m.tls); the thread pointer points to the second of them.
 * The first is g, whose code the thread runs: a goroutine, the runtime's own on a
 * stack of its own (g0), or a signal handler's (gsignal). The other five are
 * unused, in all versions, and zero when a thread begins: an m belongs to one
 * thread for all its life, and is garbage then.
 *
 * What is taken for granted of these structs has been so since Go 1.5; what
 * differs between versions is found out, and what is read is believed only if each
 * of the structs leads back to the others.
 */
#include <sys/syscall.h>

#include "injector/ptrace/threads.h"
#include "symbols/symbols.h"

/* The first words of a g. */
struct g {
	uint64_t lo, hi;	/* its stack */
	uint64_t guards[2];
	uint64_t panics, defers;
	uint64_t m;		/* that runs it; 0: none */
};

enum {
	WORD = sizeof(uint64_t),
	TLS_WORDS = 6,		/* m.tls: g, and what nothing uses */
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
static bool find_id(const struct target *t, raddr_t m, raddr_t tp, struct kept_thread *ret)
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

static bool keeps(const struct target *t, raddr_t tp, struct kept_thread *ret)
{
	struct kept_thread found = { 0 };
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

static bool made(const struct symbols *syms)
{
	return range_size(syms->go);
}

/* The number of processors, the size of large pages, limits of the control group, whether the
 * standard descriptors are open. */
static const uint64_t calls[] = {
	SYS_sched_getaffinity, SYS_openat, SYS_read, SYS_pread64, SYS_close, SYS_fcntl,
	SYS_madvise, SYS_mincore, SYS_prctl, SYS_sigaltstack, SYS_rt_sigprocmask, SYS_gettid,
};

const struct thread_runtime threads_go = {
	.name = "Go",
	/* Of m.tls, behind the word that the thread pointer points to. */
	.room = { WORD, 4 * WORD },
	.keeps = keeps,
	.made = made,
	/* m.tls. */
	.newborn = { G_AT * WORD, TLS_WORDS * WORD },
	.own_heap = true,
	.calls = calls,
	.ncalls = ARRAY_SIZE(calls),
};
