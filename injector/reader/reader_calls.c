/* SPDX-License-Identifier: MIT */
/*
 * reader_calls: which calls are open on each stack of a thread?
 *
 * The payload pairs frames by stack pointer and records only what cannot be
 * concluded. Here the same stacks are kept as function numbers, so that every
 * event that leaves the reader is well formed, also after losses. Every frame
 * is pushed once and popped once: a hostile ring costs no more than its words.
 */
#include "injector/reader/reader_impl.h"

#include <errno.h>

#include "plan/plan.h"

/* End the innermost call. */
static void lane_pop(struct reader *r, struct lane *l, enum event_kind kind)
{
	struct open_calls *s = current(r, l);
	struct open_call *c = &s->calls[--s->n];
	bool known = kind == EVENT_EXIT || kind == EVENT_UNWOUND;

	s->ncopies -= c->copy != 0;
	s->nheld -= c->held != NULL;
	s->told = c->unwanted ? s->told : c->outer;
	if (c->held && known && asked_passes(r, l, c, kind == EVENT_EXIT))
		held_ended(r, l, c, kind);
	else if (c->unwanted)
		r->stats.events -= kind == EVENT_EXIT;
	else
		tell_one(r, l, kind, c->func, 0);
	asked_lose(r, c->held && !known);
	asked_forget(r, c);
}

/*
 * Calls on a stack with depths that lie at `depth` or deeper have been left: by a
 * panic that was recovered from, or because the stack has begun anew. Elsewhere the
 * payload says so, and all are at depth 0.
 */
static void leave_deeper(struct reader *r, struct lane *l, uint32_t depth)
{
	const struct open_calls *s = current(r, l);

	while (depth && s->n && s->calls[s->n - 1].depth >= depth)
		lane_pop(r, l, EVENT_UNWOUND);
}

static bool lane_push(struct reader *r, struct lane *l, struct open_call call)
{
	struct open_calls *s = current(r, l);
	struct open_call *slot = s->n < MAX_OPEN ? vec_push(s->calls, s->n, s->cap) : NULL;

	if (slot)
		*slot = call;
	else
		r->stats.damaged++;
	s->ncopies += slot && call.copy;
	if (slot && !call.unwanted)
		held_not(s, slot);
	if (slot && call.held) {
		uint32_t *held = vec_push(s->held, s->nheld, s->held_cap);

		if (held)
			*held = (uint32_t)(s->n - 1);
		asked_lose(r, !held);
		if (!held)
			asked_forget(r, slot);
	}
	return slot;
}

void calls_entry(struct reader *r, struct lane *l, struct open_call call)
{
	leave_deeper(r, l, call.depth);
	asked_entry(r, l, current(r, l), &call);
	if (!lane_push(r, l, call))
		asked_forget(r, &call);
	else if (!call.unwanted)
		tell_one(r, l, EVENT_ENTRY, call.func, 0);
}

/* It is among those that have been told as begun, which are around all others. */
static bool is_told(const struct open_calls *s, uint32_t func, uint64_t begin)
{
	for (size_t i = 0; i < s->n && s->calls[i].begin; i++)
		if (s->calls[i].func == func && s->calls[i].begin == begin)
			return true;
	return false;
}

void calls_begun(struct reader *r, struct lane *l, uint32_t func, uint64_t begin)
{
	struct event e = tell_of(r, l, EVENT_ENTRY, func);

	if (is_told(current(r, l), func, begin) ||
	    !lane_push(r, l, (struct open_call){ .func = func, .begin = begin }))
		return;
	r->stats.calls++;
	r->stats.events++;
	e.begin = begin;
	tell_event(r, &e);
}

/*
 * Frames above the one that ends have ended before it, and their exits were
 * dropped (a throw or longjmp says so itself). A function that is not open here
 * is outside of all that is: then every one of them has ended.
 */
void calls_exit(struct reader *r, struct lane *l, struct open_call call)
{
	struct open_calls *s = current(r, l);

	leave_deeper(r, l, call.depth ? call.depth + 1 : 0);
	/* Those around it on a stack with depths go on. */
	while (s->n && s->calls[s->n - 1].func != call.func &&
	       s->calls[s->n - 1].depth >= call.depth)
		lane_pop(r, l, EVENT_EXIT_LOST);
	if (s->n && s->calls[s->n - 1].depth >= call.depth) {
		lane_pop(r, l, EVENT_EXIT);
		return;
	}
	/* A fiber's that the payload takes for open was taken for one of those above. */
	if (l->fiber && !call.depth && !r->kept)
		return;
	/* Of one that began before it is not known whether it is wanted. */
	if (r->funcs[call.func].asked)
		r->stats.events--;
	else
		tell_one(r, l, EVENT_BEFORE, call.func, 0);
	s->unseen -= s->unseen > 0;
}

