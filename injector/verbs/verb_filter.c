/* SPDX-License-Identifier: MIT */
/*
 * filter: which calls does a session keep from now on, that goes on by itself?
 *
 * Its probes stay as they are, and no thread is stopped. How long a call has to take (-t) and how
 * many of a stack are kept (-D) are numbers in the session, of which each thread has its own; and
 * the condition (-w) is beside what is read of each function's calls (session/plans.h).
 *
 *  1. where a condition is to hold, the threads leave all calls to C, which asks it;
 *  2. the new plans are switched on, all at once;
 *  3. the session's numbers: each thread that comes later takes these,
 *  4. and those that are there do, as they are sent to C once more;
 *  5. the notes, which say so.
 *
 * Killed in between, each call is still judged by one of both, or by what is new of it and what is
 * old; and the next filter puts it right.
 */
#include <errno.h>

#include "injector/log/clock.h"
#include "injector/log/say.h"
#include "injector/ptrace/pace.h"
#include "injector/ptrace/preflight.h"
#include "injector/session/notes.h"
#include "injector/verbs/filter_when.h"
#include "injector/verbs/verbs.h"
#include "injector/verbs/visit.h"
#include "trace/show/filter.h"

/* A thread may have been put aside as it took the old ones in. */
enum { LOOKS = 100, LOOKS_LEAST = 2, LOOK_NS = 1000000 };

/* What threads are to have. */
struct wanted {
	uint64_t least;		/* ticks, or LEAST_ASKS */
	uint32_t deepest;
	bool sifted;
};

/* Send a thread to C, which takes in what the session has: its next call goes there by its
 * `least`, or, where calls are not sifted, by its clock. */
static int send_thread(const struct visit *v, raddr_t at, const struct wanted *w)
{
	const uint64_t asks = LEAST_ASKS, over = 0;

	return w->sifted ? target_write(&v->target, at + THREAD_LEAST, &asks, sizeof(asks)) :
		target_write(&v->target, at + THREAD_LIMIT, &over, sizeof(over));
}

/* What lies there is the process's own, so it is written only if all is as it should be. */
static int filter_thread(const struct visit *v, uint32_t i, const struct wanted *w, bool *settled)
{
	const struct session *s = &v->session.s;
	raddr_t at = s->threads + (uint64_t)i * THREAD_SIZE;
	struct thread t;
	int err = target_read(&v->target, at, &t, sizeof(t));

	if (err || t.magic != THREAD_MAGIC ||
	    t.ring != s->base + s->rings_off + i * s->ring_stride ||
	    (w->sifted && t.sides != s->base + s->sides_off + (uint64_t)i * TIMING_SIDES))
		return err;
	*settled &= !t.busy;
	if (w->sifted ? t.least == LEAST_ASKS || (t.least == w->least && t.deepest == w->deepest) :
	    !t.limit || t.deepest == w->deepest)
		return 0;
	*settled = false;
	return send_thread(v, at, w);
}

static int filter_threads(const struct visit *v, const struct wanted *w)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	bool settled = false;
	int err = 0;

	for (int n = 0; n < LOOKS && (n < LOOKS_LEAST || !settled) && !err; n++) {
		settled = true;
		for (uint32_t i = 0; i < v->session.s.nrings && !err; i++)
			err = filter_thread(v, i, w, &settled);
		nanosleep(&pause, NULL);
	}
	return err;
}

/* What the options have of it, and else what holds. */
static struct about_filter filter_after(const struct visit *v, const struct options *o)
{
	struct about_filter ret = v->notes.about.filter;

	if (o->min_duration || o->all)
		ret.min_duration = o->min_duration;
	if (o->depth || o->all_depths)
		ret.depth = o->depth;
	if (o->when)
		ret.when = o->when[0] ? o->when : NULL;
	return ret;
}

#define PUT(v, field, from) \
	segment_write(&(v)->segment, offsetof(struct session, field), from, sizeof(*(from)))

