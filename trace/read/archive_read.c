/* SPDX-License-Identifier: MIT */
/*
 * archive_read: the events of a trace directory, in time order.
 *
 * Every file has its next word, and is read for as long as no other has an earlier
 * one.
 */
#include "trace/read/archive_impl.h"

#include <errno.h>

/* The survey has seen more: the file has been cut, or written into. */
static void say_gone(struct archive *a, const struct source *s)
{
	if (s->packets)
		archive_say(a, "%s/%s: %llu packets that were there cannot be found any more",
			    a->path, s->name, (unsigned long long)s->packets);
}

/* The time of the next word; packets that hold nothing more are left. False at the
 * end of the file. */
static int peek(struct archive *a, struct source *s)
{
	struct stored p;
	int err = 0;

	s->ready = false;
	while (s->pos >= s->n) {
		if (!packet_find(a, s, false, &p)) {
			say_gone(a, s);
			free(s->words);
			s->words = NULL;
			return 0;
		}
		err = packet_load(a, s, &p);
		if (err)
			return err;
	}
	uint64_t tsc = s->base | ((s->words[s->pos] >> REC_TIME_SHIFT) & LAYOUT_TIME_MASK);

	s->tsc = MAX(s->tsc, tsc);
	s->ready = true;
	return 0;
}

struct reading {
	struct archive *a;
	struct archive_filter filter;
	int (*each)(void *ctx, const struct event *);
	void *ctx;
};

/* The word that was just read. */
static void doubt(struct doubt *d, const struct source *s)
{
	if (!d->n++)
		*d = (struct doubt){ 1, s, s->at, s->pos };
}

static int deliver_begun(struct reading *r, struct source *s, enum event_kind kind, uint32_t func,
			 uint64_t begin)
{
	const struct archive_filter *f = &r->filter;

	if (s->tsc < f->since || s->tsc > f->until)
		return 0;
	if (func >= r->a->metadata.about.nfuncs) {
		func = (uint32_t)r->a->metadata.about.nfuncs;
		doubt(&r->a->unknown, s);
	}
	if (f->funcs && !f->funcs[func])
		return 0;
	s->event.kind = (uint8_t)kind;
	s->event.func = func;
	s->event.tsc = s->tsc;
	s->event.begin = begin;
	if (s->captured != func)
		s->event.ncapture = 0;
	if (!s->event.ncapture)
		s->event.capture = NULL;
	if (s->callee != func)
		s->event.callers = NULL;
	if (!s->event.callers)
		s->event.ncallers = s->event.cut = 0;
	return r->each(r->ctx, &s->event);
}

static int archive_deliver(struct reading *r, struct source *s, enum event_kind kind, uint32_t func)
{
	return deliver_begun(r, s, kind, func, 0);
}

/* A call that has begun before its event: a third word says when. */
static int take_begun(struct reading *r, struct source *s, uint32_t func)
{
	uint64_t begin;

	if (s->pos == s->n) {
		doubt(&r->a->damaged, s);
		return 0;
	}
	begin = s->words[s->pos++];
	return deliver_begun(r, s, EVENT_ENTRY, func, MIN(begin, s->tsc));
}

/* Events that have no function. */
static int deliver_other(struct reading *r, struct source *s, enum event_kind kind)
{
	s->event.kind = (uint8_t)kind;
	s->event.func = 0;
	s->event.tsc = s->tsc;
	return r->each(r->ctx, &s->event);
}

/* Those before the time that is asked for say where a thread is as it begins. */
static int deliver_switch(struct reading *r, struct source *s, enum event_kind kind)
{
	return s->tsc > r->filter.until ? 0 : deliver_other(r, s, kind);
}

/* They belong to the next event of the packet, and stay where they are. */
static void take_values(struct reading *r, struct source *s, uint64_t value)
{
	size_t n = value >> LAYOUT_VALUES_WORDS & LAYOUT_VALUES_MASK;
	uint16_t bytes = (uint16_t)(value >> LAYOUT_VALUES_BYTES);

	if (n > s->n - s->pos || bytes > n * 8) {
		doubt(&r->a->damaged, s);
		return;
	}
	s->event.capture = (const uint8_t *)&s->words[s->pos];
	s->event.ncapture = bytes;
	s->captured = (uint32_t)value & LAYOUT_FUNC_MASK;
	s->pos += n;
}

