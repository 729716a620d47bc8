/* SPDX-License-Identifier: MIT */
/* follow_begin: what events go through before they are seen or kept, as it is asked for. */
#include "injector/show/follow_impl.h"

#include <sys/syscall.h>

#include "injector/log/clock.h"

uint64_t follow_wall(const struct follow *f)
{
	return clock_realtime(reader_clock(f->reader), reader_now());
}

static int make_sink(struct follow *f, struct sink *ret)
{
	const struct options *o = f->options;
	int err;

	if (o->json) {
		err = json_new(reader_clock(f->reader), f->out, &f->json);
		if (err)
			return err;
		json_name(f->json, f->names);
		if (f->off_cpu)
			json_off_cpu(f->json);
		*ret = json_sink(f->json);
		return 0;
	}
	err = graph_new(reader_clock(f->reader), f->out, o->time,
			output_has_color(f->out, o->no_color), &f->graph);
	if (err)
		return err;
	/* Spans come as they end: one that never does would hold up all others. */
	err = o->time && !o->npoints && !o->nwithin ? graph_order(f->graph) : 0;
	if (err)
		return err;
	graph_name(f->graph, f->names);
	if (f->off_cpu)
		graph_off_cpu(f->graph);
	graph_header(f->graph);
	*ret = graph_sink(f->graph);
	return 0;
}

static int begin_record(struct follow *f)
{
	const struct options *o = f->options;
	struct record_options options = {
		.max_size = o->max_size, .rotate = o->rotate, .compress = o->compress,
		.min_free = options_min_free(o),
		.clock = reader_clock(f->reader), .tid = o->tid, .calls = o->calls,
		.thread_name = describe_thread, .names = f->names,
	};

	f->description->about.clock = *reader_clock(f->reader);
	return record_new(f->directory, &options, &f->description->about, &f->record);
}

static struct about follow_about(const struct follow *f)
{
	return (struct about){ .funcs = f->funcs, .nfuncs = f->nfuncs, .exe = f->exe };
}

/* Spans are what is shown, and counted, then; all calls are given to them. */
static int begin_spans(struct follow *f, const struct sink *shown, struct sink *ret)
{
	const struct options *o = f->options;
	const struct about about = follow_about(f);
	struct spans_options options = {
		.points = o->points, .npoints = o->npoints, .by = o->by, .nby = o->nby,
		.min_ns = o->min_duration, .calls = o->calls,
	};
	int err = spans_new(reader_clock(f->reader), &about, &options, shown, &f->spans);

	if (!err)
		*ret = spans_sink(f->spans);
	return err;
}

/* Likewise, of calls with all that they have made. */
static int begin_within(struct follow *f, const struct sink *shown, struct sink *ret)
{
	const struct options *o = f->options;
	const struct about about = follow_about(f);
	struct within_options options = {
		.roots = o->include, .nroots = o->ninclude - o->nwithin,
		.min_ns = o->min_duration, .calls = o->calls,
	};
	int err = within_new(reader_clock(f->reader), &about, &options, shown, &f->within);

	if (!err)
		*ret = within_sink(f->within);
	return err;
}

static int begin_frames(struct follow *f)
{
	const struct options *o = f->options;
	bool all = o->npoints || o->nwithin;
	struct frames_options options = {
		.min_ns = all ? 0 : o->min_duration,
		.depth = o->depth,
		.calls = all ? 0 : o->calls,
		.tid = o->tid,
		.pid = f->pid,
	};
	struct sink shown, sink;
	int err = make_sink(f, &shown);

	sink = shown;
	if (!err && o->npoints)
		err = begin_spans(f, &shown, &sink);
	if (!err && o->nwithin)
		err = begin_within(f, &shown, &sink);
	return err ? err : frames_new(reader_clock(f->reader), reader_now(), f->funcs, &options,
				      &sink, &f->frames);
}

static int begin_counts(struct follow *f)
{
	const struct options *o = f->options;
	int err = counts_new(o, f->reader, f->off_cpu, f->funcs, f->nfuncs, &f->counts);

	if (!err && f->recorded) {
		struct frames_options options = { .tid = o->tid };
		struct sink sink = counts_sink(f->counts);

		err = frames_new(reader_clock(f->reader), reader_now(), f->funcs, &options, &sink,
				 &f->frames);
	}
	if (err || o->verb != VERB_TOP || o->json || !output_can_draw(f->out))
		return err;
	return top_new(f->counts, f->out, &f->top);
}

static int begin_hist(struct follow *f)
{
	struct frames_options options = { .tid = f->options->tid, .calls = f->options->calls };
	const struct about about = follow_about(f);
	struct sink sink;
	int err = hist_values_new(f->options, &about, &f->hist);

	if (err)
		return err;
	sink = hist_values_sink(f->hist, reader_clock(f->reader));
	return frames_new(reader_clock(f->reader), reader_now(), f->funcs, &options, &sink,
			  &f->frames);
}

int follow_begin(struct follow *f, const struct summary *s)
{
	int err;

	f->pidfd = (int)syscall(SYS_pidfd_open, f->pid, 0);
	if (f->options->json)
		summary_json_start(f->out, s, f->pid, follow_wall(f));
	if (options_way(f->options)->room)
		err = begin_counts(f);
	else if (options_by_value(f->options))
		err = begin_hist(f);
	else
		err = f->description ? begin_record(f) : begin_frames(f);
	if (err)
		follow_end(f);
	f->mute = err != 0;
	return err;
}

int follow_name(struct follow *f, const struct reader_func *funcs, size_t nfuncs)
{
	f->funcs = funcs;
	f->nfuncs = nfuncs;
	reader_name(f->reader, funcs, nfuncs);
	if (f->description) {
		f->description->about.funcs = funcs;
		f->description->about.nfuncs = nfuncs;
	}
	if (f->frames)
		frames_name(f->frames, funcs);
	if (f->hist) {
		const struct about about = follow_about(f);

		return hist_values_name(f->hist, &about);
	}
	if (f->spans) {
		const struct about about = follow_about(f);

		return spans_name(f->spans, &about);
	}
	if (f->within) {
		const struct about about = follow_about(f);

		return within_name(f->within, &about);
	}
	return f->counts ? counts_name(f->counts, funcs, nfuncs) : 0;
}

int follow_modules(struct follow *f, const struct modules *mods)
{
	return f->description ? describe_modules(f->description, mods) : 0;
}

void follow_end(struct follow *f)
{
	frames_free(f->frames);
	spans_free(f->spans);
	within_free(f->within);
	graph_free(f->graph);
	json_free(f->json);
	record_free(f->record);
	top_free(f->top);
	counts_free(f->counts);
	hist_values_free(f->hist);
	if (f->pidfd >= 0)
		close(f->pidfd);
	f->frames = NULL;
	f->spans = NULL;
	f->within = NULL;
	f->graph = NULL;
	f->json = NULL;
	f->record = NULL;
	f->top = NULL;
	f->counts = NULL;
	f->hist = NULL;
	f->pidfd = -1;
}
