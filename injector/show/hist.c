/* SPDX-License-Identifier: MIT */
/* hist: how many calls of a function took how long? */
#include "injector/show/counts.h"

#include <string.h>

#include "trace/show/json.h"
#include "trace/output/span.h"

enum { BAR = 40 };	/* columns of the longest */

uint64_t timing_ended(const struct timing *t)
{
	uint64_t n = 0;

	for (int i = 0; i < BUCKETS; i++)
		n += t->buckets[i];
	return n;
}

uint64_t timing_average(const struct timing *t, const struct clock *c)
{
	uint64_t n = timing_ended(t);

	return n ? clock_ns(c, t->total / n) : 0;
}

uint64_t timing_to(uint32_t bucket)
{
	return bucket + 1 < BUCKETS ? timing_from(bucket + 1) : UINT64_MAX;
}

/* Of the last bucket it is not known how far it reaches: its least stands for all in it. */
uint64_t timing_percentile(const struct timing *t, const struct clock *c, unsigned int percent)
{
	double rank = (double)timing_ended(t) * percent / 100;
	uint64_t most = clock_ns(c, t->most);

	for (uint32_t i = 0; i < BUCKETS; i++) {
		double n = (double)t->buckets[i];
		uint64_t from = timing_from(i), to = MIN(timing_to(i), most);

		if (n >= rank && n > 0 && i + 1 == BUCKETS)
			return MIN(from, most);
		if (n >= rank && n > 0)
			return to < from ? most : from + (uint64_t)((double)(to - from) * rank / n);
		rank -= n;
	}
	return most;
}

static int longest_first(const void *a, const void *b, void *ctx)
{
	const struct counts *c = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t of_x = c->now.timings[x].total, of_y = c->now.timings[y].total;

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return strcmp(c->funcs[x].name, c->funcs[y].name);
}

/* Is it one of those of which only the least is known? */
static bool is_beyond(const struct timing *t, unsigned int percent)
{
	return (double)t->buckets[BUCKETS - 1] > (double)timing_ended(t) * (100 - percent) / 100;
}

/* A time without the spaces before it. */
static void print_span(struct output *out, const char *what, uint64_t ns)
{
	char buf[SPAN_MOST + 1];
	const char *p = buf;

	*put_span(buf, ns, false) = '\0';
	output_printf(out, "%s %s", what, p + strspn(p, " "));
}

/* What its calls have taken together. */
static void print_off(const struct off_sum *off, uint64_t ended, const struct clock *c,
		      struct output *out)
{
	if (!off->calls) {
		output_printf(out, "; cpu and wait not known");
		return;
	}
	print_span(out, "; cpu", clock_ns(c, off->cpu));
	print_span(out, ", wait", clock_ns(c, off->wait));
	if (off->calls < ended)
		output_printf(out, " of %llu", (unsigned long long)off->calls);
}

static void print_head(const struct reader_func *f, uint64_t calls, const struct timing *t,
		       const struct off_sum *off, const struct clock *c, struct output *out)
{
	uint64_t ended = timing_ended(t);

	output_printf(out, "# %s: %llu call%s", f->name, (unsigned long long)calls,
		      calls == 1 ? "" : "s");
	if (calls > ended)
		output_printf(out, ", %llu not timed", (unsigned long long)(calls - ended));
	if (t->unwound)
		output_printf(out, ", %llu unwound", (unsigned long long)t->unwound);
	if (ended) {
		print_span(out, "; average", timing_average(t, c));
		print_span(out, is_beyond(t, 50) ? ", p50 over" : ", p50",
			   timing_percentile(t, c, 50));
		print_span(out, is_beyond(t, 99) ? ", p99 over" : ", p99",
			   timing_percentile(t, c, 99));
		print_span(out, ", longest", clock_ns(c, t->most));
		if (off)
			print_off(off, ended, c, out);
	}
	output_printf(out, "\n");
}

/* Of two buckets: a power of two. The first one alone has what is shorter, and the last one what is
 * longer; so the one before that is half of a power. */
static uint32_t row_size(uint32_t bucket)
{
	return bucket && bucket + 2 < BUCKETS ? 2 : 1;
}

static uint64_t row(const struct timing *t, uint32_t bucket)
{
	return t->buckets[bucket] + (row_size(bucket) == 2 ? t->buckets[bucket + 1] : 0);
}

