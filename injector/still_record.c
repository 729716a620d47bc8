/* SPDX-License-Identifier: MIT */
/* still_record: what the rings of a session held at one moment, as a trace directory. */
#include "injector/still_record.h"

#include <sys/stat.h>

#include "injector/clock.h"
#include "injector/describe.h"
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

int still_record(const struct still *still, const struct about *notes, pid_t pid, const char *dir,
		 struct still_record *ret)
{
	struct record_options options = { .thread_name = pid ? describe_thread : NULL };
	struct about *a = &ret->about;
	struct reader *reader = NULL;
	struct record *record = NULL;

	*ret = (struct still_record){ .about = *notes };
	clock_update(&a->clock);
	a->end = reader_now();
	a->begin = still->begin && still->begin < a->end ? still->begin : a->end;
	a->lost = still->lost;
	umask(077);
	int err = reader_new(still->map, still->size, pid, a->funcs, a->nfuncs, &reader);
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
