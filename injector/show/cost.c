/* SPDX-License-Identifier: MIT */
/*
 * cost: what does it cost to record a call, on this machine and now?
 *
 * A child of ours is its own target: it maps the payload, has a session and an arena
 * with two stubs, and calls what is probed by them and does nothing, as often as fills
 * some sub-buffers. What the two time stamps of such a call have between them is
 * recording, and so is what the call takes beyond a call that is not probed.
 *
 *	1. map the payload, and say hello
 *	2. the first call claims a ring (the payload is bare: it seeks its threads)
 *	3. rounds of calls, all kinds in turn; of each the median counts
 *	4. the same with a word for the thread, as a loader would have made it
 *
 * Caches are warm and there is no reader: it is the least that a call costs.
 */
#include "injector/show/cost.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/clock.h"
#include "injector/proc/kernel.h"
#include "injector/session/blobs.h"
#include "payload/abi.h"

enum {
	ROUNDS = 21,
	CALLS = 400,			/* in a round */
	SUBBUFS = 16,			/* room for all that is recorded */
	ARENA = 16 * PAGE,
	STACK_ABOVE = 1 << 16, STACK_BELOW = 1 << 20,	/* of where we are */
	PATIENCE = 10000,		/* ms */
};

_Static_assert(ROUNDS * CALLS * (2 + 2) * 2 * 8 < (SUBBUFS - 1) * (SUBBUF_SIZE - 64),
	       "what is recorded fits");

typedef void called(void);

struct scene {
	struct session *session;
	struct ring *ring;
	uint8_t *arena;
	size_t used;
	called *pair, *mark;
};

/* Within reach of what the stubs go on to. The arena begins with a page of the kernel's, which
 * has at most ARENA bytes. */
static uint8_t room[2 * ARENA], *arena;

/* What a loader would have given to the payload; and where the payload finds whose
 * thread it is. */
static __thread uint64_t own_thread;
static __thread uint64_t own_tid;
static const uint8_t gate = 1;

static __attribute__((noinline, used)) void nothing(void)
{
	__asm__ volatile("");
}

/* ---- the scene ----------------------------------------------------------- */

static uint64_t from_thread_pointer(const uint64_t *word)
{
	return (uint64_t)word - arch_thread_pointer();
}

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Everything was touched before: a page's first touch would cost more than a call. */
static bool make_session(struct scene *sc)
{
	uint64_t stride = PAGE + (uint64_t)SUBBUFS * SUBBUF_SIZE, size = 2 * PAGE + stride;
	struct session *s = sc->session = map(size);
	uint64_t here = (uint64_t)__builtin_frame_address(0);
	void *thread = map(THREAD_SIZE);

	if (!s || !thread)
		return false;
	own_tid = (uint64_t)syscall(SYS_gettid);
	s->abi = ABI_VERSION;
	s->generation = 1;
	s->size = size;
	s->base = (uint64_t)s;
	s->rings_off = 2 * PAGE;
	s->ring_stride = stride;
	s->nrings = 1;
	s->nsub = SUBBUFS;
	s->sub_size = SUBBUF_SIZE;
	s->threads = (uint64_t)thread;
	s->stack_lo = here - STACK_BELOW;
	s->stack_hi = here + STACK_ABOVE;
	s->stack_max = STACK_BELOW;
	s->tid_offset = from_thread_pointer(&own_tid);
	s->magic = SESSION_MAGIC;
	sc->ring = (struct ring *)((char *)s + s->rings_off);
	return true;
}

/* 1. */
static bool say_hello(struct session *s)
{
	struct payload_info info;
	char *base;

	if (payload_info(&info) < 0)
		return false;
	base = map(info.span);
	if (!base)
		return false;
	for (size_t i = 0; i < info.nparts; i++)
		memcpy(base + info.parts[i].at, info.parts[i].bytes, info.parts[i].size);
	__builtin___clear_cache(base, base + info.span);
	for (size_t i = 0; i < info.nparts; i++)
		if (mprotect(base + info.parts[i].page, info.parts[i].pages,
			     info.parts[i].prot) < 0)
			return false;
	((void (*)(struct session *))(base + info.hello))(s);
	return s->state == SESSION_READY && s->answer == s->generation && s->tid_offset;
}

static void add_record(struct scene *sc, uint64_t kind, const uint8_t *routine)
{
	struct record_call call = {
		.word = kind | 1ull << REC_FUNC_SHIFT,
		.routine = (raddr_t)(arena + (routine - hot_begin)),
		.gate = (raddr_t)&gate,
	};
	uint8_t *at = arena + sc->used;
	int n = arch_host()->record((raddr_t)at, &call, at);

	sc->used += (size_t)MAX(n, 0);
}

static called *cost_finish(struct scene *sc, size_t begin)
{
	uint8_t *at = arena + sc->used;
	int n = arch_host()->jump((raddr_t)at, (raddr_t)nothing, at);

	sc->used = ALIGN_UP(sc->used + (size_t)MAX(n, 0), (size_t)64);
	return n < 0 ? NULL : (called *)(arena + begin);
}

