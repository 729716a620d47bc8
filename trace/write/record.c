/* SPDX-License-Identifier: MIT */
/*
 * record: from events to a trace directory.
 *
 * Every thread has a lane: a packet in memory, and a file to which it goes when it is
 * full. A lane whose thread has ended is given to the next new one, so there are no
 * more files than threads at a time; but not one whose time is ahead, for in a lane it
 * never goes back, and that a thread has ended is found out afterwards.
 */
#include "trace/write/record_impl.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "trace/output/place.h"

enum {
	FIRST_WORDS = 512,	/* what a lane begins with in memory */
	EVENT_WORDS = 5,	/* at most: a change of stacks and an event, without values */
};

/* ---- packets ------------------------------------------------------------- */

static void record_take(struct record *r, uint64_t bytes)
{
	r->size += bytes;
	r->held += bytes;
	r->taken += bytes;
	r->waiting += bytes;
}

static void begin_packet(struct record *r, struct lane *l, uint64_t tsc, uint32_t stack)
{
	struct record_options *o = &r->options;
	char name[16] = "";

	l->head.begin = tsc;
	l->head.pid = l->pid;
	l->head.tid = l->tid;
	l->head.thread = l->thread;
	l->head.stack = l->stack = stack;
	/* A thread that is gone keeps the name that it had. */
	if (o->thread_name && o->thread_name(o->ctx, l->tid, name))
		memcpy(l->head.name, name, sizeof(name));
	record_take(r, record_overhead(r));
}

/* ---- size ---------------------------------------------------------------- */

static int make_room(struct record *r)
{
	const struct record_options *o = &r->options;

	record_room_tick(r);
	if (!o->max_size || r->full)
		return 0;
	if (o->rotate)
		return r->held >= o->max_size / RECORD_CHUNKS ? record_next_chunk(r) : 0;
	r->full = r->size + record_overhead(r) + EVENT_WORDS * 8 > o->max_size;
	return 0;
}

/* ---- lanes --------------------------------------------------------------- */

static struct lane **record_bucket(struct record *r, uint32_t thread, int32_t tid)
{
	uint32_t key = thread == NO_THREAD ? (uint32_t)tid : thread * 31;

	return &r->buckets[key & (RECORD_BUCKETS - 1)];
}

static void unlink_lane(struct record *r, struct lane *l)
{
	struct lane **p = record_bucket(r, l->thread, l->tid);

	while (*p != l)
		p = &(*p)->next;
	*p = l->next;
}

static struct lane *new_lane(struct record *r)
{
	struct lane **slot = vec_push(r->lanes, r->nlanes, r->lanes_cap);
	uint64_t *packets = slot ? vec_push(r->packets, r->npackets, r->packets_cap) : NULL;
	struct lane *l = packets ? calloc(1, sizeof(*l)) : NULL;

	if (!l) {
		r->nlanes -= slot != NULL;
		r->npackets -= packets != NULL;
		return NULL;
	}
	*slot = l;
	l->index = (uint32_t)(r->nlanes - 1);
	l->head.magic = PACKET_MAGIC;
	memcpy(l->head.uuid, r->uuid, sizeof(r->uuid));
	return l;
}

static int record_claim(struct record *r, const struct event *e, struct lane **ret)
{
	struct lane *l = NULL, **head = record_bucket(r, e->thread, e->tid);
	int err;

	for (size_t i = 0; i < r->nlanes && !l; i++)
		if (r->lanes[i]->ended && r->lanes[i]->last <= e->tsc)
			l = r->lanes[i];
	if (l) {
		err = record_write_packet(r, l);
		if (err)
			return err;
		unlink_lane(r, l);
	} else {
		l = r->nlanes < MAX_LANES ? new_lane(r) : NULL;
		if (!l)
			return fail(ENOMEM, "record %zu threads", r->nlanes + 1);
	}
	memset(l->head.name, 0, sizeof(l->head.name));
	l->ended = false;
	l->beyond = 0;
	l->thread = e->thread;
	l->pid = e->pid;
	l->tid = e->tid;
	l->next = *head;
	*head = l;
	*ret = l;
	return 0;
}

