/* SPDX-License-Identifier: MIT */
/*
 * values: what is read of a call, by its function's read plan?
 *
 * All of it runs inside the slow path, so that a thread is in it once. What is read is put
 * together in the capture area of the thread's ring, which no other thread writes to meanwhile,
 * and goes into the ring in front of the call's record.
 *
 * Memory. A pointer of the program's may lead anywhere, and what it leads to may be unmapped at any
 * moment. So bytes are loaded only where they are certain to be: on the page right below the stack
 * pointer, above it on the main thread's stack, and where a goroutine's has a return address.
 * (Elsewhere not even that is: a thread may begin by a jump, at the end of its stack.) All others
 * the kernel copies, which knows no faults: process_vm_readv (mm/process_vm_access.c), of this very
 * thread, for which it asks nothing but that its memory be the same (ptrace_may_access). (Of the
 * process by its first thread: that has no memory any more once it has ended.) It is called only
 * where the injector has found that no seccomp filter forbids it (READS_BY_CALL), and no more once
 * a thread is about to set one (guard.c):
 *
 *  1. a thread that is to ask says so,
 *  2. looks whether it may, and asks only if it may still.
 *  3. A thread that is about to set a filter says that none may,
 *  4. and waits for those that have said so.
 *
 * Each has a full barrier between its two steps, so that one of them sees the other.
 */
#include <asm/unistd.h>

#include "payload/kept.h"
#include "payload/payload.h"

struct capture_area {
	struct reads_registers registers;
	struct reads_state state;
	/* Of a call that is open, while another one ends. */
	struct reads_state other;
	struct condition_facts facts;
	uint32_t asking;	/* 1: the kernel is asked for memory, or may be */
	uint32_t from;		/* in the state's capture: what is to be put */
	struct plan_ref by;	/* what the call under way is read and judged by */
	struct kept_calls kept;
	uint8_t x87[528];	/* room for what the processor saves */
	/* Room for what a system call changes: 32 registers of 256 bytes, 17 of 32. */
	uint8_t vectors[32 * 256 + 17 * 32] __attribute__((aligned(16)));
};

_Static_assert(sizeof(struct capture_area) <= CAPTURE_TAKEN, "it has room");

/* This process has given up asking the kernel for memory. It is the process's own: what a forked
 * child forbids itself its parent may go on with. */
static uint32_t given_up;

struct reading {
	const struct session *s;
	const struct thread *t;
	uint64_t sp;
	uint64_t end;	/* up to where its stack is there for certain; 0: that is not known */
};

static struct capture_area *area_at(const struct session *s, uint32_t index)
{
	return (struct capture_area *)((char *)s + s->captures_off +
				       (uint64_t)index * CAPTURE_SIZE);
}

static struct capture_area no_area;

static struct capture_area *area_of(const struct session *s, const struct thread *t)
{
	uint32_t index = observe(&t->index);

	return observe(&t->ring) ? area_at(s, index) : &no_area;
}

/* The program may have written anywhere. */
static const struct capture_plan *plan_at(const struct session *s, uint64_t at)
{
	const struct capture_plan *p;

	at *= 8;
	p = (const struct capture_plan *)((const char *)s + s->plans_off + at);
	if (!at || at > s->plans_size - sizeof(*p) || p->plan.nops > READS_MAX ||
	    p->plan.nentry > p->plan.nops)
		return NULL;
	return p;
}

/* The plan that a call has which begins now; 0: none. */
static uint32_t plan_now(const struct session *s, uint64_t func)
{
	const uint32_t *list = (const uint32_t *)((const char *)s + s->plans_off);

	list += observe(&s->plans_at) & 1 ? s->plans_funcs : 0;
	return func < s->plans_funcs ? observe(&list[func]) : 0;
}

/* The one that a call has had since its entry; NULL: there is another one in its place. */
static const struct capture_plan *plan_by(const struct session *s, const struct plan_ref *by)
{
	const struct capture_plan *p = plan_at(s, observe(&by->at));

	return p && observe(&p->number) == observe(&by->number) ? p : NULL;
}

