/* SPDX-License-Identifier: MIT */
/* claim: which struct thread and which ring does the calling thread have? */
#include <asm/unistd.h>
#include "payload/payload.h"

/*
 * All thread-local storage of the payload: initial-exec, and small, since it
 * comes from what libc keeps free for such libraries. hot.S reads `thread`;
 * zero means that the thread has not been here.
 *
 * In a thread of Go's runtime alone it lies in words that the runtime has left over
 * (injector/ptrace/threads_go.c). It is reached by its distance from the thread pointer and
 * never by an address, which nothing there could tell.
 *
 * Where the payload was given no place, there is none, and `local` is never touched.
 * Then a struct thread says whose it is (`tp` and `tid`), and its owner seeks it. A
 * thread pointer alone is not enough: libc gives that of a thread that has ended to
 * the next one.
 */
struct local {
	uint64_t thread;	/* address of a struct thread, or of `silent` */
	uint64_t spills;	/* behind the next frame that is free; 0: no area yet */
	uint64_t visit;		/* of `silent` */
	int32_t tid;		/* by which it has claimed */
};

static __thread struct local local;
#define own CPU_OWN(local)

/* What a thread points at that is not to record: all zeros, so that every
 * call takes the slow path and ends there at once. */
static struct thread silent;

static int32_t child;		/* in a forked child that records, whose thread
				 * was the first to */
static struct search search;
static uint32_t strayed;	/* 1: some thread's place is not of its home */

/* The linker leaves the word that the loader fills in at 0. */
uint64_t claim_tls_offset(void)
{
	return (uint64_t)&local.thread - cpu_thread_pointer();
}

uint64_t claim_spills_offset(void)
{
	return claim_tls_offset() ? (uint64_t)&local.spills - cpu_thread_pointer() : 0;
}

static bool seeks(void)
{
	return !claim_tls_offset();
}

static struct ring *ring_at(const struct session *s, uint32_t i)
{
	return (struct ring *)(s->base + s->rings_off + i * s->ring_stride);
}

static struct thread *thread_at(const struct session *s, uint32_t i)
{
	return (struct thread *)(s->threads + (uint64_t)i * THREAD_SIZE);
}

void claim_mark(const struct session *s)
{
	child = 0;
	orphans_clear();
	publish(&thread_at(s, 0)->unforked, THREAD_MAGIC);
}

/*
 * No system call where it can be helped: the process may have put itself under
 * a seccomp filter since hello, which kills it for one that it does not make
 * by itself.
 */
int32_t claim_tid(const struct session *s)
{
	if (!s->tid_offset)
		return (int32_t)cpu_syscall(__NR_gettid, 0, 0, 0);
	return cpu_thread_word(s->tid_offset);
}

/*
 * Forked since hello? Then the threads' memory was wiped. A vfork's child is
 * none: it runs on the memory and thread-local storage of a parent that waits,
 * and is recorded as that thread. To switch itself off would silence it.
 */
static bool is_child(const struct session *s)
{
	return observe(&thread_at(s, 0)->unforked) != THREAD_MAGIC;
}

/* Claimed since the last hello, and no longer being claimed? */
static bool is_kept(const struct thread *t)
{
	return t->magic == THREAD_MAGIC && t->visit == payload_visit;
}

/* The word by which a thread finds its struct is the caller's, but what it holds may be
 * of the last thread that had it. */
static bool is_owner(const struct session *s, const struct thread *t)
{
	return t->owner == (uint32_t)cpu_thread_word(s->tid_offset);
}

/* The caller's struct thread, if it is to be sought, and there is one: any, or
 * the first that is kept. */
static struct thread *seek(const struct session *s, bool kept)
{
	uint64_t tp = cpu_thread_pointer();
	uint32_t home = thread_home(tp, s->nrings), n;
	uint32_t most = observe(&strayed) ? s->nrings : thread_places(s->nrings);
	int32_t tid = claim_tid(s);
	struct thread *t;

	if (is_child(s))
		return NULL;
	for (n = 0; n < most; n++) {
		t = thread_at(s, (home + n) % s->nrings);
		if (observe(&t->tp) == tp && t->tid == (uint64_t)tid && (!kept || is_kept(t)))
			return t;
	}
	return NULL;
}

void claim_count(struct session *s, enum what what)
{
	__atomic_fetch_add(what == WHAT_ENTRY ? &s->lost_entries : &s->lost_exits,
			   1, __ATOMIC_RELAXED);
}

static uint64_t owner(enum ring_state state, int32_t tid)
{
	return state | (uint64_t)tid << 32;
}

/* Whose it is stands there from the very first: should the claim be left for
 * good, by a siglongjmp, the reader knows when no thread will go on with it. Acquire: what
 * the reader has zeroed comes first. */
