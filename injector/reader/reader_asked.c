/* SPDX-License-Identifier: MIT */
/*
 * reader_asked: which calls pass what is asked of them here?
 *
 * It is asked as the entry is read. What depends on how the call ends is open then: so the call is
 * held, with what its entry has said, and told at its end, if it passes; as one that has begun
 * earlier, behind those within it that were told meanwhile, as the payload does it (docs/sieve.md).
 * A call of which it will not be known, for its end was lost, or there is no room to hold it, is
 * lost.
 */
#include "injector/reader/reader_impl.h"

#include <string.h>

#include "values/condition.h"

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

enum { MOST_HELD = 1 << 26 };	/* bytes, of all threads */

struct undecided {
	struct condition_facts facts;
	uint64_t begin;		/* ticks */
	int32_t pid, tid;	/* of its begin */
	uint16_t ncapture;	/* bytes that were read at its entry */
	uint8_t ncallers, cut;
	uint64_t words[];	/* the callers, then what was read */
};

/* Behind what is there, the results that were read of the call, as far as they are some. */
static void recall(const uint8_t *capture, size_t n, struct reads_state *s)
{
	size_t at = ALIGN_UP(s->used, 4), end = MIN(at + n, sizeof(s->capture));
	struct read_result head;

	if (at >= end)
		return;
	memcpy(s->capture + at, capture, end - at);
	for (; end - at >= sizeof(head); at = MIN(end, (at + head.n + 3) & ~(size_t)3)) {
		memcpy(&head, s->capture + at, sizeof(head));
		at += sizeof(head);
		if (head.op >= READS_MAX || head.n > end - at)
			return;
		s->v[head.op].at = (uint16_t)at;
		s->v[head.op].n = head.n;
		s->v[head.op].status = head.status;
		s->v[head.op].done = 1;
		s->used = (uint16_t)(at + head.n);
	}
}

static void recall_none(struct reads_state *s)
{
	memset(s->v, 0, sizeof(s->v));
	s->used = 0;
}

/* What stands before the record. */
static void recall_read(const struct lane *l, uint32_t func, struct reads_state *s)
{
	if (l->captured == func)
		recall(l->capture, l->ncapture, s);
}

/* What its thread is called, if that is known by now: reader_names.c has told the ring. */
static void find_name(const struct lane *l, char ret[16])
{
	const struct ring *ring = l->ring;

	if (load(&ring->named) != l->owner)
		return;
	for (size_t i = 0; i < 16; i++)
		ret[i] = __atomic_load_n(&ring->name[i], __ATOMIC_RELAXED);
}

/* Where the call returns to; 0: that could not be read. */
static uint64_t find_link(const struct condition *c, const struct reads_state *s)
{
	size_t i = c->link - 1u;
	uint64_t ret = 0;

	if (i < READS_MAX && s->v[i].done && s->v[i].status == READ_DONE &&
	    s->v[i].n == sizeof(ret) && s->v[i].at + sizeof(ret) <= sizeof(s->capture))
		memcpy(&ret, s->capture + s->v[i].at, sizeof(ret));
	return ret;
}

/* Of a call that begins, and has been read. */
static void find_facts(const struct reader *r, const struct lane *l, const struct open_calls *s,
		       const struct condition *c, struct condition_facts *ret)
{
	uint64_t x = (l->last ^ l->pos) * 0x9e3779b97f4a7c15ull;

	*ret = (struct condition_facts){
		.random = x ^ x >> 32, .tid = (uint32_t)l->owner,
		.pid = (uint32_t)load(&l->ring->pid), .depth = s->n - s->ncopies + 1,
	};
	if (c->needs & CONDITION_CALLER)
		ret->caller = find_link(c, &r->read);
	if (c->needs & CONDITION_COMM)
		find_name(l, ret->comm);
}

/* NULL: there is no room. */
static struct undecided *hold(struct reader *r, const struct lane *l, uint32_t func,
			      const struct condition_facts *facts)
{
	bool called = l->called && l->callee == func;
	size_t n = l->captured == func ? l->ncapture : 0, ncallers = called ? l->ncallers : 0;
	size_t size = sizeof(struct undecided) + ncallers * sizeof(uint64_t) + n;
	struct undecided *h = r->held + size <= MOST_HELD ? malloc(size) : NULL;

	if (!h)
		return NULL;
	*h = (struct undecided){
		.facts = *facts, .begin = l->last, .pid = l->pid, .tid = l->tid,
		.ncapture = (uint16_t)n, .ncallers = (uint8_t)ncallers,
		.cut = called ? l->callers_cut : 0,
	};
	if (ncallers)
		memcpy(h->words, l->callers, ncallers * sizeof(uint64_t));
	if (n)
		memcpy(h->words + ncallers, l->capture, n);
	r->held += size;
	return h;
}