/* What the call under way is read and judged by from now on; NULL: nothing is. */
static const struct capture_plan *take_plan(const struct session *s, struct capture_area *a,
					    uint32_t at)
{
	const struct capture_plan *p = plan_at(s, at);

	a->by.at = p ? at : 0;
	a->by.number = p ? observe(&p->number) : 0;
	return p;
}

/* ---- memory -------------------------------------------------------------- */

/* Is it mapped for certain? Nothing else is at stake if it changes meanwhile. */
bool values_is_there(const struct session *s, uint64_t sp, uint64_t at, size_t n)
{
	/* Where we have pushed. */
	uint64_t page = (sp - 1) & ~(uint64_t)(PAGE - 1);

	if (at >= page && at - page <= PAGE && n <= page + PAGE - at)
		return true;
	return sp >= s->stack_lo && at >= sp && at < s->stack_hi && n <= s->stack_hi - at;
}

struct vector {
	uint64_t base, n;
};

/* How many of the bytes could be read; and so with errno as it is. (Not inline: this is where
 * tools/payload-check.sh expects the call.) */
__attribute__((noinline)) size_t values_ask(const struct session *s, const struct thread *t,
					    uint64_t at, void *buf, size_t n)
{
	struct vector to = { (uint64_t)buf, n }, from = { at, n };
	struct capture_area *a = area_of(s, t);
	long got = 0;

	if (!cpu_before_call(s->call_changes, a->vectors))
		return 0;
	__atomic_store_n(&a->asking, 1, __ATOMIC_SEQ_CST);			/* 1 */
	if (!__atomic_load_n(&given_up, __ATOMIC_SEQ_CST) &&			/* 2 */
	    observe(&s->reads) == READS_BY_CALL)
		got = cpu_syscall6(__NR_process_vm_readv, thread_ring(t)->tid, (long)&to, 1,
				   (long)&from, 1, 0);
	publish(&a->asking, 0);
	cpu_after_call(s->call_changes, a->vectors);
	return got > 0 ? (size_t)got : 0;
}

/* A handler may have left what is under way for good, so that it is not waited for without end. */
void values_stop_asking(struct session *s)
{
	uint64_t end = cpu_clock() + cpu_tenth();
	uint32_t i;

	__atomic_store_n(&s->given_up, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&given_up, 1, __ATOMIC_SEQ_CST);		/* 3 */
	for (i = 0; i < s->nrings; i++)
		while (observe(&area_at(s, i)->asking) && cpu_clock() < end)	/* 4 */
			;
}

static size_t values_load(void *ctx, uint64_t at, void *buf, size_t n)
{
	const struct reading *r = ctx;
	const uint8_t *from = (const uint8_t *)at;
	uint8_t *to = buf;
	size_t i;

	if (!values_is_there(r->s, r->sp, at, n) &&
	    (at < r->sp || at >= r->end || n > r->end - at))
		return values_ask(r->s, r->t, at, buf, n);
	for (i = 0; i + 8 <= n; i += 8)
		__builtin_memcpy(to + i, from + i, 8);
	for (; i < n; i++)
		to[i] = from[i];
	return n;
}

uint64_t values_returns_to(const struct session *s, const struct thread *t, uint64_t sp,
			   uint64_t link)
{
	struct reading r = { s, t, sp, 0 };
	uint64_t ret = link;

	if (CPU_PUSHED != 0 && values_load(&r, sp, &ret, sizeof(ret)) != sizeof(ret))
		return 0;
	return cpu_plain(ret);
}

/* ---- what was read before ------------------------------------------------ */

/* Results as the entry's capture has them, or some of them, are there again. */
static void recall(struct reads_state *s, const uint8_t *bytes, uint32_t n)
{
	uint32_t i, at;

	for (i = 0; i < n; i++)
		s->capture[i] = bytes[i];
	for (at = 0; at + sizeof(struct read_result) <= n;) {
		const struct read_result *r = (const struct read_result *)(s->capture + at);

		s->v[r->op % READS_MAX].at = (uint16_t)(at + sizeof(*r));
		s->v[r->op % READS_MAX].n = r->n;
		s->v[r->op % READS_MAX].status = r->status;
		s->v[r->op % READS_MAX].done = 1;
		at += (uint32_t)((r->n + sizeof(*r) + 3u) & ~3u);
	}
	s->used = (uint16_t)n;
}

