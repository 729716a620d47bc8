/* SPDX-License-Identifier: MIT */
/*
 * graph: how does a call look in the call graph?
 *
 * The columns are those of `uftrace replay`. Lines are put together by hand,
 * not by printf: millions of them are written.
 *
 * A terminal that takes less than is recorded is shown whole stretches: when
 * too much waits, all is left out until little does, and the number of calls
 * stands between. Pipes and files get everything.
 */
#include "trace/show/graph.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "trace/output/lines.h"
#include "trace/output/put.h"
#include "trace/output/span.h"
#include "trace/show/callers.h"
#include "trace/show/values.h"

enum {
	SKIP_ABOVE = 1 << 18,	/* bytes that wait for the terminal */
	SHOW_BELOW = 1 << 13,
	PREFIX = 128,		/* more than what stands before the name */
	SUFFIX = 64,		/* more than what stands behind it */
	MAX_INDENT = 1024,	/* columns; a deeper call stands there, too */
};

struct graph {
	const struct clock *ticks;
	struct output *out;
	struct lines *lines;	/* in order; NULL: as they come */
	struct shown_values values;
	const struct caller_names *names;	/* NULL: no callers are there */
	struct shown_callers callers;
	bool time, color;
	bool off_cpu;		/* with columns for it */
	bool skipping;
	uint64_t left_out;	/* calls */
	/* The wall clock's second that was formatted last. */
	time_t second;
	char clock[16];		/* "HH:MM:SS" */
};

#define GRAY "\033[90m"
#define RESET "\033[0m"

int graph_new(const struct clock *clock, struct output *out, bool with_time,
	      bool color, struct graph **ret)
{
	struct graph *g = calloc(1, sizeof(*g));

	if (!g)
		return fail(ENOMEM, "print the call graph");
	g->ticks = clock;
	g->out = out;
	g->time = with_time;
	g->color = color;
	g->second = -1;
	*ret = g;
	return 0;
}

void graph_name(struct graph *g, const struct caller_names *names)
{
	g->names = names;
}

int graph_order(struct graph *g)
{
	return lines_new(g->out, &g->lines);
}

void graph_off_cpu(struct graph *g)
{
	g->off_cpu = true;
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	lines_free(g->lines);
	shown_clear(&g->values);
	free(g);
}

void graph_header(struct graph *g)
{
	output_printf(g->out, "#%s DURATION  %s   TID      FUNCTION\n",
		      g->time ? " TIME          " : "",
		      g->off_cpu ? "       CPU       WAIT " : "");
}

static char *put_time(struct graph *g, char *p, uint64_t tsc)
{
	uint64_t ns = clock_realtime(g->ticks, tsc);
	time_t second = (time_t)(ns / 1000000000);
	struct tm tm;

	if (second != g->second) {
		g->second = second;
		if (!localtime_r(&second, &tm) ||
		    !strftime(g->clock, sizeof(g->clock), "%H:%M:%S", &tm))
			strcpy(g->clock, "??:??:??");
	}
	p = put_text(p, g->clock);
	*p++ = '.';
	return put_number(p, ns % 1000000000 / 1000, 6, '0');
}

/* The parts of a span with a processor and without one. */
static char *put_off_cpu(const struct graph *g, char *p, const struct call *c, uint64_t ns)
{
	uint64_t wait;

	if (ns == UINT64_MAX)
		return put_text(p, "                      ");
	if (!c->wait_known)
		return put_no_span(put_text(put_no_span(put_text(p, " ")), " "));
	wait = MIN(clock_ns(g->ticks, c->wait), ns);
	p = put_span(put_text(p, " "), ns - wait, false);
	return put_span(put_text(p, " "), wait, false);
}

/* What stands before the function. A span of UINT64_MAX is not known. */
static char *put_columns(struct graph *g, char *p, const struct call *c,
			 uint64_t tsc, uint64_t ns)
{
	size_t indent = MIN((size_t)c->depth * 2, (size_t)MAX_INDENT);

	if (g->time)
		p = put_time(g, p, tsc);
	*p++ = ' ';
	p = ns == UINT64_MAX ? put_text(p, "          ") : put_span(p, ns, g->color);
	if (g->off_cpu)
		p = put_off_cpu(g, p, c, ns);
	p = put_text(p, " [");
	p = put_number(p, (uint64_t)(uint32_t)c->tid, 7, ' ');
	p = put_text(p, "] | ");
	memset(p, ' ', indent);
	return p + indent;
}

/* True if this call is left out, since the terminal does not keep up. */
static bool skip(struct graph *g)
{
	size_t waiting;

	if (!output_is_terminal(g->out))
		return false;
	waiting = output_pending(g->out) + (g->lines ? lines_held(g->lines) : 0);
	if (!g->skipping) {
		g->skipping = waiting > SKIP_ABOVE;
	} else if (waiting < SHOW_BELOW) {
		graph_end(g);
	}
	return g->skipping;
}

void graph_end(struct graph *g)
{
	if (!g->skipping)
		return;
	g->skipping = false;
	output_printf(g->out, "# %llu calls left out: the terminal is slower than they are\n",
		      (unsigned long long)g->left_out);
	g->left_out = 0;
}

/* With the callers of the call, if these are to stand below the line. */
static char *graph_room(struct graph *g, const struct call *c, bool called)
{
	size_t room = 0;

	g->callers.n = g->callers.cut = 0;
	if (called && g->names)
		shown_callers_take(g->names, c, &g->callers);
	for (size_t i = 0; i < g->callers.n; i++)
		room += PREFIX + MAX_INDENT + caller_room(&g->callers.v[i]);
	return output_room(g->out, room + 2 * (PREFIX + MAX_INDENT + SUFFIX) +
			   2 * strlen(c->func->name) +
			   (c->until ? strlen(c->until->func->name) : 0) +
			   2 * (sizeof(g->values.args) + sizeof(g->values.result)));
}