static void take_callers(struct reading *r, struct source *s, uint64_t value)
{
	uint8_t n = (uint8_t)(value >> LAYOUT_CALLERS_N);

	if (n > s->n - s->pos || n > CALLERS_MOST) {
		doubt(&r->a->damaged, s);
		return;
	}
	s->event.callers = &s->words[s->pos];
	s->event.ncallers = n;
	s->event.cut = (uint8_t)(value >> LAYOUT_CALLERS_CUT);
	s->callee = (uint32_t)value & LAYOUT_FUNC_MASK;
	s->pos += n;
}

/* Its fields are for other readers. */
static int take_typed(struct reading *r, struct source *s, uint32_t what, uint64_t value)
{
	static const enum event_kind kinds[] = {
		[TYPED_ENTRY] = EVENT_ENTRY, [TYPED_EXIT] = EVENT_EXIT, [TYPED_MARK] = EVENT_MARK,
		[TYPED_BEGUN] = EVENT_ENTRY,
	};
	unsigned int kind = (what - LAYOUT_TYPED) % LAYOUT_TYPED_EACH & ~(unsigned int)TYPED_TEXT;
	size_t n = value >> LAYOUT_TYPED_WORDS & LAYOUT_TYPED_MASK;

	if (kind >= ARRAY_SIZE(kinds) || n > s->n - s->pos || (kind == TYPED_BEGUN && !n)) {
		doubt(&r->a->damaged, s);
		return 0;
	}
	uint64_t begin = kind == TYPED_BEGUN ? MIN(s->words[s->pos], s->tsc) : 0;

	s->pos += n;
	return deliver_begun(r, s, kinds[kind], (uint32_t)value & LAYOUT_FUNC_MASK, begin);
}

static int take_extended(struct reading *r, struct source *s, uint32_t what)
{
	uint64_t value;

	if (s->pos == s->n) {
		doubt(&r->a->damaged, s);
		return 0;
	}
	value = s->words[s->pos++];
	if (what >= LAYOUT_TYPED)
		return take_typed(r, s, what, value);
	switch (what) {
	case LAYOUT_UNWOUND:
		return archive_deliver(r, s, EVENT_UNWOUND, (uint32_t)value);
	case LAYOUT_EXIT_LOST:
		return archive_deliver(r, s, EVENT_EXIT_LOST, (uint32_t)value);
	case LAYOUT_ENTRY_ONLY:
		return archive_deliver(r, s, EVENT_MARK, (uint32_t)value);
	case LAYOUT_BEFORE:
		return archive_deliver(r, s, EVENT_BEFORE, (uint32_t)value);
	case LAYOUT_BEGUN:
		return take_begun(r, s, (uint32_t)value);
	case LAYOUT_VALUES:
		take_values(r, s, value);
		return 0;
	case LAYOUT_CALLERS:
		take_callers(r, s, value);
		return 0;
	case LAYOUT_STACK:
		s->event.stack = (uint32_t)value;
		return 0;
	case LAYOUT_STACK_END:
		return deliver_other(r, s, EVENT_STACK_END);
	case LAYOUT_OFF:
		return deliver_switch(r, s, value ? EVENT_PREEMPTED : EVENT_OFF);
	case LAYOUT_ON:
		return deliver_switch(r, s, EVENT_ON);
	case LAYOUT_SWITCHES_LOST:
		return deliver_switch(r, s, EVENT_SWITCHES_LOST);
	case LAYOUT_LOST:
		s->event.lost = value;
		if (s->tsc < r->filter.since || s->tsc > r->filter.until)
			return 0;
		return deliver_other(r, s, EVENT_LOST);
	}
	s->pos--;
	doubt(&r->a->damaged, s);
	return 0;
}

static int take_word(struct reading *r, struct source *s, uint64_t w)
{
	uint32_t func = (uint32_t)(w >> REC_FUNC_SHIFT);

	switch (w & 3) {
	case REC_ENTRY:
		return archive_deliver(r, s, EVENT_ENTRY, func);
	case REC_EXIT:
		return archive_deliver(r, s, EVENT_EXIT, func);
	case REC_EXT:
		return take_extended(r, s, func);
	}
	doubt(&r->a->damaged, s);
	return 0;
}

