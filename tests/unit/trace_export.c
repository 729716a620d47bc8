/* SPDX-License-Identifier: MIT */
/*
 * Is a recording with the worst of names still JSON, XML, a graph of dot's and folded
 * lines, and are its chains counted right?
 */
#include "tests/unit/trace_world.h"

#include "trace/show/callgraph.h"
#include "trace/export/export.h"
#include "trace/read/tree.h"

static char base[] = "/tmp/inject-export-XXXXXX";
static char path[64], file[96];

static void note(void *ctx, const char *text)
{
	failures++;
	printf("%s\n", text);
}

static struct view *open_view(void)
{
	struct view_options o = { .path = path, .note = note };
	struct view *v = NULL;

	CHECK_EQ(view_open(&o, &v), 0);
	return v;
}

static char *in_base(const char *name)
{
	snprintf(file, sizeof(file), "%s/%s", base, name);
	return file;
}

static void write_format(const char *name, int (*run)(struct view *, struct output *))
{
	struct output *out = NULL;
	struct view *v = open_view();

	CHECK_EQ(output_open(in_base(name), &out), 0);
	CHECK_EQ(run(v, out), 0);
	CHECK_EQ(output_finish(out, NULL), 0);
	output_close(out);
	view_close(v);
}

/* Python's parsers are the judge; without it, what is written is not judged here. */
static void judge(void)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "cd %s && command -v python3 >/dev/null || exit 0; python3 -c '"
		 "import json, xml.etree.ElementTree as x\n"
		 "names = {e[\"name\"] for e in json.load(open(\"chrome\"))[\"traceEvents\"]}\n"
		 "assert \"tail\\\\n\" in names and \"std::map<int, \\\"x\\\">::operator[]\" in names\n"
		 "s = json.load(open(\"speedscope\"))\n"
		 "p = s[\"profiles\"][0]\n"
		 "assert sum(p[\"weights\"]) == p[\"endValue\"] > 0\n"
		 "g = x.parse(\"svg\").getroot().iter(\"{http://www.w3.org/2000/svg}g\")\n"
		 "assert \"std::map<int, \\\"x\\\">::operator[]\" in {e.get(\"data-n\") for e in g}\n"
		 "assert all(l.rsplit(\" \", 1)[1].strip().isdigit() for l in open(\"folded\"))\n"
		 "'", base);
	CHECK_EQ(system(command), 0);
}

static void test_formats(void)
{
	const struct export_format *f;
	struct world w;

	world_make(&w, 50000);
	world_write(&w, path, (struct record_options){ 0 });
	for (size_t i = 0; (f = export_format_at(i)); i++)
		if (f->run)
			write_format(f->name, f->run);
	write_format("graph", callgraph_print);
	judge();
	free(w.events);
}

/* ---- chains -------------------------------------------------------------- */

static void write_events(const struct event *e, size_t n)
{
	struct world w = { .events = (struct event *)e, .n = n, .now = e[n - 1].tsc };

	world_remove(path);
	world_write(&w, path, (struct record_options){ 0 });
}

static struct event at(uint64_t ns, enum event_kind kind, uint32_t func)
{
	return (struct event){ .tsc = (1ull << 50) + 2 * ns, .kind = (uint8_t)kind,
			       .func = func, .tid = 4121 };
}

static const struct tree_node *child(const struct tree_node *nodes, uint32_t parent, uint32_t func)
{
	for (uint32_t i = nodes[parent].child; i; i = nodes[i].next)
		if (strcmp(nodes[i].func->name, world_funcs[func].name) == 0)
			return &nodes[i];
	CHECK(!"a child of that name");
	return nodes;
}

/* 0 calls 1 twice, and itself once; 1 alone. */
static void test_tree(void)
{
	const struct event events[] = {
		at(0, EVENT_ENTRY, 0), at(10, EVENT_ENTRY, 1), at(30, EVENT_EXIT, 1),
		at(40, EVENT_ENTRY, 1), at(45, EVENT_EXIT, 1),
		at(50, EVENT_ENTRY, 0), at(60, EVENT_EXIT, 0), at(100, EVENT_EXIT, 0),
		at(200, EVENT_ENTRY, 1), at(203, EVENT_EXIT, 1),
	};
	const struct tree_node *nodes = NULL, *outer, *inner;
	struct tree *t = NULL;
	struct view *v;
	size_t n = 0;

	write_events(events, ARRAY_SIZE(events));
	v = open_view();
	CHECK_EQ(tree_make(v, &t), 0);
	CHECK_EQ(tree_nodes(t, &nodes, &n), 0);
	CHECK_EQ(n, 5);
	outer = child(nodes, 0, 0);
	CHECK(outer->calls == 1 && outer->total == 200 && outer->self == 130 && !outer->nested);
	inner = child(nodes, (uint32_t)(outer - nodes), 1);
	CHECK(inner->calls == 2 && inner->total == 50 && inner->self == 50);
	inner = child(nodes, (uint32_t)(outer - nodes), 0);
	CHECK(inner->calls == 1 && inner->total == 20 && inner->nested);
	/* The largest comes first. */
	CHECK(&nodes[nodes[0].child] == outer);
	tree_free(t);
	view_close(v);
}

/* Deeper than the tree: no call is lost, and no time counted twice. */
static void test_deep(void)
{
	enum { DEEP = 3 * TREE_DEPTH };
	struct event *events = calloc(2 * DEEP, sizeof(*events));
	const struct tree_node *nodes = NULL;
	uint64_t self = 0;
	struct tree *t = NULL;
	struct view *v;
	size_t n = 0;

	for (uint64_t i = 0; i < DEEP; i++) {
		events[i] = at(i, EVENT_ENTRY, i % 2);
		events[2 * DEEP - 1 - i] = at(2 * DEEP - i, EVENT_EXIT, i % 2);
	}
	write_events(events, 2 * DEEP);
	v = open_view();
	CHECK_EQ(tree_make(v, &t), 0);
	CHECK_EQ(tree_nodes(t, &nodes, &n), 0);
	CHECK_EQ(n, TREE_DEPTH + 1);
	for (size_t i = 0; i < n; i++)
		self += nodes[i].self;
	CHECK_EQ(self, 2 * 2 * DEEP);
	tree_free(t);
	view_close(v);
	free(events);
}

int main(void)
{
	CHECK(mkdtemp(base));
	snprintf(path, sizeof(path), "%s/inject.data", base);
	test_formats();
	test_tree();
	test_deep();
	world_remove(path);
	world_remove(base);
	return failures != 0;
}