static bool claim_take(struct ring *r, uint64_t from, int32_t tid)
{
	return __atomic_compare_exchange_n(&r->owner, &from, owner(RING_CLAIMING, tid),
					   false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static bool take_free(struct ring *r, int32_t tid)
{
	uint64_t from = observe(&r->owner);

	return (uint32_t)from == RING_FREE && claim_take(r, from, tid);
}

/* A free ring, now in state RING_CLAIMING. */
static bool find_ring(struct session *s, int32_t tid, uint32_t *ret)
{
	uint32_t returns = observe(&s->returns), start, i, n;

	if (!search_begin(&search, returns))
		return false;
	start = seeks() || s->keep_last ? thread_home(cpu_thread_pointer(), s->nrings) :
		__atomic_load_n(&s->next_ring, __ATOMIC_RELAXED);
	for (n = 0; n < s->nrings; n++) {
		i = (start + n) % s->nrings;
		if (take_free(ring_at(s, i), tid)) {
			__atomic_store_n(&s->next_ring, i + 1, __ATOMIC_RELAXED);
			if (seeks() && n >= thread_places(s->nrings))
				publish(&strayed, 1);
			*ret = i;
			return true;
		}
	}
	search_failed(&search, returns);
	return false;
}

/* Thread `to` goes on with the ring of `from`, which may be itself. What was recorded
 * is closed, not lost. */
static bool take_over(const struct session *s, uint32_t i, int32_t from, int32_t to)
{
	struct thread *t = thread_at(s, i);

	if (!claim_take(ring_at(s, i), owner(RING_CLAIMED, from), to))
		return false;
	if (t->magic == THREAD_MAGIC && t->ring == (uint64_t)ring_at(s, i))
		ring_close(s, t);
	return true;
}

/*
 * After another hello in the same session: the ring that the thread has had all along, if it
 * was not taken away.
 */
static bool find_own(const struct session *s, uint64_t addr, int32_t tid, uint32_t *ret)
{
	uint32_t i = (addr - s->threads) / THREAD_SIZE;

	if (addr < s->threads || i >= s->nrings || addr != (uint64_t)thread_at(s, i))
		return false;
	*ret = i;
	return take_over(s, i, tid, tid);
}

/*
 * Where the last are kept, no reader gives back the ring of a thread that has ended.
 * But no two threads that live have the same thread pointer: the one that had ours
 * before has ended, and we go on behind what it has recorded. So there are no more
 * rings in use than threads were there at a time, as a rule. (Threads of Go's runtime
 * do not know theirs; but they hardly ever end.)
 */
static bool find_ended(const struct session *s, int32_t tid, uint32_t *ret)
{
	uint64_t tp = cpu_thread_pointer();
	uint32_t home = thread_home(tp, s->nrings), n;

	for (n = 0; s->keep_last && tp && n < thread_places(s->nrings); n++) {
		const struct thread *t = thread_at(s, *ret = (home + n) % s->nrings);

		if (observe(&t->tp) == tp && t->tid != (uint64_t)tid &&
		    take_over(s, *ret, (int32_t)t->tid, tid))
			return true;
	}
	return false;
}

/* One for good: a thread that comes later goes on in the same places. Where a claim is left for
 * good between the two, there is one less. */
static void take_bank(struct session *s, struct ring *r)
{
	uint32_t n;

	if (r->bank || r->head || __atomic_load_n(&s->next_bank, __ATOMIC_RELAXED) >= s->nbanks)
		return;
	n = __atomic_fetch_add(&s->next_bank, 1, __ATOMIC_RELAXED);
	if (n < s->nbanks)
		publish(&r->bank, n + 1);
}

static void ring_begin(struct session *s, struct ring *r)
{
	r->pid = child ? child : s->pid;
	take_bank(s, r);
	/* Its sub-buffers have counted what was lost before. */
	if (s->keep_last && r->head)
		return;
	r->generation++;
	/* Counters are of all threads that had the ring, so what those lost counts, too. */
	if (is_counted(s))
		return;
	r->lost_entries = 0;
	r->lost_exits = 0;
}

static void forget_watched(struct thread *t)
{
	uint32_t i;

	for (i = 0; i < THREAD_WATCHED; i++)
		t->watched[i].sp = 0;
}

static struct thread *thread_begin(const struct session *s, uint32_t i)
{
	struct thread *t = thread_at(s, i);

	publish(&t->magic, 0);
	publish(&t->tp, 0);
	t->tid = (uint64_t)ring_at(s, i)->tid;
	t->owner = (uint32_t)cpu_thread_word(s->tid_offset);
	t->end = 0;
	t->cur = 0;
	t->subbuf_end = 0;
	t->busy = 0;
	t->counted = 0;
	t->timed = 0;
	t->sides = 0;
	t->ring = (uint64_t)ring_at(s, i);
	t->reported = thread_ring(t)->lost_entries + thread_ring(t)->lost_exits;
	t->reader = (uint64_t)&s->reader;
	t->index = i;
	t->deepest = s->deepest;
	t->visit = payload_visit;
	t->next_number = 0;
	forget_watched(t);
	values_claim(s, t);
	stacks_reset(t);
	if (s->counting == COUNT_TIMES)
		timing_claim(s, t);
	else if (is_sifted(s))
		sieve_claim(s, t);
	return t;
}

/*
 * Point the thread at `t` unless a signal handler, interrupting a claim, has
 * made one of its own: then that one is kept, and the ring goes back unused.
 * `seen` is what the claim began with.
 */
static struct thread *claim_install(uint64_t seen, struct thread *t)
{
	if (!__atomic_compare_exchange_n(&own.thread, &seen, (uint64_t)t, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) &&
	    seen != (uint64_t)t) {
		publish(&thread_ring(t)->state, RING_FREE);
		return (struct thread *)seen;
	}
	return t;
}

/* The same where threads are sought. Of two that are the caller's the one that
 * comes first is found by all; the other one just stays unused. */
static struct thread *install_sought(const struct session *s, struct thread *t)
{
	struct thread *first = seek(s, true);

	if (!first) {
		publish(&t->tp, cpu_thread_pointer());
		first = seek(s, true);
	}
	if (first && first != t) {
		publish(&t->tp, 0);
		publish(&thread_ring(t)->state, RING_FREE);
	}
	return first ? first : t;
}

/* Nothing is recorded of a forked child; nor of others, where one thread is meant. */
static struct thread *silence(void)
{
	if (!seeks()) {
		own.visit = payload_visit;
		publish(&own.thread, (uint64_t)&silent);
	}
	return NULL;
}

/*
 * A forked child is one thread, that which has forked, under an id of its own. If
 * it was forked behind the C library's back, it still goes by its parent's there:
 * then it is not followed, for it could not be told from that, nor when it ends.
 */
static bool begin_child(const struct session *s)
{
	int32_t id = claim_tid(s);

	if (!s->follow_forks || id <= 0 || id == s->pid || id == child ||
	    (!seeks() && id == own.tid))
		return false;
	claim_mark(s);
	child = id;
	return true;
}

/*
 * A signal handler that comes before the ring is claimed finds neither it nor the
 * thread's old struct, and claims another one. The struct can be found only when
 * the ring is: should a handler leave the claim for good between the two, the thread does not
 * go on with a ring that is not read, but claims it again.
 */
static struct thread *claim_ring(struct session *s, enum what what)
{
	struct thread *t;
	uint64_t seen;
	int32_t tid;
	uint32_t i;

	if (is_child(s) && !begin_child(s))
		return silence();
	seen = seeks() ? (uint64_t)seek(s, false) : own.thread;
	tid = claim_tid(s);
	if (s->only && tid != s->only)
		return silence();
	if (tid <= 0 || (!find_own(s, seen, tid, &i) && !find_ended(s, tid, &i) &&
			 !find_ring(s, tid, &i))) {
		claim_count(s, what);
		return NULL;
	}
	if (!seeks())
		own.tid = tid;
	ring_begin(s, ring_at(s, i));
	t = thread_begin(s, i);
	if (s->keep_last && !seeks())
		publish(&t->tp, cpu_thread_pointer());
	publish(&ring_at(s, i)->state, RING_CLAIMED);
	publish(&t->magic, THREAD_MAGIC);
	/* Forked in the middle of this: the ring is the parent's. */
	if (is_child(s)) {
		publish(&t->magic, 0);
		return NULL;
	}
	return seeks() ? install_sought(s, t) : claim_install(seen, t);
}

struct thread *claim_kept(void)
{
	struct thread *t;

	if (seeks())
		return seek(payload_session, true);
	t = (struct thread *)own.thread;
	return t && is_kept(t) && is_owner(payload_session, t) ? t : NULL;
}

struct thread *claim_thread(struct session *s, enum what what)
{
	struct thread *t = claim_kept();

	if (t)
		return t;
	if (!seeks() && own.thread == (uint64_t)&silent && own.visit == payload_visit)
		return NULL;
	return claim_ring(s, what);
}

/* Whatever the rings say: they may be new, and zeroed. */
void claim_expire(struct session *s)
{
	uint32_t i;

	for (i = 0; i < s->nrings; i++) {
		struct thread *t = thread_at(s, i);

		if (observe(&t->magic) == THREAD_MAGIC) {
			publish(&t->end, 0);
			publish(&t->counted, 0);
		}
	}
}
