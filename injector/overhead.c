/* SPDX-License-Identifier: MIT */
#include "injector/overhead.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "arch/clock.h"
#include "injector/clock.h"
#include "injector/say.h"

enum {
	SPENDERS = 1024,	/* places for processes, by pid */
	READINGS = 256,		/* of the counter, to time it */
	TRIES = 16,
	NAMED = 10,		/* functions of one stop */
};

#define WINDOW (200 * 1000000ull)
#define LOST 6.0
/* A breakpoint is a signal and its return: some microseconds. */
#define TRAPPED 2000.0

struct spender {
	pid_t pid;
	uint64_t processor;	/* ns, when last seen */
};

/*
 * An event costs a reading of the counter and little besides; one that finds the
 * ring full reads none, and costs half of what that is on hardware (make bench).
 * Where a hypervisor traps the reading, it is a hundred times as much: so it is
 * timed here; of several tries the one that was disturbed least.
 */
static struct breaker_costs measure(void)
{
	double best = 1e9;

	for (int i = 0; i < TRIES; i++) {
		uint64_t from = clock_monotonic();

		for (int j = 0; j < READINGS; j++)
			arch_ticks();
		best = MIN(best, (double)(clock_monotonic() - from) / READINGS);
	}
	return (struct breaker_costs){ best, MIN(best / 2, LOST), TRAPPED };
}

static int mark_traps(struct overhead *o)
{
	int err = 0;

	for (size_t i = 0; i < o->live->nsites && !err; i++)
		if (o->live->sites[i].site->tactic == TACTIC_TRAP)
			err = breaker_traps(o->breaker, o->live->sites[i].probe->id);
	return err;
}

int overhead_begin(struct overhead *o, uint32_t limit)
{
	struct breaker_costs costs = measure();

	o->spenders = calloc(SPENDERS, sizeof(*o->spenders));
	if (!o->spenders)
		return fail(ENOMEM, "watch the overhead");
	o->spenders[o->target->pid % SPENDERS].pid = o->target->pid;
	return breaker_new(limit, &costs, &o->breaker) ?: mark_traps(o);
}

static bool processor_time(pid_t pid, uint64_t *ret)
{
	struct timespec ts;
	clockid_t id;

	if (clock_getcpuclockid(pid, &id) || clock_gettime(id, &ts))
		return false;
	*ret = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	return true;
}

/* Another process than before is at that place: the one before counts as ended. */
static void note_spender(struct overhead *o, pid_t pid)
{
	struct spender *s = &o->spenders[(uint32_t)pid % SPENDERS];

	if (s->pid == pid)
		return;
	o->ended += s->processor;
	*s = (struct spender){ .pid = pid };
}

int overhead_event(struct overhead *o, const struct event *e)
{
	if (e->pid > 0)
		note_spender(o, e->pid);
	return breaker_event(o->breaker, e);
}

static void take_sample(struct overhead *o, uint64_t now)
{
	struct breaker_sample s = { arch_ticks(), now, o->ended, reader_lost(o->reader) };

	for (size_t i = 0; i < SPENDERS; i++) {
		struct spender *p = &o->spenders[i];

		if (p->pid)
			processor_time(p->pid, &p->processor);
		s.processor += p->processor;
	}
	breaker_sample(o->breaker, &s);
}

static void say_verdict(const struct overhead *o, const struct breaker_verdict *v, size_t n)
{
	if (n < NAMED)
		say_hint("disarmed %s: %.0f calls a second, %.1f %% of the processor time of %d",
			 o->live->funcs[v->func].name, v->calls, v->percent, o->target->pid);
}

/* Those that are above the limit. */
static size_t choose(struct overhead *o, bool *in)
{
	struct breaker_verdict v;
	size_t n = 0;

	while (breaker_next(o->breaker, &v)) {
		say_verdict(o, &v, n++);
		in[v.func] = true;
	}
	return n;
}

static void say_rest(const struct overhead *o, size_t named, size_t n)
{
	if (n > named)
		say_hint("disarmed %zu more, whose jumps rely on those", n - named);
	if (named > NAMED)
		say_hint("disarmed %zu more, for the same reason", named - NAMED);
	if (o->disarmed >= o->live->nprobed)
		say_hint("no probe is left");
}

/* A forked child has the jumps in a text of its own. */
static void disarm_child(void *ctx, pid_t pid)
{
	struct overhead *o = ctx;
	auto_free struct change *c = calloc(o->ntodo + 1, sizeof(*c));
	struct target child = { 0 };
	size_t n = o->ntodo;

	if (c && target_open(pid, &child) == 0) {
		memcpy(c, o->todo, n * sizeof(*c));
		disarm(&child, c, &n, o->max_pause);
		target_close(&child);
	}
	fail_clear();
}

static void forget_todo(struct overhead *o)
{
	free(o->todo);
	free(o->leaving);
	o->todo = NULL;
	o->leaving = NULL;
	o->ntodo = 0;
}

/* They stay until the end, and are asked for no more. */
static void give_up(struct overhead *o)
{
	say_hint("not all of that could be taken out: %s", fail_text());
	for (size_t i = 0; i < o->live->nfuncs; i++)
		if (o->leaving[i])
			breaker_spare(o->breaker, (uint32_t)i);
}

/* Take out what is to be taken out, as far as it goes now. */
static void take_out(struct overhead *o)
{
	if (o->others)
		remove_each_other(o->target->pid, o->others, disarm_child, o);
	int err = disarm(o->target, o->todo, &o->ntodo, o->max_pause);
	if (err == -EAGAIN || err == -EBUSY) {
		fail_clear();
		return;
	}
	if (err && err != -ESRCH)
		give_up(o);
	fail_clear();
	forget_todo(o);
	breaker_restart(o->breaker);
}

static size_t count(const struct overhead *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->live->nfuncs; i++)
		n += o->leaving[i];
	return n;
}

static void look(struct overhead *o)
{
	o->leaving = calloc(o->live->nfuncs + 1, sizeof(*o->leaving));
	size_t named = o->leaving ? choose(o, o->leaving) : 0;

	if (named)
		disarm_spread(o->live, o->leaving);
	if (!named || disarm_list(o->live, o->leaving, &o->todo, &o->ntodo)) {
		fail_clear();
		forget_todo(o);
		return;
	}
	size_t n = count(o);
	o->disarmed += n;
	say_rest(o, named, n);
	take_out(o);
}

void overhead_tick(struct overhead *o)
{
	uint64_t now = clock_monotonic();

	if (!o->breaker || now < o->next)
		return;
	o->next = now + WINDOW;
	take_sample(o, now);
	/* One at a time: what is on its way out costs no more decisions. */
	if (o->leaving)
		take_out(o);
	else
		look(o);
}

void overhead_end(struct overhead *o)
{
	breaker_free(o->breaker);
	free(o->spenders);
	forget_todo(o);
	o->breaker = NULL;
	o->spenders = NULL;
}
