/* SPDX-License-Identifier: MIT */
/*
 * reader_switches: what the kernel says of a thread's processor, between its calls.
 *
 * Each thread has a queue of its switches. One is told before the thread's first event that is
 * not earlier. Other threads' events do not bring it about: a thread that is put aside after it
 * has read the clock, and before it has written that down, writes an event that is earlier than
 * its last switch. So, where a thread makes no calls, a switch waits until the thread has gone on,
 * has been switched off again, and all that it has written until then was read.
 *
 * Where -t or -w leaves calls out in the process, the others are told late, and what is around one
 * perhaps later still. So there the last switches of a thread of which nothing was told are kept,
 * and told with its first event.
 *
 * What does not fit together is told as EVENT_SWITCHES_LOST: a thread that makes events, and has
 * no processor; one that gets a processor twice. Else told is only what happens from the first
 * event of a thread on, and of no thread whose events may have been opened in part only.
 */
#include "injector/reader/reader_impl.h"

#include <errno.h>
#include <string.h>

#include "arch/clock.h"
#include "injector/switches/switches.h"

enum {
	TID_BUCKETS = 1024,
	KEPT_UNTOLD = 1 << 14,	/* switches of a thread whose calls are told late */
	SLACK_NS = 10000,	/* what two clocks may differ by; and two events of one thread on
				 * one processor, which tell the same */
};

enum state { UNSURE, ON, OFF };

struct runner {
	struct runner *next;
	int32_t tid, pid;
	uint32_t thread, stack;	/* those of its last event */
	bool partial;		/* some of its switches may not be told */
	unsigned int gaps;	/* that are open: some are missing now */
	bool told;		/* the thread of that number is watched */
	enum state state;
	uint64_t at;		/* ticks: since then */
	uint64_t since;		/* ticks: from then on all of its switches are known */
	uint64_t floor;		/* ticks: the last that is not in the queue any more */
	struct thread_switch *queue;
	size_t n, cap;
};

struct mixture {
	struct switches *switches;
	struct runner *buckets[TID_BUCKETS];
	struct thread_switch *v;	/* as they come */
	size_t n, cap;
	unsigned int gaps;	/* that are open, as far as all are sorted out */
	uint64_t slack;		/* ticks */
};

/* ---- threads ------------------------------------------------------------- */

static struct runner **place_of(struct mixture *m, int32_t tid)
{
	struct runner **p = &m->buckets[(uint32_t)tid % TID_BUCKETS];

	while (*p && (*p)->tid != tid)
		p = &(*p)->next;
	return p;
}

static struct runner *find_or_add(struct mixture *m, int32_t tid, bool partial)
{
	struct runner **p = place_of(m, tid);

	if (!*p)
		*p = calloc(1, sizeof(**p));
	if (*p && !(*p)->tid)
		**p = (struct runner){ .tid = tid, .partial = partial, .gaps = m->gaps };
	return *p;
}

static void drop(struct mixture *m, int32_t tid)
{
	struct runner **p = place_of(m, tid), *w = *p;

	*p = w->next;
	free(w->queue);
	free(w);
}

/* ---- telling ------------------------------------------------------------- */

static void tell(struct reader *r, const struct runner *w, enum event_kind kind, uint64_t tsc)
{
	const struct event e = { .tsc = tsc, .kind = (uint8_t)kind, .pid = w->pid, .tid = w->tid,
				 .thread = w->thread, .stack = w->stack };

	if (w->told && !w->gaps && !r->err)
		r->err = r->each(r->ctx, &e);
}

static void change(struct reader *r, struct runner *w, enum state to, enum event_kind kind,
		   uint64_t tsc)
{
	if (w->state == to && tsc - w->at < r->mixture->slack)
		return;
	if (w->state == to)
		tell(r, w, EVENT_SWITCHES_LOST, tsc);
	w->state = to;
	w->at = tsc;
	tell(r, w, kind, tsc);
}

/* What has come to its turn. One that has ended is kept until it is dropped. */
static void apply(struct reader *r, struct runner *w, const struct thread_switch *s)
{
	switch (s->kind) {
	case SWITCH_OFF:
		change(r, w, OFF, EVENT_OFF, s->tsc);
		return;
	case SWITCH_PREEMPTED:
		change(r, w, OFF, EVENT_PREEMPTED, s->tsc);
		return;
	case SWITCH_ON:
		change(r, w, ON, EVENT_ON, s->tsc);
		return;
	case SWITCH_ENDED:
		if (w->state != OFF)
			change(r, w, OFF, EVENT_OFF, s->tsc);
		w->partial = true;
		return;
	case SWITCH_GAP:
		tell(r, w, EVENT_SWITCHES_LOST, s->tsc);
		w->gaps++;
		return;
	case SWITCH_GAP_END:
		w->gaps--;
		w->state = UNSURE;
		return;
	}
}

