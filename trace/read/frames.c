/* SPDX-License-Identifier: MIT */
/* frames: from events to calls: which of them are shown, and when? */
#include "trace/read/frames.h"

#include <errno.h>
#include <string.h>

#include "trace/read/losses.h"

enum {
	BUCKETS = 1024,		/* a power of 2 */
	MAX_OPEN = 1 << 20,	/* calls on one stack; deeper ones are not seen */
	MAX_STACKS = 1 << 20,
	MAX_CAPTURED = 1 << 26,	/* bytes of values of calls that are open; of more none are kept */
};

#define LONG_NS 100000000ull	/* open for so long: shown with its brace */

struct frame {
	uint32_t func;
	int32_t pid, tid;	/* of its begin */
	uint64_t begin;
	uint64_t inner;		/* ticks of what it has called */
	uint64_t cost;		/* of recording that, in thousandths of a tick */
	uint64_t mark;		/* the sink's */
	bool began;		/* `begin` is that, and not only a moment at which it was
				 * open */
	struct offcpu_times off;	/* at its begin */
	uint16_t ncapture;	/* bytes that were read at its entry */
	uint8_t *capture;	/* owned; NULL: none were */
	uint8_t ncallers, cut;
	uint64_t *callers;	/* owned; NULL: not known */
};

struct stack_frames {
	struct stack_frames *next;
	uint32_t thread, stack;
	uint64_t first;		/* ticks of its first event */
	uint64_t seen;		/* number of its last */
	struct frame *v;
	size_t n, cap;
	size_t nopened;		/* v[0, nopened) are opened */
	size_t nearlier;	/* v[0, nearlier) have begun before their record */
};

struct frames {
	const struct clock *clock;
	const struct reader_func *funcs;
	struct frames_options options;
	struct sink sink;
	struct stack_frames *buckets[BUCKETS];
	struct stack_frames *last;	/* the one used last */
	size_t nstacks;
	struct losses losses;	/* by the number of the event that says so */
	uint64_t seen;		/* events so far */
	struct offcpu off;	/* of the threads */
	uint64_t start;		/* ticks */
	uint64_t shown;		/* calls that are, opened or as they end */
	uint64_t opened;	/* and those that are open */
	uint64_t captured;	/* bytes of values that are kept */
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
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].capture);
		free(s->v[i].callers);
	}
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
	losses_clear(&f->losses);
	offcpu_clear(&f->off);
	free(f);
}

static struct stack_frames **frames_bucket(struct frames *f, uint32_t thread, uint32_t stack)
{
	return &f->buckets[(thread * 31 + stack) & (BUCKETS - 1)];
}

static struct call call_at(const struct frames *f, const struct stack_frames *s,
			   size_t i)
{
	const struct frame *outer = i ? &s->v[i - 1] : NULL;

	return (struct call){
		.func = &f->funcs[s->v[i].func],
		.pid = s->v[i].pid,
		.tid = s->v[i].tid,
		.thread = s->thread, .stack = s->stack,
		.depth = (uint32_t)i,
		.begin = s->v[i].begin,
		.inner = s->v[i].inner,
		.mark = s->v[i].mark,
		.opened = i < s->nopened,
		.entry = s->v[i].capture,
		.nentry = s->v[i].ncapture,
		.callers = s->v[i].callers, .ncallers = s->v[i].ncallers, .cut = s->v[i].cut,
		.outer = outer ? &f->funcs[outer->func] : NULL,
		.outer_callers = outer ? outer->callers : NULL,
		.nouter = outer ? outer->ncallers : 0,
	};
}

/* What is said of a call that begins, as long as it is open; a copy, or NULL. */
static void *keep_said(struct frames *f, const void *said, size_t size)
{
	void *ret = said && f->captured < MAX_CAPTURED ? malloc(size + 1) : NULL;

	if (!ret)
		return NULL;
	memcpy(ret, said, size);
	f->captured += size;
	return ret;
}

static struct frame *frames_push_call(struct frames *f, struct stack_frames *s,
				      const struct event *e, uint32_t func, uint64_t begin)
{
	struct frame *frame = vec_push(s->v, s->n, s->cap);

	if (!frame)
		return NULL;
	frame->func = func;
	frame->pid = e->pid;
	frame->tid = e->tid;
	frame->begin = begin;
	frame->began = true;
	frame->off = offcpu_at(&f->off, e->thread, begin);
	frame->capture = keep_said(f, e->ncapture ? e->capture : NULL, e->ncapture);
	frame->ncapture = frame->capture ? e->ncapture : 0;
	frame->callers = keep_said(f, e->callers, e->ncallers * sizeof(*e->callers));
	frame->ncallers = frame->callers ? e->ncallers : 0;
	frame->cut = e->cut;
	if (f->sink.begin) {
		const struct call c = call_at(f, s, s->n - 1);

		frame->mark = f->sink.begin(f->sink.ctx, s->n > 1 ? frame[-1].mark : 0, &c);
	}
	return frame;
}

