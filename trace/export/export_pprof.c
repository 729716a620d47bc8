/* SPDX-License-Identifier: MIT */
/*
 * export_pprof: the profile.proto of pprof: chains of calls, with their numbers and
 * times.
 *
 * Numbers of fields are those of perftools.profiles.Profile. Function N of the recording
 * is function and location N + 1; texts are numbered as they come: see `texts`.
 */
#include <string.h>

#include "trace/export/export.h"
#include "trace/output/protobuf.h"
#include "trace/read/tree.h"

enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5,
	PROFILE_TEXT = 6, PROFILE_TIME = 9, PROFILE_DURATION = 10, PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12, PROFILE_DEFAULT_TYPE = 14,
	TYPE_TYPE = 1, TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2,
	LOCATION_ID = 1, LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4,
};

/* The first texts; those of functions follow, a name and a module each. */
static const char *const texts[] = { "", "calls", "count", "time", "nanoseconds" };

enum { TEXT_CALLS = 1, TEXT_COUNT, TEXT_TIME, TEXT_NANOSECONDS };

struct pprof {
	const struct about *about;
	struct message line, message;
};

static int write_type(struct pprof *p, uint32_t field, uint64_t type, uint64_t unit,
		      struct output *out)
{
	message_clear(&p->message);
	message_number(&p->message, TYPE_TYPE, type);
	message_number(&p->message, TYPE_UNIT, unit);
	return message_write(&p->message, field, out);
}

static int write_text(struct pprof *p, const char *text, struct output *out)
{
	struct message m = { .bytes = (unsigned char *)text, .n = strlen(text) };

	return message_write(&m, PROFILE_TEXT, out) ?: output_flush(out);
}

static int write_function(struct pprof *p, size_t i, struct output *out)
{
	uint64_t name = ARRAY_SIZE(texts) + 2 * i;
	int err;

	message_clear(&p->message);
	message_number(&p->message, FUNCTION_ID, i + 1);
	message_number(&p->message, FUNCTION_NAME, name);
	message_number(&p->message, FUNCTION_SYSTEM_NAME, name);
	message_number(&p->message, FUNCTION_FILE, name + 1);
	err = message_write(&p->message, PROFILE_FUNCTION, out);
	message_clear(&p->line);
	message_number(&p->line, LINE_FUNCTION, i + 1);
	message_clear(&p->message);
	message_number(&p->message, LOCATION_ID, i + 1);
	message_add(&p->message, LOCATION_LINE, &p->line);
	return err ?: message_write(&p->message, PROFILE_LOCATION, out);
}

static int write_names(struct pprof *p, struct output *out)
{
	const struct reader_func *f = p->about->funcs;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(texts) && !err; i++)
		err = write_text(p, texts[i], out);
	for (size_t i = 0; i <= p->about->nfuncs && !err; i++)
		err = write_text(p, f[i].name, out) ?: write_text(p, f[i].module, out) ?:
		      write_function(p, i, out);
	return err;
}

/* The innermost function comes first. */
static int write_sample(void *ctx, const struct tree *t, const struct tree_node *node,
			struct output *out)
{
	const struct reader_func *path[TREE_DEPTH];
	uint64_t locations[TREE_DEPTH];
	struct pprof *p = ctx;
	uint64_t values[] = { node->calls, clock_ns(&p->about->clock, node->self) };
	size_t n = tree_path(t, node, path);

	for (size_t i = 0; i < n; i++)
		locations[i] = (uint64_t)(path[n - 1 - i] - p->about->funcs) + 1;
	message_clear(&p->message);
	message_numbers(&p->message, SAMPLE_LOCATION, locations, n);
	message_numbers(&p->message, SAMPLE_VALUE, values, ARRAY_SIZE(values));
	return message_write(&p->message, PROFILE_SAMPLE, out);
}

static void write_number(uint32_t field, uint64_t value, struct output *out)
{
	struct message m = { 0 };

	message_number(&m, field, value);
	output_text(out, (const char *)m.bytes, m.n);
	message_free(&m);
}

static int write_head(struct pprof *p, const struct view *v, struct output *out)
{
	const struct clock *clock = &p->about->clock;
	int err = write_type(p, PROFILE_SAMPLE_TYPE, TEXT_CALLS, TEXT_COUNT, out);

	err = err ? err : write_type(p, PROFILE_SAMPLE_TYPE, TEXT_TIME, TEXT_NANOSECONDS, out);
	err = err ? err : write_type(p, PROFILE_PERIOD_TYPE, TEXT_TIME, TEXT_NANOSECONDS, out);
	write_number(PROFILE_PERIOD, 1, out);
	write_number(PROFILE_TIME, clock_realtime(clock, view_begin(v)), out);
	write_number(PROFILE_DURATION, clock_ns(clock, view_end(v) - view_begin(v)), out);
	write_number(PROFILE_DEFAULT_TYPE, TEXT_TIME, out);
	return err;
}

static int export_pprof(struct view *v, struct output *out)
{
	struct pprof p = { .about = view_about(v) };
	struct tree *t = NULL;
	int err = tree_make(v, &t);

	err = err ? err : write_head(&p, v, out);
	err = err ? err : write_names(&p, out);
	err = err ? err : tree_walk(t, write_sample, &p, out);
	message_free(&p.line);
	message_free(&p.message);
	tree_free(t);
	return err;
}

const struct export_format format_pprof = { "pprof", .run = export_pprof, .binary = true };