/* ---- what pending calls have read ---------------------------------------- */

/* Of the current stack's calls, one above the other: from where, and how many bytes. */
static uint8_t *held_room(const struct session *s, const struct thread *t, uint64_t *size)
{
	struct capture_area *a = area_of(s, t);
	uint8_t *room = (uint8_t *)a + CAPTURE_TAKEN;
	uint32_t current = observe(&t->current);

	*size = a == &no_area ? 0 : current ? CAPTURE_OTHER : CAPTURE_HELD;
	return current ? room + CAPTURE_HELD + (current - 1) * CAPTURE_OTHER : room;
}

/* In a word: behind where it begins, 0 if there is none, and where it ends. */
#define HELD_END_SHIFT 32

uint64_t values_hold(const struct session *s, const struct thread *t, uint64_t below, uint64_t sp,
		     uint64_t func)
{
	uint64_t begin = below >> HELD_END_SHIFT, none = begin << HELD_END_SHIFT, size, end;
	uint8_t *room;
	struct capture_area *a;
	struct held_call *h;
	uint32_t i, n;

	if (!s->plans_funcs)
		return none;
	a = area_of(s, t);
	room = held_room(s, t, &size);
	n = observe(&a->state.used);
	end = begin + ((sizeof(*h) + n + 7) & ~7ull);
	if (begin > size || end > size || !observe(&a->by.at) || n > READS_CAPTURE_MAX)
		return none;
	h = (struct held_call *)(room + begin);
	h->sp = sp;
	h->func = (uint32_t)func;
	h->n = n;
	h->by = a->by;
	for (i = 0; i < n; i++)
		h->bytes[i] = a->state.capture[i];
	return end << HELD_END_SHIFT | (begin + 1);
}

struct held_call *values_held(const struct session *s, const struct thread *t, uint64_t where,
			      uint64_t sp, uint64_t func)
{
	uint64_t begin = (uint32_t)where - 1ull, size;
	struct held_call *h;

	if (!s->plans_funcs || !(uint32_t)where)
		return NULL;
	h = (struct held_call *)(held_room(s, t, &size) + begin);
	if (begin % 8 || size < sizeof(*h) || begin > size - sizeof(*h) || h->sp != sp ||
	    h->func != func || h->n > size - sizeof(*h) - begin)
		return NULL;
	return h;
}

/* ---- conditions ---------------------------------------------------------- */

static const struct condition *condition_in(const struct session *s, const struct capture_plan *p)
{
	uint64_t at = p ? observe(&p->condition) * 8ull : 0;

	if (!at || at > s->plans_size - sizeof(struct condition))
		return NULL;
	return (const struct condition *)((const char *)s + s->plans_off + at);
}

/* Of the call under way. */
static const struct condition *condition_of(const struct session *s, const struct thread *t)
{
	return s->plans_funcs ? condition_in(s, plan_by(s, &area_of(s, t)->by)) : NULL;
}

bool values_conditioned(const struct session *s, uint64_t func)
{
	return s->plans_funcs && condition_in(s, plan_at(s, plan_now(s, func)));
}

/* (One of which nothing is held was not asked at its entry.) */
bool values_decides(const struct session *s, uint64_t func, const struct held_call *held,
		    unsigned int *needs)
{
	const struct condition *c;

	*needs = 0;
	if (!held)
		return values_conditioned(s, func);
	c = condition_in(s, plan_by(s, &held->by));
	*needs = c ? c->needs : 0;
	return c && c->at_exit;
}

struct condition_facts *values_facts(const struct session *s, const struct thread *t)
{
	return &area_of(s, t)->facts;
}

