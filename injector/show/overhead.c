/* SPDX-License-Identifier: MIT */
#include "injector/show/overhead.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "arch/clock.h"
#include "injector/log/clock.h"
#include "injector/log/say.h"
#include "injector/modules/valued.h"
#include "injector/reader/reader.h"

enum {
	READINGS = 256,		/* of the counter, to time it */
	TRIES = 16,
	COPIES = 16, PIECE = 64,	/* bytes */
};

#define WINDOW (200 * 1000000ull)
#define LOST 6.0
/* A breakpoint is a signal and its return: some microseconds. */
#define TRAPPED 2000.0
/* ns of a call: C is called at its entry and its exit; and a stack is walked. */
#define BY_C 120.0
#define WALKED 150.0
/* The share of calls for which a read that hangs on a byte is made. */
#define SOMETIMES 0.5

/*
 * An event costs a reading of the counter and little besides; one that finds the
 * ring full reads none, and costs half of what that is on hardware (make bench).
 * Where a hypervisor traps the reading, it is a hundred times as much: so it is
 * timed here; of several tries the one that was disturbed least.
 */
struct limiter_costs overhead_costs(void)
{
	double best = 1e9;

	for (int i = 0; i < TRIES; i++) {
		uint64_t from = clock_monotonic();

		for (int j = 0; j < READINGS; j++)
			arch_ticks();
		best = MIN(best, (double)(clock_monotonic() - from) / READINGS);
	}
	return (struct limiter_costs){ best, MIN(best / 2, LOST) };
}

/* What the kernel needs to copy a piece of memory, of several tries the one that was disturbed
 * least. */
static double copy_cost(void)
{
	char from[PIECE] = { 0 }, to[PIECE];
	struct iovec local = { to, PIECE }, remote = { from, PIECE };
	double best = 1e9;

	for (int i = 0; i < TRIES; i++) {
		uint64_t begin = clock_monotonic();

		for (int j = 0; j < COPIES; j++)
			process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
		best = MIN(best, (double)(clock_monotonic() - begin) / COPIES);
	}
	return best;
}

/* An event of which values or callers are read (docs/values.md, docs/stacks.md); what is in
 * registers alone adds next to nothing. Of a call's two events each has half. */
static double reading_cost(const struct placed_probe *probe, double copy)
{
	const struct read_plan *plan = valued_is_read(probe) ? &probe->valued->plan->plan : NULL;
	double ns = probe->callers ? WALKED + copy : 0, copies = 0;
	bool by_c = false;

	for (unsigned int i = 0; plan && i < plan->nops; i++) {
		const struct read_op *o = &plan->ops[i];
		bool memory = o->source == READ_MEMORY || o->source == READ_STACK;

		by_c |= o->source != READ_GENERAL;
		copies += !memory ? 0 : o->if_index == READS_NONE ? 1 : SOMETIMES;
	}
	return (ns + (by_c ? BY_C : 0) + copies * copy) / 2;
}

double overhead_reading(const struct live *live)
{
	double copy = copy_cost(), sum = 0;

	for (size_t i = 0; i < live->nsites; i++)
		sum += reading_cost(live->sites[i].probe, copy);
	return live->nsites ? sum / (double)live->nsites : 0;
}

/* A breakpoint costs more than all that is read. */
static int price_functions(struct overhead *o)
{
	double copy = copy_cost();
	int err = 0;

	for (size_t i = 0; i < o->live->nsites && !err; i++) {
		const struct live_site *s = &o->live->sites[i];
		double more = s->placed->site.tactic == TACTIC_TRAP ? TRAPPED : 0;

		more = MAX(more, o->way->pairs ? 0 : reading_cost(s->probe, copy));
		err = more > 0 ? limiter_more(o->limiter, s->probe->id, more) : 0;
	}
	return err;
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

int overhead_begin(struct overhead *o, uint32_t limit)
{
	struct limiter_costs costs = overhead_costs();

	if (o->way->cost > 0)
		costs.recorded = o->way->cost;
	o->cpu_times.used = processor_time;
	return cpu_times_note(&o->cpu_times, o->target->pid) ?:
	       limiter_new(limit, &costs, &o->limiter) ?: price_functions(o);
}

int overhead_event(struct overhead *o, const struct event *e)
{
	return cpu_times_note(&o->cpu_times, e->pid) ?: limiter_event(o->limiter, e);
}

/* Where calls are counted: how many more they are. One that is timed reads the counter
 * at both ends. */
static int count_calls(struct overhead *o)
{
	size_t n = o->live->nfuncs;
	uint64_t *calls = calloc(n + 1, sizeof(*calls));
	int err = calls ? 0 : fail(ENOMEM, "watch the overhead");

	if (!err)
		reader_counts(o->reader, calls, n);
	for (size_t i = 0; i < n && !err; i++) {
		uint64_t had = i < o->ncounted ? o->counted[i] : 0;

		if (calls[i] > had)
			err = limiter_count(o->limiter, (uint32_t)i, calls[i] - had,
					    o->way->readings);
	}
	if (calls) {
		free(o->counted);
		o->counted = calls;
		o->ncounted = n;
	}
	return err;
}

static void take_sample(struct overhead *o, uint64_t now)
{
	struct limiter_sample s = { arch_ticks(), now, cpu_times_sum(&o->cpu_times),
				    reader_lost(o->reader) };

	limiter_sample(o->limiter, &s);
}

/* Those that are above the limit. False if there are none. */
static bool overhead_choose(struct overhead *o)
{
	struct limiter_verdict v;
	bool any = false;

	o->nnamed = 0;
	while (limiter_next(o->limiter, &v)) {
		if (o->nnamed < OVERHEAD_NAMED)
			o->named[o->nnamed++] = v;
		o->leaving[v.func] = any = true;
	}
	return any;
}

/* Those that are still to be taken out have not been. */
static size_t count_out(struct overhead *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->ntodo; i++)
		o->leaving[o->todo[i].func] = false;
	for (size_t i = 0; i < o->nfuncs; i++)
		n += o->leaving[i];
	return n;
}