void calls_begin_within(struct reader *r, struct lane *l, uint64_t n)
{
	current(r, l)->unseen = n;
}

void calls_remain(struct reader *r, struct lane *l, uint64_t n,
		  enum event_kind kind)
{
	struct open_calls *s = current(r, l);

	while (s->n && s->unseen + s->n - s->ncopies > n)
		lane_pop(r, l, kind);
	/* What was lost may have been the end of a copy. */
	while (kind == EVENT_EXIT_LOST && s->n && s->calls[s->n - 1].copy)
		lane_pop(r, l, kind);
	s->unseen = MIN(s->unseen, n);
}

/* ---- copies of inlined functions ------------------------------------------- */

static const struct open_call *innermost_copy(struct reader *r, struct lane *l)
{
	const struct open_calls *s = current(r, l);

	return s->n && s->calls[s->n - 1].copy ? &s->calls[s->n - 1] : NULL;
}

/* Is that a place deeper on the stack than this one? */
static bool is_deeper(uint32_t at, uint32_t than)
{
	return ((at - than) & ((1u << MARK_AT_BITS) - 1)) >> (MARK_AT_BITS - 1);
}

/* The copies that begin where a mark is, by their ids: one, if nothing is said. */
static size_t begun_here(const struct reader_func *mark, const uint32_t *func, const uint32_t **ret)
{
	*ret = mark->nwith ? mark->with : func;
	return mark->nwith ? mark->nwith : 1;
}

static bool begins_here(const struct reader *r, uint32_t func, uint32_t copy)
{
	const uint32_t *v;
	size_t n = begun_here(&r->funcs[func], &func, &v);

	for (size_t i = 0; i < n; i++)
		if (v[i] == copy && copy < r->nfuncs && r->funcs[copy].begins)
			return true;
	return false;
}

/* How does the mark say that a copy has ended? NULL: it does not. */
static const struct copy_ended *ends_here(const struct reader_func *mark, uint32_t copy)
{
	for (size_t i = 0; i < mark->nends; i++)
		if (mark->ends[i].func == copy)
			return &mark->ends[i];
	return NULL;
}

/*
 * What a mark tells of copies, at a place on the stack:
 *
 *  1. those that lie deeper were left otherwise, such as by longjmp;
 *  2. those at this place end whose ends it is one of, the innermost first. If one that is further
 *     in has no end here, it was left otherwise;
 *  3. its own begin. One that is open at this place was left otherwise, too, for its code is not
 *     come to again from within.
 *
 * When one was left otherwise is not known: an end may have been disarmed, too. Calls that have
 * frames are not touched: a copy around them is open as long as they are.
 */
static void mark_copies(struct reader *r, struct lane *l, uint32_t func, uint32_t at)
{
	const struct reader_func *mark = &r->funcs[func];
	const struct open_calls *s = current(r, l);
	const struct open_call *c;
	size_t ending = s->n;

	while ((c = innermost_copy(r, l)) && is_deeper(c->at, at))		/* 1 */
		lane_pop(r, l, EVENT_EXIT_LOST);
	for (size_t i = s->n; i && s->calls[i - 1].copy && s->calls[i - 1].at == at; i--)
		if (ends_here(mark, s->calls[i - 1].copy) ||
		    begins_here(r, func, s->calls[i - 1].copy))
			ending = i - 1;
	while (s->n > ending) {							/* 2 */
		const struct copy_ended *end = ends_here(mark, s->calls[s->n - 1].copy);

		r->stats.events += end && !end->thrown;
		lane_pop(r, l, !end ? EVENT_EXIT_LOST : end->thrown ? EVENT_UNWOUND : EVENT_EXIT);
	}
}

/* 3. What does not begin as a call is told as a mark. */
static void mark_begun(struct reader *r, struct lane *l, uint32_t func, uint32_t at)
{
	const struct reader_func *f = &r->funcs[func];
	bool begins = f->begins && at;
	bool told = begins || (!f->hidden && asked_mark(r, l, current(r, l), func));

	r->stats.calls += told;
	r->stats.events += told;
	if (begins)
		calls_entry(r, l, (struct open_call){ .func = func, .copy = func, .at = at });
	else if (told)
		tell_one(r, l, EVENT_MARK, func, 0);
}

static void end_current(struct reader *r, struct lane *l, enum event_kind kind)
{
	calls_remain(r, l, 0, kind);
	tell_one(r, l, EVENT_STACK_END, 0, 0);
	calls_forget(r, current(r, l));
	*current(r, l) = (struct open_calls){ 0 };
}

void calls_forget(struct reader *r, struct open_calls *s)
{
	for (size_t i = 0; i < s->n; i++)
		asked_forget(r, &s->calls[i]);
	free(s->calls);
	free(s->held);
}

