/* SPDX-License-Identifier: MIT */
/* offcpu: how long has a thread had no processor, up to a moment? */
#include "trace/read/offcpu.h"

enum { MAX_THREADS = 1 << 20 };

struct offcpu_thread {
	struct offcpu_thread *next;
	uint32_t thread;
	int32_t pid, tid;
	struct offcpu_times times;	/* up to the begin of the span that is open */
	bool off, preempted;
	uint64_t from;		/* of the open span, if it is off */
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
	return ended;
}

struct offcpu_times offcpu_at(struct offcpu *o, uint32_t thread, uint64_t tsc)
{
	const struct offcpu_thread *t = o->n ? offcpu_find(o, thread) : NULL;

	return t ? times_at(t, tsc) : (struct offcpu_times){ .since = OFFCPU_UNKNOWN };
}

void offcpu_forget(struct offcpu *o, uint32_t thread)
{
	struct offcpu_thread **p = place_of(o, thread), *t = *p;

	if (!t)
		return;
	*p = t->next;
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
			free(t);
		}
	*o = (struct offcpu){ 0 };
}
