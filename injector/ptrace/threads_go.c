/* SPDX-License-Identifier: MIT */
/*
 * threads_go: what does Go's runtime keep of a thread that no C library knows?
 *
 * A program of Go's that does not use C makes its threads itself. The runtime has
 * a struct m for each, in which six words stand where a C library would have
 * thread-local storage (m.tls). Where the runtime sets a thread pointer, that points to the
 * second of them, and the first is g, whose code the thread runs: a goroutine, the runtime's own
 * on a stack of its own (g0), or a signal handler's (gsignal). Where it sets none, g is in a
 * register, which regs_tp() takes m from. The other words are unused, in all versions, and zero
 * when a thread begins: an m belongs to one thread for all its life, and is garbage then.
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
	TLS_WORDS = 6,		/* m.tls */
	WORDS = 48,		/* of m that are looked at */
	G_AT = -1,		/* words from the thread pointer, if there is one */
	/* In words of m: behind its own g, and that which last asked for more stack. */
	IDS_FROM = 5,
	/* In words from the id, which gsignal follows. */
	TLS_AT = 8,
	CURG_AT = TLS_AT + TLS_WORDS + 1,	/* behind m.mstartfn */
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

/* The m that a thread pointer leads to; 0: none. */
static raddr_t m_of(const struct target *t, raddr_t tp)
{
	uint64_t own, current;
	struct g g;

	if (!tp || tp % WORD || !read_words(t, tp, &own, WORD))
		return 0;
	if (read_g(t, own, tp, &g))
		return tp;
	if (!read_words(t, tp + (int64_t)G_AT * WORD, &current, WORD) || !current ||
	    current % WORD || !read_words(t, current, &g, sizeof(g)))
		return 0;
	return g.m % WORD == 0 && g.m < tp && tp - g.m <= WORDS * WORD ? g.m : 0;
}

/* Before gsignal stands the id, 0 until the thread has stored it. */
static bool find_id(const struct target *t, raddr_t m, raddr_t tp, struct kept_thread *ret)
{
	uint64_t words[WORDS];
	struct g g;

	if (!read_words(t, m, words, sizeof(words)))
		return false;
	for (size_t i = IDS_FROM; i + CURG_AT < WORDS; i++) {
		if (!read_g(t, words[i + 1], m, &g))
			continue;
		ret->tid = words[i];
		ret->tid_offset = m + i * WORD - tp;
		ret->signal = (struct range){ g.lo, g.hi };
		if (read_g(t, words[i + CURG_AT], m, &g))
			ret->current = (struct range){ g.lo, g.hi };
		return ret->tid && ret->tid <= INT32_MAX;
	}
	return false;
}

static bool keeps(const struct target *t, raddr_t tp, struct kept_thread *ret)
{
	struct kept_thread found = { 0 };
	raddr_t m = m_of(t, tp);
	uint64_t own;
	struct g g;

	*ret = found;
	if (!m || !read_words(t, m, &own, WORD) || !read_g(t, own, m, &g))
		return false;
	found.own = (struct range){ g.lo, g.hi };
	if (!find_id(t, m, tp, &found))
		return false;
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
	/* Of m.tls, behind the word that a thread pointer points to. */
	.room = { (TLS_AT + 2) * WORD, 4 * WORD },
	.room_by_id = true,
	.keeps = keeps,
	.made = made,
	/* m.tls. */
	.newborn = { TLS_AT * WORD, TLS_WORDS * WORD },
	.own_heap = true,
	.calls = calls,
	.ncalls = ARRAY_SIZE(calls),
};
