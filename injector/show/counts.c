/* SPDX-License-Identifier: MIT */
/* counts: what was added up of each function up to now? */
#include "injector/show/counts.h"

#include <errno.h>
#include <string.h>

#include "injector/proc/procfs.h"

/* The thread that is meant, as the target knows it. */
static int32_t only_thread(const struct options *o, pid_t pid)
{
	pid_t outer, inner;

	return o->tid && procfs_ids(pid, o->tid, &outer, &inner) > 0 ? inner : o->tid;
}

int counts_fit(const struct way *way, uint32_t nsub, size_t known, size_t ids)
{
	unsigned long long room = way->pairs ? way->funcs((uint64_t)nsub * SUBBUF_SIZE) : ids;

	if (ids <= room)
		return 0;
	return (known < room || !room ?
		fail(0, "the times of %zu functions do not fit into the memory that inject has in "
			"this process (%llu would); use record and report, or fewer functions",
			ids, room) :
		fail(0, "visits have probed %zu functions of this process so far, and the memory "
			"that inject has there has room for the times of the %llu that were the "
			"first: no other can be timed until it is restarted; use record and "
			"report", known, room)), -ENOSPC;
}

void counts_prepare(const struct options *o, pid_t pid, struct session *s, const struct clock *c)
{
	s->only = ways_of(s->counting)->room ? only_thread(o, pid) : 0;
	if (ways_of(s->counting)->pairs)
		s->scale = (uint64_t)((double)MAX(c->run_ns, 1u) / (double)MAX(c->run_ticks, 1u) *
				      (double)(1ull << (64 - SCALE_SHIFT)));
}

static void sums_free(struct sums *s)
{
	free(s->calls);
	free(s->timings);
	free(s->off);
	*s = (struct sums){ 0 };
}

static int sums_new(bool timed, bool off_cpu, size_t nfuncs, struct sums *ret)
{
	*ret = (struct sums){ .calls = calloc(nfuncs + 1, sizeof(*ret->calls)) };
	if (timed)
		ret->timings = calloc(nfuncs + 1, sizeof(*ret->timings));
	if (off_cpu)
		ret->off = calloc(nfuncs + 1, sizeof(*ret->off));
	if (ret->calls && (ret->timings || !timed) && (ret->off || !off_cpu))
		return 0;
	sums_free(ret);
	return fail(ENOMEM, "count the calls of %zu functions", nfuncs);
}

static void sums_copy(const struct sums *from, size_t nfuncs, struct sums *to)
{
	memcpy(to->calls, from->calls, nfuncs * sizeof(*to->calls));
	memcpy(to->timings, from->timings, nfuncs * sizeof(*to->timings));
	if (from->off)
		memcpy(to->off, from->off, nfuncs * sizeof(*to->off));
}

int counts_name(struct counts *c, const struct reader_func *funcs, size_t nfuncs)
{
	uint32_t *order = calloc(nfuncs + 1, sizeof(*order));
	struct sums now;
	int err = order ? sums_new(options_way(c->options)->pairs, c->off_cpu, nfuncs,
				   &now) :
		fail(ENOMEM, "count the calls of %zu functions", nfuncs);

	if (err) {
		free(order);
		return err;
	}
	if (c->recorded)
		sums_copy(&c->now, c->nfuncs, &now);
	sums_free(&c->now);
	free(c->order);
	c->now = now;
	c->order = order;
	c->funcs = funcs;
	c->nfuncs = nfuncs;
	return 0;
}

int counts_new(const struct options *o, const struct reader *r, bool off_cpu,
	       const struct reader_func *funcs, size_t nfuncs, struct counts **ret)
{
	struct counts *c = calloc(1, sizeof(*c));
	int err = 0;

	if (!c)
		return fail(ENOMEM, "count calls");
	c->options = o;
	c->reader = r;
	c->off_cpu = off_cpu;
	c->began = reader_now();
	err = counts_name(c, funcs, nfuncs);
	if (err) {
		counts_free(c);
		return err;
	}
	*ret = c;
	return 0;
}

void counts_free(struct counts *c)
{
	if (!c)
		return;
	sums_free(&c->now);
	free(c->order);
	free(c);
}

/* ---- where calls are recorded -------------------------------------------- */

void counts_event(struct counts *c, const struct event *e)
{
	bool calls = e->kind == EVENT_ENTRY || e->kind == EVENT_MARK;

	if (calls && e->func < c->nfuncs && (!c->options->tid || e->tid == c->options->tid))
		c->now.calls[e->func]++;
}

static bool count_open(void *ctx, const struct call *call)
{
	return true;
}

/* As the payload does where it times them. */
void timing_add(struct timing *t, const struct call *call, const struct clock *clock)
{
	uint64_t ns = clock_ns(clock, call->span);

	t->unwound += call->how == CALL_UNWOUND;
	t->total += call->span;
	t->self += call->span - MIN(call->inner, call->span);
	t->most = MAX(t->most, call->span);
	t->buckets[timing_bucket(ns)]++;
}

void off_add(struct off_sum *off, const struct call *call)
{
	if (!call->wait_known)
		return;
	off->calls++;
	off->wait += call->wait;
	off->cpu += call_cpu(call);
}

static void count_end(void *ctx, const struct call *call)
{
	struct counts *c = ctx;

	if (call->how != CALL_RETURN && call->how != CALL_UNWOUND)
		return;
	timing_add(&c->now.timings[call->func - c->funcs], call, reader_clock(c->reader));
	if (c->off_cpu)
		off_add(&c->now.off[call->func - c->funcs], call);
}

static void count_lost(void *ctx, const struct event *e)
{
}

struct sink counts_sink(struct counts *c)
{
	c->recorded = true;
	return (struct sink){ .open = count_open, .end = count_end, .lost = count_lost, .ctx = c };
}

/* -------------------------------------------------------------------------- */

uint64_t counts_calls(struct counts *c)
{
	uint64_t all = 0;

	if (!c->recorded)
		reader_counts(c->reader, c->now.calls, c->nfuncs);
	for (size_t i = 0; i < c->nfuncs; i++)
		all += c->now.calls[i];
	return all;
}

void counts_take(struct counts *c)
{
	c->now.ticks = reader_now();
	counts_calls(c);
	if (c->now.timings && !c->recorded)
		reader_timings(c->reader, c->now.calls, c->now.timings, c->nfuncs);
}

size_t counts_sort(struct counts *c, int (*compare)(const void *, const void *, void *))
{
	size_t n = 0;

	for (size_t i = 0; i < c->nfuncs; i++)
		if (c->now.calls[i])
			c->order[n++] = (uint32_t)i;
	qsort_r(c->order, n, sizeof(*c->order), compare, c);
	return n;
}
