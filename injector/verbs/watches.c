/* SPDX-License-Identifier: MIT */
/* watches: which calls are too long, and what becomes of what was recorded before one? */
#include "injector/verbs/watches.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "injector/log/say.h"
#include "injector/log/units.h"
#include "trace/output/span.h"

/* How long calls of this function may take, 0: as long as they like. */
static uint64_t limit_of(const struct options *o, const struct selected *s, size_t i)
{
	uint64_t least = 0;
	bool exact;

	for (size_t j = 0; j < o->nslow; j++) {
		const struct slow_call *slow = &o->slow[j];

		if (!selected_place(s, i) && module_is_meant(s->module, &slow->function, false) &&
		    pattern_match(&slow->function, s->module->symbols, s->funcs[i], &exact))
			least = least ? MIN(least, slow->ns) : slow->ns;
	}
	return least;
}

static int choose_one(const struct selected *s, size_t i)
{
	struct placed_probe *p = &s->probes[i];

	if (p->refusal)
		return 0;
	if (p->planned->routines != ROUTINES_C)
		return fail(0, "--snapshot-on: %s is of %s, and such calls cannot be timed in "
			       "the process", s->names[i],
			    plan_language(s->module->symbols, s->funcs[i]));
	if (p->entry_only)
		return fail(0, "--snapshot-on: of %s the entry is probed only, so it is not "
			       "known how long a call takes", s->names[i]);
	p->watched = true;
	return 0;
}

int watches_choose(const struct options *o, const struct selection *sel)
{
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].n; j++)
			n += !sel->v[i].probes[j].refusal && limit_of(o, &sel->v[i], j);
	if (!n && o->nslow)
		return fail(0, "--snapshot-on: none of the functions that are probed is '%s'",
			    o->slow[0].function.glob);
	/* Before any of them is found to be unfit: without it there are too many still. */
	if (n > WATCHES)
		return fail(0, "--snapshot-on names %zu functions; at most %d can be watched: "
			       "name those that matter", n, WATCHES);
	for (size_t i = 0; i < sel->n && !err; i++)
		for (size_t j = 0; j < sel->v[i].n && !err; j++)
			if (limit_of(o, &sel->v[i], j))
				err = choose_one(&sel->v[i], j);
	return err;
}

static uint64_t ticks_of(const struct clock *c, uint64_t ns)
{
	return c->run_ns ? (uint64_t)((unsigned __int128)ns * c->run_ticks / c->run_ns) : ns;
}

int watches_arm(const struct options *o, const struct selection *sel, const struct clock *clock,
		struct session *s)
{
	uint32_t n = 0;

	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].n && n < WATCHES; j++) {
			const struct placed_probe *p = &sel->v[i].probes[j];

			if (p->watched && !p->refusal)
				s->watches[n++] = (struct watch){
					MAX(ticks_of(clock, limit_of(o, &sel->v[i], j)), 1u),
					p->id, 0 };
		}
	__atomic_store_n(&s->nwatches, n, __ATOMIC_RELEASE);
	return n || !o->nslow ? 0 :
		fail(0, "--snapshot-on: every function that it names was refused");
}

bool watches_fired(const struct session *s)
{
	return s->fired == WATCH_FIRED;
}

void watches_say(const struct session *s, const struct about *a)
{
	const char *name = s->fired_func < a->nfuncs ? a->funcs[s->fired_func].name : "?";
	char took[SPAN_MOST], *p = took;

	*put_span(took, clock_ns(&a->clock, s->fired_end - s->fired_begin), false) = '\0';
	while (*p == ' ')
		p++;
	say("%s took %s in thread %d, %.3f s ago; what came before and after it was kept", name, p,
	    s->fired_tid,
	    (double)clock_ns(&a->clock, a->end > s->fired_end ? a->end - s->fired_end : 0) / 1e9);
}

/*
 * A thread that found its ring full looks again when `tail` is not what it was then.
 * Where it keeps that is its own memory: it is written only if all there is as it
 * should be.
 */
static int wake(const struct visit *v, uint32_t i)
{
	const struct session *s = &v->session.s;
	raddr_t at = s->threads + (uint64_t)i * THREAD_SIZE;
	const uint64_t other = UINT64_MAX;
	struct thread t;
	int err = target_read(&v->target, at, &t, sizeof(t));

	if (err || t.magic != THREAD_MAGIC || t.subbuf_end != END_FULL ||
	    t.ring != s->base + s->rings_off + i * s->ring_stride)
		return err;
	return target_write(&v->target, at + THREAD_FULL_TAIL, &other, sizeof(other));
}

/* As take_oldest in payload/ring.c wants it: first that it is over, and then to all threads
 * that wait for that. */
int watches_again(const struct visit *v)
{
	const uint32_t armed = WATCH_ARMED;
	int err = segment_write(&v->segment, offsetof(struct session, fired), &armed,
				sizeof(armed));

	for (uint32_t i = 0; i < v->session.s.nrings && !err; i++)
		err = wake(v, i);
	return err;
}
