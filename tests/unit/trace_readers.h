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
static uint64_t opened, notes;

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
	CHECK(view_open(&o, &v) == 0 || fail_text()[0]);
	fail_clear();
	opened += v != NULL;
	return v;
}

static inline void read_graph(struct view *v, struct output *out)
{
	struct graph *g = NULL;

	CHECK_EQ(graph_new(&view_about(v)->clock, out, true, true, &g), 0);
	struct sink sink = graph_sink(g);
	CHECK_EQ(view_run(v, &sink, out), 0);
	graph_free(g);
}

static inline void read_json(struct view *v, struct output *out)
{
	struct json *j = NULL;

	CHECK_EQ(json_new(&view_about(v)->clock, out, &j), 0);
	struct sink sink = json_sink(j);
	CHECK_EQ(view_run(v, &sink, out), 0);
	json_free(j);
}

static inline void read_report(struct view *v, struct output *out)
{
	struct report r;

	CHECK_EQ(report_make(v, (enum report_key)(rnd() % REPORT_KEYS), &r), 0);
	report_print(&r, out);
	CHECK_EQ(report_print_diff(&r, &r, REPORT_SELF, out), 0);
	report_clear(&r);
}

static inline void read_info(struct view *v, struct output *out)
{
	info_print(view_archive(v), path, out);
}

static inline void read_callgraph(struct view *v, struct output *out)
{
	CHECK_EQ(callgraph_print(v, out), 0);
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
		CHECK_EQ(f->run(v, out), 0);
		return;
	}
	snprintf(dir, sizeof(dir), "%s/exported.data", base);
	CHECK_EQ(f->make(v, dir), 0);
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