static void print_row(uint32_t bucket, uint64_t n, uint64_t most, struct output *out)
{
	char from[SPAN_MOST + 1], bar[BAR + 1];
	size_t length = (size_t)((double)n * BAR / (double)MAX(most, 1u) + 0.5);

	*put_span(from, timing_from(bucket), false) = '\0';
	memset(bar, '#', MIN(length, (size_t)BAR));
	bar[MIN(length, (size_t)BAR)] = '\0';
	output_printf(out, "  %s%c %12llu%s%s\n", from, bucket + 1 < BUCKETS ? ' ' : '+',
		      (unsigned long long)n, *bar ? "  " : "", bar);
}

/* From the first row that has any to the last. */
static void print_rows(const struct timing *t, struct output *out)
{
	uint32_t first = BUCKETS, last = 0;
	uint64_t most = 0;

	for (uint32_t i = 0; i < BUCKETS; i += row_size(i)) {
		uint64_t n = row(t, i);

		first = n && first == BUCKETS ? i : first;
		last = n ? i : last;
		most = MAX(most, n);
	}
	for (uint32_t i = first; i <= last; i += row_size(i))
		print_row(i, row(t, i), most, out);
}

static void print_buckets(const struct timing *t, struct output *out)
{
	const char *comma = "";

	output_printf(out, ",\"buckets\":[");
	for (uint32_t i = 0; i < BUCKETS; i++) {
		if (!t->buckets[i])
			continue;
		output_printf(out, "%s{\"from_ns\":%llu,\"to_ns\":", comma,
			      (unsigned long long)timing_from(i));
		if (timing_to(i) == UINT64_MAX)
			output_printf(out, "null");
		else
			output_printf(out, "%llu", (unsigned long long)timing_to(i));
		output_printf(out, ",\"calls\":%llu}", (unsigned long long)t->buckets[i]);
		comma = ",";
	}
	output_printf(out, "]");
}

void timing_json(const struct reader_func *f, const char *type, uint64_t calls,
		 const struct timing *t, const struct clock *c, struct output *out)
{
	const struct {
		const char *name;
		uint64_t ns;
	} times[] = {
		{ "total", clock_ns(c, t->total) }, { "self", clock_ns(c, t->self) },
		{ "avg", timing_average(t, c) }, { "p50", timing_percentile(t, c, 50) },
		{ "p99", timing_percentile(t, c, 99) }, { "max", clock_ns(c, t->most) },
	};

	output_printf(out, "{\"type\":\"%s\",", type);
	json_func(out, f);
	output_printf(out, ",\"calls\":%llu,\"timed\":%llu,\"unwound\":%llu",
		      (unsigned long long)calls, (unsigned long long)timing_ended(t),
		      (unsigned long long)t->unwound);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (timing_ended(t))
			output_printf(out, ",\"%s_ns\":%llu", times[i].name,
				      (unsigned long long)times[i].ns);
		else
			output_printf(out, ",\"%s_ns\":null", times[i].name);
}

void off_json(const struct off_sum *off, const struct clock *clock, struct output *out)
{
	if (off && off->calls)
		output_printf(out, ",\"cpu_ns\":%llu,\"wait_ns\":%llu",
			      (unsigned long long)clock_ns(clock, off->cpu),
			      (unsigned long long)clock_ns(clock, off->wait));
	else if (off)
		output_printf(out, ",\"cpu_ns\":null,\"wait_ns\":null");
	if (off)
		output_printf(out, ",\"wait_known\":%llu", (unsigned long long)off->calls);
}

void timing_print(const struct reader_func *f, uint64_t calls, const struct timing *t,
		  const struct off_sum *off, const struct clock *clock, bool json,
		  struct output *out)
{
	if (!json) {
		print_head(f, calls, t, off, clock, out);
		print_rows(t, out);
		return;
	}
	timing_json(f, "hist", calls, t, clock, out);
	off_json(off, clock, out);
	print_buckets(t, out);
	output_printf(out, "}\n");
}

void hist_print(struct counts *c, struct output *out)
{
	const struct clock *clock = reader_clock(c->reader);
	size_t n = counts_sort(c, longest_first);

	for (size_t i = 0; i < n; i++) {
		uint32_t id = c->order[i];

		timing_print(&c->funcs[id], c->now.calls[id], &c->now.timings[id],
			     c->now.off ? &c->now.off[id] : NULL, clock, c->options->json, out);
	}
}
