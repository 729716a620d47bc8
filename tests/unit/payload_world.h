/* SPDX-License-Identifier: MIT */
/*
 * payload_world: what does a test of the payload need to be its own target?
 *
 * It loads the payload into the test process, builds a session in a memfd, an
 * arena with the recording routines, and probed functions as the injector
 * would leave them: machine code with recording calls at entry and exit. Then
 * it reads the rings directly. With WORLD_BARE the payload is not loaded but
 * mapped, as in a target without a loader, and seeks its threads. With WORLD_ROOM it is
 * mapped and has its words where glibc's threads have room. With WORLD_CALLED functions
 * return by themselves, and not by the routine that records it.
 */
#ifndef TESTS_UNIT_PAYLOAD_WORLD_H
#define TESTS_UNIT_PAYLOAD_WORLD_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "arch/arch.h"
#include "arch/clock.h"
#include "injector/ptrace/threads.h"
#include "injector/session/blobs.h"
#include "payload/abi.h"
#include "tests/unit/check.h"

#ifdef WORLD_BARE
enum { BARE = 1 };
#else
enum { BARE = 0 };
#endif

#ifdef WORLD_ROOM
enum { ROOM = 1 };
#else
enum { ROOM = 0 };
#endif

#ifdef WORLD_CALLED
enum { CALLED = 1 };
#else
enum { CALLED = 0 };
#endif

typedef void hello_fn(struct session *);

struct world {
	struct session *s;
	uint8_t *arena;
	size_t used;
};

#define WORLD_ARENA (64 * 1024)
#define WORLD_FUNCS 64