/* What is said of the event that follows. */
static bool tells_of_next(uint64_t w)
{
	uint64_t what = w >> REC_FUNC_SHIFT;

	return (w & 3) == REC_EXT && (what == LAYOUT_VALUES || what == LAYOUT_CALLERS);
}

static int archive_take(struct reading *r, struct source *s)
{
	uint64_t w = s->words[s->pos++];
	int err = take_word(r, s, w);

	if (!tells_of_next(w)) {
		s->event.callers = NULL;
		s->event.ncallers = s->event.cut = 0;
		s->event.capture = NULL;
		s->event.ncapture = 0;
	}
	return err;
}

/* ---- merge --------------------------------------------------------------- */

static void sift_down(struct archive *a, size_t i)
{
	for (;;) {
		size_t least = i, left = 2 * i + 1, right = left + 1;
		struct source *swap = a->heap[i];

		if (left < a->nheap && a->heap[left]->tsc < a->heap[least]->tsc)
			least = left;
		if (right < a->nheap && a->heap[right]->tsc < a->heap[least]->tsc)
			least = right;
		if (least == i)
			return;
		a->heap[i] = a->heap[least];
		a->heap[least] = swap;
		i = least;
	}
}

/* The earliest word of all other files. */
static uint64_t second(const struct archive *a)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 1; i < 3 && i < a->nheap; i++)
		least = MIN(least, a->heap[i]->tsc);
	return least;
}

/* Calls that are open where a file is torn have ended, for all that is known, and it is not known
 * when. */
static int end_torn(struct reading *r, struct source *s)
{
	s->event.capture = NULL;
	s->event.callers = NULL;
	s->event.ncapture = 0;
	s->event.ncallers = s->event.cut = 0;
	return s->torn ? deliver_other(r, s, EVENT_STACK_END) : 0;
}

static int archive_merge(struct reading *r)
{
	struct archive *a = r->a;
	int err = 0;

	while (a->nheap && !err) {
		struct source *s = a->heap[0];
		uint64_t horizon = second(a);

		while (s->ready && s->tsc <= horizon && !err)
			err = archive_take(r, s) ?: peek(a, s);
		if (!s->ready) {
			err = err ? err : end_torn(r, s);
			a->heap[0] = a->heap[--a->nheap];
		}
		if (a->nheap)
			sift_down(a, 0);
	}
	return err;
}

static void say_doubt(struct archive *a, const char *what, const struct doubt *d)
{
	if (d->n)
		archive_say(a, "%s: %llu %s; the first is word %zu of the packet in %s that ends "
			       "before byte %llu", a->path, (unsigned long long)d->n, what,
			    d->word, d->in->name, (unsigned long long)d->before);
}

static void say_damage(struct archive *a)
{
	say_doubt(a, "words of the streams make no sense", &a->damaged);
	say_doubt(a, "events are of functions that the metadata do not know", &a->unknown);
	archive_say_rest(a);
}

static void rewind_source(struct source *s)
{
	s->packets = s->surveyed;
	s->at = s->pos = s->n = 0;
	s->tsc = 0;
}

static int archive_begin(struct archive *a)
{
	a->damaged = a->unknown = (struct doubt){ 0 };
	a->nheap = 0;
	if (!a->heap)
		a->heap = calloc(a->nsources + 1, sizeof(struct source *));
	if (!a->heap)
		return fail(ENOMEM, "read %s", a->path);
	for (size_t i = 0; i < a->nsources; i++) {
		rewind_source(a->sources[i]);
		int err = peek(a, a->sources[i]);

		if (err)
			return err;
		if (a->sources[i]->ready)
			a->heap[a->nheap++] = a->sources[i];
	}
	for (size_t i = a->nheap / 2; i-- > 0;)
		sift_down(a, i);
	return 0;
}

int archive_read(struct archive *a, const struct archive_filter *filter, bool quietly,
		 int (*each)(void *ctx, const struct event *), void *ctx)
{
	struct reading r = { .a = a, .filter = *filter, .each = each, .ctx = ctx };
	int err;

	r.filter.until = filter->until ? filter->until : UINT64_MAX;
	a->quiet = quietly;
	err = archive_begin(a) ?: archive_merge(&r);
	say_damage(a);
	a->quiet = false;
	return err;
}
