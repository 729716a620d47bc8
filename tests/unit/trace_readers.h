/* SPDX-License-Identifier: MIT */
/*
 * trace_readers: everything that reads a trace directory, for tests of directories in
 * which anything may stand.
 */
#ifndef TESTS_UNIT_TRACE_READERS_H
#define TESTS_UNIT_TRACE_READERS_H

#include "tests/unit/trace_world.h"

#include "trace/show/callgraph.h"
#include "trace/export/export.h"
#include "trace/show/graph.h"
#include "trace/show/info.h"
#include "trace/show/json.h"
#include "trace/show/report.h"
#include "trace/read/view.h"

/* A directory of the test's own, and the recording in it. */
static char base[64], path[96];
static uint64_t opened, notes, grouped;

static inline void readers_begin(const char *in)
{
	snprintf(base, sizeof(base), "%s/inject-hostile-XXXXXX", in);
	CHECK(mkdtemp(base));
	snprintf(path, sizeof(path), "%s/inject.data", base);
}

static inline void note(void *ctx, const char *text)
{
	notes++;
}

/* Calls are told by values, too: names that signatures have, or had. */
static const char *const bys[] = { "fd", "arg1", "key", "retval", "*at" };

static inline struct view *open_view(void)
{
	struct view_options o = { .path = path, .note = note };
	struct view *v = NULL;

	if (rnd() % 4 == 0)
		o.frames.min_ns = rnd() % 100000;
	if (rnd() % 4 == 0)
		o.since = rnd() % 1000000000;
	if (rnd() % 4 == 0)
		o.until = rnd() % 10000000000;
	if (rnd() % 2 == 0) {
		o.by = bys + rnd() % (ARRAY_SIZE(bys) - 1);
		o.nby = 1 + rnd() % 2;
		o.ended = rnd() % 2;
	}
	CHECK(view_open(&o, &v) == 0 || fail_text()[0]);
	fail_clear();
	opened += v != NULL;
	return v;
}

/* Only what no call has is an error. */
static inline void read_ended(const struct view *v, int err)
{
	const char *const *by;

	CHECK(err == 0 || (view_by(v, &by) && strstr(fail_text(), "no call of the recording")));
	grouped += err == 0 && view_by(v, &by);
	fail_clear();
}

static inline void read_graph(struct view *v, struct output *out)
{
	struct graph *g = NULL;

	CHECK_EQ(graph_new(&view_about(v)->clock, out, true, true, &g), 0);
	struct sink sink = graph_sink(g);
	read_ended(v, view_run(v, &sink, out));
	graph_free(g);
}

static inline void read_json(struct view *v, struct output *out)
{
	struct json *j = NULL;

	CHECK_EQ(json_new(&view_about(v)->clock, out, &j), 0);
	struct sink sink = json_sink(j);
	read_ended(v, view_run(v, &sink, out));
	json_free(j);
}

static inline void read_report(struct view *v, struct output *out)
{
	struct report r;
	struct report_pairs pairs;
	const char *const *by;
	size_t nby = view_by(v, &by);

	read_ended(v, report_make(v, (enum report_key)(rnd() % REPORT_KEYS), rnd() % 9, &r));
	report_print(&r, out);
	report_json(&r, by, nby, out);
	CHECK_EQ(report_compare(&r, &r, REPORT_SELF, rnd() % 5, &pairs), 0);
	report_print_diff(&pairs, out);
	report_json_diff(&pairs, by, nby, out);
	report_pairs_clear(&pairs);
	report_clear(&r);
}

static inline void read_info(struct view *v, struct output *out)
{
	info_print(view_archive(v), path, out);
}

static inline void read_callgraph(struct view *v, struct output *out)
{
	read_ended(v, callgraph_print(v, out));
}

/* One of the formats of other tools. */
static inline void read_export(struct view *v, struct output *out)
{
	const struct export_format *f;
	char dir[128];
	size_t n = 0;

	while (export_format_at(n))
		n++;
	f = export_format_at(rnd() % n);
	if (f->run) {
		read_ended(v, f->run(v, out));
		return;
	}
	snprintf(dir, sizeof(dir), "%s/exported.data", base);
	read_ended(v, f->make(v, dir));
	world_remove(dir);
}

static void (*const readers[])(struct view *, struct output *) = {
	read_graph, read_json, read_report, read_info, read_callgraph, read_export, read_export,
};

enum { READERS = ARRAY_SIZE(readers) };

static inline void readers_one(size_t which)
{
	struct output *out = NULL;
	struct view *v = open_view();

	CHECK_EQ(output_open("/dev/null", &out), 0);
	if (v)
		readers[which % READERS](v, out);
	CHECK_EQ(output_finish(out, NULL), 0);
	output_close(out);
	view_close(v);
}

#endif
