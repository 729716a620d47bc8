/* SPDX-License-Identifier: MIT */
/* snapshot_record: what the rings of a session held at one moment, as a trace directory. */
#include "injector/verbs/snapshot_record.h"

#include <sys/stat.h>

#include "injector/log/clock.h"
#include "injector/proc/namespace.h"
#include "injector/show/describe.h"
#include "injector/verbs/watches.h"
#include "trace/write/record.h"

/* Read all that the copy holds. */
static int write_events(struct reader *reader, struct record *record)
{
	int64_t n;

	do {
		n = reader_drain(reader, true, record_event, record);
	} while (n > 0);
	return (int)n;
}

/* The call that has fired, if any has. Its thread has the id of its own namespace there. */
static struct about_slow slow_of(const struct session *s, pid_t pid, uint64_t now)
{
	struct about_slow ret = { s->fired_func, 0, s->fired_begin, s->fired_end };
	struct namespace ids;

	if (!watches_fired(s) || ret.begin >= ret.end || ret.end > now)
		return (struct about_slow){ 0 };
	namespace_open(pid, &ids);
	ret.tid = (uint64_t)MAX(namespace_outer(&ids, pid, s->fired_tid), 0);
	namespace_close(&ids);
	return ret;
}

int snapshot_record(const struct ring_snapshot *still, const struct about *notes, pid_t pid,
		    const struct caller_names *names, const char *dir,
		    struct snapshot_record *ret)
{
	struct record_options options = { .thread_name = pid ? describe_thread : NULL,
					  .names = names };
	struct about *a = &ret->about;
	struct reader *reader = NULL;
	struct record *record = NULL;

	*ret = (struct snapshot_record){ .about = *notes };
	clock_update(&a->clock);
	a->end = reader_now();
	a->begin = still->begin && still->begin < a->end ? still->begin : a->end;
	a->lost = still->lost;
	a->kept = true;
	a->slow = slow_of(still->map, pid, a->end);
	umask(077);
	int err = reader_new(still->map, still->size, pid, a->funcs, a->nfuncs, &reader);
	if (!err)
		reader_tell_pending(reader);
	err = err ? err : record_new(dir, &options, a, &record);
	err = err ? err : write_events(reader, record);
	err = err ? err : record_end(record, a);
	if (!err) {
		reader_stats(reader, &ret->stats);
		ret->size = record_size(record);
	}
	record_free(record);
	reader_free(reader);
	return err;
}
