/* SPDX-License-Identifier: MIT */
/* read: the verbs that show what a trace directory holds. No process is concerned. */
#include <errno.h>

#include "injector/log/say.h"
#include "injector/session/session_file.h"
#include "injector/show/hist_values.h"
#include "injector/show/summary.h"
#include "injector/verbs/verbs.h"
#include "trace/show/callgraph.h"
#include "trace/export/export.h"
#include "trace/show/graph.h"
#include "trace/show/info.h"
#include "trace/show/json.h"
#include "trace/show/report.h"
#include "trace/read/view.h"

static void verb_read_note(void *ctx, const char *text)
{
	say("%s", text);
}

static int open_view(const struct options *o, const char *path, struct view **ret)
{
	struct view_options v = {
		.path = path,
		.frames = { .min_ns = o->min_duration, .depth = o->depth,
			    .calls = o->calls, .tid = o->tid },
		.include = o->include, .ninclude = o->ninclude,
		.exclude = o->exclude, .nexclude = o->nexclude,
		.by = o->by, .nby = o->nby, .ended = o->verb == VERB_REPORT,
		.net = o->net, .since = o->since, .until = o->until, .note = verb_read_note,
		/* Two directories are compared by whole names. */
		.short_names = o->short_names && !o->diff,
	};

	return view_open(&v, ret);
}

/* ---- replay -------------------------------------------------------------- */

static int replay_graph(const struct options *o, struct view *v, struct output *out)
{
	const struct about *a = view_about(v);
	struct graph *g;
	struct sink sink;
	int err = graph_new(&a->clock, out, o->time, output_has_color(out, o->no_color), &g);

	if (err)
		return err;
	graph_name(g, view_names(v));
	if (a->off_cpu)
		graph_off_cpu(g);
	graph_header(g);
	sink = graph_sink(g);
	err = graph_order(g) ?: view_run(v, &sink, out);
	graph_end(g);
	graph_free(g);
	return err;
}

static uint64_t verb_read_wall(const struct view *v, uint64_t ticks)
{
	return clock_realtime(&view_about(v)->clock, ticks);
}

static int replay_json(struct view *v, struct output *out)
{
	const struct about *a = view_about(v);
	struct summary s = { .functions = a->probed, .refused = a->refused,
			     .pause_ns = a->pause_ns, .removed = a->removed,
			     .verified = a->verified,
			     .gone = a->gone ? "the target has ended" : NULL };
	struct view_counts counts;
	struct json *j;
	struct sink sink;
	int err = json_new(&a->clock, out, &j);

	if (err)
		return err;
	if (a->off_cpu)
		json_off_cpu(j);
	summary_json_start(out, &s, a->pid, verb_read_wall(v, view_begin(v)));
	json_name(j, view_names(v));
	sink = json_sink(j);
	err = view_run(v, &sink, out);
	json_free(j);
	view_counts(v, &counts);
	s.calls = counts.calls;
	s.events = counts.events;
	s.lost = counts.lost;
	summary_json(out, &s, a->pid, verb_read_wall(v, view_end(v)));
	return err;
}

static int replay(const struct options *o, struct view *v, struct output *out)
{
	return o->json ? replay_json(v, out) : replay_graph(o, v, out);
}

/* ---- report -------------------------------------------------------------- */

/* So many lines if calls are told by their values, of which there may be many. */
enum { LINES = 100 };

static size_t report_lines(const struct options *o)
{
	return o->top ? o->top : o->nby ? LINES : 0;
}

/* The other directory is read; its view stays, for the names. */
static int report_before(const struct options *o, enum report_key sort, struct view **v,
			 struct report *ret)
{
	return open_view(o, o->diff, v) ?: report_sorts(*v, sort) ?:
	       report_make(*v, sort, 0, ret);
}

static int report_diff(const struct options *o, enum report_key sort, struct report *before,
		       struct report *now, struct output *out)
{
	struct strings names = { 0 };
	struct report_pairs pairs = { 0 };
	int err = o->short_names ? report_shorten(before, now, &names) : 0;

	err = err ? err : report_compare(before, now, sort, report_lines(o), &pairs);
	if (!err && o->json)
		report_json_diff(&pairs, o->by, o->nby, out);
	else if (!err)
		report_print_diff(&pairs, out);
	report_pairs_clear(&pairs);
	strings_clear(&names);
	return err;
}

static void report_say_full(const struct options *o, const struct view *v, const char *directory)
{
	if (view_groups_full(v))
		say("%s has more than %d different values: those that came later are in (others)",
		    directory, GROUPS_MOST);
}

