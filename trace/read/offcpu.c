/* SPDX-License-Identifier: MIT */
/* offcpu: how long has a thread had no processor, up to a moment? */
#include "trace/read/offcpu.h"

#include <string.h>

enum {
	MAX_THREADS = 1 << 20,
	KEPT_OF_THREAD = 1 << 14, KEPT_OF_ALL = 1 << 21,	/* switches */
};

/* What was known behind one switch. */
struct moment {
	uint64_t tsc, wait, preempted;
	bool off, is_preempted;
};

struct offcpu_thread {
	struct offcpu_thread *next;
	uint32_t thread;
	int32_t pid, tid;
	struct offcpu_times times;	/* up to the begin of the span that is open */
	bool off, preempted;
	uint64_t from;		/* of the open span, if it is off: its last switch */
	struct moment *moments;	/* those since `times.since` that are kept, the last as well */
	size_t n, cap;
};

static struct offcpu_thread **place_of(struct offcpu *o, uint32_t thread)
{
	struct offcpu_thread **p = &o->buckets[thread % ARRAY_SIZE(o->buckets)];

	while (*p && (*p)->thread != thread)
		p = &(*p)->next;
	return p;
}

static struct offcpu_thread *offcpu_find(struct offcpu *o, uint32_t thread)
{
	if (!o->last || o->last->thread != thread)
		o->last = *place_of(o, thread);
	return o->last;
}

static struct offcpu_thread *add(struct offcpu *o, const struct event *e)
{
	struct offcpu_thread *t = offcpu_find(o, e->thread);

	if (t || e->thread == NO_THREAD || o->n >= MAX_THREADS)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	*t = (struct offcpu_thread){ .thread = e->thread, .pid = e->pid, .tid = e->tid,
				     .times.since = OFFCPU_UNKNOWN };
	*place_of(o, e->thread) = t;
	o->n++;
	return t;
}

static uint64_t open_ticks(const struct offcpu_thread *t, uint64_t tsc)
{
	return t->off && tsc > t->from ? tsc - t->from : 0;
}

static struct offcpu_times times_at(const struct offcpu_thread *t, uint64_t tsc)
{
	struct offcpu_times ret = t->times;
	uint64_t open = open_ticks(t, tsc);

	ret.wait += open;
	ret.preempted += t->preempted ? open : 0;
	return ret;
}

/* Drop the older half, or all. */
static void drop(struct offcpu *o, struct offcpu_thread *t, size_t n)
{
	o->kept -= n;
	t->n -= n;
	if (t->n)
		memmove(t->moments, t->moments + n, t->n * sizeof(*t->moments));
}

/* Without memory less is known of what lies behind. */
static void keep(struct offcpu *o, struct offcpu_thread *t)
{
	struct moment *m;

	if (t->n >= KEPT_OF_THREAD || o->kept >= KEPT_OF_ALL)
		drop(o, t, (t->n + 1) / 2);
	m = vec_push(t->moments, t->n, t->cap);
	if (!m) {
		drop(o, t, t->n);
		return;
	}
	o->kept++;
	*m = (struct moment){ t->from, t->times.wait, t->times.preempted, t->off, t->preempted };
}

static struct offcpu_times times_before(const struct offcpu_thread *t, uint64_t tsc)
{
	size_t n = vec_prefix(t->n, i, t->moments[i].tsc <= tsc);

	if (!n)
		return (struct offcpu_times){ .since = OFFCPU_UNKNOWN };
	const struct moment *m = &t->moments[n - 1];

	return (struct offcpu_times){
		.since = t->times.since,
		.wait = m->wait + (m->off ? tsc - m->tsc : 0),
		.preempted = m->preempted + (m->off && m->is_preempted ? tsc - m->tsc : 0),
	};
}

bool offcpu_event(struct offcpu *o, const struct event *e, struct offcpu_span *ret)
{
	struct offcpu_thread *t = add(o, e);
	bool ended;

	if (!t)
		return false;
	*ret = (struct offcpu_span){ t->pid, t->tid, t->from, e->tsc, t->preempted };
	ended = t->off && e->tsc > t->from && e->kind != EVENT_SWITCHES_LOST;
	/* What was missing may have been between the last event and this one. */
	t->times = times_at(t, e->tsc);
	t->off = e->kind == EVENT_OFF || e->kind == EVENT_PREEMPTED;
	t->preempted = e->kind == EVENT_PREEMPTED;
	t->from = e->tsc;
	if (e->kind == EVENT_SWITCHES_LOST)
		t->times.since = OFFCPU_UNKNOWN;
	else if (t->times.since == OFFCPU_UNKNOWN)
		t->times = (struct offcpu_times){ .since = e->tsc };
	if (t->times.since == OFFCPU_UNKNOWN || t->times.since == e->tsc)
		drop(o, t, t->n);
	keep(o, t);
	return ended;
}

struct offcpu_times offcpu_at(struct offcpu *o, uint32_t thread, uint64_t tsc)
{
	const struct offcpu_thread *t = o->n ? offcpu_find(o, thread) : NULL;

	if (!t)
		return (struct offcpu_times){ .since = OFFCPU_UNKNOWN };
	return tsc < t->from ? times_before(t, tsc) : times_at(t, tsc);
}

void offcpu_forget(struct offcpu *o, uint32_t thread)
{
	struct offcpu_thread **p = place_of(o, thread), *t = *p;

	if (!t)
		return;
	*p = t->next;
	o->kept -= t->n;
	free(t->moments);
	free(t);
	o->last = NULL;
	o->n--;
}

void offcpu_finish(struct offcpu *o, uint64_t now,
		   void (*each)(void *ctx, const struct offcpu_span *), void *ctx)
{
	for (size_t i = 0; i < ARRAY_SIZE(o->buckets); i++)
		for (struct offcpu_thread *t = o->buckets[i]; t; t = t->next)
			if (open_ticks(t, now))
				each(ctx, &(struct offcpu_span){ t->pid, t->tid, t->from, now,
								 t->preempted });
}

void offcpu_clear(struct offcpu *o)
{
	for (size_t i = 0; i < ARRAY_SIZE(o->buckets); i++)
		for (struct offcpu_thread *t = o->buckets[i], *next; t; t = next) {
			next = t->next;
			free(t->moments);
			free(t);
		}
	*o = (struct offcpu){ 0 };
}