static void apply_first(struct reader *r, struct runner *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		apply(r, w, &w->queue[i]);
	if (n)
		w->floor = w->queue[n - 1].tsc;
	w->n -= n;
	if (n && w->n)
		memmove(w->queue, w->queue + n, w->n * sizeof(*w->queue));
}

static void apply_until(struct reader *r, struct runner *w, uint64_t tsc)
{
	size_t n = 0;

	while (n < w->n && w->queue[n].tsc <= tsc)
		n++;
	apply_first(r, w, n);
}

/* ---- between events ------------------------------------------------------ */

/* It runs, as it makes an event. */
static void meet(struct reader *r, struct runner *w, const struct event *e)
{
	bool same = w->told && w->thread == e->thread;

	if (w->state == OFF && e->tsc - w->at > r->mixture->slack) {
		if (same)
			tell(r, w, EVENT_SWITCHES_LOST, e->tsc);
		w->state = UNSURE;
	}
	w->thread = e->thread;
	w->stack = e->stack;
	w->pid = e->pid;
	w->told = true;
	if (same && w->state != UNSURE)
		return;
	w->state = ON;
	w->at = e->tsc;
	tell(r, w, EVENT_ON, e->tsc);
}

/* Of a thread of which nothing was told yet, all is that is kept: a call that is told late, or one
 * around it, may have begun there. Before the first of these switches it ran if that puts it off,
 * or if there is none, for it runs where a call begins. */
static void tell_kept(struct reader *r, struct runner *w, const struct event *e)
{
	uint64_t at = e->begin ?: e->tsc;
	size_t n = 0;

	w->told = false;
	for (size_t i = 0; i < w->n && w->queue[i].tsc <= at; i++)
		if (w->queue[i].kind == SWITCH_GAP_END)
			n = i + 1;
	apply_first(r, w, n);
	if (w->partial || w->gaps)
		return;
	w->thread = e->thread;
	w->stack = e->stack;
	w->pid = e->pid;
	w->told = true;
	if (w->state == OFF || (w->state == UNSURE && w->n && w->queue[0].kind == SWITCH_ON))
		return;
	w->state = ON;
	w->at = MIN(MAX(w->floor, w->since), MIN(w->n ? w->queue[0].tsc : at, at));
	tell(r, w, EVENT_ON, w->at);
}

void switches_before(struct reader *r, const struct event *e)
{
	struct runner *w = e->thread == NO_THREAD ? NULL : *place_of(r->mixture, e->tid);
	bool runs = !e->begin && (e->kind == EVENT_ENTRY || e->kind == EVENT_EXIT ||
				  e->kind == EVENT_MARK);

	if (!w)
		return;
	if (r->way == &way_sifted && (runs || e->begin) && !(w->told && w->thread == e->thread))
		tell_kept(r, w, e);
	apply_until(r, w, e->tsc);
	if (runs && !w->partial && !w->gaps)
		meet(r, w, e);
}

void switches_after(struct reader *r, const struct event *e)
{
	struct runner *w = e->kind == EVENT_STACK_END && e->thread != NO_THREAD ?
		*place_of(r->mixture, e->tid) : NULL;

	if (w && w->thread == e->thread)
		w->told = false;
}

/* ---- passes -------------------------------------------------------------- */

static int add(struct runner *w, const struct thread_switch *s)
{
	struct thread_switch *slot = w ? vec_push(w->queue, w->n, w->cap) : NULL;

	if (!slot)
		return -ENOMEM;
	*slot = *s;
	return 0;
}

static int add_to_all(struct mixture *m, const struct thread_switch *s)
{
	int err = 0;

	for (size_t i = 0; i < TID_BUCKETS; i++)
		for (struct runner *w = m->buckets[i]; w && !err; w = w->next)
			err = add(w, s);
	return err;
}

/* A thread inherits what its maker has. What had its number before is over. */
static int born(struct reader *r, const struct thread_switch *s)
{
	struct mixture *m = r->mixture;
	struct runner *maker = *place_of(m, s->parent), *old = *place_of(m, s->tid);
	bool partial = !maker || maker->partial;

	if (old) {
		apply_first(r, old, old->n);
		drop(m, s->tid);
	}
	struct runner *w = find_or_add(m, s->tid, partial);

	if (!w)
		return -ENOMEM;
	w->since = s->tsc;
	return 0;
}

