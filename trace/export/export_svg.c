/* SPDX-License-Identifier: MIT */
/*
 * export_svg: a flame graph: one file that any browser shows, without anything else.
 *
 * A box is a chain of calls, as wide as the time in it; what it has called stands on
 * it. A click zooms, the search marks. Boxes that are too small to see are left out.
 */
#include <errno.h>
#include <string.h>

#include "trace/export/export.h"
#include "trace/read/tree.h"
#include "trace/output/utf8.h"

enum {
	WIDTH = 1200, ROW = 17, TOP = 52, BOTTOM = 24, MARGIN = 10,
	LETTER = 7,		/* pixels of one, about */
};

#define LEAST 0.1		/* pixels */

struct flame {
	const struct about *about;
	const struct tree_node *nodes;
	uint64_t *sums;		/* by node: ticks in it and in what it calls */
	double *x;		/* by node: where it begins */
	double scale;		/* pixels of a tick */
	uint32_t depth;		/* of what can be seen */
	unsigned int height;
};

static const char head[] =
"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%u\" "
"viewBox=\"0 0 %d %u\" font-family=\"monospace\" font-size=\"12\">\n"
"<style>g.f:hover rect{stroke:#000;stroke-width:.5;cursor:pointer}"
"g.f text{pointer-events:none}.b{cursor:pointer}</style>\n"
"<rect width=\"100%%\" height=\"100%%\" fill=\"#f8f8f0\"/>\n";

static const char controls[] =
"<text id=\"reset\" class=\"b\" x=\"10\" y=\"40\" visibility=\"hidden\">reset zoom</text>\n"
"<text id=\"search\" class=\"b\" x=\"%d\" y=\"40\" text-anchor=\"end\">search</text>\n"
"<text id=\"found\" x=\"%d\" y=\"%u\" text-anchor=\"end\"> </text>\n"
"<text id=\"detail\" x=\"10\" y=\"%u\"> </text>\n";

/* data-x and data-w are in pixels of the whole; what is zoomed to fills the width. */
static const char script[] =
"<script type=\"text/ecmascript\"><![CDATA[\n"
"(function () {\n"
"'use strict';\n"
"var WIDTH = 1180, LEFT = 10, LETTER = 7.2;\n"
"var boxes = Array.prototype.slice.call(document.querySelectorAll('g.f'));\n"
"function id(name) { return document.getElementById(name); }\n"
"function num(g, key) { return parseFloat(g.getAttribute('data-' + key)); }\n"
"function name(g) { return g.getAttribute('data-n'); }\n"
"function place(g, x, w) {\n"
"	var r = g.querySelector('rect'), t = g.querySelector('text');\n"
"	var n = Math.floor((w - 6) / LETTER), s = name(g);\n"
"	r.setAttribute('x', x); r.setAttribute('width', Math.max(w, 0));\n"
"	t.setAttribute('x', Math.max(x, LEFT) + 3);\n"
"	t.textContent = n < 3 ? '' : s.length <= n ? s : s.slice(0, n - 2) + '..';\n"
"}\n"
"function zoom(to) {\n"
"	var x0 = to ? num(to, 'x') : 0, w0 = to ? num(to, 'w') : WIDTH;\n"
"	var d0 = to ? num(to, 'd') : 0, k = WIDTH / w0;\n"
"	boxes.forEach(function (g) {\n"
"		var x = num(g, 'x'), w = num(g, 'w'), e = 1e-4;\n"
"		var around = num(g, 'd') < d0 && x <= x0 + e && x + w >= x0 + w0 - e;\n"
"		var inside = x >= x0 - e && x + w <= x0 + w0 + e && num(g, 'd') >= d0;\n"
"		g.setAttribute('visibility', around || inside ? 'visible' : 'hidden');\n"
"		g.setAttribute('opacity', around ? 0.5 : 1);\n"
"		if (around) place(g, LEFT, WIDTH);\n"
"		else if (inside) place(g, LEFT + (x - x0) * k, w * k);\n"
"	});\n"
"	id('reset').setAttribute('visibility', to ? 'visible' : 'hidden');\n"
"}\n"
"function search() {\n"
"	var word = prompt('Search (a regular expression); nothing ends the search', ''), re = null;\n"
"	if (word === null) return;\n"
"	try { re = word ? new RegExp(word) : null; } catch (e) { alert(e.message); return; }\n"
"	var spans = [];\n"
"	boxes.forEach(function (g) {\n"
"		var hit = re && re.test(name(g)), r = g.querySelector('rect');\n"
"		r.setAttribute('fill', hit ? '#e040fb' : r.getAttribute('data-c'));\n"
"		if (hit) spans.push([num(g, 'x'), num(g, 'x') + num(g, 'w')]);\n"
"	});\n"
"	spans.sort(function (a, b) { return a[0] - b[0]; });\n"
"	var sum = 0, end = 0;\n"
"	spans.forEach(function (s) {\n"
"		sum += Math.max(0, s[1] - Math.max(s[0], end)); end = Math.max(end, s[1]);\n"
"	});\n"
"	id('found').textContent = re ? 'found: ' + (100 * sum / WIDTH).toFixed(1) + ' %' : ' ';\n"
"}\n"
"boxes.forEach(function (g) {\n"
"	var r = g.querySelector('rect');\n"
"	r.setAttribute('data-c', r.getAttribute('fill'));\n"
"	g.addEventListener('click', function () { zoom(num(g, 'd') ? g : null); });\n"
"	g.addEventListener('mouseover', function () {\n"
"		id('detail').textContent = g.querySelector('title').textContent;\n"
"	});\n"
"	g.addEventListener('mouseout', function () { id('detail').textContent = ' '; });\n"
"});\n"
"id('reset').addEventListener('click', function () { zoom(null); });\n"
"id('search').addEventListener('click', search);\n"
"window.addEventListener('keydown', function (e) {\n"
"	if (e.key === 'f' && e.ctrlKey) { e.preventDefault(); search(); }\n"
"	if (e.key === 'Escape') zoom(null);\n"
"});\n"
"zoom(null);\n"
"})();\n"
"]]></script>\n"
"</svg>\n";