/* Calls that never return, and are left now. */
static void leave_left(struct reader *r, struct lane *l)
{
	const struct open_calls *s = current(r, l);

	while (s->n && plan_ending(r->funcs[s->calls[s->n - 1].func].name) == ENDING_LEFT)
		lane_pop(r, l, EVENT_UNWOUND);
}

/* On a stack that a runtime has made some calls tell that what is around them is over. */
void calls_mark(struct reader *r, struct lane *l, uint32_t func, uint32_t at)
{
	const struct reader_func *mark = &r->funcs[func];
	const uint32_t *begun;
	size_t n = begun_here(mark, &func, &begun);

	if (at && (mark->begins || mark->nends || mark->nwith))
		mark_copies(r, l, func, at);
	for (size_t i = 0; i < n; i++)
		if (begun[i] < r->nfuncs)
			mark_begun(r, l, begun[i], at);
	if (!has_depths(l->fiber))
		return;
	enum plan_ending ending = plan_ending(r->funcs[func].name);

	if (ending == ENDING_STACK)
		end_current(r, l, EVENT_UNWOUND);
	else if (ending == ENDING_LEAVES)
		leave_left(r, l);
}

static size_t least_used(const struct lane *l)
{
	size_t least = 0;

	for (size_t i = 1; i < l->nstacks; i++)
		if (l->stacks[i].used < l->stacks[least].used)
			least = i;
	return least;
}

static bool lane_find(struct lane *l, uint32_t number)
{
	for (size_t i = 0; i < l->nstacks; i++)
		if (l->stacks[i].number == number) {
			l->current = i;
			return true;
		}
	return false;
}

/* Is this place better to be given to another fiber than that? One that is free, or
 * without open calls, or longest unused. */
static bool is_better(const struct open_calls *a, const struct open_calls *b)
{
	if (!a->number || !b->number)
		return !a->number && b->number;
	if (!a->n != !b->n)
		return !a->n;
	return a->used < b->used;
}

static size_t find_fiber(const struct reader *r, uint32_t number)
{
	size_t home = number * 0x9e3779b1u >> 17, best = home % MAX_FIBERS;

	for (size_t i = 0; i < FIBER_PLACES; i++) {
		size_t at = (home + i) % MAX_FIBERS;

		if (r->fibers[at].number == number)
			return at;
		if (is_better(&r->fibers[at], &r->fibers[best]))
			best = at;
	}
	return best;
}

/* Its calls are where it was, unless its place is another's now; which may have
 * calls that have been open for long. */
static void begin_fiber(struct reader *r, struct lane *l)
{
	if (current(r, l)->number == l->fiber)
		return;
	l->fiber_at = find_fiber(r, l->fiber);
	if (current(r, l)->number && current(r, l)->number != l->fiber)
		end_current(r, l, EVENT_EXIT_LOST);
	current(r, l)->number = l->fiber;
	current(r, l)->pid = l->pid;
	current(r, l)->used = ++r->switches;
}

/* A thread that changes stacks without end (fibers) costs MAX_STACKS of them. */
void calls_stack(struct reader *r, struct lane *l, uint32_t number)
{
	l->switches++;
	l->fiber = number & STACK_SHARED ? number : 0;
	if (l->fiber) {
		begin_fiber(r, l);
		return;
	}
	if (!lane_find(l, number)) {
		size_t n = l->nstacks;

		if (n < MAX_STACKS &&
		    vec_push(l->stacks, l->nstacks, l->stacks_cap)) {
			l->current = n;
		} else if (n) {
			l->current = least_used(l);
			end_current(r, l, EVENT_EXIT_LOST);
		} else {
			r->err = -ENOMEM;
			return;
		}
		current(r, l)->number = number;
	}
	current(r, l)->used = l->switches;
}

void calls_resume(struct reader *r, struct lane *l)
{
	if (l->fiber)
		begin_fiber(r, l);
	else if (!l->nstacks)
		calls_stack(r, l, 0);
}

void calls_end(struct reader *r, struct lane *l)
{
	/* A fiber goes on elsewhere, or waits. */
	l->fiber = 0;
	/* Of what is read long afterwards the time is not known. */
	for (l->current = 0; l->current < l->nstacks; l->current++)
		end_current(r, l, r->kept ? EVENT_EXIT_LOST : EVENT_UNWOUND);
	free(l->stacks);
	l->stacks = NULL;
	l->nstacks = l->stacks_cap = l->current = 0;
}

void calls_end_fibers(struct reader *r, struct lane *l)
{
	for (size_t i = 0; r->switches && i < MAX_FIBERS; i++) {
		if (!r->fibers[i].number || r->fibers[i].pid != l->pid)
			continue;
		l->fiber = r->fibers[i].number;
		l->fiber_at = i;
		end_current(r, l, r->kept ? EVENT_EXIT_LOST : EVENT_UNWOUND);
	}
}