static bool is_of(const struct lane *l, uint32_t thread, int32_t tid)
{
	return l->thread == thread && (thread != NO_THREAD || l->tid == tid);
}

static struct lane *record_search(struct record *r, uint32_t thread, int32_t tid)
{
	struct lane *l = *record_bucket(r, thread, tid);

	while (l && !is_of(l, thread, tid))
		l = l->next;
	return l;
}

/* Lanes are merged by time alone. So what happens on a fiber at the moment of what happened before,
 * as calls that are told together, is in the lane of that, whichever thread it began in. */
static bool is_same_moment(const struct record *r, const struct event *e)
{
	return e->thread == NO_THREAD && r->fibers && r->fibers->thread == NO_THREAD &&
	       r->stack == e->stack && r->fibers->last >= e->tsc;
}

static int record_find(struct record *r, const struct event *e, struct lane **ret)
{
	if (is_same_moment(r, e))
		r->used = r->fibers;
	else if (!r->used || !is_of(r->used, e->thread, e->tid))
		r->used = record_search(r, e->thread, e->tid);
	if (!r->used) {
		int err = record_claim(r, e, &r->used);

		if (err)
			return err;
	}
	*ret = r->used;
	return 0;
}

/* A thread ends with its stacks; what it ran of fibers, another runs from then on. */
static void end_lane(struct record *r, struct lane *l)
{
	struct lane *fibers = record_search(r, NO_THREAD, l->tid);

	l->ended = l->thread != NO_THREAD;
	if (l->ended && fibers)
		fibers->ended = true;
}

/* ---- events -------------------------------------------------------------- */

static uint64_t record_pack(unsigned int kind, uint64_t tsc, uint32_t func)
{
	return kind | (tsc & LAYOUT_TIME_MASK) << REC_TIME_SHIFT | (uint64_t)func << REC_FUNC_SHIFT;
}

static int record_add(struct record *r, struct lane *l, uint64_t w)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : FIRST_WORDS;
		uint64_t *words = realloc(l->words, cap * 8);

		if (!words)
			return fail(ENOMEM, "record the calls");
		l->words = words;
		l->cap = cap;
	}
	l->words[l->n++] = w;
	l->spare = 0;
	record_take(r, 8);
	return 0;
}

static int add_extended(struct record *r, struct lane *l, enum layout_event what,
			uint64_t tsc, uint64_t value)
{
	return record_add(r, l, record_pack(REC_EXT, tsc, what)) ?: record_add(r, l, value);
}

/* What was read of the call whose event follows in the same packet. */
static int add_values(struct record *r, struct lane *l, const struct event *e, uint64_t tsc)
{
	uint64_t n = e->ncapture, nwords = (n + 7) / 8;
	int err = add_extended(r, l, LAYOUT_VALUES, tsc, e->func | n << LAYOUT_VALUES_BYTES |
			       nwords << LAYOUT_VALUES_WORDS);

	for (size_t i = 0; i < n && !err; i += 8) {
		uint64_t word = 0;

		memcpy(&word, e->capture + i, MIN(n - i, 8u));
		err = record_add(r, l, word);
	}
	return err;
}

/* Likewise its callers. */
static int add_callers(struct record *r, struct lane *l, const struct event *e, uint64_t tsc)
{
	size_t n;
	uint8_t cut;
	int err = record_note_callers(r, e, &n, &cut);

	err = err ? err : add_extended(r, l, LAYOUT_CALLERS, tsc, e->func |
				       (uint64_t)n << LAYOUT_CALLERS_N |
				       (uint64_t)cut << LAYOUT_CALLERS_CUT);
	for (size_t i = 0; i < n && !err; i++)
		err = record_add(r, l, e->callers[i]);
	return err;
}