static struct stack_frames *frames_find(struct frames *f, const struct event *e)
{
	struct stack_frames **head = frames_bucket(f, e->thread, e->stack), *s = f->last;

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
	s->first = e->tsc;
	s->next = *head;
	*head = s;
	return f->last = s;
}

static bool was_there(const struct frames *f, int32_t pid)
{
	return !f->options.pid || f->options.pid == pid;
}

/* The innermost ends first. A call that contains another was open when that began. */
static int open_earlier(struct frames *f, const struct earlier_call *calls, size_t n, bool whole)
{
	whole = whole && was_there(f, calls->pid);
	struct event e = { .tsc = whole ? MIN(f->start, calls->first) : calls->first,
			   .thread = calls->thread, .stack = calls->stack,
			   .pid = calls->pid, .tid = calls->tid };
	struct stack_frames *s = frames_find(f, &e);
	uint64_t begin = e.tsc;

	n = MIN(n, (size_t)MAX_OPEN);
	for (size_t i = n; s && i; i--) {
		struct frame *frame = frames_push_call(f, s, &e, calls[i - 1].func, 0);

		if (!frame)
			return -ENOMEM;
		frame->began = calls[i - 1].begin;
	}
	for (size_t i = 0; s && i < n; i++) {
		begin = calls[i].begin ? MIN(begin, calls[i].begin) : begin;
		s->v[n - 1 - i].begin = begin;
	}
	if (s)
		s->nearlier = n;
	return s ? 0 : -ENOMEM;
}

int frames_earlier(struct frames *f, const struct earlier *earlier, bool whole)
{
	const struct earlier_call *calls;
	size_t at = 0, n;
	int err = 0;

	while (!err && (n = earlier_next(earlier, &at, &calls)))
		err = open_earlier(f, calls, n, whole);
	return err ? fail(ENOMEM, "keep the open calls") : 0;
}