static size_t size_of(const struct undecided *h)
{
	return sizeof(*h) + h->ncallers * sizeof(uint64_t) + h->ncapture;
}

void asked_forget(struct reader *r, struct open_call *call)
{
	if (!call->held)
		return;
	r->held -= size_of(call->held);
	free(call->held);
	call->held = NULL;
}

static enum verdict judge_entry(struct reader *r, const struct lane *l, const struct open_calls *s,
				uint32_t func, struct condition_facts *facts)
{
	const struct condition *c = r->funcs[func].asked;

	if (!c)
		return VERDICT_PASSES;
	recall_none(&r->read);
	recall_read(l, func, &r->read);
	find_facts(r, l, s, c, facts);
	return condition_run(c, false, &r->read, facts);
}

bool asked_open(struct reader *r, const struct lane *l, const struct condition *c,
		const uint8_t *held, size_t n, struct condition_facts *facts)
{
	recall_none(&r->read);
	recall(held, n, &r->read);
	if (c->needs & CONDITION_COMM)
		find_name(l, facts->comm);
	return condition_run(c, false, &r->read, facts) == VERDICT_PASSES;
}

bool asked_mark(struct reader *r, const struct lane *l, const struct open_calls *s, uint32_t func)
{
	struct condition_facts facts;

	return judge_entry(r, l, s, func, &facts) == VERDICT_PASSES;
}

void asked_entry(struct reader *r, const struct lane *l, const struct open_calls *s,
		 struct open_call *call)
{
	struct condition_facts facts;
	enum verdict v = judge_entry(r, l, s, call->func, &facts);

	call->unwanted = v != VERDICT_PASSES;
	if (!call->unwanted)
		return;
	r->stats.calls--;
	r->stats.events--;
	if (v == VERDICT_OPEN) {
		call->held = hold(r, l, call->func, &facts);
		asked_lose(r, !call->held);
	}
}

void asked_lose(struct reader *r, bool lost)
{
	r->stats.lost += lost;
	r->stats.lost_entries += lost;
}

static const uint8_t *capture_of(const struct undecided *h)
{
	return (const uint8_t *)(h->words + h->ncallers);
}

/* With what its entry has said, and how long it had been open at `now`. */
static struct condition_facts recall_held(struct reader *r, const struct undecided *h, uint64_t now)
{
	struct condition_facts facts = h->facts;

	facts.duration_ns = clock_ns(&r->clock, now - MIN(h->begin, now));
	recall_none(&r->read);
	recall(capture_of(h), h->ncapture, &r->read);
	return facts;
}

bool asked_has_been(const struct open_call *call, uint64_t now, uint64_t ticks)
{
	return now >= call->held->begin && now - call->held->begin >= ticks;
}

bool asked_passes(struct reader *r, const struct lane *l, const struct open_call *call,
		  bool returned)
{
	const struct condition *c = r->funcs[call->func].asked;
	const struct condition_facts facts = recall_held(r, call->held, l->last);

	if (returned)
		recall_read(l, call->func, &r->read);
	return c && condition_run(c, true, &r->read, &facts) == VERDICT_PASSES;
}

bool asked_will_pass(struct reader *r, const struct open_call *call, uint64_t now)
{
	const struct condition *c = r->funcs[call->func].asked;
	const struct condition_facts facts = recall_held(r, call->held, now);

	return c && condition_run(c, false, &r->read, &facts) == VERDICT_PASSES;
}

void asked_told(const struct open_call *call, struct event *begun)
{
	const struct undecided *h = call->held;

	begun->begin = h->begin;
	begun->pid = h->pid;
	begun->tid = h->tid;
	begun->capture = h->ncapture ? capture_of(h) : NULL;
	begun->ncapture = h->ncapture;
	begun->callers = h->ncallers ? h->words : NULL;
	begun->ncallers = h->ncallers;
	begun->cut = h->cut;
}
