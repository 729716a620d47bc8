/* SPDX-License-Identifier: MIT */
/* info: what does a trace directory hold? */
#include "trace/show/info.h"

#include <stdio.h>
#include <time.h>

#include "trace/output/put.h"
#include "trace/output/span.h"
#include "trace/show/filter.h"

static void print_time(struct output *out, const char *key, uint64_t ns)
{
	time_t second = (time_t)(ns / 1000000000);
	struct tm tm;
	char text[64], zone[16];

	if (!localtime_r(&second, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm) ||
	    !strftime(zone, sizeof(zone), "%z", &tm))
		return;
	output_printf(out, "%s\t%s.%06llu %s\n", key, text,
		      (unsigned long long)(ns % 1000000000 / 1000), zone);
}

static void print_span(struct output *out, const char *key, uint64_t ns)
{
	char text[SPAN_MOST], *p = text;

	*put_span(text, ns, false) = '\0';
	while (*p == ' ')
		p++;
	output_printf(out, "%s\t%s\n", key, p);
}

static void print_count(struct output *out, const char *key, uint64_t n)
{
	output_printf(out, "%s\t%llu\n", key, (unsigned long long)n);
}

/* How far was real time from a straight line? */
static uint64_t off_line(const struct clock *c)
{
	uint64_t most = 0;

	for (size_t i = 0; i < c->npairs; i++) {
		uint64_t line = c->realtime + clock_ns(c, c->pairs[i].ticks - c->ticks);

		most = MAX(most, MAX(line, c->pairs[i].ns) - MIN(line, c->pairs[i].ns));
	}
	return most;
}

static void print_clock(struct output *out, const struct clock *c)
{
	char text[SPAN_MOST], *p = text;

	*put_span(text, off_line(c), false) = '\0';
	while (*p == ' ')
		p++;
	output_printf(out, "clock\t%llu Hz\t%zu moments known\t%s off an even pace\n",
		      (unsigned long long)((unsigned __int128)c->run_ticks * 1000000000 /
					   c->run_ns), c->npairs, p);
}

static double cost_ns(const struct clock *c, uint64_t thousandths)
{
	return (double)thousandths / 1000 * (double)c->run_ns / (double)c->run_ticks;
}

static void print_cost(struct output *out, const struct about *a)
{
	const struct probe_cost *c = &a->cost;

	if (!cost_is_known(c))
		return;
	output_printf(out, "probe\t%.1f ns a call\t%.1f ns inside of it\t%.1f ns of an entry\n",
		      cost_ns(&a->clock, c->pair), cost_ns(&a->clock, c->inside),
		      cost_ns(&a->clock, c->mark));
}

static void print_process(const struct about *a, struct output *out)
{
	output_printf(out, "host\t%s\n", a->host ?: "?");
	output_printf(out, "process\t%s (%d)\n", a->program ?: "?", a->pid);
	output_printf(out, "executable\t%s\n", a->exe ?: "?");
	for (size_t i = 0; i < a->nmodules; i++)
		output_printf(out, "module\t%s\t%s\t0x%llx\n", a->modules[i].path ?: "?",
			      a->modules[i].build_id[0] ? a->modules[i].build_id : "-",
			      (unsigned long long)a->modules[i].base);
}

static void print_threads(const struct archive_sizes *z, struct output *out)
{
	print_count(out, "threads", z->nthreads);
	for (size_t i = 0; i < z->nthreads; i++)
		output_printf(out, "thread\t%d\t%d\t%s\n", z->threads[i].pid,
			      z->threads[i].tid, z->threads[i].name);
}

/* Of functions that have been added with a condition of their own. */
static void print_own_filters(const struct about *a, struct output *out)
{
	for (size_t i = 0; i < a->nfuncs; i++) {
		const struct about_filter own = { .when = a->funcs[i].when };
		auto_free char *text = own.when ? filter_text(&own) : NULL;

		if (own.when)
			output_printf(out, "filter of\t%s\t%s\n", a->funcs[i].name, text ?: "?");
	}
}

void info_print(const struct archive *archive, const char *path, struct output *out)
{
	const struct about *a = archive_about(archive);
	struct archive_sizes z;
	uint64_t begin, end;

	archive_sizes(archive, &z);
	begin = a->begin ?: z.begin;
	end = MAX(a->end, z.end);
	output_printf(out, "directory\t%s\n", path);
	print_process(a, out);
	print_time(out, "begin", clock_realtime(&a->clock, begin));
	print_span(out, "duration", clock_ns(&a->clock, end > begin ? end - begin : 0));
	output_printf(out, "ended\t%s\n", a->end ? "yes" : "no");
	print_count(out, "functions", a->probed ?: a->nfuncs);
	print_count(out, "refused", a->refused);
	print_count(out, "disarmed", a->disarmed);
	print_span(out, "pause", a->pause_ns);
	auto_free char *filter = filter_text(&a->filter);

	output_printf(out, "filter\t%s\n", filter ?: "?");
	print_own_filters(a, out);
	print_count(out, "events", a->events);
	print_count(out, "lost", MAX(a->lost, z.lost));
	output_printf(out, "off-cpu\t%s\n", a->off_cpu ? "yes" : "no");
	output_printf(out, "rotated\t%s\n", a->rotated ? "yes" : "no");
	output_printf(out, "compressed\t%s\n", z.squeezed ? "yes" : "no");
	print_count(out, "streams", z.streams);
	print_count(out, "packets", z.packets);
	print_count(out, "bytes", z.bytes);
	print_clock(out, &a->clock);
	print_cost(out, a);
	print_threads(&z, out);
}
