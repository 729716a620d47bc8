/* SPDX-License-Identifier: MIT */
/*
 * export_ctf: a trace directory once more, with times in nanoseconds since 1970.
 *
 * Directories have the processor's ticks, as they were recorded, and metadata that say
 * what these mean. A reader that makes nanoseconds of them in floating point, as Trace
 * Compass does, has steps of 256 ns at today's dates, and finds no calls within one.
 * Here nothing is left to be made. Nor are two events of a thread at the same time, as
 * they are where the counter goes in steps: of states by time one would hide the other. Values
 * are fields, by name and type.
 */
#include <errno.h>
#include <string.h>

#include "trace/export/ctf_fields.h"
#include "trace/export/export.h"
#include "trace/output/place.h"
#include "trace/write/record.h"

struct copying {
	const struct clock *clock;	/* of what is read */
	uint64_t begin;			/* ticks */
	struct archive *archive;
	struct record *record;
	struct ctf_fields *fields;	/* values, by name */
};

static int copy(void *ctx, const struct event *e)
{
	const struct copying *c = ctx;
	struct event moved = *e;

	/* Of threads that had a processor or none before, it is not known in the copy until
	 * that changes. */
	if (event_is_switch(e) && e->tsc < c->begin)
		return 0;
	moved.tsc = clock_realtime(c->clock, e->tsc);
	moved.begin = e->begin ? clock_realtime(c->clock, e->begin) : 0;
	return record_event(c->record, &moved);
}

static bool fields_of(void *ctx, const struct event *e, struct record_fields *ret)
{
	const struct copying *c = ctx;

	return ctf_fields_make(c->fields, e, ret);
}

static bool name_of(void *ctx, int32_t tid, char name[16])
{
	const struct copying *c = ctx;
	const char *known = archive_thread_name(c->archive, tid);

	for (size_t i = 0; i < 16; i++) {
		name[i] = *known;
		known += *known != '\0';
	}
	return name[0] != '\0';
}

/* A clock that has a tick every nanosecond, and the same beginning and end. */
static struct clock even(const struct clock *c)
{
	uint64_t first = clock_realtime(c, c->ticks);
	uint64_t run = clock_realtime(c, clock_last(c).ticks) - first;

	return (struct clock){ .ticks = first, .ns = c->ns, .realtime = first,
			       .run_ticks = run, .run_ns = run };
}

static struct probe_cost cost_in_ns(const struct clock *c, const struct probe_cost *cost)
{
	return (struct probe_cost){ clock_ns(c, cost->pair), clock_ns(c, cost->inside),
				    clock_ns(c, cost->mark) };
}

/* What was read is in fields: the metadata need not tell how to read it. */
static int without_values(struct about *a, struct reader_func **ret)
{
	struct reader_func *funcs = calloc(a->nfuncs + 1, sizeof(*funcs));

	if (!funcs)
		return fail(ENOMEM, "copy the names of functions");
	memcpy(funcs, a->funcs, a->nfuncs * sizeof(*funcs));
	for (size_t i = 0; i < a->nfuncs; i++)
		funcs[i].values = NULL;
	a->funcs = *ret = funcs;
	return 0;
}

static int export_ctf(struct view *v, const char *path)
{
	const struct about *from = view_about(v);
	struct copying c = { .clock = &from->clock, .begin = view_begin(v),
			     .archive = view_archive(v) };
	struct about a = *from;
	struct record_options options = { .clock = &a.clock, .apart = 1, .tid = view_tid(v),
					  .thread_name = name_of, .fields = fields_of, .ctx = &c,
					  .names = view_names(v),
					  .part = view_is_part(v) };
	auto_free struct reader_func *funcs = NULL;
	int err, end_err = 0;

	a.nfuncs = archive_about(c.archive)->nfuncs;
	err = without_values(&a, &funcs);
	err = err ? err : ctf_fields_new(from->funcs, a.nfuncs, &c.fields);
	if (err)
		return err;
	a.fields = "";
	a.clock = even(c.clock);
	a.cost = cost_in_ns(c.clock, &from->cost);
	a.begin = clock_realtime(c.clock, view_begin(v));
	a.slow.begin = from->slow.begin ? clock_realtime(c.clock, from->slow.begin) : 0;
	a.slow.end = clock_realtime(c.clock, from->slow.end);
	a.end = from->end ? clock_realtime(c.clock, view_end(v)) : 0;
	err = place_spares(path, archive_dir(c.archive));
	err = err ? err : record_new(path, &options, &a, &c.record);
	if (!err) {
		/* Those alone are described that had events: there may be thousands, and a reader
		 * takes seconds for that. */
		err = view_events(v, copy, &c);
		err = err ? err : ctf_fields_text(c.fields, &a.fields);
		end_err = record_end(c.record, &a);
		record_free(c.record);
	}
	ctf_fields_free(c.fields);
	return err ? err : end_err;
}

const struct export_format format_ctf = {
	"ctf", .make = export_ctf, .directory = "ctf.data",
	.moments = true, .events = true,
};