/* What a line below that of a call begins with. */
static char *put_below(struct graph *g, char *p, const struct call *c)
{
	char *to = put_columns(g, p, c, c->begin, UINT64_MAX);

	memset(p, ' ', (size_t)(to - p));
	to[-2 - (ptrdiff_t)MIN((size_t)c->depth * 2, (size_t)MAX_INDENT)] = '|';
	return to;
}

/* The innermost first, each on a line. */
static char *put_callers(struct graph *g, char *p, const struct call *c)
{
	const char *why = callers_cut_text(g->callers.cut);

	for (size_t i = 0; i < g->callers.n; i++)
		p = put_caller(put_text(put_below(g, put_text(p, "\n"), c), "  at "),
			       &g->callers.v[i]);
	if (why)
		p = put_text(put_text(put_below(g, put_text(p, "\n"), c), "  ?? "), why);
	return p;
}

static void finish_line(struct graph *g, uint64_t tsc, char *start, char *p)
{
	*p++ = '\n';
	if (!g->lines || !lines_add(g->lines, tsc, start, (size_t)(p - start)))
		output_take(g->out, (size_t)(p - start));
}

/* "f(a=1)" */
static char *put_call(struct graph *g, char *p, const struct call *c)
{
	p = put_text(put_text(p, c->func->name), "(");
	return put_text(put_text(p, g->values.args), ")");
}

/* " = 8;", or nothing. */
static char *put_result(struct graph *g, char *p)
{
	return g->values.result[0] ? put_text(put_text(p, " = "), g->values.result) : p;
}

static void open_line(struct graph *g, const struct call *c)
{
	char *start = graph_room(g, c, true), *p = start;

	if (!start)
		return;
	shown_take(&g->values, c);
	p = put_columns(g, p, c, c->begin, UINT64_MAX);
	p = put_callers(g, put_text(put_call(g, p, c), " {"), c);
	finish_line(g, c->begin, start, p);
}

/* " .. g(b=2) = 8", of a span. */
static char *put_until(struct graph *g, char *p, const struct call *c)
{
	if (!c->until)
		return p;
	shown_take(&g->values, c->until);
	return put_result(g, put_call(g, put_text(p, " .. "), c->until));
}

static void leaf_line(struct graph *g, const struct call *c, uint64_t ns)
{
	char *start = graph_room(g, c, true), *p = start;

	if (!start)
		return;
	shown_take(&g->values, c);
	p = put_columns(g, p, c, c->begin, ns);
	p = put_until(g, put_result(g, put_call(g, p, c)), c);
	p = put_callers(g, put_text(p, ";"), c);
	finish_line(g, c->begin, start, p);
}

/* What its brace has shown without what the call has brought is shown again with it. */
static char *put_ended(struct graph *g, char *p, const struct call *c)
{
	shown_take(&g->values, c);
	p = put_text(p, "}");
	if (g->values.result[0])
		p = put_text(put_result(g, p), ";");
	p = put_text(p, g->color ? " " GRAY "/* " : " /* ");
	return c->exit && shown_changes(&g->values, c->func) ? put_call(g, p, c) :
		put_text(p, c->func->name);
}

static void close_line(struct graph *g, const struct call *c, uint64_t ns,
		       const char *note)
{
	char *start = graph_room(g, c, false), *p = start;

	if (!start)
		return;
	p = put_columns(g, p, c, c->end, ns);
	p = put_text(put_ended(g, p, c), note);
	p = put_text(p, g->color ? " */" RESET : " */");
	finish_line(g, c->end, start, p);
}

static bool graph_open(void *ctx, const struct call *c)
{
	struct graph *g = ctx;

	if (skip(g))
		return false;
	open_line(g, c);
	return true;
}

static void end_line(struct graph *g, const struct call *c)
{
	static const char *const notes[] = {
		[CALL_RETURN] = "",
		[CALL_UNWOUND] = ": unwound",
		[CALL_OPEN] = ": still open",
		[CALL_EXIT_LOST] = ": exit lost",
		[CALL_BEFORE] = ": began before",
	};
	uint64_t ns = UINT64_MAX;

	if (c->how == CALL_RETURN || c->how == CALL_UNWOUND)
		ns = clock_ns(g->ticks, c->span);
	if (c->how == CALL_ENTRY_ONLY || (c->how == CALL_RETURN && !c->opened)) {
		leaf_line(g, c, ns);
		return;
	}
	if (!c->opened && c->how != CALL_BEFORE)
		open_line(g, c);
	close_line(g, c, ns, notes[c->how]);
}

static void graph_call_end(void *ctx, const struct call *c)
{
	struct graph *g = ctx;

	if (skip(g))
		g->left_out++;
	else
		end_line(g, c);
}

/* Losses are said whatever the terminal does. */
static void graph_lost(void *ctx, const struct event *e)
{
	struct graph *g = ctx;
	char *start = output_room(g->out, PREFIX), *p = start;

	if (!start)
		return;
	p = put_text(put_number(put_text(p, "# "), e->lost, 0, ' '), " events lost");
	finish_line(g, e->tsc, start, p);
}

static void graph_settled(void *ctx, uint64_t tsc)
{
	struct graph *g = ctx;

	if (g->lines)
		lines_settle(g->lines, tsc);
}

struct sink graph_sink(struct graph *g)
{
	return (struct sink){
		.open = graph_open,
		.end = graph_call_end,
		.lost = graph_lost,
		.settled = graph_settled,
		.ctx = g,
	};
}