static int sort_out(struct reader *r, const struct thread_switch *s)
{
	struct mixture *m = r->mixture;

	if (s->kind == SWITCH_GAP || s->kind == SWITCH_GAP_END) {
		m->gaps += s->kind == SWITCH_GAP ? 1 : -1u;
		return add_to_all(m, s);
	}
	/* The kernel has no number of ours for it. */
	if (s->tid <= 0)
		return 0;
	if (s->kind == SWITCH_BORN)
		return born(r, s);
	/* One that nothing was heard of before is one of those that were made meanwhile. */
	return add(find_or_add(m, s->tid, true), s);
}

int switches_look(struct reader *r)
{
	struct mixture *m = r->mixture;
	int err = switches_take(m->switches, &m->v, &m->n, &m->cap);

	m->slack = r->clock.run_ns ? (uint64_t)((unsigned __int128)SLACK_NS * r->clock.run_ticks /
						r->clock.run_ns) : SLACK_NS;
	for (size_t i = 0; i < m->n && !err; i++)
		err = sort_out(r, &m->v[i]);
	m->n = 0;
	return err == -ENOMEM ? fail(ENOMEM, "keep the switches of threads") : err;
}

/* How many of its switches can be told before an event that is still to come: it has gone on
 * since, and what it has written until it went off was read. */
static size_t settled(const struct runner *w, uint64_t reached)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n && w->queue[i].tsc < reached; i++)
		if (w->queue[i].kind == SWITCH_OFF || w->queue[i].kind == SWITCH_PREEMPTED)
			n = i;
		else if (w->queue[i].kind == SWITCH_ENDED)
			n = i + 1;
	return n;
}

static bool has_ended(const struct runner *w)
{
	return w->n && w->queue[w->n - 1].kind == SWITCH_ENDED;
}

/* Where calls are told late, that may be from any of its switches on, until all that it has written
 * before its end was read. */
static size_t not_kept(const struct reader *r, const struct runner *w)
{
	size_t n = settled(w, r->reached);

	if (r->way != &way_sifted || w->told || n == w->n)
		return n;
	return w->n > KEPT_UNTOLD ? MIN(n, w->n / 2) : 0;
}

static void tell_settled(struct reader *r, uint64_t reached, bool all)
{
	struct mixture *m = r->mixture;

	for (size_t i = 0; i < TID_BUCKETS; i++)
		for (struct runner **p = &m->buckets[i], *w; (w = *p);) {
			bool over = has_ended(w);

			if (all)
				apply_until(r, w, reached);
			else
				apply_first(r, w, not_kept(r, w));
			if (over && !w->n)
				drop(m, w->tid);
			else
				p = &w->next;
		}
}

void switches_settle(struct reader *r)
{
	tell_settled(r, r->reached, false);
}

int reader_settle(struct reader *r, uint64_t now, int (*each)(void *ctx, const struct event *),
		  void *ctx)
{
	if (!r->mixture)
		return 0;
	r->each = each;
	r->ctx = ctx;
	r->err = switches_look(r);
	tell_settled(r, now, true);
	return r->err;
}

/* ---- begin and end ------------------------------------------------------- */

static void forget(struct mixture *m)
{
	for (size_t i = 0; i < TID_BUCKETS; i++)
		while (m->buckets[i])
			drop(m, m->buckets[i]->tid);
}

/* What came before all of them were watched is of no use, but for those that were born. */
int reader_watch(struct reader *r, struct switches *s)
{
	const pid_t *tids;
	size_t n = switches_threads(s, &tids);
	int err;

	r->mixture = calloc(1, sizeof(*r->mixture));
	if (!r->mixture)
		return fail(ENOMEM, "keep the switches of threads");
	r->mixture->switches = s;
	err = switches_look(r);
	for (size_t i = 0; i < TID_BUCKETS; i++)
		for (struct runner *w = r->mixture->buckets[i]; w; w = w->next) {
			w->n = 0;
			w->gaps = r->mixture->gaps;
			w->partial = true;
		}
	for (size_t i = 0; i < n && !err; i++) {
		struct runner *w = find_or_add(r->mixture, tids[i], false);

		if (!w) {
			err = fail(ENOMEM, "keep the switches of threads");
			break;
		}
		w->partial = false;
		w->since = arch_ticks();
	}
	return err;
}

void switches_forget(struct reader *r)
{
	if (!r->mixture)
		return;
	forget(r->mixture);
	free(r->mixture->v);
	free(r->mixture);
	r->mixture = NULL;
}