static inline hello_fn *world_map(void)
{
	struct payload_info info;
	char *base;

	MUST(!payload_info(&info));
	base = mmap(NULL, info.span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(base != MAP_FAILED);
	for (size_t i = 0; i < info.nparts; i++)
		memcpy(base + info.parts[i].at, info.parts[i].bytes, info.parts[i].size);
	if (ROOM)
		memcpy(base + info.tls_word, &(uint64_t){ (uint64_t)threads_glibc.room.at },
		       sizeof(uint64_t));
	for (size_t i = 0; i < info.nparts; i++)
		MUST(!mprotect(base + info.parts[i].page, info.parts[i].pages,
				info.parts[i].prot));
	return (hello_fn *)(base + info.hello);
}

static inline hello_fn *world_load(void)
{
	size_t size = blob_payload_end - blob_payload;
	char path[64];
	void *lib;
	int fd;

	fd = memfd_create("payload", MFD_CLOEXEC);
	MUST(fd >= 0 && write(fd, blob_payload, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		fprintf(stderr, "%s\n", dlerror());
	MUST(lib);
	close(fd);
	return (hello_fn *)dlsym(lib, "payload_hello");
}

/* The payload's only function; loads it once. */
static inline hello_fn *world_hello(void)
{
	static hello_fn *hello;

	if (!hello)
		hello = BARE || ROOM ? world_map() : world_load();
	MUST(hello);
	return hello;
}

/* Where a thread of glibc keeps its id: 16 bytes before its robust list. */
static inline uint64_t world_tid_offset(void)
{
	char *list;
	size_t size;

	MUST(!syscall(SYS_get_robust_list, 0, &list, &size));
	MUST_EQ(*(int *)(list - 16), syscall(SYS_gettid));
	return (uint64_t)(list - 16) - arch_thread_pointer();
}

static inline void world_find_stack(struct session *s)
{
	char line[512];
	unsigned long lo, hi;
	FILE *f = fopen("/proc/self/maps", "r");

	MUST(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &lo, &hi) == 2)
			s->stack_hi = hi;
	fclose(f);
	s->stack_lo = s->stack_hi - (8 << 20);
	s->stack_max = 8 << 20;
}

static inline struct session *world_session(uint32_t nrings, uint32_t nsub)
{
	uint64_t stride = PAGE + (uint64_t)nsub * SUBBUF_SIZE;
	uint64_t sides = SLOTS_OFF + nrings * stride, size = sides + nrings * TIMING_SIDES;
	int fd = memfd_create("session", MFD_CLOEXEC);
	struct session *s;
	void *threads;

	MUST(fd >= 0 && !ftruncate(fd, size));
	s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	threads = mmap(NULL, (size_t)nrings * THREAD_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	MUST(s != MAP_FAILED && threads != MAP_FAILED);
	MUST(!madvise(threads, (size_t)nrings * THREAD_SIZE, MADV_WIPEONFORK));
	s->abi = ABI_VERSION;
	s->generation = 1;
	s->size = size;
	s->base = (uint64_t)s;
	s->rings_off = SLOTS_OFF;
	s->nfuncs = WORLD_FUNCS;
	s->ring_stride = stride;
	s->nrings = nrings;
	s->nsub = nsub;
	s->sub_size = SUBBUF_SIZE;
	s->sides_off = sides;
	s->threads = (uint64_t)threads;
	world_find_stack(s);
	s->tid_offset = BARE || ROOM ? world_tid_offset() : 0;
	s->pid = getpid();
	memset((char *)s + GATES_OFF, GATE_OPEN, WORLD_FUNCS);
	s->magic = SESSION_MAGIC;
	return s;
}

/* Lead the recording routines to the session, which may be another than before. */
static inline void world_lead(struct world *w)
{
	struct arena_header h = arena_header_of(w->s, w->s->nrings);

	h.first = (uint64_t)(w->arena + hot_table.tight_first) << 16;
	memcpy(w->arena, &h, sizeof(h));
}

static inline void world_begin(struct world *w, uint32_t nrings, uint32_t nsub)
{
	w->s = world_session(nrings, nsub);
	world_hello()(w->s);
	MUST_EQ(w->s->answer, w->s->generation);
	MUST_EQ(w->s->state, SESSION_READY);
	MUST_EQ(!w->s->tls_offset, BARE);
	w->arena = mmap(NULL, WORLD_ARENA, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(w->arena != MAP_FAILED);
	w->used = hot_end - hot_begin;
	memcpy(w->arena, hot_begin, w->used);
	__builtin___clear_cache((char *)w->arena, (char *)w->arena + w->used);
	world_lead(w);
}

/* Machine code. */
static inline void emit(struct world *w, const void *bytes, size_t n)
{
	MUST(w->used + n <= WORLD_ARENA);
	memcpy(w->arena + w->used, bytes, n);
	__builtin___clear_cache((char *)w->arena + w->used, (char *)w->arena + w->used + n);
	w->used += n;
}

#define EMIT(w, ...) \
	emit(w, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* Of our own, so that stubs go on as they are from session to session. */
typedef void probed_fn(void *);

/* Are returns recorded by a call before them, here or everywhere? */
static inline bool returns_called(void)
{
	return CALLED || !arch_host()->returns;
}

#include "tests/unit/payload_code.h"

static uint8_t world_gates[1 << REC_FUNC_BITS];

/* Of one of the sets, as the world is: where the blob has it. */
#define ROUTINE(set, what) (hot_begin + hot_table.sets[BARE][ROUTINES_##set].what)

/* A recording call as the injector makes it. */
static inline void emit_record_call(struct world *w, struct record_call call,
				    const uint8_t *routine)
{
	uint8_t code[ARCH_RECORD_MAX], *gate = &world_gates[call.word >> REC_FUNC_SHIFT];

	call.routine = (raddr_t)w->arena + (raddr_t)(routine - hot_begin);
	call.gate = (raddr_t)gate;
	int n = arch_host()->record((raddr_t)w->arena + w->used, &call, code);

	MUST(n > 0);
	*gate = 1;
	emit(w, code, (size_t)n);
}

static inline void emit_record_by(struct world *w, uint64_t word, const uint8_t *routine,
				  bool returns)
{
	emit_record_call(w, (struct record_call){ .word = word, .returns = returns }, routine);
}

static inline void emit_record(struct world *w, uint64_t word, const uint8_t *routine)
{
	emit_record_by(w, word, routine, false);
}

static inline void emit_entry(struct world *w, uint32_t func)
{
	emit_record(w, REC_ENTRY | (uint64_t)func << REC_FUNC_SHIFT, ROUTINE(C, entry));
}

static inline void emit_exit(struct world *w, uint32_t func)
{
	emit_record(w, REC_EXIT | (uint64_t)func << REC_FUNC_SHIFT, ROUTINE(C, exit));
}

/* The same, and a return. */
static inline void emit_return(struct world *w, uint32_t func)
{
	if (returns_called())
		emit_exit(w, func);
	else
		emit_record_by(w, REC_EXIT | (uint64_t)func << REC_FUNC_SHIFT,
			       ROUTINE(C, leave), true);
	emit_ret(w);
}

static inline void emit_mark(struct world *w, uint32_t func)
{
	emit_record(w, (uint64_t)func << REC_FUNC_SHIFT, ROUTINE(C, mark));
}

/* Of a place within a function. */
static inline void emit_place(struct world *w, uint32_t func, bool framed)
{
	uint64_t flags = framed ? REC_PLACE | REC_FRAMED : REC_PLACE;

	emit_record_call(w, (struct record_call){
		.word = flags << REC_TIME_SHIFT | (uint64_t)func << REC_FUNC_SHIFT,
		.below = arch_host()->zone }, hot_begin + hot_table.place[BARE][framed]);
}

static inline void emit_count(struct world *w, uint32_t func)
{
	emit_record(w, (uint64_t)func << REC_FUNC_SHIFT, ROUTINE(C, count));
}

#define TIMED ((uint64_t)REC_TIMED << REC_TIME_SHIFT)

static inline void emit_timed_entry(struct world *w, uint32_t func)
{
	emit_record(w, TIMED | REC_ENTRY | (uint64_t)func << REC_FUNC_SHIFT,
		    ROUTINE(TIMED, entry));
}

static inline void emit_timed_exit(struct world *w, uint32_t func)
{
	emit_record(w, TIMED | REC_EXIT | (uint64_t)func << REC_FUNC_SHIFT,
		    ROUTINE(TIMED, exit));
}

static inline void emit_timed_return(struct world *w, uint32_t func)
{
	if (returns_called())
		emit_timed_exit(w, func);
	else
		emit_record_by(w, TIMED | REC_EXIT | (uint64_t)func << REC_FUNC_SHIFT,
			       ROUTINE(TIMED, leave), true);
	emit_ret(w);
}

/* The same where calls are sifted. */
static inline void emit_sifted_return(struct world *w, uint32_t func)
{
	uint64_t word = REC_EXIT | (uint64_t)func << REC_FUNC_SHIFT;

	if (returns_called())
		emit_record(w, word, ROUTINE(SIFTED, exit));
	else
		emit_record_by(w, word, ROUTINE(SIFTED, leave), true);
	emit_ret(w);
}

static inline uint8_t *here(struct world *w)
{
	w->used = (w->used + 15) & ~15ul;
	return w->arena + w->used;
}

/* A probed function that does `body` (may be NULL). */
static inline probed_fn *probed(struct world *w, uint32_t func, probed_fn *body)
{
	probed_fn *f = (probed_fn *)here(w);

	emit_entry(w, func);
	if (body)
		emit_call(w, body);
	emit_return(w, func);
	return f;
}

/* The same where calls are timed. */
static inline probed_fn *timed(struct world *w, uint32_t func, probed_fn *body)
{
	probed_fn *f = (probed_fn *)here(w);

	emit_timed_entry(w, func);
	if (body)
		emit_call(w, body);
	emit_timed_return(w, func);
	return f;
}

/* And where they are sifted. */
static inline probed_fn *sifted(struct world *w, uint32_t func, probed_fn *body)
{
	probed_fn *f = (probed_fn *)here(w);

	emit_record(w, REC_ENTRY | (uint64_t)func << REC_FUNC_SHIFT, ROUTINE(SIFTED, entry));
	if (body)
		emit_call(w, body);
	emit_sifted_return(w, func);
	return f;
}

/* One whose first `entry` registers of arguments and `exit` of results are recorded. */
static inline probed_fn *kept(struct world *w, uint32_t func, probed_fn *body, int entry, int exit)
{
	probed_fn *f = (probed_fn *)here(w);
	uint64_t word = REC_EXIT | (uint64_t)func << REC_FUNC_SHIFT;

	emit_record(w, REC_ENTRY | (uint64_t)func << REC_FUNC_SHIFT,
		    hot_begin + hot_table.reads[BARE].entry[entry - 1]);
	if (body)
		emit_call(w, body);
	if (returns_called())
		emit_record(w, word, hot_begin + hot_table.reads[BARE].exit[exit - 1]);
	else
		emit_record_by(w, word, hot_begin + hot_table.reads[BARE].leave[exit - 1], true);
	emit_ret(w);
	return f;
}

static inline probed_fn *marked(struct world *w, uint32_t func, probed_fn *body)
{
	probed_fn *f = (probed_fn *)here(w);

	emit_mark(w, func);
	if (body)
		emit_call(w, body);
	emit_ret(w);
	return f;
}

static inline probed_fn *counted(struct world *w, uint32_t func, probed_fn *body)
{
	probed_fn *f = (probed_fn *)here(w);

	emit_count(w, func);
	if (body)
		emit_call(w, body);
	emit_ret(w);
	return f;
}

/* A record as read from a ring; REC_NONE: a sub-buffer begins, on the stack
 * with number `func` and with `body` calls open on it. */
struct rec {
	uint64_t tsc, body;
	uint32_t kind, func, sub;
};

static inline struct ring *world_ring(struct world *w, uint32_t i)
{
	return (struct ring *)(w->s->base + w->s->rings_off + i * w->s->ring_stride);
}

/* The ring that thread `tid` (0: the caller) has claimed last. */
static inline struct ring *world_ring_of(struct world *w, int tid)
{
	uint32_t i;

	if (!tid)
		tid = (int)syscall(SYS_gettid);
	for (i = 0; i < w->s->nrings; i++)
		if (world_ring(w, i)->state == RING_CLAIMED &&
		    world_ring(w, i)->tid == tid)
			return world_ring(w, i);
	MUST(!"the thread has a ring");
}

/* What its thread keeps for itself. */
static inline struct thread *world_thread(const struct world *w, const struct ring *r)
{
	uint64_t i = ((uint64_t)r - w->s->base - w->s->rings_off) / w->s->ring_stride;

	return (struct thread *)(w->s->threads + i * THREAD_SIZE);
}

struct drain {
	uint64_t last;			/* time of the last record */
	uint64_t inversions, holes, words;
	uint64_t done;			/* words of the current sub-buffer */
	int patience;			/* a hole may be filled yet: how many
					 * passes to wait */
	int waited;
	bool begun;			/* the sub-buffer's header was told */
	bool jumps;			/* slow paths may be left for good: then
					 * a number may have no place */
	void (*each)(void *ctx, const struct rec *);
	void *ctx;
};

static inline void drain_word(struct drain *d, const struct subbuf *b, const uint64_t *p)
{
	struct rec r = { 0 };

	r.kind = *p & 3;
	r.tsc = b->epoch + (*p >> REC_TIME_SHIFT & ((1ull << REC_TIME_BITS) - 1));
	r.func = *p >> REC_FUNC_SHIFT;
	if (r.kind == REC_EXT) {
		r.sub = r.func & 63;
		MUST(r.sub == EXT_REGISTERS ? r.func >> 6 > 1 : r.func >> 6 == 1);
		r.body = p[1] >> REC_TIME_SHIFT;
	}
	d->inversions += r.tsc < d->last;
	d->last = r.tsc;
	d->words++;
	if (d->each)
		d->each(d->ctx, &r);
}

static inline void drain_begin(struct drain *d, const struct subbuf *b)
{
	struct rec r = { .tsc = b->begin, .func = b->stack, .body = b->depth };

	d->begun = true;
	if (d->each)
		d->each(d->ctx, &r);
}

/* Read the committed words of one sub-buffer from where we were. True if it is
 * closed and all of it was read. */
static inline bool drain_subbuf(struct drain *d, struct subbuf *b, bool closed)
{
	uint64_t *p = (uint64_t *)(b + 1);
	uint64_t n = (SUBBUF_SIZE - sizeof(*b)) / 8, end = closed ? b->reserved / 8 : n;

	MUST(end <= n);
	if (!d->done && !d->begun)
		drain_begin(d, b);
	for (; d->done < end; d->done++) {
		if (!__atomic_load_n(&p[d->done], __ATOMIC_ACQUIRE)) {
			if (!closed || d->waited++ < d->patience)
				return false;
			d->holes++;
			continue;
		}
		d->waited = 0;
		/* The body of a word that was never written. */
		if (d->jumps && (p[d->done] & 3) == REC_NONE) {
			d->holes++;
			continue;
		}
		drain_word(d, b, &p[d->done]);
		if ((p[d->done] & 3) == REC_EXT)
			d->done += p[d->done] >> REC_WORDS_SHIFT & 15;
	}
	return closed;
}

static inline struct subbuf *world_place(struct ring *r, uint32_t place)
{
	return (struct subbuf *)((char *)r + PAGE + (uint64_t)place * SUBBUF_SIZE);
}

static inline bool world_used(const struct ring *r, uint32_t place)
{
	return __atomic_load_n(&r->used[place / 64], __ATOMIC_ACQUIRE) >> place % 64 & 1;
}

/* The place of sub-buffer `number`; nsub if it has none. */
static inline uint32_t world_find(const struct world *w, struct ring *r, uint64_t number)
{
	uint32_t place = 0;

	while (place < w->s->nsub && !(world_used(r, place) &&
				       world_place(r, place)->seq == number + 1))
		place++;
	return place;
}

/* Give sub-buffer `tail` back. */
static inline void world_give_back(struct ring *r, uint32_t place)
{
	struct subbuf *b = world_place(r, place);

	memset(b + 1, 0, SUBBUF_SIZE - sizeof(*b));
	__atomic_fetch_and(&r->used[place / 64], ~(1ull << place % 64), __ATOMIC_RELEASE);
	__atomic_store_n(&r->tail, r->tail + 1, __ATOMIC_RELEASE);
}

/* Read everything committed in a ring, giving back what is closed. */
static inline void world_drain(struct world *w, struct ring *r, struct drain *d)
{
	uint64_t head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
	uint32_t place;

	while (r->tail < head) {
		place = world_find(w, r, r->tail);
		/* The newest may have been begun just now. */
		MUST(place < w->s->nsub || r->tail + 1 == head || d->jumps);
		if (place == w->s->nsub && r->tail + 1 < head) {
			__atomic_store_n(&r->tail, r->tail + 1, __ATOMIC_RELEASE);
			continue;
		}
		if (place == w->s->nsub ||
		    !drain_subbuf(d, world_place(r, place), r->tail + 1 < head))
			return;
		d->done = 0;
		d->begun = false;
		world_give_back(r, place);
	}
}

#endif