static int verb_read_report(const struct options *o, struct view *v, struct output *out)
{
	enum report_key sort = REPORT_TOTAL;
	struct report now = { 0 }, before = { 0 };
	struct view *other = NULL;
	int err = o->sort ? report_key(o->sort, &sort) : 0;

	err = err ? err : report_sorts(v, sort) ?:
	      report_make(v, sort, o->diff ? 0 : report_lines(o), &now);
	if (!err && o->diff)
		err = report_before(o, sort, &other, &before) ?:
		      report_diff(o, sort, &before, &now, out);
	else if (!err && o->json)
		report_json(&now, o->by, o->nby, out);
	else if (!err)
		report_print(&now, out);
	report_say_full(o, v, options_directory(o));
	if (other)
		report_say_full(o, other, o->diff);
	report_clear(&now);
	report_clear(&before);
	view_close(other);
	return err;
}

/* ---- hist ---------------------------------------------------------------- */

static int verb_read_hist(const struct options *o, struct view *v, struct output *out)
{
	struct hist_values *h = NULL;
	struct sink sink;
	/* Functions are chosen by whole names. */
	int err = hist_values_new(o, archive_about(view_archive(v)), &h);

	if (err)
		return err;
	hist_values_show(h, view_about(v)->funcs);
	sink = hist_values_sink(h, &view_about(v)->clock);
	err = view_run(v, &sink, NULL) ?: hist_values_print(h, out);
	hist_values_free(h);
	return err;
}

/* ---- export -------------------------------------------------------------- */

/* A directory, where other formats are a file. */
static bool is_directory(const struct options *o)
{
	const struct export_format *format;

	return o->verb == VERB_EXPORT && !export_find(o->format, &format) && format->make;
}

static int export(const struct options *o, struct view *v, struct output *out)
{
	const struct export_format *format;
	int err = export_find(o->format, &format);

	if (err)
		return err;
	if (format->make && o->output && !strcmp(o->output, "-"))
		return fail(0, "--to %s writes a directory; give -o DIR", o->format);
	if (format->make)
		return format->make(v, o->output ? o->output : format->directory);
	if (output_is_terminal(out) && format->binary)
		return fail(0, "--to %s is nothing for a terminal; give -o FILE", o->format);
	return format->run(v, out);
}

/* -------------------------------------------------------------------------- */

/* Sums do not tell it, but those of report and graph, which have a line of it. */
static void say_lost(const struct options *o, const struct view *v)
{
	const struct export_format *format;
	bool sums = o->verb == VERB_HIST ||
		(o->verb == VERB_EXPORT && !export_find(o->format, &format) && !format->moments);
	struct view_counts counts;

	view_counts(v, &counts);
	if (sums && counts.lost)
		say_hint("%llu events were lost as this was recorded: calls are missing in it",
			 (unsigned long long)counts.lost);
}

static int verb_read_show(const struct options *o, struct view *v, struct output *out)
{
	switch (o->verb) {
	case VERB_REPLAY:
		return replay(o, v, out);
	case VERB_REPORT:
		return verb_read_report(o, v, out);
	case VERB_HIST:
		return verb_read_hist(o, v, out);
	case VERB_GRAPH:
		return callgraph_print(v, out);
	case VERB_EXPORT:
		return export(o, v, out);
	default:
		info_print(view_archive(v), options_directory(o), out);
		return 0;
	}
}

int verb_read(const struct options *o)
{
	struct output *out = NULL;
	struct view *v = NULL;
	int err;

	say_quiet(o->quiet);
	err = open_view(o, options_directory(o), &v);
	if (err && session_file_is_in(options_directory(o))) {
		fail_clear();
		err = fail(0, "%s holds the rings of a process; inject snapshot %s writes what "
			   "they hold as a trace directory", options_directory(o),
			   options_directory(o));
	}
	err = err ? err : output_open(is_directory(o) ? NULL : o->output, &out);
	err = err ? err : verb_read_show(o, v, out);
	if (!err)
		say_lost(o, v);
	if (out && err != -EPIPE) {
		int written = output_finish(out, NULL);

		err = err ? err : written;
	}
	output_close(out);
	view_close(v);
	/* A reader that has seen enough is no failure. */
	if (!err || err == -EPIPE)
		return STATUS_DONE;
	int status = verb_failed(err);
	return err == -ENODATA ? STATUS_NOTHING : status;
}
