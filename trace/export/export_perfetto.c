/* SPDX-License-Identifier: MIT */
/*
 * export_perfetto: a Trace of Perfetto: TracePackets of slices, a track for each thread, and for
 * each other stack (tracks.h).
 *
 * A slice begins when its call is opened and ends with it, so that those around it come
 * first. Names are interned: function N is N + 1.
 */
#include "trace/export/export.h"
#include "trace/export/tracks.h"
#include "trace/output/protobuf.h"
#include "trace/show/callers.h"
#include "trace/show/values.h"

enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_INTERNED = 12,
	PACKET_FLAGS = 13, PACKET_TRACK = 60,
	FLAG_CLEARED = 1, FLAG_NEEDS = 2,
	EVENT_ANNOTATION = 4, ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10,
	EVENT_TYPE = 9, EVENT_NAME_ID = 10, EVENT_TRACK = 11, EVENT_NAME = 23,
	TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3,
	INTERNED_NAME = 2, NAME_ID = 1, NAME_TEXT = 2,
	TRACK_ID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5,
	PROCESS_PID = 1, PROCESS_NAME = 6,
	THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
};

#define PROCESS_TRACK 1ull
#define THREAD_TRACK(tid) (1ull << 32 | (uint32_t)(tid))
#define OFF_TRACK(tid) (2ull << 32 | (uint32_t)(tid))	/* below that: is it without a processor? */
#define STACK_TRACK(n) (3ull << 32 | (uint32_t)(n))

struct perfetto {
	const struct about *about;
	struct output *out;
	uint64_t begin;		/* ticks */
	struct tracks tracks;
	struct message packet, inner, innermost;
	struct shown_values values;
	const struct caller_names *names;
	struct shown_callers callers;
	int err;
};

static void write_packet(struct perfetto *p)
{
	message_number(&p->packet, PACKET_SEQUENCE, 1);
	p->err = p->err ?: message_write(&p->packet, TRACE_PACKET, p->out);
	message_clear(&p->packet);
}

static void add_value(struct perfetto *p, const char *name, const char *text)
{
	message_clear(&p->innermost);
	message_text(&p->innermost, ANNOTATION_NAME, name);
	message_text(&p->innermost, ANNOTATION_TEXT, text);
	message_add(&p->inner, EVENT_ANNOTATION, &p->innermost);
}

/* What is known of them at the event. */
static void add_values(struct perfetto *p, unsigned int type, const struct call *c)
{
	const char *name;

	for (size_t i = 0; type != TYPE_END && shown_next(&p->values, c, &i, &name);)
		add_value(p, *name ? name : "?", p->values.args);
	shown_take(&p->values, c);
	if (p->values.result[0])
		add_value(p, "return", p->values.result);
}

/* The innermost first, each on a line. */
static void add_callers(struct perfetto *p, const struct call *c)
{
	struct shown_callers *s = &p->callers;
	size_t room = 1;

	shown_callers_take(p->names, c, s);
	for (size_t i = 0; i < s->n; i++)
		room += caller_room(&s->v[i]);
	auto_free char *text = malloc(room);
	char *to = text;

	for (size_t i = 0; text && i < s->n; i++) {
		to = put_caller(to, &s->v[i]);
		*to++ = '\n';
	}
	if (text && s->n) {
		to[-1] = '\0';
		add_value(p, "stack", text);
	}
}

/* Of a call, or `c` is NULL. */
static void write_on(struct perfetto *p, unsigned int type, uint64_t track, uint64_t tsc,
		     const struct call *c, const char *name)
{
	const struct reader_func *func = c && type != TYPE_END ? c->func : NULL;
	uint64_t ticks = tsc > p->begin ? tsc - p->begin : 0;

	message_clear(&p->inner);
	message_number(&p->inner, EVENT_TYPE, type);
	message_number(&p->inner, EVENT_TRACK, track);
	if (func)
		message_number(&p->inner, EVENT_NAME_ID, (uint64_t)(func - p->about->funcs) + 1);
	if (name)
		message_text(&p->inner, EVENT_NAME, name);
	if (c && c->callers && type != TYPE_END)
		add_callers(p, c);
	if (c && c->func->values)
		add_values(p, type, c);
	message_number(&p->packet, PACKET_TIMESTAMP, clock_ns(&p->about->clock, ticks));
	message_number(&p->packet, PACKET_FLAGS, FLAG_NEEDS);
	message_add(&p->packet, PACKET_EVENT, &p->inner);
	write_packet(p);
}

static void write_track(struct perfetto *p, uint64_t id, uint64_t parent, const char *name)
{
	message_clear(&p->inner);
	message_number(&p->inner, TRACK_ID, id);
	message_number(&p->inner, TRACK_PARENT, parent);
	message_text(&p->inner, TRACK_NAME, name);
	message_add(&p->packet, PACKET_TRACK, &p->inner);
	write_packet(p);
}