bool values_passes(const struct session *s, const struct thread *t, const struct held_call *held,
		   const struct condition_facts *facts)
{
	const struct condition *c = condition_in(s, plan_by(s, &held->by));
	struct reads_state *state = &area_of(s, t)->other;
	uint32_t i, n = observe(&held->n);

	for (i = 0; i < READS_MAX; i++)
		state->v[i].done = 0;
	recall(state, held->bytes, n <= READS_CAPTURE_MAX ? n : 0);
	return c && condition_run(c, false, state, facts) == VERDICT_PASSES;
}

unsigned int values_needs(const struct session *s, const struct thread *t)
{
	const struct condition *c = condition_of(s, t);

	return c ? c->needs : 0;
}

enum verdict values_verdict(const struct session *s, const struct thread *t, bool at_exit,
			    const struct condition_facts *facts)
{
	const struct condition *c = condition_of(s, t);

	return c ? condition_run(c, at_exit, &area_of(s, t)->state, facts) : VERDICT_PASSES;
}

void values_forget(const struct session *s, const struct thread *t, uint64_t sp)
{
	if (s->plans_funcs)
		kept_forget(&area_of(s, t)->kept, sp);
}

void values_hello(void)
{
	publish(&given_up, 0);
}

void values_claim(const struct session *s, const struct thread *t)
{
	/* (Memory that nothing was put into is not made.) */
	if (!s->plans_funcs || !observe(&s->planned))
		return;
	area_of(s, t)->asking = 0;
	area_of(s, t)->kept.used = 0;
}

/* ---- a call -------------------------------------------------------------- */

static void nothing_read(struct capture_area *a, const struct capture_plan *p)
{
	uint32_t i, n = observe(&p->plan.nops);

	a->from = a->state.used = 0;
	for (i = 0; i < n && i < READS_MAX; i++)
		a->state.v[i].done = 0;
}

static void begin(struct capture_area *a, const struct capture_plan *p, uint64_t sp,
		  const uint64_t *held)
{
	cpu_held(held, a->registers.general);
	a->registers.general[CPU_STACK] = a->registers.stack = sp;
	if (p->vectors == VECTORS_FIRST)
		values_vectors(a->registers.vector);
	else if (p->vectors)
		values_vectors_all(a->registers.vector);
	if (p->x87)
		values_x87(a->registers.x87, (void *)(((uint64_t)a->x87 + 15) & ~15ull));
	nothing_read(a, p);
}

unsigned int values_words(uint32_t n)
{
	return 2 + (n + VALUES_BYTES - 1) / VALUES_BYTES;
}

unsigned int values_take(const struct session *s, const struct thread *t, uint64_t func,
			 enum what what, uint64_t sp, const uint64_t *held, uint64_t end)
{
	struct reading r = { s, t, sp, end };
	const struct reads_memory memory = { values_load, &r };
	const struct capture_plan *p, *entry;
	struct capture_area *a;
	struct kept *k;

	if (!s->plans_funcs)
		return 0;
	a = area_of(s, t);
	k = what == WHAT_EXIT ? kept_find(&a->kept, func, sp) : NULL;
	/* Where another one has its place, nothing is known of what the entry had read. */
	entry = k ? plan_by(s, &k->by) : NULL;
	p = take_plan(s, a, entry ? observe(&k->by.at) : plan_now(s, func));
	if (!p)
		return 0;
	if (what == WHAT_EXIT ? p->plan.nentry == p->plan.nops : !p->plan.nentry) {
		nothing_read(a, p);
		return 0;
	}
	begin(a, p, sp, held);
	if (entry) {
		uint32_t n = observe(&k->n);

		recall(&a->state, k->bytes, n <= sizeof(k->bytes) ? n : 0);
	}
	if (k)
		kept_forget(&a->kept, sp);
	a->from = a->state.used;
	reads_run(&p->plan, what == WHAT_EXIT, &a->registers, &memory, &a->state);
	if (what == WHAT_ENTRY && p->kept)
		kept_put(&a->kept, p, &a->by, &a->state, func, sp);
	return values_words(a->state.used - a->from);
}

