/* SPDX-License-Identifier: MIT */
/* frames: from events to calls: which of them are shown, and when? */
#include "trace/frames.h"

#include <errno.h>

enum {
	BUCKETS = 1024,		/* a power of 2 */
	MAX_OPEN = 1 << 20,	/* calls on one stack; deeper ones are not seen */
	MAX_STACKS = 1 << 20,
};

#define LONG_NS 100000000ull	/* open for so long: shown with its brace */

struct frame {
	uint32_t func;
	int32_t pid, tid;	/* of its begin */
	uint64_t begin;
	uint64_t inner;		/* ticks of what it has called */
	uint64_t cost;		/* of recording that, in thousandths of a tick */
	uint64_t mark;		/* the sink's */
};

struct stack_frames {
	struct stack_frames *next;
	uint32_t thread, stack;
	struct frame *v;
	size_t n, cap;
	size_t nopened;		/* v[0, nopened) are opened */
};

struct frames {
	const struct clock *clock;
	const struct reader_func *funcs;
	struct frames_options options;
	struct sink sink;
	struct stack_frames *buckets[BUCKETS];
	struct stack_frames *last;	/* the one used last */
	size_t nstacks;
	uint64_t start;		/* ticks */
	uint64_t shown;		/* calls that have ended */
};

int frames_new(const struct clock *clock, uint64_t start, const struct reader_func *funcs,
	       const struct frames_options *options, const struct sink *sink,
	       struct frames **ret)
{
	struct frames *f = calloc(1, sizeof(*f));

	if (!f)
		return fail(ENOMEM, "keep the open calls");
	f->clock = clock;
	f->funcs = funcs;
	f->options = *options;
	f->sink = *sink;
	f->start = start;
	*ret = f;
	return 0;
}

static void stack_free(struct stack_frames *s)
{
	free(s->v);
	free(s);
}

void frames_name(struct frames *f, const struct reader_func *funcs)
{
	f->funcs = funcs;
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct stack_frames *s = f->buckets[i], *next; s; s = next) {
			next = s->next;
			stack_free(s);
		}
	free(f);
}

static struct stack_frames **bucket(struct frames *f, uint32_t thread, uint32_t stack)
{
	return &f->buckets[(thread * 31 + stack) & (BUCKETS - 1)];
}

static struct stack_frames *find(struct frames *f, const struct event *e)
{
	struct stack_frames **head = bucket(f, e->thread, e->stack), *s = f->last;

	if (s && s->thread == e->thread && s->stack == e->stack)
		return s;
	for (s = *head; s; s = s->next)
		if (s->thread == e->thread && s->stack == e->stack)
			return f->last = s;
	s = f->nstacks < MAX_STACKS ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return NULL;
	f->nstacks++;
	s->thread = e->thread;
	s->stack = e->stack;
	s->next = *head;
	*head = s;
	return f->last = s;
}

static void forget(struct frames *f, const struct event *e)
{
	struct stack_frames **p = bucket(f, e->thread, e->stack), *s;

	while (*p && ((*p)->thread != e->thread || (*p)->stack != e->stack))
		p = &(*p)->next;
	s = *p;
	if (!s)
		return;
	*p = s->next;
	f->last = NULL;
	f->nstacks--;
	stack_free(s);
}

bool frames_full(const struct frames *f)
{
	return f->options.calls && f->shown >= f->options.calls;
}

static bool is_wanted(const struct frames *f, int32_t tid)
{
	return !f->options.tid || tid == f->options.tid;
}

static bool is_deep(const struct frames *f, size_t depth)
{
	return f->options.depth && depth >= f->options.depth;
}

static bool is_long(const struct frames *f, uint64_t ticks)
{
	return !f->options.min_ns ||
	       clock_ns(f->clock, ticks) >= f->options.min_ns;
}

static struct call call_at(const struct frames *f, const struct stack_frames *s,
			   size_t i)
{
	return (struct call){
		.func = &f->funcs[s->v[i].func],
		.pid = s->v[i].pid,
		.tid = s->v[i].tid,
		.depth = (uint32_t)i,
		.begin = s->v[i].begin,
		.inner = s->v[i].inner,
		.mark = s->v[i].mark,
		.opened = i < s->nopened,
	};
}

/* Open the `n` outermost calls of a stack. */
static void open_outer(struct frames *f, struct stack_frames *s, size_t n)
{
	while (s->nopened < n && !is_deep(f, s->nopened) && !frames_full(f)) {
		struct call c = call_at(f, s, s->nopened);

		if (!f->sink.open(f->sink.ctx, &c))
			return;
		s->nopened++;
	}
}

static void end(struct frames *f, const struct call *c)
{
	f->sink.end(f->sink.ctx, c);
	f->shown++;
}

static bool is_shown(const struct frames *f, const struct call *c)
{
	return !frames_full(f) && is_wanted(f, c->tid) && !is_deep(f, c->depth) &&
	       is_long(f, c->span);
}

/* What the call itself took. Who contains another takes as long as that at least: what
 * was measured of recording is not what it has cost each time. */
static uint64_t span_of(const struct frames *f, const struct frame *frame, const struct call *c)
{
	uint64_t wall = c->end - c->begin;
	uint64_t cost = (frame->cost + f->options.cost.inside) / 1000;

	return MAX(wall - MIN(cost, wall), MIN(frame->inner, wall));
}