/* The recording routines, and what is probed by one kind of them. */
static bool make_arena(struct scene *sc, bool seeks)
{
	const struct session *s = sc->session;
	const struct routine_set *set = &hot_table.sets[seeks][ROUTINES_C];
	struct arena_header h = arena_header_of(s, 1);
	size_t begin;

	arena = room + (ALIGN_UP((uintptr_t)room, kernel_page()) - (uintptr_t)room);
	if (mprotect(arena, ARENA, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
		return false;
	memcpy(arena, hot_begin, (size_t)(hot_end - hot_begin));
	h.tls_offset = from_thread_pointer(&own_thread);
	memcpy(arena, &h, sizeof(h));
	begin = sc->used = ALIGN_UP((size_t)(hot_end - hot_begin), (size_t)64);
	add_record(sc, REC_ENTRY, hot_begin + set->entry);
	add_record(sc, REC_EXIT, hot_begin + set->exit);
	sc->pair = cost_finish(sc, begin);
	begin = sc->used;
	add_record(sc, REC_NONE, hot_begin + set->mark);
	sc->mark = cost_finish(sc, begin);
	__builtin___clear_cache((char *)arena, (char *)arena + sc->used);
	return sc->pair && sc->mark;
}

/* ---- measuring ----------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *v, size_t n)
{
	vec_sort(v, n, ascending);
	return n ? v[n / 2] : 0;
}

/* Thousandths of a tick for each of a round's calls. */
static uint64_t round_of(called *f)
{
	uint64_t begin = arch_ticks();

	for (int i = 0; i < CALLS; i++)
		f();
	return (arch_ticks() - begin) * 1000 / CALLS;
}

/* Words of the sub-buffer that is written: their times, from entry to exit. */
static uint64_t inside_of(const struct scene *sc)
{
	static uint64_t spans[SUBBUFS * SUBBUF_SIZE / 16];
	const char *buffers = (const char *)sc->ring + PAGE;
	uint64_t entry = 0;
	size_t n = 0;

	for (int i = 0; i < SUBBUFS; i++) {
		const struct subbuf *b = (const void *)(buffers + (size_t)i * SUBBUF_SIZE);
		const uint64_t *w = (const uint64_t *)(b + 1);

		for (; (const char *)w < (const char *)b + SUBBUF_SIZE; w++) {
			uint64_t time = *w >> REC_TIME_SHIFT & ((1ull << REC_TIME_BITS) - 1);

			if ((*w & 3) == REC_EXIT && entry && time >= entry)
				spans[n++] = time - entry;
			entry = (*w & 3) == REC_ENTRY ? time : 0;
		}
	}
	return median(spans, n) * 1000;
}

/* Ends with all zeros if a call was not recorded. */
static struct probe_cost measure(struct scene *sc, bool seeks)
{
	static uint64_t plain[ROUNDS], pair[ROUNDS], mark[ROUNDS];
	struct probe_cost c = { 0 };
	uint64_t base;

	if (!make_arena(sc, seeks))
		return c;
	sc->pair();							/* 2. */
	own_thread = sc->session->threads;
	for (int i = 0; i < ROUNDS; i++) {				/* 3. */
		plain[i] = round_of(nothing);
		pair[i] = round_of(sc->pair);
		mark[i] = round_of(sc->mark);
	}
	if (sc->ring->state != RING_CLAIMED || sc->ring->lost_entries || sc->ring->lost_exits)
		return c;
	base = median(plain, ROUNDS);
	c.pair = median(pair, ROUNDS);
	c.mark = median(mark, ROUNDS);
	c.pair -= MIN(base, c.pair);
	c.mark -= MIN(base, c.mark);
	c.inside = MIN(inside_of(sc), c.pair);
	return c;
}

static void measure_all(struct cost *ret)
{
	struct scene sc = { 0 };

	if (!make_session(&sc) || !say_hello(sc.session))
		return;
	ret->sought = measure(&sc, true);
	ret->local = measure(&sc, false);				/* 4. */
}

/* ---- the child ----------------------------------------------------------- */

static void run_child(int fd)
{
	struct cost c = { 0 };

	measure_all(&c);
	_exit(write(fd, &c, sizeof(c)) == sizeof(c) ? 0 : 1);
}

void cost_measure(struct cost *ret)
{
	int ends[2];
	pid_t pid;

	*ret = (struct cost){ 0 };
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0)
		run_child(ends[1]);
	close(ends[1]);
	struct pollfd p = { .fd = ends[0], .events = POLLIN };
	if (pid > 0 && (poll(&p, 1, PATIENCE) <= 0 ||
			read(ends[0], ret, sizeof(*ret)) != sizeof(*ret)))
		*ret = (struct cost){ 0 };
	close(ends[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}
