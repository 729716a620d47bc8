/* SPDX-License-Identifier: MIT */
/*
 * export_chrome: the JSON of Chrome's trace viewer, one object for each call.
 *
 * A call is a "complete" event. It is on the row of its thread or, on another stack than the thread
 * was born with, on one of that stack's own (tracks.h), whose "tid" no thread has. One whose other
 * side is not known reaches to the begin or the end of the recording, and says so in its arguments.
 */
#include <string.h>

#include "trace/export/export.h"
#include "trace/export/tracks.h"
#include "trace/show/callers.h"
#include "trace/show/json.h"
#include "trace/show/values.h"
#include "trace/output/put.h"

enum { KEYS = 256 };		/* bytes of all of an event but its names */

struct chrome {
	const struct about *about;
	struct output *out;
	uint64_t begin;		/* ticks */
	const char *between;	/* stands before the next event */
	struct tracks tracks;
	int err;
	struct shown_values values;
	const struct caller_names *names;
	struct shown_callers callers;
};

/* In microseconds, to three digits. */
static char *put_micros(char *p, uint64_t ns)
{
	p = put_number(p, ns / 1000, 0, ' ');
	*p++ = '.';
	return put_number(p, ns % 1000, 3, '0');
}

static uint64_t since_begin(const struct chrome *c, uint64_t tsc)
{
	return clock_ns(&c->about->clock, tsc > c->begin ? tsc - c->begin : 0);
}

static char *put_key(char *p, const char *key, uint64_t value)
{
	return put_number(put_text(p, key), value, 0, ' ');
}

/* {"ph":...,"pid":...,"tid":...,"ts":... A call within another one ends at the same ns as that, or
 * before it: so the duration is the difference of two moments, each rounded by itself. */
static void put_event(struct chrome *c, const char *phase, int32_t pid, int32_t tid,
		      uint64_t from, uint64_t to)
{
	char *start = output_room(c->out, KEYS), *p = start;
	uint64_t begin = since_begin(c, from);

	if (!start)
		return;
	p = put_text(put_text(put_text(p, c->between), "{\"ph\":\""), phase);
	p = put_key(p, "\",\"pid\":", (uint32_t)pid);
	p = put_key(p, ",\"tid\":", (uint32_t)tid);
	p = put_micros(put_text(p, ",\"ts\":"), begin);
	if (*phase == 'X')
		p = put_micros(put_text(p, ",\"dur\":"), MAX(since_begin(c, to), begin) - begin);
	output_take(c->out, (size_t)(p - start));
	c->between = ",\n";
}

static void put_plain(struct chrome *c, const char *text)
{
	output_text(c->out, text, strlen(text));
}

static void put_named(struct chrome *c, const char *key, const char *value)
{
	put_plain(c, key);
	json_string(c->out, value);
}

/* The innermost first, and its place in it. */
static void put_stack(struct chrome *c, const struct call *call)
{
	shown_callers_take(c->names, call, &c->callers);
	put_plain(c, "\"stack\":[");
	for (size_t i = 0; i < c->callers.n; i++) {
		auto_free char *text = malloc(caller_room(&c->callers.v[i]));

		put_plain(c, i ? "," : "");
		if (text)
			*put_caller(text, &c->callers.v[i]) = '\0';
		json_string(c->out, text ?: "?");
	}
	put_plain(c, "]");
}

/* What is to be said of a call, its callers and its values, if anything is. */
static void put_args(struct chrome *c, const struct call *call, const char *note)
{
	if (!*note && !call->func->values && !call->callers)
		return;
	put_plain(c, ",\"args\":{");
	put_plain(c, note);
	if (call->callers) {
		put_plain(c, *note ? "," : "");
		put_stack(c, call);
		note = "stack";
	}
	if (call->func->values) {
		shown_take(&c->values, call);
		if (c->values.result[0]) {
			put_plain(c, *note ? "," : "");
			put_named(c, "\"return\":", c->values.result);
			note = "return";
		}
		json_args(c->out, &c->values, call, *note ? "," : "", " begin end return stack ");
	}
	put_plain(c, "}");
}