static void say_verdict(const struct overhead *o, const struct limiter_verdict *v, bool out)
{
	say_hint("%s %s: %.0f calls a second, %.1f %% of the processor time of %d",
		 out ? "disarmed" : "could not disarm", o->live->funcs[v->func].name, v->calls,
		 v->percent, o->target->pid);
}

/* It is over, whether all could be taken out or not. */
static void overhead_tell(struct overhead *o)
{
	size_t n = count_out(o);

	o->disarmed += n;
	for (size_t i = 0; i < o->nnamed; i++) {
		bool out = o->leaving[o->named[i].func];

		say_verdict(o, &o->named[i], out);
		n -= out;
	}
	if (n)
		say_hint("disarmed %zu more, for the same reason or as their jumps rely on those",
			 n);
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
	o->delayed = false;
}

/* Those that are left stay until the end, and are asked for no more. */
static void give_up(struct overhead *o)
{
	say_hint("not all that costs too much could be taken out: %s", fail_text());
	for (size_t i = 0; i < o->ntodo; i++)
		limiter_spare(o->limiter, o->todo[i].func);
}

/* It is tried again and again, and said once. */
static void say_delayed(struct overhead *o)
{
	if (!o->delayed)
		say_hint("what costs too much could not be taken out yet: %s", fail_text());
	o->delayed = true;
}

/* Take out what is to be taken out, as far as it goes now. */
static void take_out(struct overhead *o)
{
	if (o->others)
		remove_each_other(o->target->pid, o->others, disarm_child, o);
	int err = disarm(o->target, o->todo, &o->ntodo, o->max_pause);
	if (err == -EAGAIN || err == -EBUSY) {
		say_delayed(o);
		fail_clear();
		return;
	}
	if (err && err != -ESRCH)
		give_up(o);
	if (err != -ESRCH)
		overhead_tell(o);
	fail_clear();
	forget_todo(o);
	limiter_restart(o->limiter);
}

/* Without what tells that a filter comes no memory is read by a system call any more. */
static void leave_guards(const struct overhead *o)
{
	const uint8_t *gates = (const uint8_t *)o->session + GATES_OFF;

	for (size_t i = 0; i < o->nfuncs && o->session; i++)
		if (o->leaving[i] && gates[i] == GATE_GUARDS)
			__atomic_store_n(&o->session->reads, READS_NOTHING, __ATOMIC_SEQ_CST);
}

static void overhead_look(struct overhead *o)
{
	o->nfuncs = o->live->nfuncs;
	o->leaving = calloc(o->nfuncs + 1, sizeof(*o->leaving));
	bool any = o->leaving && overhead_choose(o);

	if (any && disarm_spread(o->live, o->leaving) == 0 &&
	    disarm_list(o->live, o->leaving, &o->todo, &o->ntodo) == 0) {
		leave_guards(o);
		take_out(o);
	} else {
		forget_todo(o);
	}
	fail_clear();
}

void overhead_tick(struct overhead *o)
{
	uint64_t now = clock_monotonic();

	if (!o->limiter || now < o->next)
		return;
	o->next = now + WINDOW;
	if (o->way->room && count_calls(o))
		fail_clear();
	take_sample(o, now);
	/* One at a time: what is on its way out costs no more decisions. */
	if (o->leaving)
		take_out(o);
	else
		overhead_look(o);
}

void overhead_end(struct overhead *o)
{
	limiter_free(o->limiter);
	cpu_times_clear(&o->cpu_times);
	free(o->counted);
	o->counted = NULL;
	forget_todo(o);
	o->limiter = NULL;
}