/* Of a stack before its first call. */
static uint64_t track_of(struct perfetto *p, const struct call *c)
{
	size_t before = p->tracks.n;
	ssize_t n = tracks_of(&p->tracks, c);
	char name[40];

	p->err = n < 0 ? (int)n : p->err;
	if (p->tracks.n > before) {
		tracks_name(&p->tracks.v[before], name, sizeof(name));
		write_track(p, STACK_TRACK(n), PROCESS_TRACK, name);
	}
	return n > 0 ? STACK_TRACK(n) : THREAD_TRACK(c->tid);
}

static void perfetto_off(void *ctx, const struct offcpu_span *s)
{
	struct perfetto *p = ctx;

	if (s->to <= p->begin)
		return;
	write_on(p, TYPE_BEGIN, OFF_TRACK(s->tid), s->from, NULL,
		 s->preempted ? "preempted" : "waits");
	write_on(p, TYPE_END, OFF_TRACK(s->tid), s->to, NULL, NULL);
}

static bool perfetto_open(void *ctx, const struct call *c)
{
	write_on(ctx, TYPE_BEGIN, track_of(ctx, c), c->begin, c, NULL);
	return true;
}

static void perfetto_end(void *ctx, const struct call *c)
{
	struct perfetto *p = ctx;
	uint64_t track = track_of(p, c);

	if (c->how == CALL_ENTRY_ONLY) {
		write_on(p, TYPE_INSTANT, track, c->begin, c, NULL);
		return;
	}
	/* What has no begin fits into nothing that is shown: its end is one moment. */
	if (!c->opened)
		write_on(p, TYPE_BEGIN, track, c->begin ? c->begin : c->end, c, NULL);
	write_on(p, TYPE_END, track, c->end, c->opened ? c : NULL, NULL);
}

static void perfetto_lost(void *ctx, const struct event *e)
{
	auto_free char *name = base_printf("%llu events lost", (unsigned long long)e->lost);

	write_on(ctx, TYPE_INSTANT, THREAD_TRACK(e->tid), e->tsc, NULL, name ?: "events lost");
}

static void write_process(struct perfetto *p)
{
	message_clear(&p->innermost);
	message_number(&p->innermost, PROCESS_PID, (uint32_t)p->about->pid);
	message_text(&p->innermost, PROCESS_NAME, p->about->program ?: "?");
	message_clear(&p->inner);
	message_number(&p->inner, TRACK_ID, PROCESS_TRACK);
	message_add(&p->inner, TRACK_PROCESS, &p->innermost);
	message_add(&p->packet, PACKET_TRACK, &p->inner);
	message_number(&p->packet, PACKET_FLAGS, FLAG_CLEARED);
	write_packet(p);
}

static void write_thread(struct perfetto *p, const struct archive_thread *t)
{
	message_clear(&p->innermost);
	message_number(&p->innermost, THREAD_PID, (uint32_t)t->pid);
	message_number(&p->innermost, THREAD_TID, (uint32_t)t->tid);
	message_text(&p->innermost, THREAD_NAME, t->name);
	message_clear(&p->inner);
	message_number(&p->inner, TRACK_ID, THREAD_TRACK(t->tid));
	message_number(&p->inner, TRACK_PARENT, PROCESS_TRACK);
	message_add(&p->inner, TRACK_THREAD, &p->innermost);
	message_add(&p->packet, PACKET_TRACK, &p->inner);
	write_packet(p);
}

static void write_name(struct perfetto *p, size_t i)
{
	message_clear(&p->innermost);
	message_number(&p->innermost, NAME_ID, i + 1);
	message_text(&p->innermost, NAME_TEXT, p->about->funcs[i].name);
	message_clear(&p->inner);
	message_add(&p->inner, INTERNED_NAME, &p->innermost);
	message_number(&p->packet, PACKET_FLAGS, FLAG_NEEDS);
	message_add(&p->packet, PACKET_INTERNED, &p->inner);
	write_packet(p);
}

static int write_names(struct perfetto *p, const struct view *v)
{
	struct archive_sizes z;

	archive_sizes(view_archive(v), &z);
	write_process(p);
	for (size_t i = 0; i < z.nthreads && !p->err; i++) {
		write_thread(p, &z.threads[i]);
		if (p->about->off_cpu)
			write_track(p, OFF_TRACK(z.threads[i].tid), THREAD_TRACK(z.threads[i].tid),
				    "off-CPU");
		p->err = p->err ?: output_flush(p->out);
	}
	for (size_t i = 0; i <= p->about->nfuncs && !p->err; i++) {
		write_name(p, i);
		p->err = p->err ?: output_flush(p->out);
	}
	return p->err;
}

static int export_perfetto(struct view *v, struct output *out)
{
	struct perfetto p = { .about = view_about(v), .out = out, .begin = view_begin(v),
			      .names = view_names(v) };
	struct sink sink = { .open = perfetto_open, .end = perfetto_end, .lost = perfetto_lost,
			     .off = perfetto_off, .ctx = &p };
	int err = write_names(&p, v);

	err = err ? err : view_run(v, &sink, out);
	err = err ? err : p.err;
	message_free(&p.packet);
	message_free(&p.inner);
	message_free(&p.innermost);
	shown_clear(&p.values);
	tracks_clear(&p.tracks);
	return err;
}

const struct export_format format_perfetto = {
	"perfetto", .run = export_perfetto, .binary = true,
	.moments = true,
};
