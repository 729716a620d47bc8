/* SPDX-License-Identifier: MIT */
/*
 * filter: which calls does a session keep from now on, that goes on by itself?
 *
 * Its probes stay as they are, and no thread is stopped: how long a call has to take is a number in
 * the session, of which each thread has one of its own beside its frames.
 *
 *  1. the session's: each thread that comes later takes that, and one that calls C again does, too
 *     (heal in payload/slow.c)
 *  2. those of the threads that are there. One that was just taking the old one in is seen by a
 *     later look, or calls C
 *  3. the notes, which say so
 */
#include <errno.h>

#include "injector/log/clock.h"
#include "injector/log/say.h"
#include "injector/ptrace/pace.h"
#include "injector/ptrace/preflight.h"
#include "injector/session/notes.h"
#include "injector/verbs/verbs.h"
#include "injector/verbs/visit.h"
#include "trace/show/filter.h"

enum { LOOKS = 3, LOOK_NS = 1000000 };

/* What lies there is the process's own, so it is written only if all is as it should be. */
static int filter_thread(const struct visit *v, uint32_t i, uint64_t least, bool *changed)
{
	const struct session *s = &v->session.s;
	raddr_t at = s->threads + (uint64_t)i * THREAD_SIZE;
	struct thread t;
	int err = target_read(&v->target, at, &t, sizeof(t));

	if (err || t.magic != THREAD_MAGIC || t.least == least ||
	    t.ring != s->base + s->rings_off + i * s->ring_stride ||
	    t.sides != s->base + s->sides_off + (uint64_t)i * TIMING_SIDES)
		return err;
	*changed = true;
	return target_write(&v->target, at + THREAD_LEAST, &least, sizeof(least));
}

static int filter_threads(const struct visit *v, uint64_t least)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	bool changed = true;
	int err = 0;

	for (int n = 0; n < LOOKS && changed && !err; n++) {
		changed = false;
		for (uint32_t i = 0; i < v->session.s.nrings && !err; i++)
			err = filter_thread(v, i, least, &changed);
		nanosleep(&pause, NULL);
	}
	return err;
}

static int filter_set(struct visit *v, const struct options *o)
{
	struct about *a = &v->notes.about;

	clock_update(&a->clock);
	uint64_t least = (uint64_t)((unsigned __int128)o->min_duration * a->clock.run_ticks /
				    MAX(a->clock.run_ns, 1u));
	int err = segment_write(&v->segment, offsetof(struct session, least), &least,
				sizeof(least));					/* 1 */

	err = err ? err : filter_threads(v, least);				/* 2 */
	a->filter.min_duration = o->min_duration;
	return err ? err : notes_write(&v->segment, &v->session.s, a);		/* 3 */
}

static int filter_session(struct visit *v, const struct options *o)
{
	int err = visit_started(v, false);
	auto_free char *old = err ? NULL : filter_text(&v->notes.about.filter);

	if (!err && v->session.s.counting != COUNT_SIFTED)
		err = fail(0, "%d keeps all calls, for it was started without -t and -w, and its "
			   "probes leave none out; stop, and start with -t", v->target.pid);
	err = err ? err : target_claim(&v->target);
	err = err ? err : filter_set(v, o);
	if (err)
		return err;
	auto_free char *new = filter_text(&v->notes.about.filter);
	say("%d (%s) keeps calls by %s from now on; so far by %s", v->target.pid, v->target.comm,
	    new ?: "?", old ?: "?");
	return 0;
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
