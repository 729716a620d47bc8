/* SPDX-License-Identifier: MIT */
/* snapshot: what do the rings of a started session hold now, as a trace directory? */
#include <sys/stat.h>

#include "injector/clock.h"
#include "injector/describe.h"
#include "injector/haste.h"
#include "injector/reader.h"
#include "injector/say.h"
#include "injector/signals.h"
#include "injector/still.h"
#include "injector/verbs.h"
#include "injector/visit.h"
#include "trace/place.h"
#include "trace/record.h"

/* Read all that the copy holds. */
static int write_events(struct reader *reader, struct record *record)
{
	int64_t n;

	do {
		n = reader_drain(reader, true, record_event, record);
	} while (n > 0);
	return (int)n;
}

static void say_written(const char *dir, const struct about *a, const struct still *still,
			const struct reader_stats *stats, uint64_t size)
{
	say("%llu calls, %llu events of the last %.3g s; %llu older events overwritten, %llu lost",
	    (unsigned long long)stats->calls, (unsigned long long)stats->events,
	    (double)clock_ns(&a->clock, a->end - a->begin) / 1e9,
	    (unsigned long long)still->overwritten, (unsigned long long)still->lost);
	say_hint("%.1f MiB in %s; inject replay %s shows the calls", (double)size / (1 << 20), dir,
		 dir);
}

/* The copy, as a directory that only who makes it may read: calls of somebody's
 * process are nobody else's business. */
static int write_trace(struct visit *v, const struct still *still, const char *dir)
{
	struct about a = v->notes.about;
	struct record_options options = { .thread_name = describe_thread };
	struct reader *reader = NULL;
	struct record *record = NULL;
	struct reader_stats stats;

	clock_update(&a.clock);
	a.end = reader_now();
	a.begin = still->begin && still->begin < a.end ? still->begin : a.end;
	a.lost = still->lost;
	umask(077);
	int err = reader_new(still->map, still->size, v->target.pid, a.funcs, a.nfuncs, &reader);
	err = err ? err : record_new(dir, &options, &a, &record);
	err = err ? err : write_events(reader, record);
	err = err ? err : record_end(record, &a);
	if (!err) {
		reader_stats(reader, &stats);
		say_written(dir, &a, still, &stats, record_size(record));
	}
	record_free(record);
	reader_free(reader);
	return err;
}

int verb_snapshot(const struct options *o)
{
	const char *dir = options_directory(o);
	struct still still = { 0 };
	struct visit v;

	say_quiet(o->quiet);
	haste(true);
	int err = place_check(dir);
	if (err)
		return verb_failed(err);
	err = visit_open(o->pid, &v);
	if (err)
		return verb_failed(err);
	err = visit_started(&v, true);
	err = err ? err : still_take(&v.segment, &v.session.s, &still);
	err = err ? err : write_trace(&v, &still, dir);
	still_clear(&still);
	visit_close(&v);
	return err ? verb_failed(err) : STATUS_DONE;
}