unsigned int values_take_back(const struct session *s, const struct thread *t, uint64_t func,
			      uint64_t sp, const uint64_t *held, const struct held_call *entry)
{
	struct reading r = { s, t, sp, 0 };
	const struct reads_memory memory = { values_load, &r };
	const struct capture_plan *p;
	struct capture_area *a;
	uint32_t n;

	if (!s->plans_funcs)
		return 0;
	a = area_of(s, t);
	/* Where another one has its place, nothing is known of what it had read. */
	entry = entry && plan_by(s, &entry->by) ? entry : NULL;
	p = take_plan(s, a, entry ? observe(&entry->by.at) : plan_now(s, func));
	if (!p)
		return 0;
	if (held)
		begin(a, p, sp, held);
	else
		nothing_read(a, p);
	n = entry ? observe(&entry->n) : 0;
	recall(&a->state, entry ? entry->bytes : NULL, n <= READS_CAPTURE_MAX ? n : 0);
	a->from = a->state.used;
	if (!held || p->plan.nentry == p->plan.nops)
		return 0;
	reads_run(&p->plan, true, &a->registers, &memory, &a->state);
	return values_words(a->state.used - a->from);
}

/* Of results those that are told, by their numbers there: how many bytes are left. */
static uint32_t tell(const struct capture_plan *p, uint8_t *bytes, uint32_t n)
{
	const uint32_t head = sizeof(struct read_result);
	uint32_t at, to = 0, size, i;
	struct read_result r;

	if (!p || !p->renamed)
		return n;
	for (at = 0; at + head <= n; at += size) {
		__builtin_memcpy(&r, bytes + at, head);
		size = (head + r.n + 3u) & ~3u;
		r.op = p->told[r.op % READS_MAX];
		if (r.op == READS_NONE || size > n - at)
			continue;
		for (i = 0; i < size; i++)
			bytes[to + i] = bytes[at + i];
		__builtin_memcpy(bytes + to, &r, head);
		to += size;
	}
	return to;
}

/* `n` up to VALUES_BYTES. */
static uint64_t values_word(const uint8_t *bytes, uint32_t n)
{
	uint64_t ret = VALUES_LOW;
	uint32_t i;

	for (i = 0; i < n; i++)
		ret |= (uint64_t)bytes[i] << (8 * (i + 1));
	return ret;
}

static uint64_t values_whole(const uint8_t *bytes)
{
	uint64_t word;

	__builtin_memcpy(&word, bytes, sizeof(word));
	return word << 8 | VALUES_LOW;
}

static void put_values(struct thread *t, uint64_t func, const uint8_t *bytes, uint32_t n)
{
	unsigned int words = values_words(n), i;
	uint64_t *p = ring_take(t, words);

	p[1] = (func << VALUES_FUNC_SHIFT | n) << REC_TIME_SHIFT;
	for (i = 2; n > VALUES_BYTES; i++, bytes += VALUES_BYTES, n -= VALUES_BYTES)
		p[i] = values_whole(bytes);
	if (n)
		p[i] = values_word(bytes, n);
	ring_give(t, p, REC_EXT | (uint64_t)EXT_VALUES << REC_FUNC_SHIFT |
		  (words - 1ull) << REC_WORDS_SHIFT);
}

/* (What has nothing that is told is as a call of which nothing is read.) */
void values_put_held(const struct session *s, struct thread *t, struct held_call *held, uint32_t n)
{
	const struct capture_plan *p = plan_by(s, &held->by);
	uint32_t left = tell(p, held->bytes, n);

	if (left || !p || !p->renamed)
		put_values(t, held->func, held->bytes, left);
}

/* Where the thread has outlived a session, another's memory may be where its area was. */
void values_put_taken(const struct session *s, struct thread *t, uint64_t func, unsigned int words)
{
	struct capture_area *a = area_of(s, t);
	const struct capture_plan *p = plan_by(s, &a->by);
	uint32_t from = observe(&a->from), used = observe(&a->state.used), n;
	bool good = from <= used && used <= READS_CAPTURE_MAX &&
		values_words(used - from) <= words;

	n = good ? tell(p, a->state.capture + from, used - from) : 0;
	if (n || !p || !p->renamed)
		put_values(t, func, a->state.capture + (good ? from : 0), n);
}