static void put_name(struct chrome *c, const char *what, int32_t pid, int32_t tid,
		     const char *name)
{
	put_event(c, "M", pid, tid, c->begin, c->begin);
	put_named(c, ",\"name\":", what);
	put_named(c, ",\"args\":{\"name\":", name);
	put_plain(c, "}}");
}

/* Ids of threads are below (linux/threads.h, PID_MAX_LIMIT). */
#define STACK_ROW (1 << 22)

/* The row's "tid". */
static int32_t row_of(struct chrome *c, const struct call *call)
{
	size_t before = c->tracks.n;
	ssize_t n = tracks_of(&c->tracks, call);
	char name[40];

	c->err = n < 0 ? (int)n : c->err;
	if (c->tracks.n > before) {
		tracks_name(&c->tracks.v[before], name, sizeof(name));
		put_name(c, "thread_name", call->pid, STACK_ROW + (int32_t)n, name);
	}
	return n > 0 ? STACK_ROW + (int32_t)n : call->tid;
}

static bool chrome_open(void *ctx, const struct call *call)
{
	return true;
}

static void chrome_end(void *ctx, const struct call *call)
{
	static const char *const notes[] = {
		[CALL_RETURN] = "", [CALL_UNWOUND] = "\"end\":\"unwound\"",
		[CALL_OPEN] = "\"end\":\"open\"", [CALL_EXIT_LOST] = "\"end\":\"exit lost\"",
		[CALL_BEFORE] = "\"begin\":\"before\"", [CALL_ENTRY_ONLY] = "",
	};
	struct chrome *c = ctx;
	uint64_t from = call->begin ? call->begin : c->begin;

	put_event(c, call->how == CALL_ENTRY_ONLY ? "i" : "X", call->pid, row_of(c, call), from,
		  call->end);
	put_named(c, ",\"name\":", call->func->name);
	put_named(c, ",\"cat\":", call->func->module);
	if (call->how == CALL_ENTRY_ONLY)
		put_plain(c, ",\"s\":\"t\"");
	put_args(c, call, notes[call->how]);
	put_plain(c, "}");
}

/* On a row of its own: what is measured by two clocks need not nest. */
static void chrome_off(void *ctx, const struct offcpu_span *s)
{
	static const char *const phases[] = { "b", "e" };
	const uint64_t at[] = { s->from, s->to };
	struct chrome *c = ctx;

	for (size_t i = 0; i < ARRAY_SIZE(phases) && s->to > c->begin; i++) {
		put_event(c, phases[i], s->pid, s->tid, at[i], at[i]);
		output_printf(c->out, ",\"cat\":\"off-cpu\",\"id\":%d,\"name\":\"%s\"}", s->tid,
			      s->preempted ? "preempted" : "waits");
	}
}

static void chrome_lost(void *ctx, const struct event *e)
{
	struct chrome *c = ctx;

	put_event(c, "i", e->pid, e->tid, e->tsc, e->tsc);
	output_printf(c->out, ",\"name\":\"%llu events lost\",\"s\":\"t\"}",
		      (unsigned long long)e->lost);
}

static void put_threads(struct chrome *c, const struct view *v)
{
	struct archive_sizes z;

	archive_sizes(view_archive(v), &z);
	put_name(c, "process_name", c->about->pid, c->about->pid, c->about->program ?: "?");
	for (size_t i = 0; i < z.nthreads; i++)
		if (z.threads[i].name[0])
			put_name(c, "thread_name", z.threads[i].pid, z.threads[i].tid,
				 z.threads[i].name);
}

static int export_chrome(struct view *v, struct output *out)
{
	struct chrome c = { .about = view_about(v), .out = out, .begin = view_begin(v),
			    .between = "\n", .names = view_names(v) };
	struct sink sink = { .open = chrome_open, .end = chrome_end, .lost = chrome_lost,
			     .off = chrome_off, .ctx = &c };
	int err;

	put_plain(&c, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	put_threads(&c, v);
	err = view_run(v, &sink, out);
	shown_clear(&c.values);
	tracks_clear(&c.tracks);
	put_plain(&c, "\n]}\n");
	return err ? err : c.err;
}

const struct export_format format_chrome = { "chrome", .run = export_chrome, .moments = true };