static int add_fields(struct record *r, struct lane *l, const struct event *e, uint64_t tsc)
{
	const struct record_fields *f = &r->fields;
	int err = record_add(r, l, record_pack(REC_EXT, tsc, f->id)) ?:
		  record_add(r, l, e->func | (uint64_t)f->n << LAYOUT_TYPED_WORDS);

	for (size_t i = 0; i < f->n && !err; i++)
		err = record_add(r, l, f->words[i]);
	l->spare = f->spare;
	return err;
}

/* A packet that has room for an event of now, on its stack, with so many words of what is said of
 * it. */
static int record_prepare(struct record *r, struct lane *l, uint64_t tsc, uint32_t stack,
			  uint32_t nsaid)
{
	/* The time of a word has 40 bits: those above are the packet's. */
	bool ends = l->n + EVENT_WORDS + nsaid > PACKET_WORDS ||
		    (l->n && tsc >> REC_TIME_BITS != l->head.begin >> REC_TIME_BITS);
	int err = ends ? record_write_packet(r, l) : 0;

	if (err)
		return err;
	if (!l->n) {
		begin_packet(r, l, tsc, stack);
		return 0;
	}
	if (l->stack == stack)
		return 0;
	l->stack = stack;
	return add_extended(r, l, LAYOUT_STACK, tsc, stack);
}

/* Is it of a call that is more than are wanted? Of those that are, the ends come still. A
 * thread leaves calls in the order in which it makes them, on signal stacks, too. */
static bool is_beyond(const struct record *r, struct lane *l, const struct event *e)
{
	bool enough = r->options.calls && r->calls >= r->options.calls;

	switch (e->kind) {
	case EVENT_ENTRY:
		l->beyond += enough;
		return enough;
	case EVENT_MARK:
	case EVENT_BEFORE:
		return enough;
	case EVENT_EXIT:
	case EVENT_UNWOUND:
	case EVENT_EXIT_LOST:
		if (!l->beyond)
			return false;
		l->beyond--;
		return true;
	}
	return false;
}

static int record_entry(struct record *r, struct lane *l, const struct event *e, uint64_t tsc)
{
	r->calls++;
	r->events++;
	return !e->begin ? record_add(r, l, record_pack(REC_ENTRY, tsc, e->func)) :
		add_extended(r, l, LAYOUT_BEGUN, tsc, e->func) ?: record_add(r, l, e->begin);
}

/* With those of r->fields. */
static int record_put_fields(struct record *r, struct lane *l, const struct event *e, uint64_t tsc)
{
	r->calls += e->kind != EVENT_EXIT;
	r->events++;
	return add_fields(r, l, e, tsc);
}

static int record_put(struct record *r, struct lane *l, const struct event *e, uint64_t tsc)
{
	switch (e->kind) {
	case EVENT_ENTRY:
		return record_entry(r, l, e, tsc);
	case EVENT_EXIT:
		r->events++;
		return record_add(r, l, record_pack(REC_EXIT, tsc, e->func));
	case EVENT_MARK:
		r->calls++;
		r->events++;
		return add_extended(r, l, LAYOUT_ENTRY_ONLY, tsc, e->func);
	case EVENT_BEFORE:
		r->calls++;
		r->events++;
		r->nbefore += r->nbefore != UINT64_MAX;
		return add_extended(r, l, LAYOUT_BEFORE, tsc, e->func);
	case EVENT_UNWOUND:
		return add_extended(r, l, LAYOUT_UNWOUND, tsc, e->func);
	case EVENT_EXIT_LOST:
		return add_extended(r, l, LAYOUT_EXIT_LOST, tsc, e->func);
	case EVENT_LOST:
		l->head.lost += e->lost;
		return add_extended(r, l, LAYOUT_LOST, tsc, e->lost);
	case EVENT_STACK_END:
		end_lane(r, l);
		return add_extended(r, l, LAYOUT_STACK_END, tsc, e->stack);
	case EVENT_OFF:
	case EVENT_PREEMPTED:
		return add_extended(r, l, LAYOUT_OFF, tsc, e->kind == EVENT_PREEMPTED);
	case EVENT_ON:
		return add_extended(r, l, LAYOUT_ON, tsc, 0);
	case EVENT_SWITCHES_LOST:
		return add_extended(r, l, LAYOUT_SWITCHES_LOST, tsc, 0);
	}
	return 0;
}