/* The innermost call has ended. What was opened is closed in any case. */
static void pop(struct frames *f, struct stack_frames *s, enum call_end how,
		uint64_t tsc)
{
	const struct frame *frame = &s->v[s->n - 1];
	struct call c = call_at(f, s, s->n - 1);

	c.how = (uint8_t)how;
	c.end = MAX(tsc, c.begin);
	c.span = span_of(f, frame, &c);
	if (c.opened || is_shown(f, &c)) {
		open_outer(f, s, s->n - 1);
		end(f, &c);
	}
	s->n--;
	s->nopened = MIN(s->nopened, s->n);
	if (s->n) {
		s->v[s->n - 1].inner += c.span;
		s->v[s->n - 1].cost += frame->cost + f->options.cost.pair;
	}
}

static int entry(struct frames *f, struct stack_frames *s, const struct event *e)
{
	struct frame *frame;

	if (s->n >= MAX_OPEN)
		return 0;
	if (!f->options.min_ns && is_wanted(f, e->tid) && !is_deep(f, s->n))
		open_outer(f, s, s->n);
	frame = vec_push(s->v, s->n, s->cap);
	if (!frame)
		return -ENOMEM;
	frame->func = e->func;
	frame->pid = e->pid;
	frame->tid = e->tid;
	frame->begin = e->tsc;
	if (f->sink.begin)
		frame->mark = f->sink.begin(f->sink.ctx, s->n > 1 ? frame[-1].mark : 0,
					    &f->funcs[e->func]);
	return 0;
}

/* A call without a frame: what is known of it is one moment. */
static void moment(struct frames *f, struct stack_frames *s, const struct event *e,
		   enum call_end how)
{
	struct call c = {
		.func = &f->funcs[e->func], .pid = e->pid, .tid = e->tid,
		.depth = (uint32_t)s->n,
		.begin = how == CALL_BEFORE ? 0 : e->tsc, .end = e->tsc,
		.how = (uint8_t)how,
		.mark = s->n ? s->v[s->n - 1].mark : 0,
	};

	if (s->n && how == CALL_ENTRY_ONLY)
		s->v[s->n - 1].cost += f->options.cost.mark;
	if (!is_wanted(f, e->tid) || is_deep(f, s->n) || frames_full(f))
		return;
	/* One that began before has lasted since the start at least; of an
	 * entry alone nobody knows. */
	if (f->options.min_ns &&
	    (how != CALL_BEFORE || e->tsc < f->start || !is_long(f, e->tsc - f->start)))
		return;
	open_outer(f, s, s->n);
	end(f, &c);
}

/* Where packets are missing, or a filter has begun in the middle, those that lie
 * above the call that ends have ended before. */
static void end_inner(struct frames *f, struct stack_frames *s, const struct event *e)
{
	while (s->n && s->v[s->n - 1].func != e->func)
		pop(f, s, CALL_EXIT_LOST, e->tsc);
}

static int on_stack(struct frames *f, struct stack_frames *s, const struct event *e)
{
	static const uint8_t ends[] = {
		[EVENT_EXIT] = CALL_RETURN,
		[EVENT_UNWOUND] = CALL_UNWOUND,
		[EVENT_EXIT_LOST] = CALL_EXIT_LOST,
	};

	switch (e->kind) {
	case EVENT_ENTRY:
		return entry(f, s, e);
	case EVENT_MARK:
		moment(f, s, e, CALL_ENTRY_ONLY);
		return 0;
	case EVENT_BEFORE:
		moment(f, s, e, CALL_BEFORE);
		return 0;
	}
	end_inner(f, s, e);
	if (s->n)
		pop(f, s, ends[e->kind], e->tsc);
	else
		moment(f, s, e, CALL_BEFORE);
	return 0;
}

int frames_event(void *ctx, const struct event *e)
{
	struct frames *f = ctx;
	struct stack_frames *s;

	/* What another thread does on a fiber may end a call of this one. */
	if (!is_wanted(f, e->tid) && (e->thread != NO_THREAD || e->kind == EVENT_LOST))
		return 0;
	if (e->kind == EVENT_LOST) {
		f->sink.lost(f->sink.ctx, e);
		return 0;
	}
	s = find(f, e);
	if (s && e->kind == EVENT_STACK_END) {
		while (s->n)
			pop(f, s, CALL_EXIT_LOST, e->tsc);
		forget(f, e);
		return 0;
	}
	return s ? on_stack(f, s, e) : fail(ENOMEM, "keep the open calls");
}

static void open_old(struct frames *f, struct stack_frames *s, uint64_t now)
{
	size_t n = s->nopened;

	while (n < s->n && is_wanted(f, s->v[n].tid) && now > s->v[n].begin &&
	       clock_ns(f->clock, now - s->v[n].begin) >=
	       MAX(LONG_NS, f->options.min_ns))
		n++;
	open_outer(f, s, n);
}

void frames_tick(struct frames *f, uint64_t now)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct stack_frames *s = f->buckets[i]; s; s = s->next)
			open_old(f, s, now);
}

void frames_finish(struct frames *f, uint64_t now)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct stack_frames *s = f->buckets[i]; s; s = s->next)
			while (s->n)
				pop(f, s, CALL_OPEN, now);
}