static void frames_forget(struct frames *f, const struct event *e)
{
	struct stack_frames **p = frames_bucket(f, e->thread, e->stack), *s;

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

bool frames_done(const struct frames *f)
{
	return frames_full(f) && !f->opened;
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

/* Open the `n` outermost calls of a stack. */
static void open_outer(struct frames *f, struct stack_frames *s, size_t n)
{
	while (s->nopened < n && !is_deep(f, s->nopened) && !frames_full(f)) {
		struct call c = call_at(f, s, s->nopened);

		if (!f->sink.open(f->sink.ctx, &c))
			return;
		s->nopened++;
		f->opened++;
		f->shown++;
	}
}

/* Show one that ends, and was not opened, with the `n` around it: as far as -n goes. */
static void frames_show(struct frames *f, struct stack_frames *s, size_t n, const struct call *c)
{
	open_outer(f, s, n);
	if (frames_full(f))
		return;
	f->sink.end(f->sink.ctx, c);
	f->shown++;
}

static bool is_shown(const struct frames *f, const struct call *c)
{
	return !frames_full(f) && is_wanted(f, c->tid) && !is_deep(f, c->depth) &&
	       is_long(f, c->span);
}

/* What the call itself took. A call that contains another takes as long as that at least: what
 * was measured of recording is not what it has cost each time. */
static uint64_t span_of(const struct frames *f, const struct frame *frame, const struct call *c)
{
	uint64_t wall = c->end - c->begin;
	uint64_t cost = (frame->cost + f->options.cost.inside) / 1000;

	return MAX(wall - MIN(cost, wall), MIN(frame->inner, wall));
}

/* What of its span had no processor. */
static void take_wait(struct frames *f, const struct stack_frames *s, const struct frame *frame,
		      struct call *c)
{
	struct offcpu_times end = offcpu_at(&f->off, s->thread, c->end);

	c->wait_known = frame->off.since != OFFCPU_UNKNOWN && frame->off.since == end.since &&
			end.wait >= frame->off.wait && end.preempted >= frame->off.preempted &&
			call_has_span(c) && c->how != CALL_BEFORE;
	if (!c->wait_known)
		return;
	c->wait = MIN(end.wait - frame->off.wait, c->span);
	c->preempted = MIN(end.preempted - frame->off.preempted, c->wait);
}

/* What a call is of the one around it, whose own the rest is: all that it took, if that is known;
 * and what the user does not want to see is no call. */
static uint64_t inner_of(const struct frames *f, const struct call *c)
{
	return c->how == CALL_EXIT_LOST ? c->inner :
	       is_deep(f, c->depth) || !is_long(f, c->span) ? 0 : c->span;
}

/* The innermost call has ended. What was opened is closed in any case. `e`: its exit; NULL: that
 * was not seen. */
static void frames_end_call(struct frames *f, struct stack_frames *s, enum call_end how,
			    uint64_t tsc, const struct event *e)
{
	const struct frame *frame = &s->v[s->n - 1];
	struct call c = call_at(f, s, s->n - 1);

	c.exit = e ? e->capture : NULL;
	c.nexit = e ? e->ncapture : 0;
	c.how = (uint8_t)how;
	c.end = MAX(tsc, c.begin);
	c.span = span_of(f, frame, &c);
	take_wait(f, s, frame, &c);
	f->opened -= c.opened;
	if (c.opened)
		f->sink.end(f->sink.ctx, &c);
	else if (is_shown(f, &c))
		frames_show(f, s, s->n - 1, &c);
	s->n--;
	s->nopened = MIN(s->nopened, s->n);
	s->nearlier = MIN(s->nearlier, s->n);
	if (s->n) {
		s->v[s->n - 1].inner += inner_of(f, &c);
		s->v[s->n - 1].cost += frame->cost + f->options.cost.pair;
	}
	f->captured -= frame->ncapture + frame->ncallers * sizeof(*frame->callers);
	free(frame->capture);
	free(frame->callers);
}

static void frames_pop_call(struct frames *f, struct stack_frames *s, enum call_end how,
			    uint64_t tsc)
{
	frames_end_call(f, s, how, tsc, NULL);
}

static int entry(struct frames *f, struct stack_frames *s, const struct event *e)
{
	if (s->n >= MAX_OPEN)
		return 0;
	if (!f->options.min_ns && is_wanted(f, e->tid) && !is_deep(f, s->n))
		open_outer(f, s, s->n);
	return frames_push_call(f, s, e, e->func, e->begin ?: e->tsc) ? 0 : -ENOMEM;
}

/* A call without a frame: what is known of it is one moment. */
static void moment(struct frames *f, struct stack_frames *s, const struct event *e,
		   enum call_end how)
{
	const struct frame *outer = s->n ? &s->v[s->n - 1] : NULL;
	struct call c = {
		.func = &f->funcs[e->func], .pid = e->pid, .tid = e->tid,
		.thread = e->thread, .stack = e->stack,
		.depth = (uint32_t)s->n,
		.begin = how == CALL_BEFORE ? 0 : e->tsc, .end = e->tsc,
		.how = (uint8_t)how,
		.entry = e->capture, .nentry = e->ncapture,
		.callers = e->callers, .ncallers = e->ncallers, .cut = e->cut,
		.outer = outer ? &f->funcs[outer->func] : NULL,
		.outer_callers = outer ? outer->callers : NULL,
		.nouter = outer ? outer->ncallers : 0,
	};

	if (s->n && how == CALL_ENTRY_ONLY)
		s->v[s->n - 1].cost += f->options.cost.mark;
	if (!is_wanted(f, e->tid) || is_deep(f, s->n) || frames_full(f))
		return;
	/* One that began before has lasted since the start at least; of an entry alone it is
	 * not known. */
	if (f->options.min_ns && (how != CALL_BEFORE || !was_there(f, e->pid) ||
				  e->tsc < f->start || !is_long(f, e->tsc - f->start)))
		return;
	if (f->sink.begin)
		c.mark = f->sink.begin(f->sink.ctx, outer ? outer->mark : 0, &c);
	frames_show(f, s, s->n, &c);
}

/* Where packets are missing, or a filter has begun in the middle, those that lie
 * above the call that ends have ended before. */
static void end_inner(struct frames *f, struct stack_frames *s, const struct event *e)
{
	while (s->n > s->nearlier && s->v[s->n - 1].func != e->func)
		frames_pop_call(f, s, CALL_EXIT_LOST, e->tsc);
}

/* A call ends that has begun before the record of its stack. */
static void before(struct frames *f, struct stack_frames *s, const struct event *e)
{
	const struct frame *top = s->n ? &s->v[s->n - 1] : NULL;
	enum call_end how = e->kind == EVENT_EXIT_LOST ? CALL_EXIT_LOST :
			    !top || !top->began ? CALL_BEFORE :
			    e->kind == EVENT_UNWOUND ? CALL_UNWOUND : CALL_RETURN;

	if (!top && f->sink.before)
		f->sink.before(f->sink.ctx, e, s->first);
	if (top && s->n == s->nearlier && top->func == e->func)
		frames_pop_call(f, s, how, e->tsc);
	else
		moment(f, s, e, CALL_BEFORE);
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
		before(f, s, e);
		return 0;
	}
	end_inner(f, s, e);
	if (s->n > s->nearlier)
		frames_end_call(f, s, ends[e->kind], e->tsc, e);
	else
		before(f, s, e);
	return 0;
}

/* May what is open there have ended, so that its end was lost? Any thread may end what a fiber has
 * open: but what a thread loses says nothing of all that wait elsewhere, goroutines mostly, while
 * handlers of signals lose some all the time. */
static bool has_lost(const struct frames *f, const struct stack_frames *s)
{
	return s->thread != NO_THREAD && losses_last(&f->losses, s->thread) > s->seen;
}

int frames_event(void *ctx, const struct event *e)
{
	struct frames *f = ctx;
	struct stack_frames *s;

	f->seen++;
	/* What another thread does on a fiber may end a call of this one. */
	if (!is_wanted(f, e->tid) && (e->thread != NO_THREAD || e->kind == EVENT_LOST))
		return 0;
	if (e->kind == EVENT_LOST) {
		f->sink.lost(f->sink.ctx, e);
		return losses_note(&f->losses, e->thread, f->seen);
	}
	if (event_is_switch(e)) {
		struct offcpu_span span;

		if (offcpu_event(&f->off, e, &span) && f->sink.off)
			f->sink.off(f->sink.ctx, &span);
		return 0;
	}
	s = frames_find(f, e);
	if (s)
		s->seen = f->seen;
	if (s && e->kind == EVENT_STACK_END) {
		while (s->n)
			frames_pop_call(f, s, CALL_EXIT_LOST, e->tsc);
		frames_forget(f, e);
		offcpu_forget(&f->off, e->thread);
		return 0;
	}
	return s ? on_stack(f, s, e) : fail(ENOMEM, "keep the open calls");
}

static uint64_t long_ns(const struct frames *f)
{
	return MAX(LONG_NS, f->options.min_ns);
}

static bool is_old(const struct frames *f, const struct frame *frame, uint64_t now)
{
	return now > frame->begin && clock_ns(f->clock, now - frame->begin) >= long_ns(f);
}

static void open_old(struct frames *f, struct stack_frames *s, uint64_t now)
{
	size_t n = s->nopened;

	while (n < s->n && is_wanted(f, s->v[n].tid) && is_old(f, &s->v[n], now))
		n++;
	open_outer(f, s, n);
}

/* The begin of a call that may yet be shown as it ends; or `now`. */
static uint64_t first_hidden(const struct frames *f, const struct stack_frames *s, uint64_t now)
{
	if (s->nopened >= s->n)
		return now;
	const struct frame *frame = &s->v[s->nopened];
	bool hidden = !is_deep(f, s->nopened) && !frames_full(f) && is_wanted(f, frame->tid) &&
		      !is_old(f, frame, now);

	return hidden ? MIN(frame->begin, now) : now;
}

void frames_tick(struct frames *f, uint64_t now)
{
	uint64_t settled = now;

	for (size_t i = 0; i < BUCKETS; i++)
		for (struct stack_frames *s = f->buckets[i]; s; s = s->next) {
			open_old(f, s, now);
			settled = MIN(settled, first_hidden(f, s, now));
		}
	if (f->sink.settled)
		f->sink.settled(f->sink.ctx, settled);
}

void frames_finish(struct frames *f, uint64_t now)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct stack_frames *s = f->buckets[i]; s; s = s->next)
			while (s->n)
				frames_pop_call(f, s, has_lost(f, s) ? CALL_EXIT_LOST : CALL_OPEN,
						now);
	if (f->sink.off)
		offcpu_finish(&f->off, now, f->sink.off, f->sink.ctx);
	if (f->sink.settled)
		f->sink.settled(f->sink.ctx, UINT64_MAX);
}