int record_event(void *ctx, const struct event *e)
{
	struct record *r = ctx;
	struct lane *l;
	int err;

	if (r->full || (r->options.tid && e->tid != r->options.tid))
		return 0;
	err = make_room(r);
	if (err || r->full)
		return err;
	err = record_find(r, e, &l);
	if (err)
		return err;
	if (is_beyond(r, l, e))
		return 0;
	l->ended = false;
	l->last = MAX(l->last + r->options.apart, e->tsc);
	r->fibers = e->thread == NO_THREAD ? l : r->fibers;
	r->stack = e->thread == NO_THREAD ? e->stack : r->stack;
	bool fields = r->options.fields && r->options.fields(r->options.ctx, e, &r->fields);

	err = record_prepare(r, l, l->last, e->stack,
			     (fields ? r->fields.n : e->ncapture ? 2 + (e->ncapture + 7u) / 8 : 0) +
			     (e->callers ? 2u + e->ncallers : 0));
	if (!err && e->callers)
		err = add_callers(r, l, e, l->last);
	if (!err && e->ncapture && !r->options.fields)
		err = add_values(r, l, e, l->last);
	return err ? err : fields ? record_put_fields(r, l, e, l->last) :
		record_put(r, l, e, l->last);
}

/* ---- all of it ----------------------------------------------------------- */

int record_new(const char *path, const struct record_options *o, const struct about *a,
	       struct record **ret)
{
	struct record *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return fail(ENOMEM, "record into %s", path);
	r->dir = -1;
	r->options = *o;
	r->first_funcs = a->first_funcs ? a->first_funcs : a->nfuncs;
	r->nbefore = o->part ? UINT64_MAX : 0;
	r->path = strdup(path);
	if (getrandom(r->uuid, sizeof(r->uuid), 0) != sizeof(r->uuid))
		memcpy(r->uuid, &a->begin, sizeof(a->begin));
	err = r->path ? 0 : fail(ENOMEM, "record into %s", path);
	if (!err && o->compress)
		err = squeezer_new(&r->squeezer);
	err = err ? err : place_make(path, &r->dir);
	err = err ? err : record_write_metadata(r, a);
	record_room_begin(r);
	if (err) {
		record_free(r);
		return err;
	}
	*ret = r;
	return 0;
}

void record_free(struct record *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nlanes; i++) {
		free(r->lanes[i]->words);
		free(r->lanes[i]);
	}
	free(r->lanes);
	free(r->packets);
	free(r->callers);
	free(r->slots);
	squeezer_free(r->squeezer);
	free(r->path);
	if (r->dir >= 0)
		close(r->dir);
	free(r);
}

int record_flush(struct record *r, const struct about *a)
{
	bool news = a->nfuncs != r->told_funcs || r->ncallers != r->told_callers ||
		    a->clock.run_ticks / 2 > r->told_run;

	record_room_look(r);
	return record_write_all(r) ?: news ? record_write_metadata(r, a) : 0;
}

int record_end(struct record *r, const struct about *a)
{
	int err = record_write_all(r);
	int meta = record_write_metadata(r, a);

	if (meta)
		record_mark_end(r, a);
	return err ? err : meta;
}

bool record_full(const struct record *r)
{
	return r->full;
}

uint64_t record_left_free(const struct record *r)
{
	return r->left_free;
}

uint64_t record_calls(const struct record *r)
{
	return r->calls;
}

uint64_t record_size(const struct record *r)
{
	return r->size;
}