static int switch_plans(struct visit *v, const char *when, struct plans *plans)
{
	const struct wanted all = { LEAST_ASKS, v->session.s.deepest, true };
	const uint32_t asks = 1;
	int err = 0;

	if (when[0]) {
		err = PUT(v, asks, &asks);					/* 1 */
		err = err ? err : filter_threads(v, &all);
	}
	return err ? err : plans_switch(plans);					/* 2 */
}

static int filter_set(struct visit *v, const struct options *o, struct plans *plans)
{
	struct about a = v->notes.about;
	int err = o->when ? switch_plans(v, o->when, plans) : 0;

	a.filter = filter_after(v, o);
	clock_update(&a.clock);
	uint64_t least = (uint64_t)((unsigned __int128)a.filter.min_duration * a.clock.run_ticks /
				    MAX(a.clock.run_ns, 1u));
	uint32_t asks = o->when ? o->when[0] != 0 : v->session.s.asks;
	struct wanted w = { asks ? LEAST_ASKS : least, (uint32_t)a.filter.depth,
			    v->session.s.counting == COUNT_SIFTED };

	/* It is of all functions, also of those that were added with another one. */
	for (size_t i = 0; i < v->notes.about.nfuncs && o->when; i++)
		v->notes.funcs[i].when = NULL;
	err = err ? err : PUT(v, deepest, &w.deepest);				/* 3 */
	err = err ? err : PUT(v, least, &least);
	err = err ? err : PUT(v, asks, &asks);
	err = err ? err : filter_threads(v, &w);				/* 4 */
	return err ? err : notes_write(&v->segment, &v->session.s, &a);		/* 5 */
}

/* All that may be refused is, before anything is changed. */
static int filter_possible(struct visit *v, const struct options *o)
{
	bool sifts = o->min_duration || o->all || o->when;
	int err = visit_claimed(v);

	err = err || !sifts ? err : filter_sifts(v);
	err = err || !o->when || !o->when[0] ? err : filter_asks(v);
	err = err || !o->depth ? err : filter_pairs(v);
	return err;
}

static char *kept(const char *filter)
{
	return !filter ? NULL : strcmp(filter, "-") ? base_printf("calls by %s", filter) :
		base_printf("all calls");
}

static void say_filtered(const struct visit *v, const struct options *o, const char *old,
			 const struct left_out *left)
{
	struct about_filter after = filter_after(v, o);
	auto_free char *new = filter_text(&after);

	if (left->n)
		say("%zu function%s what the condition asks for, and none of %s calls is kept: %s",
		    left->n, left->n == 1 ? " does not have" : "s do not have",
		    left->n == 1 ? "its" : "their", left->names);
	auto_free char *now = kept(new), *before = kept(old);

	say("%d (%s) keeps %s from now on; so far %s", v->target.pid, v->target.comm,
	    now ?: "?", before ?: "?");
}

static int filter_session(struct visit *v, const struct options *o)
{
	struct left_out left = { .n = 0 };
	struct plans plans = { 0 };
	int err = filter_possible(v, o);

	if (err)
		return err;
	auto_free char *old = filter_text(&v->notes.about.filter);
	if (o->when) {
		err = plans_open(&v->target, &v->segment, &v->session.s, &plans);
		err = err ? err : when_put(v, o->when, &plans, &left);
	}
	err = err ? err : filter_set(v, o, &plans);
	plans_close(&plans);
	if (!err)
		say_filtered(v, o, old, &left);
	return err;
}

int verb_filter(const struct options *o)
{
	struct visit v;

	say_quiet(o->quiet);
	pace_set(PACE_LEISURE);
	int err = visit_open(o->pid, &v);

	if (err)
		return verb_failed(err);
	err = filter_session(&v, o);
	visit_close(&v);
	return err ? verb_failed(preflight_again(preflight_session, o->pid, err)) : STATUS_DONE;
}