/* Not of XML: control characters, and two that are no characters. */
static bool is_foreign(const char *text, size_t n)
{
	return !n || (unsigned char)*text < ' ' || !strncmp(text, "\xef\xbf\xbe", 3) ||
	       !strncmp(text, "\xef\xbf\xbf", 3);
}

/* Names may hold anything: what XML cannot have becomes `?`. */
static void put_xml(struct output *out, const char *text)
{
	static const struct {
		char c;
		const char *entity;
	} entities[] = {
		{ '<', "&lt;" }, { '>', "&gt;" }, { '&', "&amp;" }, { '"', "&quot;" },
	};

	while (*text) {
		size_t n = utf8_bytes(text), i = 0;

		while (i < ARRAY_SIZE(entities) && entities[i].c != *text)
			i++;
		if (i < ARRAY_SIZE(entities))
			output_printf(out, "%s", entities[i].entity);
		else if (is_foreign(text, n))
			output_text(out, "?", 1);
		else
			output_text(out, text, n);
		text += n ? n : 1;
	}
}

/* Children have higher numbers: from the last to the first, all is added up. */
static int add_up(struct flame *f, size_t n)
{
	f->sums = calloc(n, sizeof(*f->sums));
	f->x = calloc(n, sizeof(*f->x));
	if (!f->sums || !f->x)
		return fail(ENOMEM, "draw the calls");
	for (size_t i = n - 1; i; i--) {
		f->sums[i] += f->nodes[i].self;
		f->sums[f->nodes[i].parent] += f->sums[i];
	}
	f->scale = f->sums[0] ? (double)(WIDTH - 2 * MARGIN) / (double)f->sums[0] : 0;
	for (size_t i = 1; i < n; i++)
		if ((double)f->sums[i] * f->scale >= LEAST)
			f->depth = MAX(f->depth, f->nodes[i].depth);
	f->height = TOP + (f->depth + 1) * ROW + BOTTOM;
	return 0;
}

/* A colour of its own for each name, between yellow and red. */
static unsigned int color(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (205 + hash % 50) << 16 | (hash >> 8) % 200 << 8 | ((hash >> 16) % 55);
}

static void box(const struct flame *f, size_t i, const char *name, struct output *out)
{
	double x = f->x[i] * f->scale, w = (double)f->sums[i] * f->scale;
	unsigned int y = f->height - BOTTOM - (f->nodes[i].depth + 1) * ROW;
	uint64_t ns = clock_ns(&f->about->clock, f->sums[i]);

	output_printf(out, "<g class=\"f\" data-x=\"%.4f\" data-w=\"%.4f\" data-d=\"%u\" data-n=\"",
		      x, w, f->nodes[i].depth);
	put_xml(out, name);
	output_text(out, "\"><title>", 9);
	put_xml(out, name);
	output_printf(out, ": %llu.%06llu ms, ", (unsigned long long)ns / 1000000,
		      (unsigned long long)ns % 1000000);
	if (i)
		output_printf(out, "%llu calls, ", (unsigned long long)f->nodes[i].calls);
	output_printf(out, "%.2f %%</title>"
			   "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" rx=\"1\" "
			   "fill=\"#%06x\"/><text x=\"%.2f\" y=\"%u\">",
		      100 * w / (WIDTH - 2 * MARGIN),
		      x + MARGIN, y, w, ROW - 1, color(name), x + MARGIN + 3, y + 12);
	if (w > 3 * LETTER && strlen(name) * LETTER < w)
		put_xml(out, name);
	output_text(out, "</text></g>\n", 12);
}

static int node(void *ctx, const struct tree *t, const struct tree_node *n, struct output *out)
{
	struct flame *f = ctx;
	size_t i = (size_t)(n - f->nodes);

	/* Siblings come one after the other: each moves the place of the next. */
	f->x[i] = f->x[n->parent];
	f->x[n->parent] += (double)f->sums[i];
	if ((double)f->sums[i] * f->scale >= LEAST)
		box(f, i, n->func->name, out);
	return 0;
}

static int svg_draw(struct flame *f, const struct tree *t, struct output *out)
{
	int err;

	output_printf(out, head, WIDTH, f->height, WIDTH, f->height);
	output_printf(out, "<text x=\"%d\" y=\"24\" text-anchor=\"middle\" font-size=\"17\">",
		      WIDTH / 2);
	put_xml(out, f->about->program ?: "");
	output_printf(out, " (%d)</text>\n", f->about->pid);
	output_printf(out, controls, WIDTH - MARGIN, WIDTH - MARGIN, f->height - 8, f->height - 8);
	box(f, 0, "all", out);
	err = tree_walk(t, node, f, out);
	output_text(out, script, sizeof(script) - 1);
	return err;
}

static int export_svg(struct view *v, struct output *out)
{
	struct flame f = { .about = view_about(v) };
	struct tree *t = NULL;
	size_t n;
	int err = tree_make(v, &t) ?: tree_nodes(t, &f.nodes, &n);

	err = err ? err : add_up(&f, n);
	err = err ? err : svg_draw(&f, t, out);
	free(f.sums);
	free(f.x);
	tree_free(t);
	return err;
}

const struct export_format format_svg = { "svg", .run = export_svg, .chains = true };
